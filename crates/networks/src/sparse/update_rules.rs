//! What a sparse model keeps for each feature, and how a gradient changes it.
//!
//! The numbers of one feature lie side by side, so that an update touches one cache line. They
//! are atomics without any ordering, which cost no more than plain numbers: asynchronous threads
//! may overwrite each other's updates (that is Hogwild's bargain), but nothing is undefined.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::optimizers::adagrad::EPSILON;

/// A number that threads may share.
#[derive(Debug, Default)]
pub(crate) struct SharedNumber(AtomicU32);

impl SharedNumber {
    #[inline(always)]
    pub(crate) fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: f32) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    #[inline(always)]
    fn add(&self, value: f32) {
        self.set(self.get() + value);
    }
}

/// How a gradient changes what is kept for a feature.
pub(crate) trait SparseUpdate: Copy + Send + Sync {
    /// What is kept for a feature.
    type Cell: Default + Send + Sync;
    /// Names of the parts of a cell beside the weight.
    const MEMORY: &'static [&'static str];
    /// Whether the gradients of a batch are added up before the update, because the update of a
    /// sum is not the sum of updates.
    const GATHERS: bool;

    /// The weight.
    fn weight(cell: &Self::Cell) -> f32;
    /// Makes one update.
    fn update(self, cell: &Self::Cell, gradient: f32, rate: f32);
    /// Adds to the gathered gradient; `true` when it was zero before.
    fn gather(cell: &Self::Cell, gradient: f32) -> bool;
    /// Updates by the gathered gradient and forgets it.
    fn settle(self, cell: &Self::Cell, rate: f32);
    /// The weight and the parts of [`Self::MEMORY`].
    fn parts(cell: &Self::Cell) -> [f32; 3];
    /// Puts back what [`Self::parts`] told.
    fn restore(cell: &Self::Cell, parts: [f32; 3]);
    /// Brings the change of a copy into the cell.
    fn merge(self, cell: &Self::Cell, change: Change, rate: f32);
}

/// How a copy of a cell has changed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    /// The parts before and after.
    pub(crate) before: [f32; 3],
    pub(crate) after: [f32; 3],
    /// How much of it counts where other threads have made about the same change; rules whose
    /// steps shrink by themselves do not need it.
    pub(crate) share: f32,
}

/// Plain descent: the weight alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descent;

/// The cell of [`Descent`].
#[derive(Debug, Default)]
pub(crate) struct DescentCell {
    weight: SharedNumber,
}

impl SparseUpdate for Descent {
    type Cell = DescentCell;
    const MEMORY: &'static [&'static str] = &[];
    const GATHERS: bool = false;

    #[inline(always)]
    fn weight(cell: &DescentCell) -> f32 {
        cell.weight.get()
    }

    #[inline(always)]
    fn update(self, cell: &DescentCell, gradient: f32, rate: f32) {
        cell.weight.set(cell.weight.get() - rate * gradient);
    }

    fn gather(_: &DescentCell, _: f32) -> bool {
        unreachable!("descent updates at once")
    }

    fn settle(self, _: &DescentCell, _: f32) {
        unreachable!("descent updates at once")
    }

    fn parts(cell: &DescentCell) -> [f32; 3] {
        [cell.weight.get(), 0.0, 0.0]
    }

    fn restore(cell: &DescentCell, parts: [f32; 3]) {
        cell.weight.set(parts[0]);
    }

    #[inline(always)]
    fn merge(self, cell: &DescentCell, change: Change, _: f32) {
        cell.weight.add((change.after[0] - change.before[0]) * change.share);
    }
}

/// AdaGrad (see `optimizers/adagrad.rs`) for features that most examples lack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SparseAdaGrad;

/// The cell of [`SparseAdaGrad`].
#[derive(Debug, Default)]
#[repr(align(16))]
pub(crate) struct AdaGradCell {
    weight: SharedNumber,
    squares: SharedNumber,
    gathered: SharedNumber,
}

impl SparseUpdate for SparseAdaGrad {
    type Cell = AdaGradCell;
    const MEMORY: &'static [&'static str] = &["squares"];
    const GATHERS: bool = true;

    #[inline(always)]
    fn weight(cell: &AdaGradCell) -> f32 {
        cell.weight.get()
    }

    #[inline(always)]
    fn update(self, cell: &AdaGradCell, gradient: f32, rate: f32) {
        let squares = cell.squares.get() + gradient * gradient;
        cell.squares.set(squares);
        cell.weight.set(cell.weight.get() - rate * gradient / (squares.sqrt() + EPSILON));
    }

    #[inline(always)]
    fn gather(cell: &AdaGradCell, gradient: f32) -> bool {
        let before = cell.gathered.get();
        cell.gathered.set(before + gradient);
        before == 0.0
    }

    #[inline(always)]
    fn settle(self, cell: &AdaGradCell, rate: f32) {
        self.update(cell, cell.gathered.get(), rate);
        cell.gathered.set(0.0);
    }

    fn parts(cell: &AdaGradCell) -> [f32; 3] {
        [cell.weight.get(), cell.squares.get(), 0.0]
    }

    fn restore(cell: &AdaGradCell, parts: [f32; 3]) {
        cell.weight.set(parts[0]);
        cell.squares.set(parts[1]);
    }

    #[inline(always)]
    fn merge(self, cell: &AdaGradCell, change: Change, _: f32) {
        let Change { before, after, .. } = change;
        if before != after {
            cell.weight.add(after[0] - before[0]);
            cell.squares.add(after[1] - before[1]);
        }
    }
}

/// FTRL-Proximal of McMahan et al. (2013, "Ad click prediction: a view from the trenches",
/// algorithm 1): the learning rate is its `alpha`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ftrl {
    pub(crate) beta: f32,
    pub(crate) l1: f32,
    pub(crate) l2: f32,
}

/// The cell of [`Ftrl`]; `sum` and `squares` are the paper's `z` and `n`.
#[derive(Debug, Default)]
#[repr(align(16))]
pub(crate) struct FtrlCell {
    weight: SharedNumber,
    sum: SharedNumber,
    squares: SharedNumber,
    gathered: SharedNumber,
}

impl Ftrl {
    /// The weight that follows from the sums; 0 while the l1 penalty outweighs them.
    #[inline(always)]
    fn weight_of(self, sum: f32, squares: f32, rate: f32) -> f32 {
        let Self { beta, l1, l2 } = self;
        let beyond = sum.abs() - l1;
        if beyond <= 0.0 {
            return 0.0;
        }
        -beyond.copysign(sum) / ((beta + squares.sqrt()) / rate + l2)
    }
}

impl SparseUpdate for Ftrl {
    type Cell = FtrlCell;
    const MEMORY: &'static [&'static str] = &["sums", "squares"];
    const GATHERS: bool = true;

    #[inline(always)]
    fn weight(cell: &FtrlCell) -> f32 {
        cell.weight.get()
    }

    #[inline(always)]
    fn update(self, cell: &FtrlCell, gradient: f32, rate: f32) {
        let before = cell.squares.get();
        let squares = before + gradient * gradient;
        let sigma = (squares.sqrt() - before.sqrt()) / rate;
        let sum = cell.sum.get() + gradient - sigma * cell.weight.get();
        cell.squares.set(squares);
        cell.sum.set(sum);
        cell.weight.set(self.weight_of(sum, squares, rate));
    }

    #[inline(always)]
    fn gather(cell: &FtrlCell, gradient: f32) -> bool {
        let before = cell.gathered.get();
        cell.gathered.set(before + gradient);
        before == 0.0
    }

    #[inline(always)]
    fn settle(self, cell: &FtrlCell, rate: f32) {
        self.update(cell, cell.gathered.get(), rate);
        cell.gathered.set(0.0);
    }

    fn parts(cell: &FtrlCell) -> [f32; 3] {
        [cell.weight.get(), cell.sum.get(), cell.squares.get()]
    }

    fn restore(cell: &FtrlCell, parts: [f32; 3]) {
        cell.weight.set(parts[0]);
        cell.sum.set(parts[1]);
        cell.squares.set(parts[2]);
    }

    #[inline(always)]
    fn merge(self, cell: &FtrlCell, change: Change, rate: f32) {
        let Change { before, after, .. } = change;
        if before != after {
            cell.sum.add(after[1] - before[1]);
            cell.squares.add(after[2] - before[2]);
            cell.weight.set(self.weight_of(cell.sum.get(), cell.squares.get(), rate));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One coordinate of McMahan et al.'s algorithm 1 as printed, in `f64`.
    #[derive(Default)]
    struct Printed {
        z: f64,
        n: f64,
    }

    impl Printed {
        fn weight(&self, [alpha, beta, l1, l2]: [f64; 4]) -> f64 {
            match self.z.abs() <= l1 {
                true => 0.0,
                false => {
                    -1.0 / ((beta + self.n.sqrt()) / alpha + l2) * (self.z - self.z.signum() * l1)
                }
            }
        }

        fn update(&mut self, g: f64, constants: [f64; 4]) {
            let weight = self.weight(constants);
            let sigma = ((self.n + g * g).sqrt() - self.n.sqrt()) / constants[0];
            self.z += g - sigma * weight;
            self.n += g * g;
        }
    }

    proptest! {
        #[test]
        fn ftrl_follows_the_algorithm_as_printed(
            gradients in prop::collection::vec(-1.0_f32..1.0, 1..40),
            l1 in 0.0_f32..2.0,
            l2 in 0.0_f32..2.0,
        ) {
            let (rule, cell) = (Ftrl { beta: 1.0, l1, l2 }, FtrlCell::default());
            let constants = [f64::from(0.1_f32), 1.0, f64::from(l1), f64::from(l2)];
            let mut printed = Printed::default();
            for &gradient in &gradients {
                rule.update(&cell, gradient, 0.1);
                printed.update(gradient.into(), constants);
                // Sums of up to forty terms of about 1 in single precision, times the rate.
                let (found, expected) = (f64::from(Ftrl::weight(&cell)), printed.weight(constants));
                prop_assert!((found - expected).abs() < 2e-5, "{found} {expected}");
            }
        }

        #[test]
        fn gathered_gradients_are_one_update(gradients in prop::collection::vec(-1.0_f32..1.0, 1..9)) {
            let sum = gradients.iter().fold(0.0, |sum, &gradient| sum + gradient);
            let (gathered, direct) = (AdaGradCell::default(), AdaGradCell::default());
            for &gradient in &gradients {
                SparseAdaGrad::gather(&gathered, gradient);
            }
            SparseAdaGrad.settle(&gathered, 0.1);
            SparseAdaGrad.update(&direct, sum, 0.1);
            prop_assert_eq!(SparseAdaGrad::parts(&gathered), SparseAdaGrad::parts(&direct));
            prop_assert!(SparseAdaGrad::gather(&gathered, 1.0), "nothing is left over");
        }
    }

    #[test]
    fn a_large_l1_keeps_weights_at_zero() {
        let (rule, cell) = (Ftrl { beta: 1.0, l1: 5.0, l2: 0.0 }, FtrlCell::default());
        (0..4).for_each(|_| rule.update(&cell, 1.0, 0.1));
        assert_eq!(Ftrl::weight(&cell), 0.0);
        (0..4).for_each(|_| rule.update(&cell, 1.0, 0.1));
        assert!(Ftrl::weight(&cell) < 0.0);
    }

    fn check_merge<U: SparseUpdate>(update: U) {
        let (cell, copy) = (U::Cell::default(), U::Cell::default());
        [0.5, -0.25].iter().for_each(|&gradient| update.update(&cell, gradient, 0.1));
        let before = U::parts(&cell);
        U::restore(&copy, before);
        [1.0, 0.5].iter().for_each(|&gradient| update.update(&copy, gradient, 0.1));
        update.merge(&cell, Change { before, after: U::parts(&copy), share: 1.0 }, 0.1);
        for (found, expected) in U::parts(&cell).into_iter().zip(U::parts(&copy)) {
            // The change is a rounded difference.
            assert!((found - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn a_copy_alone_is_merged_as_if_it_had_been_the_cell() {
        check_merge(Descent);
        check_merge(SparseAdaGrad);
        check_merge(Ftrl { beta: 1.0, l1: 0.1, l2: 0.1 });
    }
}
