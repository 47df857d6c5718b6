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
