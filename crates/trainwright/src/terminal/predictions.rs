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
