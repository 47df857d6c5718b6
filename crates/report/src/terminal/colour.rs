//! Whether a text may use colour.

/// Whether a text may use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Plain letters only.
    Never,
    /// ANSI colours.
    Ansi,
}

impl Colour {
    pub(super) fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Never => text.to_owned(),
            Self::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    /// A heading.
    pub fn heading(self, text: &str) -> String {
        self.paint("1", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_as_it_is_and_coloured_text_ends_its_colour() {
        assert_eq!(Colour::Never.heading("Next"), "Next");
        assert_eq!(Colour::Ansi.paint("33", "no"), "\x1b[33mno\x1b[0m");
    }
}
