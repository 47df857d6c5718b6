//! One feature out of an encoded `tf.train.Example`, without allocating anything.
//!
//! The input pipeline reads two features of millions of records; [`Example`] would build a map of
//! all of them each time. Forms that no writer makes but the encoding allows (a feature in
//! several pieces) are left to [`Example`], so that both always agree.

use crate::error::RecordsError;
use crate::messages::example::{Example, misfit};
use crate::messages::protobuf::Fields;

const BYTES_LIST: u32 = 1;
const INT64_LIST: u32 = 3;

/// An encoded example that features are looked up in.
///
/// ```
/// use trainwright_records::{Example, ExampleView, Feature};
///
/// let bytes = Example::from([("label", Feature::Ints(vec![7]))]).encode();
/// assert_eq!(ExampleView::new(&bytes).int("label")?, 7);
/// # Ok::<(), trainwright_records::RecordsError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ExampleView<'a> {
    bytes: &'a [u8],
}

/// What a quick look found.
enum Found<'a> {
    Nothing,
    /// The one list of the feature, with its kind.
    List(u32, &'a [u8]),
    /// A form that needs the thorough reader.
    Unusual,
}

impl<'a> ExampleView<'a> {
    /// A view of the bytes of an example, which are read when something is looked up.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The single byte string of a feature.
    ///
    /// # Errors
    /// When the feature is missing or is anything else, or the bytes are no example.
    pub fn bytes(&self, feature: &'static str) -> Result<&'a [u8], RecordsError> {
        let expected = "byte string";
        match self.find(feature)? {
            Found::Nothing => Err(misfit(feature, expected, false)),
            Found::List(BYTES_LIST, list) => {
                let mut fields = Fields::new("BytesList", list);
                match (fields.next().transpose()?, fields.next()) {
                    (Some(field), None) if field.number == 1 => field.bytes(),
                    _ => Example::parse(self.bytes)?.bytes(feature),
                }
            }
            Found::List(..) => Err(misfit(feature, expected, true)),
            Found::Unusual => Example::parse(self.bytes)?.bytes(feature),
        }
    }

    /// The single integer of a feature.
    ///
    /// # Errors
    /// When the feature is missing or is anything else, or the bytes are no example.
    pub fn int(&self, feature: &'static str) -> Result<i64, RecordsError> {
        let expected = "integer";
        match self.find(feature)? {
            Found::Nothing => Err(misfit(feature, expected, false)),
            Found::List(INT64_LIST, list) => {
                let mut fields = Fields::new("Int64List", list);
                match (fields.next().transpose()?, fields.next()) {
                    (Some(field), None) if field.number == 1 => match field.single_int()? {
                        Some(number) => Ok(number),
                        None => Err(misfit(feature, expected, true)),
                    },
                    _ => Example::parse(self.bytes)?.int(feature),
                }
            }
            Found::List(..) => Err(misfit(feature, expected, true)),
            Found::Unusual => Example::parse(self.bytes)?.int(feature),
        }
    }

    /// The last entry of that name wins, as everywhere in protocol buffer maps.
    fn find(&self, name: &str) -> Result<Found<'a>, RecordsError> {
        let mut found = Found::Nothing;
        for features in Fields::new("Example", self.bytes) {
            let features = features?;
            if features.number != 1 {
                continue;
            }
            for entry in Fields::new("Features", features.bytes()?) {
                let entry = entry?;
                if entry.number == 1
                    && let Some(list) = named_list(entry.bytes()?, name)?
                {
                    found = list;
                }
            }
        }
        Ok(found)
    }
}

/// The list of a map entry, when the entry has that name.
fn named_list<'a>(entry: &'a [u8], name: &str) -> Result<Option<Found<'a>>, RecordsError> {
    let (mut key, mut value, mut values) = (&b""[..], &b""[..], 0);
    for field in Fields::new("FeatureEntry", entry) {
        let field = field?;
        match field.number {
            1 => key = field.bytes()?,
            2 => (value, values) = (field.bytes()?, values + 1),
            _ => {}
        }
    }
    if key != name.as_bytes() {
        return Ok(None);
    }
    let mut lists = Fields::new("Feature", value);
    Ok(Some(match (values, lists.next().transpose()?, lists.next()) {
        (1, Some(list), None) if (1..=3).contains(&list.number) => {
            Found::List(list.number, list.bytes()?)
        }
        _ => Found::Unusual,
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::messages::protobuf::{put_bytes_field, put_varint};

    /// Encodes a feature the way the arguments say, packed or not, in one piece or in two.
    fn feature(kind: u8, numbers: &[i64], packed: bool, pieces: bool) -> Vec<u8> {
        let list = |numbers: &[i64]| {
            let mut list = Vec::new();
            if kind == 1 {
                numbers.iter().for_each(|n| put_bytes_field(&mut list, 1, &n.to_le_bytes()));
            } else if packed {
                let mut content = Vec::new();
                numbers.iter().for_each(|&n| put_varint(&mut content, n as u64));
                put_bytes_field(&mut list, 1, &content);
            } else {
                for &number in numbers {
                    list.push(0x08);
                    put_varint(&mut list, number as u64);
                }
            }
            list
        };
        let mut feature = Vec::new();
        if pieces {
            let (first, second) = numbers.split_at(numbers.len() / 2);
            put_bytes_field(&mut feature, kind.into(), &list(first));
            put_bytes_field(&mut feature, kind.into(), &list(second));
        } else {
            put_bytes_field(&mut feature, kind.into(), &list(numbers));
        }
        feature
    }

    proptest! {
        #[test]
        fn the_view_agrees_with_the_whole_example(
            entries in prop::collection::vec(
                (
                    prop::sample::select(vec!["image", "label", "x"]),
                    prop::sample::select(vec![1_u8, 3]),
                    prop::collection::vec(any::<i64>(), 0..3),
                    any::<(bool, bool, bool)>(),
                ),
                0..6,
            ),
        ) {
            let mut features = Vec::new();
            for (name, kind, numbers, (packed, pieces, key_last)) in &entries {
                let value = feature(*kind, numbers, *packed, *pieces);
                let mut entry = Vec::new();
                if *key_last {
                    put_bytes_field(&mut entry, 2, &value);
                }
                put_bytes_field(&mut entry, 1, name.as_bytes());
                if !*key_last {
                    put_bytes_field(&mut entry, 2, &value);
                }
                put_bytes_field(&mut features, 1, &entry);
            }
            let mut bytes = Vec::new();
            put_bytes_field(&mut bytes, 1, &features);
            let (whole, view) = (Example::parse(&bytes).unwrap(), ExampleView::new(&bytes));
            let text = |e: RecordsError| e.to_string();
            for name in ["image", "label"] {
                prop_assert_eq!(view.int(name).map_err(text), whole.int(name).map_err(text));
                prop_assert_eq!(view.bytes(name).map_err(text), whole.bytes(name).map_err(text));
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = ExampleView::new(&bytes).int("label");
            let _ = ExampleView::new(&bytes).bytes("image");
        }
    }
}
