//! All-reduce of the largest numbers only; the others wait for a later step.

use crate::error::CommError;
use crate::group::Group;

/// Bytes of a number that is sent: its place and its value.
const ENTRY_BYTES: usize = 8;

/// Sends the `count` numbers of largest size, and keeps the rest for the next step.
///
/// What is sent and what is kept add up to the gradient and what was kept before, bit by bit: each
/// number goes one way or the other, whole. An entry takes eight bytes and every rank gets those of
/// all others, so beyond one number in 4N (N ranks) the plain sum moves less.
#[derive(Debug, Clone)]
pub struct TopK {
    count: usize,
    /// What was not sent so far.
    residual: Vec<f32>,
}

impl TopK {
    /// For vectors of `length` numbers, `count` of which are sent.
    pub fn new(length: usize, count: usize) -> Self {
        Self { count: count.min(length), residual: vec![0.0; length] }
    }

    /// What was not sent so far.
    pub fn residual(&self) -> &[f32] {
        &self.residual
    }

    /// Puts back what [`Self::residual`] told.
    ///
    /// # Panics
    /// Where it has another length.
    pub fn restore(&mut self, residual: &[f32]) {
        self.residual.copy_from_slice(residual);
    }

    /// Moves what is not sent from `values` to the residual; gives the entries that are, by place.
    fn select(&mut self, values: &[f32]) -> Vec<u8> {
        self.residual.iter_mut().zip(values).for_each(|(kept, value)| *kept += value);
        let mut places: Vec<u32> = (0..self.residual.len() as u32).collect();
        if self.count < places.len() {
            let size = |place: &u32| self.residual[*place as usize].abs();
            // Of two as large the earlier one is sent, on every machine.
            places.select_nth_unstable_by(self.count, |a, b| {
                size(b).total_cmp(&size(a)).then(a.cmp(b))
            });
            places.truncate(self.count);
        }
        places.sort_unstable();
        let mut entries = Vec::with_capacity(places.len() * ENTRY_BYTES);
        for place in places {
            let value = std::mem::take(&mut self.residual[place as usize]);
            entries.extend(place.to_le_bytes());
            entries.extend(value.to_le_bytes());
        }
        entries
    }
}

impl Group {
    /// Replaces every rank's vector by the sum of what the ranks send of theirs, added in the order
    /// of ranks.
    ///
    /// # Errors
    /// Where a rank is lost, or the vector has another length than `top` was made for.
    pub fn all_reduce_top_k(
        &mut self,
        values: &mut [f32],
        top: &mut TopK,
    ) -> Result<(), CommError> {
        let (expected, found) = (top.residual.len(), values.len());
        if expected != found {
            return Err(CommError::WrongShape { what: "numbers in the vector", expected, found });
        }
        let entries = top.select(values);
        let all = self.all_gather_bytes(&entries, found * ENTRY_BYTES)?;
        values.fill(0.0);
        for (rank, entries) in all.iter().enumerate() {
            for entry in entries.chunks(ENTRY_BYTES) {
                let read = read_entry(entry)
                    .and_then(|(place, value)| Some((values.get_mut(place)?, value)));
                let Some((sum, value)) = read else {
                    let (expected, found) = (expected as u64, entries.len() as u64);
                    return Err(CommError::WrongLength { rank, expected, found });
                };
                *sum += value;
            }
        }
        Ok(())
    }
}

fn read_entry(entry: &[u8]) -> Option<(usize, f32)> {
    let (place, rest) = entry.split_first_chunk()?;
    let value = rest.first_chunk()?;
    Some((u32::from_le_bytes(*place) as usize, f32::from_le_bytes(*value)))
}
