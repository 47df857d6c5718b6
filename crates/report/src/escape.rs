//! Text made harmless for HTML and for JSON inside HTML.

use std::fmt;

use serde_json::Value;

/// User text that is safe between tags and inside quoted attributes when displayed.
pub struct Escaped<'a>(&'a str);

/// Marks text for escaping.
pub fn escape(text: &str) -> Escaped<'_> {
    Escaped(text)
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(place) = rest.find(['&', '<', '>', '"', '\'']) {
            f.write_str(&rest[..place])?;
            f.write_str(match rest.as_bytes()[place] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[place + 1..];
        }
        f.write_str(rest)
    }
}

/// Text as markup, with what stands in backticks set as code.
pub fn with_code(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(index, part)| match index % 2 {
        0 => escape(part).to_string(),
        _ => format!("<code>{}</code>", escape(part)),
    });
    parts.collect()
}

/// JSON that cannot end the script element it stands in, nor open a comment.
pub(crate) fn script_json(value: &Value) -> String {
    // Outside strings JSON has no `<`, so every one of them may be written as an escape.
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn markup_in_text_becomes_text() {
        assert_eq!(
            escape(r#"</script><b class="x">'&"#).to_string(),
            "&lt;/script&gt;&lt;b class=&quot;x&quot;&gt;&#39;&amp;"
        );
    }

    #[test]
    fn backticks_set_code_whose_markup_stays_text() {
        assert_eq!(with_code("use `a < b` now"), "use <code>a &lt; b</code> now");
        assert_eq!(with_code("`x` & `y`"), "<code>x</code> &amp; <code>y</code>");
        // One that is never closed must not leave the page in code.
        let open = with_code("see `here");
        assert_eq!(open.matches("<code>").count(), open.matches("</code>").count());
    }

    #[test]
    fn json_keeps_its_value_without_angle_brackets() {
        let value = json!({"</script><!--": ["<b>", 1.5]});
        let text = script_json(&value);
        assert!(!text.contains('<'));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    proptest! {
        #[test]
        fn escaped_text_reads_back(text in "[a-z<>&\"'é;#]{0,40}") {
            let escaped = escape(&text).to_string();
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            let back = escaped
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&#39;", "'")
                .replace("&amp;", "&");
            prop_assert_eq!(back, text);
        }
    }
}
