//! A scalar of TensorBoard event files.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;

use trainwright_records::{RecordsError, Scalar, read_scalars};

use super::{Point, Reading};
use crate::output::EventFile;

/// The values of a tag in the order of the files' names and of the records in each.
///
/// A tag found in more than one run is two curves, of which none is chosen.
pub(crate) fn read(files: &[EventFile], tag: &str) -> Reading {
    let mut reading = Reading { place: "the event files".to_owned(), ..Reading::default() };
    let (mut runs, mut tags) = (BTreeSet::new(), BTreeSet::new());
    for file in files {
        let scalars = match scalars_of(file) {
            Ok(scalars) => scalars,
            Err(error) => {
                reading.complain(format!("{}: {error}", file.path.display()));
                continue;
            }
        };
        for scalar in scalars {
            if scalar.tag == tag {
                runs.insert(file.run.as_str());
                let line = reading.points.len() + 1;
                let step = scalar.step as f64;
                let text = format!("{tag} = {} at step {step}", scalar.value).into();
                reading.points.push(Point { line, text, value: scalar.value, step: Some(step) });
            }
            tags.insert(scalar.tag);
        }
    }
    if runs.len() > 1 {
        let runs: Vec<_> = runs.iter().map(|run| format!("`{run}`")).collect();
        let runs = runs.join(", ");
        return Reading::nothing(format!(
            "tag `{tag}` is in more than one run: {runs}; let `file` name the folder of one"
        ));
    }
    if reading.points.is_empty() {
        let tags: Vec<_> = tags.into_iter().collect();
        reading.complain(format!("no scalar `{tag}`; the files have {}", tags.join(", ")));
    }
    reading
}

fn scalars_of(file: &EventFile) -> Result<Vec<Scalar>, RecordsError> {
    read_scalars(BufReader::new(File::open(&file.path)?))
}
