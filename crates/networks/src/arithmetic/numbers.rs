//! Vectors of numbers that begin where a cache line does.
//!
//! A load or store of eight numbers that straddles two lines costs two of them. A large vector
//! from the heap begins a quarter into a line, so that every other one would.

use std::ops::{Deref, DerefMut};

use crate::arithmetic::large_pages::zeros;

/// Bytes of a cache line.
const LINE: usize = 64;

/// A number of numbers that begin where a cache line does.
///
/// ```
/// use trainwright_networks::Numbers;
///
/// let mut numbers = Numbers::zeros(3);
/// numbers[1] = 5.0;
/// assert_eq!(numbers[..], [0.0, 5.0, 0.0]);
/// ```
#[derive(Debug, Default)]
pub struct Numbers {
    /// With room for the line to begin anywhere.
    values: Vec<f32>,
    start: usize,
    length: usize,
}

impl Numbers {
    /// That many zeros, of which no memory is in use before it is written to.
    pub fn zeros(length: usize) -> Self {
        let spare = LINE / size_of::<f32>() - 1;
        let values = zeros(length + spare);
        let start = values.as_ptr().align_offset(LINE).min(spare);
        Self { values, start, length }
    }
}

impl From<&[f32]> for Numbers {
    fn from(values: &[f32]) -> Self {
        let mut numbers = Self::zeros(values.len());
        numbers.copy_from_slice(values);
        numbers
    }
}

impl Clone for Numbers {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl Deref for Numbers {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.values[self.start..self.start + self.length]
    }
}

impl DerefMut for Numbers {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.values[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_with_a_line_and_stay_what_they_are() {
        for length in [0, 1, 15, 16, 1000, 300_000] {
            let values: Vec<f32> = (0..length).map(|value| value as f32).collect();
            let numbers = Numbers::from(&values[..]);
            for numbers in [&numbers, &numbers.clone()] {
                assert_eq!(numbers[..], values[..]);
                assert!((numbers.as_ptr() as usize).is_multiple_of(LINE));
            }
            assert!(Numbers::zeros(length).iter().all(|&value| value == 0.0));
        }
        assert!(Numbers::default().is_empty());
    }
}
