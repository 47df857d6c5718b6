//! A TOML table whose order matters.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Keys and values in the order of the file.
#[derive(Debug, Clone)]
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> FromIterator<(String, T)> for Ordered<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
            type Value = Ordered<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Ordered(pairs))
            }
        }
        deserializer.deserialize_map(Pairs(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Ordered<T> {
    fn schema_name() -> Cow<'static, str> {
        BTreeMap::<String, T>::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, T>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tables_keep_the_order_in_which_they_are_written() {
        let read: Ordered<u8> = toml::from_str("z = 1\na = 2\nm = 3\n").unwrap();
        let pairs = [("z", 1), ("a", 2), ("m", 3)].map(|(key, value)| (key.to_owned(), value));
        assert_eq!(read.0, pairs);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let error = serde_json::from_str::<Ordered<u8>>("[1]").unwrap_err().to_string();
        assert!(error.starts_with("invalid type: sequence, expected a table"), "{error}");
    }

    #[test]
    fn the_schema_is_that_of_a_plain_table() {
        let ordered = schemars::schema_for!(Ordered<u8>).to_value();
        assert_eq!(ordered, schemars::schema_for!(BTreeMap<String, u8>).to_value());
    }

    proptest! {
        #[test]
        fn any_order_of_keys_is_kept(keys in proptest::collection::hash_set("[a-z]{1,6}", 0..12)) {
            let keys: Vec<String> = keys.into_iter().collect();
            let text: String = keys.iter().map(|key| format!("{key} = true\n")).collect();
            let read: Ordered<bool> = toml::from_str(&text).unwrap();
            prop_assert_eq!(read.0.into_iter().map(|(key, _)| key).collect::<Vec<_>>(), keys);
        }
    }
}
