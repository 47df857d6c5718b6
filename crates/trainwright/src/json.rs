//! Replies as JSON: one object with the name of its schema first.

use serde::Serialize;

/// The JSON of a verb's reply, `{"schema": "trainwright/<verb>/1", ...}`, with a line end.
///
/// # Panics
/// Never for the replies of this crate, which are structures whose keys are texts.
pub fn to_json(verb: &str, reply: &impl Serialize) -> String {
    let whole = WithSchema { schema: schema(verb), reply };
    let text = serde_json::to_string_pretty(&whole).expect("a reply has fields with names");
    text + "\n"
}

/// The schema of a verb's reply.
pub(crate) fn schema(verb: &str) -> String {
    format!("trainwright/{verb}/1")
}

/// The same in one line, among lines of JSON.
///
/// # Panics
/// As [`to_json`].
pub fn to_json_line(verb: &str, reply: &impl Serialize) -> String {
    let whole = WithSchema { schema: schema(verb), reply };
    serde_json::to_string(&whole).expect("a reply has fields with names") + "\n"
}

#[derive(Serialize)]
struct WithSchema<'a, T> {
    schema: String,
    #[serde(flatten)]
    reply: &'a T,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_comes_before_the_fields_of_the_reply() {
        #[derive(Serialize)]
        struct Reply {
            study: &'static str,
        }
        let text = to_json("init", &Reply { study: "a.toml" });
        assert_eq!(text, "{\n  \"schema\": \"trainwright/init/1\",\n  \"study\": \"a.toml\"\n}\n");
    }
}
