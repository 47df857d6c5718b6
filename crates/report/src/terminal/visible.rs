//! Text of other programs, made safe to show on a terminal.
//!
//! A trial may print anything. An escape sequence in it could move the cursor, rename the window,
//! or write what the user then runs; shown by name it can do nothing.

use std::fmt::Write as _;

/// A text with its control characters written out: `\e` for the escape character, `\x07` for the
/// bell, `\u{9b}` for an 8-bit escape. Line ends and tabs stay; a carriage return before a line
/// end goes.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\x1b' => shown.push_str("\\e"),
            other if is_hidden(other) => {
                let code = u32::from(other);
                let written = match code {
                    0..0x80 => write!(shown, "\\x{code:02x}"),
                    _ => write!(shown, "\\u{{{code:x}}}"),
                };
                written.expect("writing to memory cannot fail");
            }
            other => shown.push(other),
        }
    }
    shown
}

/// The same for bytes that may be no text.
pub fn visible_bytes(bytes: &[u8]) -> String {
    visible(&String::from_utf8_lossy(bytes))
}

/// Control characters, and marks that change the direction in which a terminal writes.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_shown_by_name() {
        for (text, expected) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\x1b]0;title\x07", "\\e]0;title\\x07"),
            ("one\rtwo\r\n", "one\\x0dtwo\n"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("abc\u{202e}def", "abc\\u{202e}def"),
            ("\0", "\\x00"),
            ("Grüße ✓", "Grüße ✓"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
        assert_eq!(visible_bytes(b"a\xff\x1b"), "a\u{fffd}\\e");
    }

    proptest! {
        #[test]
        fn nothing_that_commands_a_terminal_is_left(text in ".*") {
            let shown = visible(&text);
            prop_assert!(shown.chars().all(|own| own == '\n' || own == '\t' || !is_hidden(own)));
        }
    }
}
