//! Trained networks in files for other programs.

use std::path::Path;

use trainwright_networks::write_safetensors;
use trainwright_records::write_whole;

use crate::error::TrainError;
use crate::learners::learner::Learner;

/// Whether a file is to be an ONNX file, by its name.
fn is_onnx(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("onnx"))
}

/// Whether a network can be written to a file of this name; better known before than after the
/// training.
///
/// # Errors
/// When it cannot.
pub(crate) fn check_export(path: &Path, learner: &dyn Learner) -> Result<(), TrainError> {
    if is_onnx(path) { learner.onnx().map(drop) } else { Ok(()) }
}

/// Writes a network to a file, whole or not at all: ONNX where its name ends so, else safetensors.
///
/// # Errors
/// When the file cannot be written, or ONNX has no such network.
pub(crate) fn export(path: &Path, learner: &dyn Learner) -> Result<(), TrainError> {
    let written = if is_onnx(path) {
        let bytes = learner.onnx()?;
        write_whole(path, |out| out.write_all(&bytes))
    } else {
        let tensors = learner.export();
        let tensors: Vec<_> = tensors.iter().map(|tensor| tensor.borrowed()).collect();
        let texts = [("format".to_owned(), "pt".to_owned())].into();
        write_whole(path, |out| write_safetensors(out, &texts, &tensors))
    };
    written.map_err(|source| TrainError::Write { path: path.to_owned(), source })
}
