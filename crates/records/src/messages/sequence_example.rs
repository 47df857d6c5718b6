//! `tf.train.SequenceExample`: features of the whole, and lists of features, one a step.

use std::collections::BTreeMap;

use crate::error::RecordsError;
use crate::messages::example::{Example, Feature};
use crate::messages::protobuf::Fields;

/// One sequence; it borrows the record's bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SequenceExample<'a> {
    /// Features of the whole sequence.
    pub context: Example<'a>,
    /// Lists by name, each with one feature a step.
    pub lists: BTreeMap<&'a str, Vec<Feature<'a>>>,
}

impl<'a> SequenceExample<'a> {
    /// Reads a sequence; a name that is repeated keeps its last list.
    ///
    /// # Errors
    /// When the bytes are no such message.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, RecordsError> {
        let mut sequence = Self::default();
        for field in Fields::new("SequenceExample", bytes) {
            let field = field?;
            match field.number {
                1 => sequence.context.parse_features(field.bytes()?)?,
                2 => sequence.parse_lists(field.bytes()?)?,
                _ => {}
            }
        }
        Ok(sequence)
    }

    fn parse_lists(&mut self, bytes: &'a [u8]) -> Result<(), RecordsError> {
        for entry in Fields::new("FeatureLists", bytes) {
            let entry = entry?;
            if entry.number != 1 {
                continue;
            }
            let (mut name, mut list) = ("", Vec::new());
            for field in Fields::new("FeatureListEntry", entry.bytes()?) {
                let field = field?;
                match field.number {
                    1 => name = field.text()?,
                    2 => parse_list(field.bytes()?, &mut list)?,
                    _ => {}
                }
            }
            self.lists.insert(name, list);
        }
        Ok(())
    }
}

fn parse_list<'a>(bytes: &'a [u8], list: &mut Vec<Feature<'a>>) -> Result<(), RecordsError> {
    for field in Fields::new("FeatureList", bytes) {
        let field = field?;
        if field.number == 1 {
            let mut feature = Feature::Unset;
            feature.merge(field.bytes()?)?;
            list.push(feature);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hand_made_bytes_are_read() {
        // Context {"n": ints [2]}, lists {"t": [ints [7], floats [0.5]]}, by hand from
        // example.proto and the encoding guide.
        let bytes = b"\x0a\x0c\x0a\x0a\x0a\x01n\x12\x05\x1a\x03\x0a\x01\x02\
            \x12\x17\x0a\x15\x0a\x01t\x12\x10\x0a\x05\x1a\x03\x0a\x01\x07\
            \x0a\x07\x12\x05\x0d\x00\x00\x00\x3f";
        let sequence = SequenceExample::parse(bytes).unwrap();
        assert_eq!(sequence.context.int("n").unwrap(), 2);
        let steps = [Feature::Ints(vec![7]), Feature::Floats(vec![0.5])];
        assert_eq!(sequence.lists["t"], steps);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = SequenceExample::parse(&bytes);
        }
    }
}
