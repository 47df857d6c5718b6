//! One level for every factor.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Level;

/// One level for every active factor, in the study's factor order.
///
/// A factor whose `when` does not hold is absent. In JSON a configuration is an object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Configuration(Vec<(String, Level)>);

impl Configuration {
    /// A configuration of these pairs; the order is kept.
    pub fn new(pairs: Vec<(String, Level)>) -> Self {
        Self(pairs)
    }

    /// The level of a factor, unless it is absent.
    pub fn get(&self, factor: &str) -> Option<&Level> {
        self.0.iter().find(|(name, _)| name == factor).map(|(_, level)| level)
    }

    /// The level of a factor that is the study's `place`-th from 0, which is quick where no factor
    /// before it is absent.
    pub fn get_at(&self, place: usize, factor: &str) -> Option<&Level> {
        match self.0.get(place) {
            Some((name, level)) if name == factor => Some(level),
            _ => self.get(factor),
        }
    }

    /// Factors and levels in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Level)> {
        self.0.iter().map(|(name, level)| (name.as_str(), level))
    }

    /// The same configuration without the factors that `keep` rejects.
    pub fn filtered(&self, mut keep: impl FnMut(&str) -> bool) -> Self {
        Self(self.0.iter().filter(|(name, _)| keep(name)).cloned().collect())
    }

    /// Whether both hold the same factors at the same values.
    pub fn same_as(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.iter().all(|(name, level)| other.get(name).is_some_and(|l| l.same_as(level)))
    }

    /// A text that two configurations share just when they hold the same factors at the same
    /// values, in whatever order.
    ///
    /// Seeds of trials follow from it, so that it never changes between versions.
    pub fn identity(&self) -> String {
        let mut pairs: Vec<String> =
            self.iter().map(|(name, level)| format!("{name}={}", level.identity())).collect();
        pairs.sort_unstable();
        pairs.join(" ")
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, level)) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            write!(f, "{gap}{name}={level}")?;
        }
        Ok(())
    }
}

impl Serialize for Configuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, level) in &self.0 {
            map.serialize_entry(name, level)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Configuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Configuration;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of factors and levels")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Configuration(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_the_factor_order() {
        let text = r#"{"lr":0.01,"batch":32,"optimizer":"adam"}"#;
        let configuration: Configuration = serde_json::from_str(text).unwrap();
        assert_eq!(configuration.to_string(), "lr=0.01 batch=32 optimizer=adam");
        assert_eq!(serde_json::to_string(&configuration).unwrap(), text);
    }

    #[test]
    fn equal_configurations_may_differ_in_order_and_spelling() {
        let a: Configuration = serde_json::from_str(r#"{"a":1,"b":2.0}"#).unwrap();
        let b: Configuration = serde_json::from_str(r#"{"b":2,"a":1.0}"#).unwrap();
        assert!(a.same_as(&b));
        assert_eq!(a.identity(), b.identity());
        assert!(!a.same_as(&Configuration::default()));
        assert_ne!(a.identity(), Configuration::default().identity());
    }
}
