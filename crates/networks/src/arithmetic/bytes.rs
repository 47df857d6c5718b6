//! Bytes, such as the pixels of pictures, as the numbers that networks take.

use crate::arithmetic::kernels::{prefetch, scale_bytes_into};
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// Rows ahead of which bytes are fetched from memory.
const AHEAD: usize = 6;

/// Fewest rows that are worth waking a thread for.
const LEAST_ROWS: usize = 32;

/// Turns bytes into numbers, each times a factor.
///
/// ```
/// let mut numbers = [0.0; 3];
/// trainwright_networks::scale_bytes(&[0, 1, 255], 2.0, &mut numbers);
/// assert_eq!(numbers, [0.0, 2.0, 510.0]);
/// ```
///
/// # Panics
/// When there are not as many numbers as bytes.
pub fn scale_bytes(bytes: &[u8], factor: f32, numbers: &mut [f32]) {
    assert_eq!(bytes.len(), numbers.len(), "one number a byte");
    scale_bytes_into(bytes, factor, numbers);
}

/// Turns rows of bytes, which may lie anywhere, into rows of numbers one behind another, each byte
/// times a factor.
///
/// # Panics
/// When the rows have different lengths or there are not as many numbers as bytes.
pub fn scale_rows(rows: &[&[u8]], factor: f32, numbers: &mut [f32], team: &mut Team) {
    let Some(length) = rows.first().map(|row| row.len()).filter(|&length| length > 0) else {
        assert!(rows.iter().all(|row| row.is_empty()) && numbers.is_empty(), "one number a byte");
        return;
    };
    assert_eq!(rows.len() * length, numbers.len(), "one number a byte");
    let each = rows.len().div_ceil(team.threads()).max(LEAST_ROWS);
    let parts = Parts::new(numbers, Cut::Every(each * length));
    team.run(rows.len().div_ceil(each), &|part| {
        let numbers = parts.take(part).chunks_exact_mut(length);
        for (row, numbers) in (part * each..).zip(numbers) {
            rows.get(row + AHEAD).into_iter().for_each(|row| prefetch(row));
            scale_bytes(rows[row], factor, numbers);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_one_behind_another_on_any_number_of_threads() {
        let bytes: Vec<u8> = (0..=255).cycle().take(3 * 100).collect();
        let rows: Vec<&[u8]> = bytes.chunks(3).rev().collect();
        for (threads, count) in [(1, 0), (1, 1), (1, 100), (2, 100), (3, 97), (5, 40)] {
            let mut numbers = vec![f32::NAN; 3 * count];
            scale_rows(&rows[..count], 0.5, &mut numbers, &mut Team::new(threads).unwrap());
            let expected =
                rows[..count].iter().flat_map(|row| row.iter().map(|&it| f32::from(it) / 2.0));
            assert_eq!(numbers, expected.collect::<Vec<f32>>());
        }
    }

    #[test]
    #[should_panic(expected = "one number a byte")]
    fn rows_of_other_lengths_are_refused() {
        scale_rows(&[&[1], &[2, 3]], 1.0, &mut [0.0; 3], &mut Team::new(1).unwrap());
    }
}
