//! Where the nonzeros of a row or a column are, found eight numbers at a time.

use std::ops::Range;

use crate::arithmetic::simd::{LANES, Lanes, nonzeros};

/// The longest row or column.
pub(crate) const MOST: usize = 64;

/// Places of nonzeros in rising order.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    /// Beyond those that count lie any others.
    places: [u8; MOST + LANES],
    count: usize,
}

impl Places {
    /// No places.
    pub(crate) const NONE: Self = Self { places: [0; MOST + LANES], count: 0 };

    /// All of them.
    #[inline(always)]
    pub(crate) fn all(&self) -> &[u8] {
        &self.places[..self.count]
    }

    /// Finds the nonzeros of a row.
    #[inline(always)]
    pub(crate) fn find_in_row<const FMA: bool>(&mut self, row: &[f32]) {
        let (whole, rest) = row.as_chunks();
        let rest = (!rest.is_empty()).then(|| nonzeros::<FMA>(&padded(rest)));
        self.fill(whole.iter().map(nonzeros::<FMA>).chain(rest));
    }

    /// Finds the nonzeros of some columns of a row-major matrix.
    #[inline(always)]
    pub(crate) fn find_in_columns<const FMA: bool>(
        rows: &[f32],
        stride: usize,
        columns: Range<usize>,
        places: &mut [Self],
    ) {
        let starts = columns.clone().step_by(LANES);
        for (start, places) in starts.zip(places.chunks_mut(LANES)) {
            let mut masks = [[0; LANES]; MOST / LANES];
            for (masks, rows) in masks.iter_mut().zip(rows.chunks(LANES * stride)) {
                for (mask, row) in masks.iter_mut().zip(rows.chunks_exact(stride)) {
                    let numbers = &row[start..columns.end.min(start + LANES)];
                    let numbers = numbers.try_into().unwrap_or_else(|_| padded(numbers));
                    *mask = nonzeros::<FMA>(&numbers);
                }
                *masks = transposed(*masks);
            }
            for (column, places) in places.iter_mut().enumerate() {
                places.fill(masks.iter().map(|masks| masks[column]));
            }
        }
    }

    /// Takes the places that masks tell: of eight numbers each, lowest bit first.
    #[inline(always)]
    fn fill(&mut self, masks: impl Iterator<Item = u8>) {
        // A count in a register need not wait for the last one to reach memory.
        let (mut count, mut start) = (0, 0);
        for mask in masks {
            let places = PLACES[usize::from(mask)] + start;
            self.places[count..count + LANES].copy_from_slice(&places.to_le_bytes());
            count += usize::from(COUNTS[usize::from(mask)]);
            start += EACH * LANES as u64;
        }
        self.count = count;
    }
}

/// A 1 in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The places of the ones of each byte, lowest first, one in each byte.
static PLACES: [u64; 256] = places();

/// How many ones each byte has; not every processor has an operation for it.
static COUNTS: [u8; 256] = {
    let mut table = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        table[mask] = mask.count_ones() as u8;
        mask += 1;
    }
    table
};

const fn places() -> [u64; 256] {
    let mut table = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if mask >> bit & 1 == 1 {
                table[mask] |= bit << (8 * count);
                count += 1;
            }
            bit += 1;
        }
        mask += 1;
    }
    table
}

/// Numbers with zeros behind them.
#[inline(always)]
fn padded(numbers: &[f32]) -> Lanes {
    let mut lanes = [0.0; LANES];
    lanes[..numbers.len()].copy_from_slice(numbers);
    lanes
}

/// A matrix of bits whose rows are the bytes, lowest bit first, with rows and columns exchanged.
#[inline(always)]
fn transposed(rows: [u8; 8]) -> [u8; 8] {
    let mut bits = u64::from_le_bytes(rows);
    // Blocks of 1, 2 and 4 bits off the diagonal change places.
    for (shift, upper) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let changed = (bits ^ bits >> shift) & upper;
        bits ^= changed ^ changed << shift;
    }
    bits.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of which about half are 0.
    fn numbers(count: usize) -> impl Strategy<Value = Vec<f32>> {
        let number = prop_oneof![Just(0.0), Just(-0.0), Just(f32::NAN), -1.0_f32..1.0];
        prop::collection::vec(number, count)
    }

    fn by_hand<'a>(values: impl Iterator<Item = &'a f32>) -> Vec<u8> {
        (0..).zip(values).filter(|(_, value)| **value != 0.0).map(|(place, _)| place).collect()
    }

    proptest! {
        #[test]
        fn nonzeros_of_rows_are_found(row in (0..=MOST).prop_flat_map(numbers)) {
            let mut places = Places::NONE;
            places.find_in_row::<false>(&row);
            prop_assert_eq!(places.all(), by_hand(row.iter()));
        }

        #[test]
        fn nonzeros_of_columns_are_found(
            (stride, values) in (1..40_usize, 1..=MOST)
                .prop_flat_map(|(stride, rows)| (Just(stride), numbers(stride * rows))),
            start in 0.0..1.0_f64,
        ) {
            let columns = (start * stride as f64) as usize..stride;
            let mut places = [Places::NONE; 40];
            Places::find_in_columns::<false>(&values, stride, columns.clone(), &mut places);
            for (column, places) in columns.zip(&places) {
                let column = values.iter().skip(column).step_by(stride);
                prop_assert_eq!(places.all(), by_hand(column));
            }
        }

        #[test]
        fn bits_of_a_matrix_change_rows_and_columns(rows: [u8; 8]) {
            let found = transposed(rows);
            for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
                prop_assert_eq!(rows[row] >> column & 1, found[column] >> row & 1);
            }
        }
    }
}
