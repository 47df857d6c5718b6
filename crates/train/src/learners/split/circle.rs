//! Ranks that exchange numbers with each other: a row or column of the grid.

use trainwright_comm::LeafTree;

use super::wire::Wire;
use crate::error::TrainError;

/// Some ranks of a group, and the place of this one among them.
#[derive(Debug, Clone)]
pub(super) struct Circle {
    pub(super) ranks: Vec<usize>,
    pub(super) place: usize,
}

/// Numbers that are added up at a time: both ways of an exchange stay in the cache.
pub(super) const BLOCK: usize = 1 << 16;

/// Tags of exchanges.
const EXCHANGE: u64 = 0x51;

/// The part of a length that a place has.
pub(super) fn share(length: usize, places: usize, place: usize) -> std::ops::Range<usize> {
    length * place / places..length * (place + 1) / places
}

impl Circle {
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// The sum of what all have, the same on all, added up in a fixed order: each adds up its part
    /// of the numbers and gives it to the others.
    ///
    /// Every two exchange in the same order on all ranks, so that none waits for a third.
    pub(super) fn sum(&self, wire: &mut Wire, values: &mut [f32]) -> Result<(), TrainError> {
        if self.len() == 1 {
            return Ok(());
        }
        values.chunks_mut(BLOCK).try_for_each(|block| self.sum_block(wire, block))
    }

    fn sum_block(&self, wire: &mut Wire, values: &mut [f32]) -> Result<(), TrainError> {
        let part = |place: usize| share(values.len(), self.len(), place);
        let (own, length) = (part(self.place), part(self.place).len());
        let mut parts = Vec::with_capacity(self.len());
        for (place, &rank) in self.ranks.iter().enumerate() {
            parts.push(match place == self.place {
                true => wire.copy_of(&values[own.clone()]),
                false => wire.trade(rank, EXCHANGE, &values[part(place)], length)?,
            });
        }
        let nodes: Vec<&[f32]> = parts.iter().map(Vec::as_slice).collect();
        let mut sum = wire.buffer(length);
        LeafTree::new(self.len()).add_up(self.len(), &nodes, &mut sum);
        parts.into_iter().for_each(|part| wire.give_back(part));
        for (place, &rank) in self.ranks.iter().enumerate() {
            let range = share(values.len(), self.len(), place);
            match place == self.place {
                true => values[range].copy_from_slice(&sum),
                false => wire.trade_into(rank, EXCHANGE, &sum, &mut values[range])?,
            }
        }
        wire.give_back(sum);
        Ok(())
    }

    /// Rows whose columns are dealt out, put together: each rank has its share of `width` columns.
    pub(super) fn columns(
        &self,
        wire: &mut Wire,
        own: Vec<f32>,
        width: usize,
    ) -> Result<Vec<f32>, TrainError> {
        let part = |place: usize| share(width, self.len(), place);
        let rows = own.len() / part(self.place).len();
        let mut whole = wire.buffer(rows * width);
        let mut put = |place: usize, values: &[f32]| {
            let columns = part(place);
            for (row, values) in values.chunks_exact(columns.len()).enumerate() {
                whole[row * width + columns.start..row * width + columns.end]
                    .copy_from_slice(values);
            }
        };
        for (place, &rank) in self.ranks.iter().enumerate() {
            if place != self.place {
                let theirs = wire.trade(rank, EXCHANGE, &own, rows * part(place).len())?;
                put(place, &theirs);
                wire.give_back(theirs);
            }
        }
        put(self.place, &own);
        wire.give_back(own);
        Ok(whole)
    }

    /// This rank's columns of whole rows.
    pub(super) fn own_columns(&self, wire: &mut Wire, whole: Vec<f32>, width: usize) -> Vec<f32> {
        let columns = share(width, self.len(), self.place);
        let rows = whole.len() / width;
        let mut own = wire.buffer(rows * columns.len());
        let pairs = own.chunks_exact_mut(columns.len()).zip(whole.chunks_exact(width));
        pairs.for_each(|(own, row)| own.copy_from_slice(&row[columns.clone()]));
        wire.give_back(whole);
        own
    }
}

#[cfg(test)]
mod tests {
    use trainwright_comm::Group;

    use super::*;

    #[test]
    fn columns_come_together_and_sums_are_the_same_everywhere() {
        let groups = Group::threads(3);
        let found: Vec<(Vec<f32>, Vec<f32>)> = std::thread::scope(|scope| {
            let ranks: Vec<_> = groups
                .into_iter()
                .map(|group| {
                    scope.spawn(move || {
                        let place = group.rank();
                        let mut wire = Wire::new(group);
                        let circle = Circle { ranks: vec![0, 1, 2], place };
                        let whole: Vec<f32> = (0..14).map(|it| it as f32).collect();
                        let own = circle.own_columns(&mut wire, whole, 7);
                        let together = circle.columns(&mut wire, own, 7).unwrap();
                        let mut sum = vec![place as f32, 1.0];
                        circle.sum(&mut wire, &mut sum).unwrap();
                        (together, sum)
                    })
                })
                .collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        });
        for (together, sum) in found {
            assert_eq!(together, (0..14).map(|it| it as f32).collect::<Vec<_>>());
            assert_eq!(sum, [3.0, 3.0]);
        }
    }
}
