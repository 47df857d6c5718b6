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

#[cfg(test)]
mod tests {
    use trainwright_networks::write_safetensors;

    use super::*;

    fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect()
    }

    fn tensor<'a>(name: &str, shape: &[usize], values: &'a [f32]) -> NamedTensor<'a> {
        NamedTensor { name: name.to_owned(), shape: shape.to_vec(), values }
    }

    /// A file with these contents and checksums that were made of others, perhaps.
    fn checked(
        sums: &str,
        own: &[(&str, &str)],
        tensors: &[NamedTensor<'_>],
    ) -> Result<(), String> {
        let mut texts = texts(own);
        texts.insert(CHECKSUMS.to_owned(), sums.to_owned());
        let path = tempfile::NamedTempFile::new().unwrap();
        let mut bytes = Vec::new();
        write_safetensors(&mut bytes, &texts, tensors).unwrap();
        std::fs::write(path.path(), bytes).unwrap();
        check(&SafeTensors::open(path.path()).unwrap())
    }

    #[test]
    fn every_kind_of_change_is_told_by_its_name() {
        let own = [("job", "a"), ("progress", "b")];
        let values = [1.0, 2.0, 3.0, 4.0];
        let whole = [tensor("w", &[2, 2], &values), tensor("v", &[1], &[0.5])];
        let sums = checksums(&texts(&own), &whole);
        assert_eq!(checked(&sums, &own, &whole), Ok(()));
        assert_eq!(
            checked(&sums, &[("job", "a"), ("progress", "c")], &whole).unwrap_err(),
            "its job or progress has changed since it was written"
        );
        let turned = [tensor("w", &[4, 1], &values), tensor("v", &[1], &[0.5])];
        assert_eq!(
            checked(&sums, &own, &turned).unwrap_err(),
            "tensor `w` has changed since it was written"
        );
        assert_eq!(
            checked(&sums, &own, &whole[..1]).unwrap_err(),
            "some of its tensors are not there"
        );
        let more = [tensor("w", &[2, 2], &values), tensor("x", &[1], &[0.5])];
        assert!(checked(&sums, &own, &more).unwrap_err().starts_with("tensor `x` has changed"));
        assert!(
            checked("{}", &own, &whole).unwrap_err().starts_with("its checksums do not read: ")
        );
    }

    #[test]
    fn the_end_of_one_text_does_not_pass_for_the_start_of_the_next() {
        assert_ne!(of_texts(&texts(&[("a", "bc")])), of_texts(&texts(&[("ab", "c")])));
        assert_ne!(
            of_texts(&texts(&[("a", "b"), ("c", "d")])),
            of_texts(&texts(&[("a", "bc"), ("", "d")]))
        );
        // The checksums are no part of what they sum up.
        assert_eq!(
            of_texts(&texts(&[("a", "b"), (CHECKSUMS, "x")])),
            of_texts(&texts(&[("a", "b")]))
        );
    }

    #[test]
    fn a_zero_has_two_signs() {
        let sum = |values: &[f32]| checksums(&texts(&[]), &[tensor("w", &[1], values)]);
        assert_ne!(sum(&[0.0]), sum(&[-0.0]));
    }

    #[test]
    fn sums_are_eight_hexadecimal_digits() {
        // The check value of CRC-32C (Castagnoli), as RFC 3720 has it.
        assert_eq!(shown(crc32c_append(0, b"123456789")), "e3069283");
        assert_eq!(shown(7), "00000007");
    }
}
