//! `trainwright predict`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use trainwright::Error;
use trainwright_records::pictures::PixelLimit;
use trainwright_train::{PredictRequest, Predictions};

use crate::arguments::PredictArguments;
use crate::commands::damaged_checkpoints::tell_damaged;
use crate::commands::report::{now, write_page};
use crate::output::{print, print_json};

pub(crate) fn predict(arguments: &PredictArguments) -> anyhow::Result<u8> {
    let request = PredictRequest {
        from: arguments.from.clone(),
        data: arguments.data.clone(),
        data_dir: arguments.data_dir.clone(),
        test_data: arguments.test_data.clone(),
        threads: arguments.threads,
        max_pixels: arguments
            .max_pixels
            .map_or_else(PixelLimit::from_environment, Ok)
            .map_err(Error::from)?,
    };
    let predictions = trainwright_train::predict(&request).map_err(Error::from)?;
    predictions.damaged.iter().for_each(tell_damaged);
    if let Some(path) = &arguments.output {
        write_table(path, &predictions)?;
    }
    if let Some(path) = &arguments.report {
        let words = summary(&predictions);
        write_page(path, &trainwright::predictions_page(&predictions, &words, &now()))?;
    }
    if arguments.json {
        print_json("predict", &predictions)?;
    } else {
        print(&text(&predictions))?;
    }
    Ok(0)
}

fn write_table(path: &Path, predictions: &Predictions) -> Result<(), Error> {
    let named = !predictions.names.is_empty();
    let mut table =
        format!("example,class,predicted,probability{}\n", if named { ",name" } else { "" });
    for (index, example) in predictions.each.iter().enumerate() {
        let class = example.class.map_or(String::new(), |class| class.to_string());
        let _ = write!(table, "{index},{class},{},{}", example.predicted, example.probability);
        if let Some(name) = predictions.names.get(index) {
            let _ = write!(table, ",\"{}\"", name.replace('"', "\"\""));
        }
        table.push('\n');
    }
    fs::write(path, table).map_err(|source| Error::Folder { path: path.to_owned(), source })
}

/// How many examples were taken for what they are, in one line.
fn summary(predictions: &Predictions) -> String {
    let told = |what: &str, value: Option<f64>| value.map(|value| format!(" {what} {value:.4}"));
    let parts = [
        told("accuracy", predictions.accuracy),
        told("loss", predictions.loss),
        told("AUC", predictions.auc),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let parts =
        if parts.is_empty() { " their classes are not known".into() } else { parts.join(",") };
    format!("{} examples of {}:{parts}", predictions.examples, predictions.data)
}

fn text(predictions: &Predictions) -> String {
    let mut text = summary(predictions);
    text.push_str("\n\nclass  examples  taken for it  accuracy  precision\n");
    let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.4}"));
    for class in &predictions.classes {
        let (accuracy, precision) = (share(class.accuracy), share(class.precision));
        let _ = writeln!(
            text,
            "{:>5}  {:>8}  {:>12}  {accuracy:>8}  {precision:>9}  {}",
            class.class,
            class.examples,
            class.taken,
            class.name.as_deref().unwrap_or_default()
        );
    }
    if predictions.confusion.is_empty() {
        return text;
    }
    text.push_str("\nclass (rows) taken for (columns)\n     ");
    for column in 0..predictions.confusion.len() {
        let _ = write!(text, " {column:>6}");
    }
    for (class, row) in predictions.confusion.iter().enumerate() {
        let _ = write!(text, "\n{class:>5}");
        for count in row {
            let _ = write!(text, " {count:>6}");
        }
    }
    text.push('\n');
    text
}
