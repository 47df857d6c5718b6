//! Drafts out of a parsed document: [`Reading`] hands its values to serde.
//!
//! `toml` has a deserializer of its own, with three ways to visit a table, for each of which all
//! drafts were compiled once more. Messages and places of faults are the same here.

use std::fmt::Display;
use std::ops::Range;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

/// A value of a document and its place.
#[derive(Clone)]
pub(crate) struct Reading<'a> {
    pub(crate) value: &'a DeValue<'a>,
    pub(crate) span: Range<usize>,
}

impl<'a> From<&'a Spanned<DeValue<'a>>> for Reading<'a> {
    fn from(own: &'a Spanned<DeValue<'a>>) -> Self {
        Self { value: own.get_ref(), span: own.span() }
    }
}

/// What does not fit, and where.
#[derive(Debug)]
pub(crate) struct Misfit {
    pub(crate) message: String,
    pub(crate) span: Option<Range<usize>>,
}

impl Misfit {
    /// The innermost place counts.
    fn at(mut self, span: Range<usize>) -> Self {
        self.span.get_or_insert(span);
        self
    }
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Misfit {}

impl Error for Misfit {
    fn custom<T: Display>(message: T) -> Self {
        Self { message: message.to_string(), span: None }
    }
}

impl<'de> Deserializer<'de> for Reading<'_> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.value {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Integer(number) => whole(number, visitor),
            DeValue::Float(number) => real(number.as_str(), visitor),
            DeValue::Boolean(yes) => visitor.visit_bool(*yes),
            DeValue::Datetime(moment) => Err(Misfit::custom(format!(
                "a date or time such as `{moment}` stands for nothing in a study; write it in quotes"
            ))),
            DeValue::Array(items) => visitor.visit_seq(Items(items.iter())),
            DeValue::Table(table) => visitor.visit_map(Entries::of(table)),
        }
        .map_err(|misfit| misfit.at(self.span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.value {
            DeValue::String(text) => visitor.visit_enum(text_of(text)),
            DeValue::Table(table) => {
                visitor.visit_enum(MapAccessDeserializer::new(Entries::of(table)))
            }
            _ => Err(Misfit::custom("wanted string or table")),
        }
        .map_err(|misfit| misfit.at(self.span))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

fn text_of(text: &str) -> StrDeserializer<'_, Misfit> {
    text.into_deserializer()
}

fn whole<'de, V: Visitor<'de>>(number: &DeInteger<'_>, visitor: V) -> Result<V::Value, Misfit> {
    let (text, radix) = (number.as_str(), number.radix());
    if let Ok(number) = i64::from_str_radix(text, radix) {
        visitor.visit_i64(number)
    } else if let Ok(number) = u64::from_str_radix(text, radix) {
        visitor.visit_u64(number)
    } else if let Ok(number) = i128::from_str_radix(text, radix) {
        visitor.visit_i128(number)
    } else {
        Err(Misfit::custom("integer number overflowed"))
    }
}

fn real<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, Misfit> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() || !text.contains(|c: char| c.is_ascii_digit()) => {
            visitor.visit_f64(number)
        }
        _ => Err(Misfit::custom("floating-point number overflowed")),
    }
}

/// What is left of an array.
struct Items<'a>(std::slice::Iter<'a, Spanned<DeValue<'a>>>);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Misfit> {
        let Some(item) = self.0.next() else { return Ok(None) };
        seed.deserialize(Reading::from(item)).map(Some).map_err(|misfit| misfit.at(item.span()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// What is left of a table, and the value whose key was read last.
struct Entries<'a> {
    left: toml::map::Iter<'a, Spanned<DeString<'a>>, Spanned<DeValue<'a>>>,
    value: Option<&'a Spanned<DeValue<'a>>>,
}

impl<'a> Entries<'a> {
    fn of(table: &'a DeTable<'a>) -> Self {
        Self { left: table.iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Misfit> {
        let Some((key, value)) = self.left.next() else { return Ok(None) };
        self.value = Some(value);
        let read = seed.deserialize(text_of(key.get_ref()));
        read.map(Some).map_err(|misfit| misfit.at(key.span()))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        let value = self.value.take().expect("a value is asked for after its key");
        seed.deserialize(Reading::from(value)).map_err(|misfit| misfit.at(value.span()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct Sample {
        whole: Option<i64>,
        large: Option<u64>,
        real: Option<f64>,
        text: Option<String>,
        list: Option<Vec<Choice>>,
        inner: Option<std::collections::BTreeMap<String, Loose>>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Choice {
        First,
        Second(i64),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(untagged)]
    enum Loose {
        Flag(bool),
        Whole(i64),
        Real(f64),
        Text(String),
        List(Vec<Loose>),
    }

    fn ours<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, (String, Option<Range<usize>>)> {
        let document = DeTable::parse(text).unwrap();
        let span = document.span();
        let value = DeValue::Table(document.into_inner());
        T::deserialize(Reading { value: &value, span })
            .map_err(|misfit| (misfit.message, misfit.span))
    }

    fn theirs<T: for<'de> Deserialize<'de>>(
        text: &str,
    ) -> Result<T, (String, Option<Range<usize>>)> {
        toml::from_str(text).map_err(|fault| (fault.message().to_owned(), fault.span()))
    }

    #[test]
    fn values_and_faults_are_those_of_toml() {
        for text in [
            "whole = 0x1F\nlarge = 18446744073709551615\nreal = -1_0.5e3\ntext = 'a'",
            "list = ['first', { second = 3 }]\n[inner]\na = true\nb = [1, 2.5, 'x']",
            "real = 3",
            "real = inf",
            "real = 1e999",
            "whole = 2.5",
            "whole = 99999999999999999999999999",
            "text = 3",
            "other = 3",
            "list = 'first'",
            "list = ['third']",
            "list = [{ third = 3 }]",
            "list = [{ second = 'x' }]",
            "list = [3]",
            "[inner]\na = { b = 1 }",
            "[[list]]\nsecond = 1",
            "inner = []",
        ] {
            assert_eq!(ours::<Sample>(text), theirs::<Sample>(text), "{text}");
        }
    }

    #[test]
    fn a_date_is_refused_in_words() {
        let (message, span) = ours::<Sample>("text = 2026-01-02").unwrap_err();
        assert!(message.starts_with("a date or time such as `2026-01-02`"), "{message}");
        assert_eq!(span, Some(7..17));
    }

    proptest! {
        #[test]
        fn any_text_reads_as_toml_reads_it(
            whole in any::<i64>(), real in any::<f64>().prop_filter("not a number", |it| !it.is_nan()),
            text in "[a-z \\\\\"]{0,9}", key in "[a-z]{1,4}",
        ) {
            let quoted = toml::Value::String(text).to_string();
            let file = format!(
                "whole = {whole}\nreal = {real:?}\ntext = {quoted}\n[inner]\n{key} = [{whole}, {quoted}]"
            );
            prop_assert_eq!(ours::<Sample>(&file), theirs::<Sample>(&file));
        }
    }
}
