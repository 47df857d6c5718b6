//! Letters of factors and signed products of them.

use std::cmp::Reverse;
use std::fmt;

/// Factor letters in order; `I` is left out because it stands for the identity.
pub(crate) const LETTERS: [char; 25] = [
    'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T',
    'U', 'V', 'W', 'X', 'Y', 'Z',
];

/// The position of a factor letter.
pub(crate) fn position(letter: char) -> Option<usize> {
    LETTERS.iter().position(|&own| own == letter)
}

/// A signed product of factors; bit i stands for factor i.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) mask: u32,
    /// -1 or 1.
    pub(crate) sign: i8,
}

impl Word {
    /// The product of no factors.
    pub(crate) const IDENTITY: Self = Self { mask: 0, sign: 1 };

    pub(crate) fn of_factor(index: usize) -> Self {
        Self { mask: 1 << index, sign: 1 }
    }

    /// The product of two words; a factor in both cancels, since its square is 1.
    pub(crate) fn times(self, other: Self) -> Self {
        Self { mask: self.mask ^ other.mask, sign: self.sign * other.sign }
    }

    pub(crate) fn length(self) -> usize {
        self.mask.count_ones() as usize
    }

    pub(crate) fn holds(self, index: usize) -> bool {
        self.mask >> index & 1 == 1
    }

    /// Sorts words by length, then by letters, whatever the sign.
    pub(crate) fn rank(self) -> (usize, Reverse<u32>) {
        (self.length(), Reverse(self.mask.reverse_bits()))
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sign < 0 {
            f.write_str("-")?;
        }
        for (index, letter) in LETTERS.iter().enumerate() {
            if self.holds(index) {
                write!(f, "{letter}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_skip_the_identity() {
        assert_eq!(position('H'), Some(7));
        assert_eq!(position('I'), None);
        assert_eq!(position('J'), Some(8));
    }

    #[test]
    fn words_sort_by_length_then_letters() {
        let mut words: Vec<_> = [0b11010, 0b1011, 0b111, 0b10101, 0b1000]
            .map(|mask| Word { mask, sign: -1 })
            .into_iter()
            .collect();
        words.sort_by_key(|word| word.rank());
        let text: Vec<_> = words.iter().map(Word::to_string).collect();
        assert_eq!(text, ["-D", "-ABC", "-ABD", "-ACE", "-BDE"]);
    }
}
