//! The verb `predict`: what a trained network takes examples for.

use trainwright_report::PredictionsPage;
use trainwright_train::{PredictRequest, Predicted, Predictions};

use crate::Error;
use crate::terminal::predictions_summary;

/// Mistakes that the page lists.
const MISTAKES: usize = 30;

/// Applies a trained network to data.
///
/// # Errors
/// The checkpoint or the data cannot be read, or do not fit together.
pub fn predict(request: &PredictRequest) -> Result<Predictions, Error> {
    Ok(trainwright_train::predict(request)?)
}

/// What each example was taken for, as a CSV text.
pub fn predictions_csv(predictions: &Predictions) -> String {
    let named = !predictions.names.is_empty();
    let mut table =
        format!("example,class,predicted,probability{}\n", if named { ",name" } else { "" });
    for (index, example) in predictions.each.iter().enumerate() {
        let class = example.class.map_or(String::new(), |class| class.to_string());
        let Predicted { predicted, probability, .. } = example;
        table += &format!("{index},{class},{predicted},{probability}");
        if let Some(name) = predictions.names.get(index) {
            table += &format!(",\"{}\"", name.replace('"', "\"\""));
        }
        table.push('\n');
    }
    table
}

/// The page of predictions.
pub fn predictions_page(predictions: &Predictions, written_at: &str) -> String {
    let name = |class: usize| {
        let score = predictions.classes.get(class);
        score.and_then(|score| score.name.clone()).unwrap_or_else(|| class.to_string())
    };
    let classes = predictions.classes.iter().map(|score| {
        (name(score.class), [score.examples, score.taken], [score.accuracy, score.precision])
    });
    let wrong = |(index, one): (usize, &Predicted)| {
        let class = one.class.filter(|&class| class != one.predicted)?;
        let example = predictions.names.get(index).cloned().unwrap_or_else(|| index.to_string());
        Some((example, name(class as usize), name(one.predicted as usize), one.probability))
    };
    let mut mistakes: Vec<_> = predictions.each.iter().enumerate().filter_map(wrong).collect();
    mistakes.sort_by(|a, b| b.3.total_cmp(&a.3));
    mistakes.truncate(MISTAKES);
    trainwright_report::predictions_html(&PredictionsPage {
        data: &predictions.data,
        words: &predictions_summary(predictions),
        classes: classes.collect(),
        confusion: &predictions.confusion,
        mistakes,
        program: concat!("trainwright ", env!("CARGO_PKG_VERSION")),
        written_at,
    })
}

#[cfg(test)]
mod tests {
    use trainwright_train::ClassScore;

    use super::*;

    fn one(class: Option<u32>, predicted: u32, probability: f32) -> Predicted {
        Predicted { class, predicted, probability }
    }

    fn made(each: Vec<Predicted>, names: &[&str]) -> Predictions {
        let score = |class: usize, name: &str| ClassScore {
            class,
            name: Some(name.to_owned()),
            examples: 1,
            taken: 1,
            accuracy: None,
            precision: None,
        };
        Predictions {
            learned_from: false,
            data: "flowers".to_owned(),
            examples: each.len(),
            accuracy: None,
            loss: None,
            auc: None,
            classes: vec![score(0, "rose"), score(1, "<tulip>")],
            confusion: vec![vec![1, 0], vec![1, 0]],
            damaged: Vec::new(),
            each,
            names: names.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    #[test]
    fn examples_without_a_class_have_an_empty_cell() {
        let each = vec![one(Some(1), 0, 0.5), one(None, 1, 0.25)];
        assert_eq!(
            predictions_csv(&made(each, &[])),
            "example,class,predicted,probability\n0,1,0,0.5\n1,,1,0.25\n"
        );
    }

    #[test]
    fn names_with_commas_and_quotes_are_read_back_as_they_were() {
        let names = ["a,b.jpg", "say \"x\"\n.jpg"];
        let table = predictions_csv(&made(vec![one(None, 0, 1.0); 2], &names));
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let read: Vec<String> = reader.records().map(|row| row.unwrap()[4].to_owned()).collect();
        assert_eq!(read, names);
    }

    #[test]
    fn the_surest_mistakes_come_first_on_the_page_and_thirty_at_most() {
        let each: Vec<Predicted> =
            (0..40_u16).map(|at| one(Some(1), 0, 0.5 + f32::from(at) / 100.0)).collect();
        let names: Vec<String> = (0..40).map(|at| format!("picture-{at}.jpg")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let page = predictions_page(&made(each, &names), "today");
        let place = |at: usize| page.find(&format!("picture-{at}.jpg"));
        assert!(place(39).is_some() && place(39) < place(38));
        assert!(place(10).is_some() && place(9).is_none());
        assert!(page.contains("&lt;tulip&gt;") && !page.contains("<tulip>"));
    }

    #[test]
    fn right_answers_and_unknown_classes_are_no_mistakes() {
        let each = vec![one(Some(1), 1, 0.9), one(None, 0, 0.9)];
        let page = predictions_page(&made(each, &["right.jpg", "unknown.jpg"]), "today");
        assert!(!page.contains("right.jpg") && !page.contains("unknown.jpg"));
    }
}
