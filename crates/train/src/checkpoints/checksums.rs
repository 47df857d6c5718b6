//! Checksums of all that is in a checkpoint, so that nothing damaged is used.
//!
//! They are one more text of the file, which other programs pass over: CRC-32C of the texts
//! together and of each tensor with its shape. The header's own layout needs none: whatever is
//! changed there no longer fits the names, the shapes or the length of the file.

use std::collections::BTreeMap;
use std::convert::Infallible;

use crc32c::crc32c_append;
use serde::{Deserialize, Serialize};
use trainwright_networks::{NamedTensor, SafeTensors};

/// The text of a checkpoint that holds them.
pub(super) const CHECKSUMS: &str = "checksums";

/// Checksums in hexadecimal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Checksums {
    texts: String,
    tensors: BTreeMap<String, String>,
}

/// The checksums of texts and tensors, as one more text.
pub(super) fn checksums(texts: &BTreeMap<String, String>, tensors: &[NamedTensor<'_>]) -> String {
    let of_tensor = |tensor: &NamedTensor<'_>| {
        let mut sum = of_shape(&tensor.shape);
        let Ok(()) = tensor.for_each_bytes(|bytes| {
            sum = crc32c_append(sum, bytes);
            Ok::<(), Infallible>(())
        });
        (tensor.name.clone(), shown(sum))
    };
    let tensors = tensors.iter().map(of_tensor).collect();
    let all = Checksums { texts: of_texts(texts), tensors };
    serde_json::to_string(&all).expect("checksums are texts")
}

/// Whether everything in a file is as it was written.
///
/// # Errors
/// What is not, in words.
pub(super) fn check(file: &SafeTensors) -> Result<(), String> {
    let text = file.metadata().get(CHECKSUMS).ok_or("its checksums are not there")?;
    let kept: Checksums = serde_json::from_str(text)
        .map_err(|error| format!("its checksums do not read: {error}"))?;
    if kept.texts != of_texts(file.metadata()) {
        return Err("its job or progress has changed since it was written".to_owned());
    }
    for (name, shape) in file.shapes() {
        let bytes = file.bytes(name).expect("a tensor with a shape has bytes");
        if kept.tensors.get(name) != Some(&shown(crc32c_append(of_shape(shape), bytes))) {
            return Err(format!("tensor `{name}` has changed since it was written"));
        }
    }
    match file.shapes().count() == kept.tensors.len() {
        true => Ok(()),
        false => Err("some of its tensors are not there".to_owned()),
    }
}

fn of_texts(texts: &BTreeMap<String, String>) -> String {
    let parts = texts.iter().filter(|(key, _)| *key != CHECKSUMS);
    let parts = parts.flat_map(|(key, value)| [key.as_bytes(), value.as_bytes()]);
    // Lengths keep the end of one text from passing for the start of the next.
    let sum = parts.fold(0, |sum, part| {
        crc32c_append(crc32c_append(sum, &(part.len() as u64).to_le_bytes()), part)
    });
    shown(sum)
}

fn of_shape(shape: &[usize]) -> u32 {
    shape.iter().fold(0, |sum, &size| crc32c_append(sum, &(size as u64).to_le_bytes()))
}

fn shown(sum: u32) -> String {
    format!("{sum:08x}")
}
