//! What a trial writes while it runs: outputs as they grow, curves before its end.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::Serialize;
use trainwright_engine::open_regular;
use trainwright_study::Series;

use crate::studies::status::LogName;
use crate::{Error, Place};

/// Bytes of an output that a page shows, from its end.
const MOST_OUTPUT: u64 = 64 * 1024;

/// Bytes of metrics that are read of a running trial, from its end.
const MOST_METRICS: u64 = 4 * 1024 * 1024;

/// The end of an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutputTail {
    /// Its last part; what is no text is replaced.
    pub text: String,
    /// Bytes in all.
    pub bytes: u64,
    /// Bytes before the part that is shown.
    pub left_out: u64,
}

/// The end of what a trial has written so far; empty where it has written nothing.
///
/// # Errors
/// The file cannot be read.
pub fn output_tail(place: &Place, trial: u32, name: LogName) -> Result<OutputTail, Error> {
    let path = place.trial(trial).join(name.word());
    let none = OutputTail { text: String::new(), bytes: 0, left_out: 0 };
    if !path.exists() {
        return Ok(none);
    }
    let (bytes, end) = end_of(&path, MOST_OUTPUT)?;
    let left_out = bytes - end.len() as u64;
    Ok(OutputTail { text: String::from_utf8_lossy(&end).into_owned(), bytes, left_out })
}

/// The curves that a running trial has written to its metrics so far.
///
/// # Errors
/// The file cannot be read.
pub fn live_curves(place: &Place, trial: u32) -> Result<Vec<Series>, Error> {
    let path = place.trial(trial).join("metrics.jsonl");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let (_, end) = end_of(&path, MOST_METRICS)?;
    let mut curves: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&end).lines() {
        let Ok(serde_json::Value::Object(line)) = serde_json::from_str(line) else { continue };
        let step = line.get("step").and_then(serde_json::Value::as_f64);
        for (name, value) in line.iter().filter(|(name, _)| *name != "step") {
            let Some(value) = value.as_f64() else { continue };
            let points = curves.entry(name.clone()).or_default();
            points.push((step.unwrap_or(points.len() as f64 + 1.0), value));
        }
    }
    let series = |(name, points): (String, Vec<(f64, f64)>)| Series {
        name: format!("metric.{name}"),
        axis: "step".to_owned(),
        unit: String::new(),
        at: points.iter().map(|own| own.0).collect(),
        values: points.iter().map(|own| own.1).collect(),
    };
    Ok(curves.into_iter().filter(|(_, own)| own.len() > 1).map(series).collect())
}

/// The length of a file and its last bytes.
fn end_of(path: &Path, most: u64) -> Result<(u64, Vec<u8>), Error> {
    let failed = |source| Error::Input { path: path.to_owned(), source };
    let mut file = open_regular(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most))).map_err(failed)?;
    let mut end = Vec::new();
    file.take(most).read_to_end(&mut end).map_err(failed)?;
    Ok((length.max(end.len() as u64), end))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn place(folder: &Path) -> Place {
        let place = Place { store: folder.join("t.db"), trials: folder.join("t.trials/s") };
        fs::create_dir_all(place.trial(1).join("deep")).unwrap();
        place
    }

    #[test]
    fn a_long_output_is_shown_from_its_end_and_none_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        assert_eq!(output_tail(&place, 1, LogName::Stdout).unwrap().bytes, 0);
        let text = "x".repeat(MOST_OUTPUT as usize) + "end";
        fs::write(place.trial(1).join("stdout"), &text).unwrap();
        let tail = output_tail(&place, 1, LogName::Stdout).unwrap();
        assert_eq!((tail.bytes, tail.left_out), (text.len() as u64, 3));
        assert!(tail.text.ends_with("end"));
    }

    #[test]
    fn curves_are_read_while_a_trial_writes_them() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let text =
            "{\"loss\":1,\"step\":5}\nnoise\n{\"loss\":0.5,\"step\":10,\"note\":\"x\"}\n{\"lo";
        fs::write(place.trial(1).join("metrics.jsonl"), text).unwrap();
        let curves = live_curves(&place, 1).unwrap();
        assert_eq!(curves.len(), 1);
        assert_eq!(
            (curves[0].name.as_str(), curves[0].at.as_slice()),
            ("metric.loss", [5.0, 10.0].as_slice())
        );
    }
}
