//! Event files of TensorBoard: a run is a folder, its settings are read from the folder's name.

use std::collections::BTreeMap;
use std::path::Path;

use trainwright_records::scan_scalars;

use super::{ForeignRuns, of_pairs};

/// The factor where names of folders hold no settings.
const RUN: &str = "run";

/// The last value of each scalar of each run is a result.
pub(super) fn runs(folder: &Path) -> Result<ForeignRuns, String> {
    let runs = scan_scalars(folder).map_err(|error| error.to_string())?;
    let mut notes = vec!["of each scalar the last value is taken; curves are not".to_owned()];
    let named: Vec<Option<BTreeMap<String, String>>> =
        runs.iter().map(|own| settings(&own.run)).collect();
    let all_named = named.iter().all(Option::is_some);
    if !all_named {
        notes.push(format!(
            "names of folders are no settings (such as lr=0.1,batch=32), so the factor is `{RUN}`"
        ));
    }
    let mut results = Vec::new();
    for (own, named) in runs.into_iter().zip(named) {
        let set = match named {
            Some(set) if all_named => set,
            _ => BTreeMap::from([(RUN.to_owned(), own.run.clone())]),
        };
        let mut last = BTreeMap::new();
        for scalar in own.scalars.into_iter().filter(|scalar| scalar.value.is_finite()) {
            last.insert(scalar.tag, scalar.value.to_string());
        }
        if last.is_empty() {
            notes.push(format!("`{}` has no scalars and is left out", own.run));
        } else {
            results.push((set, last));
        }
    }
    match results.is_empty() {
        true => Err("its event files have no scalars".to_owned()),
        false => {
            notes.push(
                "of each scalar the last value is the result; other steps, texts and pictures stay \
                 in the event files"
                    .to_owned(),
            );
            Ok(of_pairs(results, notes))
        }
    }
}

/// Settings in the name of a run: `lr=0.1,batch=32`, also with blanks, slashes or underlines
/// between them.
fn settings(run: &str) -> Option<BTreeMap<String, String>> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut last: Option<String> = None;
    for part in run.split([',', ' ', '/', ';', '_']).filter(|part| !part.is_empty()) {
        match (part.split_once('='), &last) {
            (Some((name, value)), _) if !name.is_empty() => {
                found.insert(name.to_owned(), value.to_owned());
                last = Some(name.to_owned());
            }
            // A value with an underline in it, such as `optimizer=rms_prop`.
            (None, Some(name)) => {
                let value = found.get_mut(name)?;
                value.push('_');
                value.push_str(part);
            }
            _ => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_the_names_of_folders() {
        let pairs = |run: &str| {
            settings(run).map(|all| {
                all.into_iter().map(|(k, v)| format!("{k}:{v}")).collect::<Vec<_>>().join(" ")
            })
        };
        assert_eq!(pairs("lr=0.1,batch=32").as_deref(), Some("batch:32 lr:0.1"));
        assert_eq!(pairs("lr=0.1_opt=rms_prop").as_deref(), Some("lr:0.1 opt:rms_prop"));
        assert_eq!(pairs("a=1/b=2").as_deref(), Some("a:1 b:2"));
        assert_eq!(pairs("Nov18_host"), None);
        assert_eq!(pairs(""), None);
        assert_eq!(pairs("=3"), None);
    }
}
