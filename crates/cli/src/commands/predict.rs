//! `trainwright predict`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use trainwright::Error;
use trainwright_train::{PredictRequest, Predictions};

use crate::arguments::PredictArguments;
use crate::output::{print, print_json};

pub(crate) fn predict(arguments: &PredictArguments) -> anyhow::Result<u8> {
    let request = PredictRequest {
        from: arguments.from.clone(),
        data: arguments.data.clone(),
        data_dir: arguments.data_dir.clone(),
        test_data: arguments.test_data.clone(),
        threads: arguments.threads,
    };
    let predictions = trainwright_train::predict(&request).map_err(Error::from)?;
    if let Some(path) = &arguments.output {
        write_table(path, &predictions)?;
    }
    if arguments.json {
        print_json("predict", &predictions)?;
    } else {
        print(&text(&predictions))?;
    }
    Ok(0)
}

fn write_table(path: &Path, predictions: &Predictions) -> Result<(), Error> {
    let mut table = String::from("example,class,predicted,probability\n");
    for (index, example) in predictions.each.iter().enumerate() {
        let (class, predicted) = (example.class, example.predicted);
        writeln!(table, "{index},{class},{predicted},{}", example.probability)
            .expect("writing to a string does not fail");
    }
    fs::write(path, table).map_err(|source| Error::Folder { path: path.to_owned(), source })
}

fn text(predictions: &Predictions) -> String {
    let auc = predictions.auc.map(|auc| format!(", AUC {auc:.4}")).unwrap_or_default();
    let mut text = format!(
        "{} examples of {}: accuracy {:.4}, loss {:.4}{auc}\n\nclass  examples  accuracy  precision\n",
        predictions.examples, predictions.data, predictions.accuracy, predictions.loss
    );
    let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.4}"));
    for class in &predictions.classes {
        let (accuracy, precision) = (share(class.accuracy), share(class.precision));
        let _ = writeln!(
            text,
            "{:>5}  {:>8}  {accuracy:>8}  {precision:>9}",
            class.class, class.examples
        );
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
