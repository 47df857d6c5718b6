//! Checkpoints that are damaged in every place, and those of earlier versions.

use std::fs;

use trainwright_networks::{NamedTensor, write_safetensors};

use super::super::checksums::checksums;
use super::*;

/// The bytes of a checkpoint with these texts and one tensor of two.
fn bytes_with(version: &str, with_checksums: bool) -> Vec<u8> {
    let job = r#"{"network":"mlp","data":"any","seed":7}"#;
    let progress = serde_json::to_string(&Progress::start(None)).unwrap();
    let texts = [(VERSION_KEY, version), (JOB_KEY, job), (PROGRESS_KEY, &progress)];
    let mut texts = texts.map(|(key, text)| (key.to_owned(), text.to_owned())).into();
    let tensor = |name: &str, values| NamedTensor { name: name.to_owned(), shape: vec![2], values };
    let tensors = [tensor("parameters.w", &[1.0, -2.0]), tensor("optimizer.v", &[0.0, 3.5])];
    if with_checksums {
        let sums = checksums(&texts, &tensors);
        texts.insert(CHECKSUMS.to_owned(), sums);
    }
    let mut bytes = Vec::new();
    write_safetensors(&mut bytes, &texts, &tensors).unwrap();
    bytes
}

fn open(bytes: &[u8]) -> Result<Kept, TrainError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.safetensors");
    fs::write(&path, bytes).unwrap();
    Kept::open(&path)
}

#[test]
fn a_flipped_bit_in_a_checkpoint_is_refused() {
    let whole = bytes_with(VERSION, true);
    assert_eq!(open(&whole).unwrap().file.values("optimizer.v"), Some(vec![0.0, 3.5]));
    let mut bytes = whole.clone();
    for place in 0..whole.len() {
        for bit in 0..8 {
            bytes[place] ^= 1 << bit;
            match open(&bytes) {
                Err(TrainError::DamagedCheckpoint { problem, .. }) => assert!(!problem.is_empty()),
                Err(other) => panic!("bit {bit} of byte {place}: {other}"),
                Ok(_) => panic!("bit {bit} of byte {place} is used"),
            }
            bytes[place] = whole[place];
        }
    }
}

#[test]
fn a_checkpoint_cut_anywhere_is_refused() {
    let whole = bytes_with(VERSION, true);
    for length in 0..whole.len() {
        let cut = open(&whole[..length]);
        assert!(matches!(cut, Err(TrainError::DamagedCheckpoint { .. })), "{length} bytes");
    }
}

#[test]
fn what_has_changed_is_named() {
    let mut bytes = bytes_with(VERSION, true);
    *bytes.last_mut().unwrap() ^= 1;
    let error = open(&bytes).err().unwrap().to_string();
    assert!(error.ends_with("tensor `optimizer.v` has changed since it was written"), "{error}");
}

#[test]
fn the_version_without_checksums_is_still_read() {
    // Written by the program before it had checksums: `train --neurons 2 --batch 3 --epochs 2
    // --seed 7 --optimizer adam` on seven pictures of one pixel.
    let sample = include_bytes!("../../../tests/data/version-1.safetensors");
    let kept = open(sample).unwrap();
    assert_eq!(kept.job().unwrap().neurons, 2);
    assert_eq!((kept.progress().unwrap().steps, kept.progress().unwrap().epoch), (6, 3));
    assert_eq!(kept.file.values("optimizer.steps").unwrap(), [6.0, 0.0, 0.0, 0.0]);
    let error = open(&bytes_with(VERSION, false)).err().unwrap();
    assert!(matches!(error, TrainError::DamagedCheckpoint { .. }), "{error}");
}

#[test]
fn a_newer_version_and_what_is_no_checkpoint_are_told_from_damage() {
    let error = open(&bytes_with("trainwright/checkpoint/3", true)).err().unwrap().to_string();
    assert!(error.contains("its version is `trainwright/checkpoint/3`"), "{error}");
    let mut weights = Vec::new();
    write_safetensors(&mut weights, &[("format".into(), "pt".into())].into(), &[]).unwrap();
    let error = open(&weights).err().unwrap().to_string();
    assert!(error.contains("is it a checkpoint?"), "{error}");
}

#[test]
fn other_programs_read_a_checkpoint_as_before() {
    // The reference reader takes any texts under `__metadata__` and tensors of known types.
    let bytes = bytes_with(VERSION, true);
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    assert!(header["__metadata__"].as_object().unwrap().values().all(|text| text.is_string()));
    assert_eq!(header["parameters.w"]["dtype"], "F32");
    assert_eq!(bytes.len(), 8 + length + 16, "the numbers follow the header, and nothing else");
}

#[test]
fn the_last_sound_checkpoint_of_a_folder_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let name = |step: u32| folder.path().join(format!("step-{step:012}-epoch-000001.safetensors"));
    assert!(Kept::last_of(folder.path()).unwrap().is_none());
    for step in [1, 2, 3] {
        fs::write(name(step), bytes_with(VERSION, true)).unwrap();
    }
    let (kept, damaged) = Kept::last_of(folder.path()).unwrap().unwrap();
    assert_eq!((kept.path, damaged.len()), (name(3), 0));
    fs::write(name(3), b"cut").unwrap();
    fs::write(name(2), b"").unwrap();
    let (kept, damaged) = Kept::last_of(folder.path()).unwrap().unwrap();
    assert_eq!(kept.path, name(1));
    let passed_over: Vec<_> = damaged.iter().map(|it| (&it.checkpoint, &it.used)).collect();
    assert_eq!(passed_over, [(&name(3), &name(1)), (&name(2), &name(1))]);
    fs::write(name(1), b"cut").unwrap();
    let error = Kept::last_of(folder.path()).err().unwrap();
    assert!(matches!(&error, TrainError::NoSoundCheckpoint { path, .. } if *path == name(3)));
}

#[test]
fn a_checkpoint_that_is_not_there_is_not_called_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gone.safetensors");
    let error = Kept::open(&path).err().expect("nothing is there");
    assert!(matches!(error, TrainError::Checkpoint { .. }), "{error}");
    let words =
        format!("cannot use checkpoint {}: there is no such file or folder", path.display());
    assert_eq!(error.to_string(), words);
}
