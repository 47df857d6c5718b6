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

    /// What each has, in their order; `lengths` tells how many numbers that is.
    ///
    /// Every two exchange in the same order on all ranks, so that none waits for a third.
    fn exchange(
        &self,
        wire: &mut Wire,
        own: &[f32],
        lengths: &dyn Fn(usize) -> usize,
    ) -> Result<Vec<Vec<f32>>, TrainError> {
        let mut all: Vec<Vec<f32>> = Vec::with_capacity(self.len());
        for (place, &rank) in self.ranks.iter().enumerate() {
            if place == self.place {
                all.push(own.to_vec());
                continue;
            }
            all.push(wire.trade(rank, EXCHANGE, own, lengths(place))?);
        }
        Ok(all)
    }

    /// The sum of what all have, the same on all, added up in a fixed order.
    pub(super) fn sum(&self, wire: &mut Wire, values: &mut [f32]) -> Result<(), TrainError> {
        if self.len() == 1 {
            return Ok(());
        }
        let length = values.len();
        let all = self.exchange(wire, values, &|_| length)?;
        let nodes: Vec<&[f32]> = all.iter().map(Vec::as_slice).collect();
        LeafTree::new(self.len()).add_up(self.len(), &nodes, values);
        Ok(())
    }

    /// Rows whose columns are dealt out, put together: each rank has its share of `width` columns.
    pub(super) fn columns(
        &self,
        wire: &mut Wire,
        own: &[f32],
        width: usize,
    ) -> Result<Vec<f32>, TrainError> {
        let part = |place: usize| share(width, self.len(), place);
        let rows = own.len() / part(self.place).len();
        let all = self.exchange(wire, own, &|place| rows * part(place).len())?;
        let mut whole = vec![0.0; rows * width];
        for (place, values) in all.iter().enumerate() {
            let columns = part(place);
            for (row, values) in values.chunks_exact(columns.len()).enumerate() {
                whole[row * width + columns.start..row * width + columns.end]
                    .copy_from_slice(values);
            }
        }
        Ok(whole)
    }

    /// This rank's columns of whole rows.
    pub(super) fn own_columns(&self, whole: &[f32], width: usize) -> Vec<f32> {
        let columns = share(width, self.len(), self.place);
        let rows = whole.chunks_exact(width);
        rows.flat_map(|row| &row[columns.clone()]).copied().collect()
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
                        let own = circle.own_columns(&whole, 7);
                        let together = circle.columns(&mut wire, &own, 7).unwrap();
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
