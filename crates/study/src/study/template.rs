//! Command words with placeholders.

mod shell_script;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text with placeholders such as `--lr={lr}`.
///
/// A placeholder is `{name}` with an identifier in it, dots allowed; other braces stay as they are.
///
/// ```
/// use trainwright_study::Template;
///
/// let template = Template::parse("--opts={\"lr\": {lr}}");
/// assert_eq!(template.names().collect::<Vec<_>>(), ["lr"]);
/// assert_eq!(template.render(|_| Some("0.1".into())).unwrap(), "--opts={\"lr\": 0.1}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Literal(String),
    Placeholder(String),
}

impl Template {
    /// Reads a template; every text is one.
    pub fn parse(source: &str) -> Self {
        Self::parse_with(source, |_| true)
    }

    /// Reads a template that has placeholders of some names only; other braces stay as they are.
    pub fn parse_with(source: &str, is_name: impl Fn(&str) -> bool) -> Self {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = source;
        while let Some(open) = rest.find('{') {
            literal.push_str(&rest[..open]);
            match placeholder(&rest[open..]).filter(|name| is_name(name)) {
                Some(name) => {
                    if !literal.is_empty() {
                        parts.push(Part::Literal(std::mem::take(&mut literal)));
                    }
                    parts.push(Part::Placeholder(name.to_owned()));
                    rest = &rest[open + name.len() + 2..];
                }
                None => {
                    literal.push('{');
                    rest = &rest[open + 1..];
                }
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Self { source: source.to_owned(), parts }
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The names of its placeholders, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Placeholder(name) => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// The text with every placeholder replaced.
    ///
    /// # Errors
    /// The first name that `lookup` does not know.
    pub fn render(&self, lookup: impl Fn(&str) -> Option<String>) -> Result<String, String> {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Literal(text) => Ok(text.clone()),
                Part::Placeholder(name) => lookup(name).ok_or_else(|| name.clone()),
            })
            .collect()
    }
}

impl Serialize for Template {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::parse(&String::deserialize(deserializer)?))
    }
}

/// The name in a placeholder at the start of `text`, which begins with a brace.
fn placeholder(text: &str) -> Option<&str> {
    let name = &text[1..text.find('}')?];
    name.split('.').all(is_identifier).then_some(name)
}

/// Whether a text is a letter of any script or an underscore, followed by letters, digits and underscores.
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(source: &str, names: &[&str], rendered: &str) {
        let template = Template::parse(source);
        assert_eq!(template.names().collect::<Vec<_>>(), names, "{source}");
        assert_eq!(template.render(|name| Some(format!("<{name}>"))).unwrap(), rendered);
    }

    #[test]
    fn only_identifiers_in_braces_are_placeholders() {
        check("--lr={lr}", &["lr"], "--lr=<lr>");
        check("{a}{trial.dir}", &["a", "trial.dir"], "<a><trial.dir>");
        check("{ a } {} {1} {a-b} ${X}", &["X"], "{ a } {} {1} {a-b} $<X>");
        check("{{a}}", &["a"], "{<a>}");
        check("awk '{print $1}'", &[], "awk '{print $1}'");
    }

    #[test]
    fn an_unknown_name_is_told() {
        let template = Template::parse("{lr} {nope}");
        let known = |name: &str| (name == "lr").then(|| "1".to_owned());
        assert_eq!(template.render(known), Err("nope".to_owned()));
    }

    proptest! {
        #[test]
        fn rendering_each_placeholder_as_itself_gives_the_source(source in "[a-z{}. ]{0,40}") {
            let rendered = Template::parse(&source).render(|name| Some(format!("{{{name}}}")));
            prop_assert_eq!(rendered.unwrap(), source);
        }
    }
}
