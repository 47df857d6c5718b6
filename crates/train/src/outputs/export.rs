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

#[cfg(test)]
mod tests {
    use trainwright_networks::SafeTensors;

    use super::*;
    use crate::learners::fake::Fake;

    #[test]
    fn the_name_decides_the_format_in_any_case() {
        assert!(is_onnx(Path::new("net.onnx")) && is_onnx(Path::new("a.b/net.ONNX")));
        for name in ["net.safetensors", "net", "onnx", ".onnx", "net.onnx.bak"] {
            assert!(!is_onnx(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn what_onnx_has_not_is_refused_before_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.onnx");
        let learner = Fake::new(4);
        assert!(matches!(check_export(&path, &learner), Err(TrainError::SparseOnnx)));
        assert!(matches!(export(&path, &learner), Err(TrainError::SparseOnnx)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn safetensors_have_the_mark_that_others_look_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.safetensors");
        check_export(&path, &Fake::new(4)).unwrap();
        export(&path, &Fake::new(4)).unwrap();
        let file = SafeTensors::open(&path).unwrap();
        assert_eq!(file.metadata()["format"], "pt");
        assert_eq!(file.values("sums"), Some(vec![0.5, -0.5, 0.25]));
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let error = export(Path::new("/nowhere/at/all.safetensors"), &Fake::new(4)).unwrap_err();
        assert!(
            error.to_string().starts_with("cannot write /nowhere/at/all.safetensors: "),
            "{error}"
        );
    }
}
