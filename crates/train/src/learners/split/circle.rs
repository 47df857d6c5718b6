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

    /// Rows of examples that are dealt out, put together: each rank has its share of so many, of a
    /// width.
    pub(super) fn rows(
        &self,
        wire: &mut Wire,
        own: Vec<f32>,
        (rows, width): (usize, usize),
    ) -> Result<Vec<f32>, TrainError> {
        let part = |place: usize| {
            let rows = share(rows, self.len(), place);
            rows.start * width..rows.end * width
        };
        let mut whole = wire.buffer(rows * width);
        for (place, &rank) in self.ranks.iter().enumerate() {
            match place == self.place {
                true => whole[part(place)].copy_from_slice(&own),
                false => wire.trade_into(rank, EXCHANGE, &own, &mut whole[part(place)])?,
            }
        }
        wire.give_back(own);
        Ok(whole)
    }

    /// This rank's rows of some of a width.
    pub(super) fn own_rows(&self, wire: &mut Wire, whole: Vec<f32>, width: usize) -> Vec<f32> {
        let rows = share(whole.len() / width, self.len(), self.place);
        let own = wire.copy_of(&whole[rows.start * width..rows.end * width]);
        wire.give_back(whole);
        own
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

    /// What every rank of a circle ends with.
    fn on_each<R: Send>(ranks: usize, work: impl Fn(&Circle, &mut Wire) -> R + Sync) -> Vec<R> {
        std::thread::scope(|scope| {
            let work = &work;
            let rank = move |group: Group| {
                let circle = Circle { ranks: (0..ranks).collect(), place: group.rank() };
                work(&circle, &mut Wire::new(group))
            };
            let all: Vec<_> = Group::threads(ranks)
                .into_iter()
                .map(|own| scope.spawn(move || rank(own)))
                .collect();
            all.into_iter().map(|own| own.join().unwrap()).collect()
        })
    }

    #[test]
    fn shares_cover_a_length_and_differ_by_one_at_most() {
        for (length, places) in [(0, 3), (2, 3), (7, 3), (100, 7), (9, 1)] {
            let all: Vec<usize> =
                (0..places).flat_map(|place| share(length, places, place)).collect();
            assert_eq!(all, (0..length).collect::<Vec<_>>());
            let sizes: Vec<usize> =
                (0..places).map(|place| share(length, places, place).len()).collect();
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        }
    }

    #[test]
    fn sums_of_more_numbers_than_a_block_have_the_bits_of_the_fixed_order() {
        let length = BLOCK + 1234;
        for ranks in [1, 2, 3, 5] {
            let number =
                |rank: usize, at: usize| ((at * 7 + rank * 131) % 1009) as f32 * 0.1 - 50.0;
            let found = on_each(ranks, |circle, wire| {
                let mut values: Vec<f32> = (0..length).map(|at| number(circle.place, at)).collect();
                circle.sum(wire, &mut values).unwrap();
                values
            });
            for at in [0, 1, BLOCK - 1, BLOCK, length - 1] {
                let leaves: Vec<[f32; 1]> = (0..ranks).map(|rank| [number(rank, at)]).collect();
                let nodes: Vec<&[f32]> = leaves.iter().map(|own| own.as_slice()).collect();
                let mut sum = [0.0];
                LeafTree::new(ranks).add_up(ranks, &nodes, &mut sum);
                for own in &found {
                    assert_eq!(own[at].to_bits(), sum[0].to_bits(), "{ranks} ranks, number {at}");
                }
            }
        }
    }

    #[test]
    fn columns_of_any_width_come_together_row_by_row() {
        for (ranks, width, rows) in [(2, 5, 3), (3, 3, 4), (4, 9, 1), (1, 6, 2)] {
            let whole: Vec<f32> = (0..width * rows).map(|at| at as f32).collect();
            let found = on_each(ranks, |circle, wire| {
                let own = circle.own_columns(wire, whole.clone(), width);
                let columns = share(width, ranks, circle.place);
                let expected: Vec<f32> = (0..rows)
                    .flat_map(|row| columns.clone().map(move |at| (row * width + at) as f32))
                    .collect();
                assert_eq!(own, expected);
                circle.columns(wire, own, width).unwrap()
            });
            assert!(found.iter().all(|own| *own == whole), "{ranks} ranks, {width} columns");
        }
    }
}
