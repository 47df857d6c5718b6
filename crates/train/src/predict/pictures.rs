//! A trained network applied to picture files and records.

use std::fs;
use std::path::Path;

use trainwright_records::pictures::PixelLimit;
use trainwright_records::sources::PictureFolder;
use trainwright_records::{LabelledImages, load_pictures};
use trainwright_study::JobSpec;

use super::{Predicted, Predictions, class_scores, confusion};
use crate::checkpoints::kept::Kept;
use crate::error::TrainError;
use crate::predict::learned_from::learned_from;
use crate::predict::trained::{TrainedNetwork, about_network};

/// Names of the classes of the data that were trained on, where they have some: a file beside
/// prepared shards, or the folders of pictures.
pub(super) fn class_names(data: &Path) -> Vec<String> {
    if let Ok(text) = fs::read_to_string(data.join("classes.txt")) {
        return text.lines().map(str::to_owned).collect();
    }
    let train = data.join("train");
    let folder = PictureFolder::open(if train.is_dir() { &train } else { data });
    folder.map_or(Vec::new(), |folder| folder.classes().to_vec())
}

/// What the network takes each picture of a file, folder or record file for.
pub(super) fn apply_to_pictures(
    job: &JobSpec,
    kept: &Kept,
    (data, limit): (&str, PixelLimit),
    names: &[String],
) -> Result<Predictions, TrainError> {
    let about = about_network(kept)?.ok_or_else(|| {
        kept.fault("it does not say what pictures its network takes; train it again")
    })?;
    let mut network = TrainedNetwork::open(job, &about, &kept.file)?;
    let known = (!names.is_empty()).then_some(names);
    let pictures = load_pictures(Path::new(data), about.pictures, known, limit);
    let pictures = pictures.map_err(TrainError::Pictures)?;
    let classes = network.classes();
    let labels: Vec<Option<u32>> = match &pictures.labels {
        Some(labels) => labels.iter().copied().map(Some).collect(),
        None => vec![None; pictures.names.len()],
    };
    for (label, picture) in labels.iter().zip(&pictures.names) {
        if let Some(class) = *label
            && class as usize >= classes
        {
            return Err(TrainError::NoSuchClass { picture: picture.clone(), class, classes });
        }
    }
    let unlabelled = vec![0; labels.len()];
    let images =
        LabelledImages::with_channels(pictures.pixels, about.pictures, unlabelled, classes)?;
    let rows = network.probabilities(&images)?;
    let each: Vec<Predicted> = rows
        .iter()
        .zip(&labels)
        .map(|(row, &class)| Predicted::most_probable(row, class))
        .collect();
    let known: Option<Vec<u32>> = labels.iter().copied().collect();
    let share = |count: f64| count / labels.len() as f64;
    let right = each.iter().filter(|one| one.class == Some(one.predicted)).count();
    let losses =
        |known: &Vec<u32>| rows.iter().zip(known).map(|(row, &class)| loss(row, class)).sum();
    let names = pictures.classes.as_deref().unwrap_or(names);
    let confusion = if known.is_some() { confusion(&each, classes) } else { Vec::new() };
    Ok(Predictions {
        data: data.to_owned(),
        examples: labels.len(),
        learned_from: learned_from(Path::new(&job.data), Path::new(data)),
        accuracy: known.is_some().then(|| share(right as f64)),
        loss: known.as_ref().map(losses).map(share),
        auc: None,
        classes: class_scores(&confusion, &each, names),
        confusion,
        damaged: Vec::new(),
        each,
        names: pictures.names,
    })
}

/// The cross-entropy of one example in nats; a probability that rounds to zero counts as the
/// smallest that single precision holds.
fn loss(row: &[f32], class: u32) -> f64 {
    let probability = match *row {
        [second] if class == 0 => 1.0 - second,
        [second] => second,
        _ => row[class as usize],
    };
    -f64::from(probability.max(f32::MIN_POSITIVE)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_the_logarithm_of_the_probability() {
        assert!((loss(&[0.25, 0.75], 0) - 4.0_f64.ln()).abs() < 1e-12);
        assert!((loss(&[0.25], 0) - (4.0_f64 / 3.0).ln()).abs() < 1e-7);
        assert!(loss(&[0.0, 1.0], 0).is_finite());
    }
}
