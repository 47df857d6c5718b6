//! A scalar of TensorBoard event files.

use std::collections::BTreeSet;
use std::io::BufReader;

use trainwright_records::{RecordsError, Scalar, each_scalar};

use super::{Point, Reading, shown};
use crate::output::EventFile;
use crate::output::open::open_regular;

/// Other tags that are named where the one wanted is not there.
const TAGS_SHOWN: usize = 50;

/// The values of a tag in the order of the files' names and of the records in each.
///
/// A tag found in more than one run is two curves, of which none is chosen.
pub(crate) fn read(files: &[EventFile], tag: &str) -> Reading {
    let mut reading = Reading { place: "the event files".to_owned(), ..Reading::default() };
    let (mut runs, mut tags) = (BTreeSet::new(), BTreeSet::new());
    for file in files {
        let read = scalars_of(file, |scalar| {
            if scalar.tag == tag {
                runs.insert(file.run.as_str());
                let line = reading.values.count() + 1;
                let step = scalar.step as f64;
                let text = format!("{tag} = {} at step {step}", scalar.value).into();
                reading.values.add(Point { line, text, value: scalar.value, step: Some(step) });
            } else if tags.len() < TAGS_SHOWN {
                tags.insert(shown(&scalar.tag));
            }
        });
        if let Err(error) = read {
            reading.complain(format!("{}: {error}", file.path.display()));
        }
    }
    if runs.len() > 1 {
        let runs: Vec<_> = runs.iter().map(|run| format!("`{run}`")).collect();
        let runs = runs.join(", ");
        return Reading::nothing(format!(
            "tag `{tag}` is in more than one run: {runs}; let `file` name the folder of one"
        ));
    }
    if reading.values.is_empty() {
        let tags: Vec<_> = tags.into_iter().collect();
        reading.complain(format!("no scalar `{tag}`; the files have {}", tags.join(", ")));
    }
    reading
}

fn scalars_of(file: &EventFile, visit: impl FnMut(Scalar)) -> Result<(), RecordsError> {
    each_scalar(BufReader::new(open_regular(&file.path)?), visit)
}
