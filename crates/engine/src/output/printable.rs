//! Makes text of a trial safe to show: a terminal obeys control characters.

use std::borrow::Cow;

/// The text with control characters replaced by their pictures, so that they are seen and not
/// obeyed; line ends and tabs stay.
///
/// Characters that turn the direction of writing are replaced too, as they make a line read as
/// what it is not.
///
/// ```
/// use trainwright_engine::printable;
///
/// assert_eq!(printable("\u{1b}[2Jacc = 0.5\n"), "\u{241b}[2Jacc = 0.5\n");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| picture(c).is_none()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| picture(c).unwrap_or(c)).collect())
}

/// What is shown instead of a character that a terminal would obey.
fn picture(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => None,
        // Unicode has pictures for these: U+2400 and on.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('\u{2421}'),
        '\u{80}'..='\u{9f}' => Some(char::REPLACEMENT_CHARACTER),
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(char::REPLACEMENT_CHARACTER)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_text_stays_as_it_is() {
        let text = "epoch 1\tacc é 日本\n";
        assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
    }

    proptest! {
        #[test]
        fn nothing_is_left_that_a_terminal_obeys(text in "(?s).{0,80}") {
            let safe = printable(&text);
            prop_assert!(safe.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
            prop_assert_eq!(safe.chars().count(), text.chars().count());
        }
    }
}
