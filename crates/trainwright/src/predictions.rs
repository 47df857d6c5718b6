//! Predictions of a trained network as one HTML file.

use trainwright_report::PredictionsPage;
use trainwright_train::Predictions;

/// Mistakes that the page lists.
const MISTAKES: usize = 30;

/// The page of predictions; `words` is the result in words.
pub fn predictions_page(predictions: &Predictions, words: &str, written_at: &str) -> String {
    let name = |class: usize| {
        let score = predictions.classes.get(class);
        score.and_then(|score| score.name.clone()).unwrap_or_else(|| class.to_string())
    };
    let classes = predictions.classes.iter().map(|score| {
        (name(score.class), [score.examples, score.taken], [score.accuracy, score.precision])
    });
    let wrong = |(index, one): (usize, &trainwright_train::Predicted)| {
        let class = one.class.filter(|&class| class != one.predicted)?;
        let example = predictions.names.get(index).cloned().unwrap_or_else(|| index.to_string());
        Some((example, name(class as usize), name(one.predicted as usize), one.probability))
    };
    let mut mistakes: Vec<_> = predictions.each.iter().enumerate().filter_map(wrong).collect();
    mistakes.sort_by(|a, b| b.3.total_cmp(&a.3));
    mistakes.truncate(MISTAKES);
    trainwright_report::predictions_html(&PredictionsPage {
        data: &predictions.data,
        words,
        classes: classes.collect(),
        confusion: &predictions.confusion,
        mistakes,
        program: concat!("trainwright ", env!("CARGO_PKG_VERSION")),
        written_at,
    })
}
