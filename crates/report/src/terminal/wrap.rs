//! Lines that fit a terminal.

mod narrow_tables;

use unicode_width::UnicodeWidthChar;

use narrow_tables::{is_row, narrowed};

/// Columns below which nothing is broken: no text reads well there.
const LEAST: usize = 20;

/// The text with every line broken at blanks so that none is wider than `width` columns.
///
/// Tables stay tables: their cells are broken, not their lines. Elsewhere, what follows a break stands below the text that it belongs to: behind a tag or name that two
/// blanks set off, else two columns in. A word that fits nowhere is cut. Colours take no room.
///
/// ```
/// use trainwright_report::terminal::wrapped;
///
/// assert_eq!(
///     wrapped("  warning  one two three four\n", 24),
///     "  warning  one two three\n           four\n"
/// );
/// ```
pub fn wrapped(text: &str, width: usize) -> String {
    let width = width.max(LEAST);
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for block in lines.chunk_by(|one, next| is_row(bare(one)) && is_row(bare(next))) {
        put_block(&mut out, block, width);
    }
    out
}

/// Puts a line, or the lines of a table.
fn put_block(out: &mut String, block: &[&str], width: usize) {
    if block.iter().any(|line| columns(bare(line)) > width) {
        let rows: Vec<&str> = block.iter().map(|line| bare(line)).collect();
        if let Some(table) = narrowed(&rows, width) {
            let is_open = block.last().is_some_and(|line| !line.ends_with('\n'));
            out.push_str(if is_open { table.trim_end_matches('\n') } else { &table });
            return;
        }
    }
    for line in block {
        let text = bare(line);
        if columns(text) <= width {
            out.push_str(text);
        } else {
            put_broken(out, text, width);
        }
        out.push_str(&line[text.len()..]);
    }
}

/// A line without its end.
fn bare(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

fn put_broken(out: &mut String, line: &str, width: usize) {
    let indent = " ".repeat(hanging(line, width));
    let mut column = 0;
    let mut rest = line;
    // Blanks at the beginning stay; those at a break go.
    while !rest.is_empty() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let (gap, after) = rest.split_at(blanks);
        let end = after.find(' ').unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        rest = after;
        if column + blanks + columns(word) > width && column > 0 {
            out.push('\n');
            out.push_str(&indent);
            column = indent.len();
        } else {
            out.push_str(gap);
            column += blanks;
        }
        put_word(out, word, &mut column, &indent, width);
    }
}

/// Puts a word, cut where it is wider than a whole line.
fn put_word(out: &mut String, word: &str, column: &mut usize, indent: &str, width: usize) {
    let mut in_escape = false;
    for letter in word.chars() {
        let own = letter_columns(letter, &mut in_escape);
        if *column + own > width {
            out.push('\n');
            out.push_str(indent);
            *column = indent.len();
        }
        out.push(letter);
        *column += own;
    }
}

/// Where lines after a break begin.
fn hanging(line: &str, width: usize) -> usize {
    let plain = without_colour(line);
    let start = plain.len() - plain.trim_start_matches(' ').len();
    let below = if plain[start..].starts_with("- ") { start + 2 } else { start };
    // A tag, a name or a share, and two blanks before what is said of it.
    let text_of = |from: usize| {
        let gap = from + plain[from..].find("  ")?;
        Some(gap + plain[gap..].len() - plain[gap..].trim_start_matches(' ').len())
    };
    let tagged = text_of(start).map(|at| columns(&plain[..at]));
    match tagged.filter(|at| *at <= width / 2) {
        Some(at) => at,
        None if below > start => below,
        None => (start + 2).min(width / 3),
    }
}

fn columns(text: &str) -> usize {
    let mut in_escape = false;
    text.chars().map(|letter| letter_columns(letter, &mut in_escape)).sum()
}

/// Columns of a letter; none inside an escape sequence that sets a colour.
fn letter_columns(letter: char, in_escape: &mut bool) -> usize {
    match (letter, *in_escape) {
        ('\x1b', _) => {
            *in_escape = true;
            0
        }
        (letter, true) => {
            *in_escape = letter != 'm';
            0
        }
        ('\t', false) => 8,
        (letter, false) => letter.width().unwrap_or(0),
    }
}

fn without_colour(text: &str) -> String {
    let mut in_escape = false;
    let keeps = |letter: &char| {
        let was = in_escape || *letter == '\x1b';
        letter_columns(*letter, &mut in_escape);
        !was
    };
    text.chars().filter(keeps).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fits_stays_and_what_does_not_hangs_below_its_text() {
        assert_eq!(wrapped("short\n\nlines\n", 20), "short\n\nlines\n");
        assert_eq!(
            wrapped("a line of words that is longer", 20),
            "a line of words that\n  is longer"
        );
        assert_eq!(wrapped("  - step one and step two", 20), "  - step one and\n    step two");
    }

    #[test]
    fn colours_take_no_room_and_stay() {
        let red = "\x1b[1;31mserious\x1b[0m";
        assert_eq!(wrapped(&format!("{red}  six six six"), 20), format!("{red}  six six six"));
        assert_eq!(
            wrapped(&format!("  {red}  one two three four five"), 30),
            format!("  {red}  one two three four\n           five")
        );
    }

    #[test]
    fn wide_letters_count_twice_and_long_words_are_cut() {
        assert_eq!(wrapped("日本語日本語日本語日本語", 20), "日本語日本語日本語日\n  本語");
        assert_eq!(wrapped("abcdefghijklmnopqrstuvwxyz", 20), "abcdefghijklmnopqrst\n  uvwxyz");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_and_no_word_is_lost(text in "[ a-z日\n-]{0,300}", width in 20usize..120) {
            let found = wrapped(&text, width);
            for line in found.lines() {
                prop_assert!(columns(line) <= width, "{line:?}");
            }
            // A table's cells stand beside each other, so that the order of letters is another.
            let letters = |text: &str| {
                let mut own: Vec<char> = text.chars().filter(|own| !own.is_whitespace()).collect();
                own.sort_unstable();
                own
            };
            let [before, after] = [letters(&text), letters(&found)];
            let first = before.iter().all(|own| after.binary_search(own).is_ok());
            prop_assert!(first && after.len() >= before.len(), "{found:?}");
        }
    }
}
