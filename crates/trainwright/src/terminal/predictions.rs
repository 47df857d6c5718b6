//! Predictions in words.

use trainwright_report::terminal::TextTable;
use trainwright_train::Predictions;

/// How many examples were taken for what they are, in one line.
pub fn predictions_summary(predictions: &Predictions) -> String {
    let told = |what: &str, value: Option<f64>| value.map(|value| format!(" {what} {value:.4}"));
    let parts = [
        told("accuracy", predictions.accuracy),
        told("loss", predictions.loss),
        told("AUC", predictions.auc),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let parts =
        if parts.is_empty() { " their classes are not known".into() } else { parts.join(",") };
    let flattered = if predictions.learned_from {
        "; the network learned from pictures there, so these figures flatter it: judge it by others"
    } else {
        ""
    };
    format!("{} examples of {}:{parts}{flattered}", predictions.examples, predictions.data)
}

/// Accuracy of each class, and what was taken for what.
pub fn predictions(predictions: &Predictions) -> String {
    let mut text = format!("{}\n\n{}", predictions_summary(predictions), classes(predictions));
    if !predictions.confusion.is_empty() {
        text += &format!("\nclass (rows) taken for (columns)\n{}", confusion(predictions));
    }
    text
}

fn classes(predictions: &Predictions) -> TextTable {
    let head = ["class", "examples", "taken for it", "accuracy", "precision", ""];
    let mut table = TextTable::with_header(head).numbers_in(0..5);
    let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.4}"));
    for class in &predictions.classes {
        table.row([
            class.class.to_string(),
            class.examples.to_string(),
            class.taken.to_string(),
            share(class.accuracy),
            share(class.precision),
            class.name.clone().unwrap_or_default(),
        ]);
    }
    table
}

fn confusion(predictions: &Predictions) -> TextTable {
    let classes = predictions.confusion.len();
    let names = (0..classes).map(|class| class.to_string());
    let head = std::iter::once(String::new()).chain(names);
    let mut table = TextTable::with_header(head).numbers_in(0..classes + 1);
    for (class, row) in predictions.confusion.iter().enumerate() {
        let counts = row.iter().map(ToString::to_string);
        table.row(std::iter::once(class.to_string()).chain(counts));
    }
    table
}

#[cfg(test)]
mod tests {
    use trainwright_train::ClassScore;

    use super::*;

    fn made(accuracy: Option<f64>, loss: Option<f64>, auc: Option<f64>) -> Predictions {
        Predictions {
            learned_from: false,
            data: "flowers".to_owned(),
            examples: 3,
            accuracy,
            loss,
            auc,
            classes: Vec::new(),
            confusion: Vec::new(),
            damaged: Vec::new(),
            each: Vec::new(),
            names: Vec::new(),
        }
    }

    #[test]
    fn what_is_known_is_told_and_nothing_else() {
        let told = |accuracy, loss, auc| predictions_summary(&made(accuracy, loss, auc));
        assert_eq!(
            told(Some(2.0 / 3.0), Some(0.5), None),
            "3 examples of flowers: accuracy 0.6667, loss 0.5000"
        );
        assert!(told(Some(1.0), Some(0.0), Some(0.75)).ends_with(", AUC 0.7500"));
        assert_eq!(told(None, None, None), "3 examples of flowers: their classes are not known");
    }

    #[test]
    fn classes_without_examples_have_no_share_and_names_stand_last() {
        let class = |class, examples, taken, accuracy, precision, name: Option<&str>| ClassScore {
            class,
            name: name.map(str::to_owned),
            examples,
            taken,
            accuracy,
            precision,
        };
        let own = Predictions {
            classes: vec![
                class(0, 3, 2, Some(2.0 / 3.0), Some(1.0), Some("rose\x1b[0m")),
                class(1, 0, 1, None, Some(0.0), None),
            ],
            confusion: vec![vec![2, 1], vec![0, 0]],
            ..made(Some(2.0 / 3.0), None, None)
        };
        let text = predictions(&own);
        let lines: Vec<&str> = text.lines().collect();
        let cells =
            |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
        assert_eq!(cells(lines[3]), ["0", "3", "2", "0.6667", "1.0000", "rose\\e[0m"]);
        assert_eq!(cells(lines[4]), ["1", "0", "1", "-", "0.0000"]);
        assert_eq!(lines[6], "class (rows) taken for (columns)");
        assert_eq!(
            (cells(lines[8]), cells(lines[9])),
            (
                ["0", "2", "1"].map(str::to_owned).to_vec(),
                ["1", "0", "0"].map(str::to_owned).to_vec(),
            )
        );
    }

    #[test]
    fn without_classes_there_is_no_table_of_mistakes() {
        assert!(!predictions(&made(None, None, None)).contains("taken for (columns)"));
    }
}
