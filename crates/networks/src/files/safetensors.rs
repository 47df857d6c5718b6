//! Named tensors in a file: the safetensors format, which PyTorch and others read.
//!
//! A file is the length of a JSON header as a little-endian `u64`, the header, and the numbers of
//! all tensors without gaps. The header gives each tensor's type, shape and place, and under
//! `__metadata__` any texts. Only tensors of type `F32` are read and
//! written here; those of type `I64`, which PyTorch uses for counters, are passed over.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::error::NetworksError;

/// Longest header that readers of the format accept.
const MAX_HEADER_BYTES: u64 = 100_000_000;

const METADATA: &str = "__metadata__";

/// Type of tensors that are passed over, such as the batches that a batch norm has seen.
const COUNTER: &str = "I64";

/// Numbers that are turned into bytes at a time.
const STRETCH: usize = 1 << 13;

/// One tensor to write.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTensor<'a> {
    /// Its name, unique in the file.
    pub name: String,
    /// Its dimensions, the slowest first.
    pub shape: Vec<usize>,
    /// Its numbers, the last dimension fastest.
    pub values: &'a [f32],
}

/// A file of tensors, read whole and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct SafeTensors {
    bytes: Vec<u8>,
    metadata: BTreeMap<String, String>,
    places: BTreeMap<String, (Vec<usize>, Range<usize>)>,
}

/// Writes tensors and texts as the bytes of a safetensors file.
///
/// ```
/// use trainwright_networks::{NamedTensor, write_safetensors};
///
/// let tensor = NamedTensor { name: "w".to_owned(), shape: vec![2], values: &[1.0, 2.0] };
/// let mut bytes = Vec::new();
/// write_safetensors(&mut bytes, &[("format".to_owned(), "pt".to_owned())].into(), &[tensor])?;
/// assert!(bytes.ends_with(&2.0_f32.to_le_bytes()));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// When the output fails.
///
/// # Panics
/// When a shape does not fit its numbers or a name comes twice.
pub fn write_safetensors(
    out: &mut dyn Write,
    metadata: &BTreeMap<String, String>,
    tensors: &[NamedTensor<'_>],
) -> io::Result<()> {
    let header = header(metadata, tensors);
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    tensors.iter().try_for_each(|tensor| tensor.for_each_bytes(|bytes| out.write_all(bytes)))
}

impl NamedTensor<'_> {
    /// Hands over the bytes that a file has of the tensor, one stretch after another.
    ///
    /// # Errors
    /// The first that `take` gives.
    pub fn for_each_bytes<E>(&self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut stretch = Vec::with_capacity(STRETCH * size_of::<f32>());
        for values in self.values.chunks(STRETCH) {
            stretch.clear();
            stretch.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            take(&stretch)?;
        }
        Ok(())
    }
}

fn header(metadata: &BTreeMap<String, String>, tensors: &[NamedTensor<'_>]) -> String {
    let mut object = Map::new();
    if !metadata.is_empty() {
        object.insert(METADATA.to_owned(), json!(metadata));
    }
    let mut start = 0;
    for NamedTensor { name, shape, values } in tensors {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "tensor `{name}` has a shape");
        let end = start + size_of_val(*values);
        let entry = json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, end] });
        assert!(object.insert(name.clone(), entry).is_none(), "tensor `{name}` comes once");
        start = end;
    }
    let mut text = Value::Object(object).to_string();
    // Spaces after the header let the numbers start at a multiple of eight bytes.
    text.push_str(&" ".repeat(text.len().next_multiple_of(8) - text.len()));
    text
}

impl SafeTensors {
    /// Reads a file and checks that every tensor lies in it.
    ///
    /// # Errors
    /// When the file cannot be read or is not whole.
    pub fn open(path: &Path) -> Result<Self, NetworksError> {
        let fault = |reason: String| NetworksError::File { path: path.to_owned(), reason };
        let bytes = fs::read(path).map_err(|error| fault(error.to_string()))?;
        Self::parse(bytes).map_err(fault)
    }

    /// Texts that were stored with the tensors.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Names and shapes of all tensors, by name.
    pub fn shapes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.places.iter().map(|(name, (shape, _))| (name.as_str(), shape.as_slice()))
    }

    /// The numbers of a tensor; `None` when there is none of that name.
    pub fn values(&self, name: &str) -> Option<Vec<f32>> {
        let numbers = self.bytes(name)?.as_chunks().0.iter();
        Some(numbers.map(|&number| f32::from_le_bytes(number)).collect())
    }

    /// The bytes of a tensor as they lie in the file; `None` when there is none of that name.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        let (_, range) = self.places.get(name)?;
        Some(&self.bytes[range.clone()])
    }

    fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let length = bytes.first_chunk().map(|&first| u64::from_le_bytes(first));
        let length = length.ok_or("the file ends inside the length of its header")?;
        let room = bytes.len() as u64 - 8;
        if length > room.min(MAX_HEADER_BYTES) {
            return Err(format!("the header claims {length} bytes, the file has {room} after it"));
        }
        let start = 8 + length as usize;
        let header: Map<String, Value> = serde_json::from_slice(&bytes[8..start])
            .map_err(|error| format!("the header is not a JSON object: {error}"))?;
        let (mut metadata, mut places) = (BTreeMap::new(), BTreeMap::new());
        let mut all = Vec::new();
        for (name, entry) in header {
            if name == METADATA {
                metadata = serde_json::from_value(entry)
                    .map_err(|error| format!("the metadata is not texts by name: {error}"))?;
                continue;
            }
            let (shape, range) = place(&entry).map_err(|why| format!("tensor `{name}`: {why}"))?;
            // A place beyond any file stays there, where it leaves a gap.
            let range = start.saturating_add(range.start)..start.saturating_add(range.end);
            all.push(range.clone());
            if entry["dtype"] != COUNTER {
                places.insert(name, (shape, range));
            }
        }
        check_cover(all.into_iter(), start..bytes.len())?;
        Ok(Self { bytes, metadata, places })
    }
}

/// Shape of a tensor and its place among the numbers.
fn place(entry: &Value) -> Result<(Vec<usize>, Range<usize>), String> {
    let dtype = entry["dtype"].as_str().unwrap_or("missing");
    let size = match dtype {
        "F32" => size_of::<f32>(),
        COUNTER => size_of::<i64>(),
        _ => 0,
    };
    if size == 0 {
        return Err(format!("its type is {dtype}, only F32 can be read; convert it first"));
    }
    let sizes = |key: &str| -> Result<Vec<usize>, String> {
        serde_json::from_value(entry[key].clone())
            .map_err(|_| format!("its `{key}` is {}, not a list of sizes", entry[key]))
    };
    let (shape, offsets) = (sizes("shape")?, sizes("data_offsets")?);
    let &[start, end] = offsets.as_slice() else {
        return Err(format!("its `data_offsets` are {offsets:?}, not start and end"));
    };
    let count = shape.iter().try_fold(size, |size, &more| size.checked_mul(more));
    if end.checked_sub(start).is_none_or(|length| count != Some(length)) {
        return Err(format!("its shape {shape:?} does not fill bytes {start} to {end}"));
    }
    Ok((shape, start..end))
}

/// Whether the places follow each other without gap or overlap, to the end of the file.
fn check_cover(
    places: impl Iterator<Item = Range<usize>>,
    whole: Range<usize>,
) -> Result<(), String> {
    let mut places: Vec<Range<usize>> = places.collect();
    places.sort_by_key(|range| (range.start, range.end));
    let mut reached = whole.start;
    for range in places {
        if range.start != reached {
            let at = range.start.saturating_sub(whole.start);
            return Err(format!("the numbers have a gap or an overlap at byte {at}"));
        }
        reached = range.end;
    }
    if reached != whole.end {
        let [expected, found] = [reached, whole.end].map(|place| place - whole.start);
        return Err(format!("the tensors take {expected} bytes, the file has {found}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn metadata() -> BTreeMap<String, String> {
        [("format".to_owned(), "pt".to_owned())].into()
    }

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let values = [1.0, -2.0];
        let tensors = [NamedTensor { name: "w".to_owned(), shape: vec![2, 1], values: &values }];
        let mut written = Vec::new();
        write_safetensors(&mut written, &metadata(), &tensors).unwrap();
        let header = concat!(
            r#"{"__metadata__":{"format":"pt"},"#,
            r#""w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}"#
        );
        let padded = format!("{header:<88}");
        let mut expected = 88_u64.to_le_bytes().to_vec();
        expected.extend(padded.as_bytes());
        expected.extend([0, 0, 128, 63, 0, 0, 0, 192]);
        assert_eq!(written, expected);
    }

    #[track_caller]
    fn check_refused(header: &str, numbers: usize, message: &str) {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(vec![0; numbers]);
        let error = SafeTensors::parse(bytes).unwrap_err();
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn damage_is_named() {
        let tensor = |rest: &str| format!("{{\"w\":{{{rest}}}}}");
        check_refused("[1]", 0, "not a JSON object");
        check_refused(&tensor(r#""dtype":"F16""#), 0, "tensor `w`: its type is F16");
        let whole = r#""dtype":"F32","shape":[2],"data_offsets":[0,8]"#;
        check_refused(&tensor(whole), 7, "the tensors take 8 bytes, the file has 7");
        check_refused(&tensor(whole), 9, "the tensors take 8 bytes, the file has 9");
        let shifted = r#""dtype":"F32","shape":[2],"data_offsets":[4,12]"#;
        check_refused(&tensor(shifted), 12, "a gap or an overlap at byte 4");
        let wrong = r#""dtype":"F32","shape":[3],"data_offsets":[0,8]"#;
        check_refused(&tensor(wrong), 8, "its shape [3] does not fill bytes 0 to 8");
        let error = SafeTensors::parse(vec![255; 12]).unwrap_err();
        assert!(error.contains("the header claims"), "{error}");
        assert!(SafeTensors::parse(vec![0; 7]).is_err());
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = SafeTensors::open(Path::new("no-such.safetensors")).unwrap_err().to_string();
        assert!(error.starts_with("no-such.safetensors: "), "{error}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            tensors in prop::collection::vec(
                prop::collection::vec(any::<u32>().prop_map(f32::from_bits), 0..20), 0..5,
            ),
        ) {
            let named: Vec<NamedTensor<'_>> = tensors
                .iter()
                .enumerate()
                .map(|(index, values)| {
                    NamedTensor { name: format!("t{index}"), shape: vec![values.len()], values }
                })
                .collect();
            let mut written = Vec::new();
            write_safetensors(&mut written, &metadata(), &named).unwrap();
            let read = SafeTensors::parse(written).unwrap();
            prop_assert_eq!(read.metadata(), &metadata());
            let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<u32>>();
            for (index, values) in tensors.iter().enumerate() {
                let found = read.values(&format!("t{index}")).unwrap();
                prop_assert_eq!(bits(&found), bits(values));
            }
            prop_assert_eq!(read.shapes().count(), tensors.len());
            prop_assert_eq!(read.values("none"), None);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = SafeTensors::parse(bytes);
        }
    }

    #[test]
    fn places_beyond_any_file_are_refused() {
        let most = usize::MAX;
        let far = format!(
            r#"{{"w":{{"dtype":"F32","shape":[1],"data_offsets":[{},{most}]}}}}"#,
            most - 4
        );
        check_refused(&far, 4, "a gap or an overlap");
        let empty =
            format!(r#"{{"w":{{"dtype":"F32","shape":[0],"data_offsets":[{most},{most}]}}}}"#);
        check_refused(&empty, 0, "a gap or an overlap");
        let large = format!(r#"{{"w":{{"dtype":"F32","shape":[{most},2],"data_offsets":[0,8]}}}}"#);
        check_refused(&large, 8, "does not fill bytes 0 to 8");
        let turned = r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}"#;
        check_refused(turned, 4, "does not fill bytes 4 to 0");
        let three = r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}}"#;
        check_refused(three, 4, "its `data_offsets` are [0, 4, 8], not start and end");
        let text = r#"{"w":{"dtype":"F32","shape":"1","data_offsets":[0,4]}}"#;
        check_refused(text, 4, "its `shape` is \"1\", not a list of sizes");
    }

    #[test]
    fn two_tensors_in_one_place_are_refused() {
        let both = r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},
                       "b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
        check_refused(both, 4, "a gap or an overlap at byte 0");
    }

    #[test]
    fn counters_are_passed_over_and_their_room_is_counted() {
        let header = r#"{"seen":{"dtype":"I64","shape":[],"data_offsets":[4,12]},
                         "w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
        let numbers = [&1.5_f32.to_le_bytes()[..], &7_i64.to_le_bytes()].concat();
        let length = (header.len() as u64).to_le_bytes();
        let bytes = [&length[..], header.as_bytes(), &numbers].concat();
        let file = SafeTensors::parse(bytes).unwrap();
        assert!(file.shapes().eq([("w", &[1][..])]));
        assert_eq!((file.values("w"), file.values("seen")), (Some(vec![1.5]), None));
    }

    #[test]
    fn metadata_that_is_no_text_is_refused() {
        check_refused(r#"{"__metadata__":{"step":5}}"#, 0, "the metadata is not texts by name");
    }

    #[test]
    fn long_tensors_are_handed_over_in_stretches_that_join() {
        let values: Vec<f32> = (0..2 * STRETCH + 3).map(|at| at as f32).collect();
        let tensor =
            NamedTensor { name: "w".to_owned(), shape: vec![values.len()], values: &values };
        let mut pieces = Vec::new();
        let mut take = |bytes: &[u8]| {
            pieces.push(bytes.to_vec());
            Ok::<(), ()>(())
        };
        tensor.for_each_bytes(&mut take).unwrap();
        assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [4 * STRETCH, 4 * STRETCH, 12]);
        let expected: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(pieces.concat(), expected);
        let mut calls = 0;
        let stopped = tensor.for_each_bytes(|_| {
            calls += 1;
            Err("full")
        });
        assert_eq!((stopped, calls), (Err("full"), 1));
    }
}
