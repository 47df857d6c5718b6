//! `tf.train.Example`: named lists of bytes, floats or integers.
//!
//! Reading borrows the record's bytes and takes packed and unpacked numbers in any order of keys;
//! writing packs numbers and sorts keys, so that equal examples have equal bytes.

use std::collections::BTreeMap;

use crate::error::RecordsError;
use crate::messages::protobuf::{Fields, put_bytes_field, put_varint};

/// One example: its features by name.
///
/// ```
/// use trainwright_records::{Example, Feature};
///
/// let example = Example::from([("label", Feature::Ints(vec![7]))]);
/// let bytes = example.encode();
/// assert_eq!(Example::parse(&bytes)?.int("label")?, 7);
/// # Ok::<(), trainwright_records::RecordsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Example<'a> {
    /// The features by name.
    pub features: BTreeMap<&'a str, Feature<'a>>,
}

/// The values of one feature.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Feature<'a> {
    /// The feature is named but holds no list.
    #[default]
    Unset,
    /// A list of byte strings.
    Bytes(Vec<&'a [u8]>),
    /// A list of floats.
    Floats(Vec<f32>),
    /// A list of integers.
    Ints(Vec<i64>),
}

impl<'a, const N: usize> From<[(&'a str, Feature<'a>); N]> for Example<'a> {
    fn from(features: [(&'a str, Feature<'a>); N]) -> Self {
        Self { features: BTreeMap::from(features) }
    }
}

impl<'a> Example<'a> {
    /// Reads an example; a name that is repeated keeps its last feature, as everywhere in
    /// protocol buffer maps.
    ///
    /// # Errors
    /// When the bytes are no such message.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, RecordsError> {
        let mut example = Self::default();
        for field in Fields::new("Example", bytes) {
            let field = field?;
            if field.number == 1 {
                example.parse_features(field.bytes()?)?;
            }
        }
        Ok(example)
    }

    /// The bytes of the example.
    pub fn encode(&self) -> Vec<u8> {
        let mut features = Vec::new();
        for (name, feature) in &self.features {
            let mut entry = Vec::new();
            put_bytes_field(&mut entry, 1, name.as_bytes());
            put_bytes_field(&mut entry, 2, &feature.encode());
            put_bytes_field(&mut features, 1, &entry);
        }
        let mut example = Vec::with_capacity(features.len() + 8);
        put_bytes_field(&mut example, 1, &features);
        example
    }

    /// The single byte string of a feature.
    ///
    /// # Errors
    /// When the feature is missing or is anything else.
    pub fn bytes(&self, feature: &'static str) -> Result<&'a [u8], RecordsError> {
        match self.features.get(feature) {
            Some(Feature::Bytes(list)) if list.len() == 1 => Ok(list[0]),
            other => Err(misfit(feature, "byte string", other.is_some())),
        }
    }

    /// The single integer of a feature.
    ///
    /// # Errors
    /// When the feature is missing or is anything else.
    pub fn int(&self, feature: &'static str) -> Result<i64, RecordsError> {
        match self.features.get(feature) {
            Some(Feature::Ints(list)) if list.len() == 1 => Ok(list[0]),
            other => Err(misfit(feature, "integer", other.is_some())),
        }
    }

    pub(crate) fn parse_features(&mut self, bytes: &'a [u8]) -> Result<(), RecordsError> {
        for entry in Fields::new("Features", bytes) {
            let entry = entry?;
            if entry.number != 1 {
                continue;
            }
            let (mut name, mut feature) = ("", Feature::Unset);
            for field in Fields::new("FeatureEntry", entry.bytes()?) {
                let field = field?;
                match field.number {
                    1 => name = field.text()?,
                    2 => feature.merge(field.bytes()?)?,
                    _ => {}
                }
            }
            self.features.insert(name, feature);
        }
        Ok(())
    }
}

impl<'a> Feature<'a> {
    /// Adds the lists of an encoded feature: a list of the same kind is continued, one of another
    /// kind replaces, which is how protocol buffers merge a `oneof`.
    pub(crate) fn merge(&mut self, bytes: &'a [u8]) -> Result<(), RecordsError> {
        for list in Fields::new("Feature", bytes) {
            let list = list?;
            match list.number {
                1 => self.merge_bytes(list.bytes()?)?,
                2 => self.merge_floats(list.bytes()?)?,
                3 => self.merge_ints(list.bytes()?)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn merge_bytes(&mut self, list: &'a [u8]) -> Result<(), RecordsError> {
        let mut values = match std::mem::take(self) {
            Self::Bytes(values) => values,
            _ => Vec::new(),
        };
        for field in Fields::new("BytesList", list) {
            let field = field?;
            if field.number == 1 {
                values.push(field.bytes()?);
            }
        }
        *self = Self::Bytes(values);
        Ok(())
    }

    fn merge_floats(&mut self, list: &[u8]) -> Result<(), RecordsError> {
        let mut values = match std::mem::take(self) {
            Self::Floats(values) => values,
            _ => Vec::new(),
        };
        for field in Fields::new("FloatList", list) {
            let field = field?;
            if field.number == 1 {
                field.floats_into(&mut values)?;
            }
        }
        *self = Self::Floats(values);
        Ok(())
    }

    fn merge_ints(&mut self, list: &[u8]) -> Result<(), RecordsError> {
        let mut values = match std::mem::take(self) {
            Self::Ints(values) => values,
            _ => Vec::new(),
        };
        for field in Fields::new("Int64List", list) {
            let field = field?;
            if field.number == 1 {
                field.ints_into(&mut values)?;
            }
        }
        *self = Self::Ints(values);
        Ok(())
    }

    fn encode(&self) -> Vec<u8> {
        let (mut list, mut packed) = (Vec::new(), Vec::new());
        let kind = match self {
            Self::Unset => return Vec::new(),
            Self::Bytes(values) => {
                values.iter().for_each(|value| put_bytes_field(&mut list, 1, value));
                1
            }
            Self::Floats(values) => {
                values.iter().for_each(|value| packed.extend(value.to_le_bytes()));
                2
            }
            Self::Ints(values) => {
                values.iter().for_each(|&value| put_varint(&mut packed, value as u64));
                3
            }
        };
        if !packed.is_empty() {
            put_bytes_field(&mut list, 1, &packed);
        }
        let mut feature = Vec::with_capacity(list.len() + 8);
        put_bytes_field(&mut feature, kind, &list);
        feature
    }
}

pub(crate) fn misfit(feature: &'static str, expected: &'static str, present: bool) -> RecordsError {
    if present {
        RecordsError::FeatureShape { feature, expected }
    } else {
        RecordsError::FeatureMissing { feature }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Written out by hand from feature.proto and the encoding guide.
    const BY_HAND: &[u8] = b"\x0a\x23\
        \x0a\x0e\x0a\x05image\x12\x05\x0a\x03\x0a\x01\xff\
        \x0a\x11\x0a\x05label\x12\x08\x1a\x06\x0a\x04\x07\xac\x02\x00";

    #[test]
    fn hand_made_bytes_are_read_and_written() {
        let example = Example::from([
            ("image", Feature::Bytes(vec![&[0xff]])),
            ("label", Feature::Ints(vec![7, 300, 0])),
        ]);
        assert_eq!(Example::parse(BY_HAND).unwrap(), example);
        assert_eq!(example.encode(), BY_HAND);
    }

    #[test]
    fn unpacked_numbers_and_value_before_key_are_read() {
        // Entry: field 2 (feature with unpacked ints 5 and -1), then field 1 (key "k").
        let ints = b"\x1a\x0d\x08\x05\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        let mut entry = Vec::new();
        put_bytes_field(&mut entry, 2, ints);
        put_bytes_field(&mut entry, 1, b"k");
        let (mut features, mut bytes) = (Vec::new(), Vec::new());
        put_bytes_field(&mut features, 1, &entry);
        put_bytes_field(&mut bytes, 1, &features);
        let example = Example::parse(&bytes).unwrap();
        assert_eq!(example.features["k"], Feature::Ints(vec![5, -1]));
    }

    #[test]
    fn a_missing_or_unfit_feature_is_named() {
        let example = Example::parse(BY_HAND).unwrap();
        assert_eq!(example.int("depth").unwrap_err().to_string(), "feature `depth` is missing");
        assert_eq!(
            example.int("label").unwrap_err().to_string(),
            "feature `label` does not hold exactly one integer"
        );
    }

    #[derive(Debug, Clone)]
    enum Owned {
        Unset,
        Bytes(Vec<Vec<u8>>),
        Floats(Vec<f32>),
        Ints(Vec<i64>),
    }

    fn any_features() -> impl Strategy<Value = BTreeMap<String, Owned>> {
        let feature = prop_oneof![
            Just(Owned::Unset),
            any::<Vec<Vec<u8>>>().prop_map(Owned::Bytes),
            any::<Vec<f32>>().prop_map(Owned::Floats),
            any::<Vec<i64>>().prop_map(Owned::Ints),
        ];
        prop::collection::btree_map(".{0,8}", feature, 0..5)
    }

    proptest! {
        #[test]
        fn examples_survive_the_round_trip(owned in any_features()) {
            let features = owned.iter().map(|(name, feature)| {
                let feature = match feature {
                    Owned::Unset => Feature::Unset,
                    Owned::Bytes(list) => Feature::Bytes(list.iter().map(Vec::as_slice).collect()),
                    Owned::Floats(list) => Feature::Floats(list.clone()),
                    Owned::Ints(list) => Feature::Ints(list.clone()),
                };
                (name.as_str(), feature)
            });
            let example = Example { features: features.collect() };
            let bytes = example.encode();
            prop_assert_eq!(Example::parse(&bytes).unwrap(), example);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = Example::parse(&bytes);
        }

        #[test]
        fn a_damaged_example_never_panics(place in 0..BY_HAND.len(), byte: u8) {
            let mut bytes = BY_HAND.to_vec();
            bytes[place] = byte;
            let _ = Example::parse(&bytes);
        }
    }
}
