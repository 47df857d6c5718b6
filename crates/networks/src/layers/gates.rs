//! The gates of a long short-term memory, for one step of some examples.

use crate::arithmetic::exponential::exp_of_nonpositive;
use crate::arithmetic::simd::{add_product, fused_kernels};

/// What a step of the memory gives, one row of `units` an example.
pub(super) struct Step<'a> {
    pub(super) units: usize,
    /// The memory.
    pub(super) cells: &'a mut [f32],
    /// The memory between -1 and 1.
    pub(super) bounded: &'a mut [f32],
    pub(super) outputs: &'a mut [f32],
}

/// The logistic function.
#[inline(always)]
fn logistic(x: f32) -> f32 {
    let tail = exp_of_nonpositive(-x.abs());
    let small = tail / (1.0 + tail);
    if x >= 0.0 { 1.0 - small } else { small }
}

/// The hyperbolic tangent, to about 1e-7 of 1.
#[inline(always)]
fn tanh(x: f32) -> f32 {
    let tail = exp_of_nonpositive(-2.0 * x.abs());
    ((1.0 - tail) / (1.0 + tail)).copysign(x)
}

fused_kernels! {
    /// Opens the gates in place and moves the memory on; there is none before the first step.
    fn forward<const FMA: bool>(gates: &mut [f32], before: &[f32], step: Step<'_>) {
        let Step { units, cells, bounded, outputs } = step;
        let rows = cells.chunks_exact_mut(units).zip(bounded.chunks_exact_mut(units));
        let rows = rows.zip(outputs.chunks_exact_mut(units));
        for (index, (gates, ((cells, bounded), outputs))) in
            gates.chunks_exact_mut(4 * units).zip(rows).enumerate()
        {
            let (input, rest) = gates.split_at_mut(units);
            let (forget, rest) = rest.split_at_mut(units);
            let (candidate, output) = rest.split_at_mut(units);
            input.iter_mut().for_each(|gate| *gate = logistic(*gate));
            forget.iter_mut().for_each(|gate| *gate = logistic(*gate));
            candidate.iter_mut().for_each(|gate| *gate = tanh(*gate));
            output.iter_mut().for_each(|gate| *gate = logistic(*gate));
            for ((cell, &input), &candidate) in cells.iter_mut().zip(&*input).zip(&*candidate) {
                *cell = input * candidate;
            }
            if !before.is_empty() {
                let before = &before[index * units..(index + 1) * units];
                for ((cell, &forget), &before) in cells.iter_mut().zip(&*forget).zip(before) {
                    *cell = add_product::<FMA>(forget, before, *cell);
                }
            }
            let ends = bounded.iter_mut().zip(outputs).zip(&*cells).zip(&*output);
            for (((bounded, result), &cell), &output) in ends {
                *bounded = tanh(cell);
                *result = output * *bounded;
            }
        }
    }

    /// Replaces the open gates by gradients of what opened them. What comes in as gradients of
    /// outputs and memory goes out as that of the memory one step before.
    fn backward<const FMA: bool>(
        gates: &mut [f32],
        kept: (&[f32], &[f32]),
        flowing: (&mut [f32], &mut [f32]),
        units: usize,
    ) {
        let ((before, bounded), (at_output, at_cell)) = (kept, flowing);
        let rows = at_output.chunks_exact(units).zip(at_cell.chunks_exact_mut(units));
        let rows = rows.zip(bounded.chunks_exact(units));
        for (index, (gates, ((at_output, at_cell), bounded))) in
            gates.chunks_exact_mut(4 * units).zip(rows).enumerate()
        {
            let (input, rest) = gates.split_at_mut(units);
            let (forget, rest) = rest.split_at_mut(units);
            let (candidate, output) = rest.split_at_mut(units);
            let [at_output, bounded] = [at_output, bounded].map(|row| &row[..units]);
            let [at_cell, input, forget, candidate, output] =
                [at_cell, input, forget, candidate, output].map(|row| &mut row[..units]);
            for unit in 0..units {
                let (o, bound, h) = (output[unit], bounded[unit], at_output[unit]);
                let c = add_product::<FMA>(h * o, 1.0 - bound * bound, at_cell[unit]);
                let (i, g) = (input[unit], candidate[unit]);
                output[unit] = h * bound * o * (1.0 - o);
                input[unit] = c * g * i * (1.0 - i);
                candidate[unit] = c * i * (1.0 - g * g);
                at_cell[unit] = c;
            }
            if before.is_empty() {
                forget.fill(0.0);
                continue;
            }
            let before = &before[index * units..(index + 1) * units];
            for unit in 0..units {
                let (f, c) = (forget[unit], at_cell[unit]);
                forget[unit] = c * before[unit] * f * (1.0 - f);
                at_cell[unit] = c * f;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::initial_weights::test_values as values;

    #[test]
    fn the_curves_agree_with_the_library() {
        for step in -3000..3000 {
            let x = step as f32 * 0.01;
            let wide = f64::from(x);
            assert!((f64::from(logistic(x)) - 1.0 / (1.0 + (-wide).exp())).abs() < 2e-7, "{x}");
            assert!((f64::from(tanh(x)) - wide.tanh()).abs() < 2e-7, "{x}");
        }
        assert!(logistic(f32::NAN).is_nan() && tanh(f32::NAN).is_nan());
    }

    #[test]
    fn both_compilations_agree() {
        let numbers = |count: usize, salt: usize| -> Vec<f32> {
            (0..count).map(|it| ((it * 37 + salt * 11) % 101) as f32 / 25.0 - 2.0).collect()
        };
        let (units, rows) = (13, 3);
        let size = units * rows;
        let run = |fused: bool| {
            let (mut gates, before) = (numbers(4 * size, 1), numbers(size, 2));
            let (mut cells, mut bounded, mut outputs) =
                (vec![0.0; size], vec![0.0; size], vec![0.0; size]);
            let step =
                Step { units, cells: &mut cells, bounded: &mut bounded, outputs: &mut outputs };
            match fused {
                true => forward(&mut gates, &before, step),
                false => plain::forward::<false>(&mut gates, &before, step),
            }
            let (mut at_output, mut at_cell) = (numbers(size, 3), numbers(size, 4));
            let kept = (&before[..], &bounded[..]);
            let work = (&mut at_output[..], &mut at_cell[..]);
            match fused {
                true => backward(&mut gates, kept, work, units),
                false => plain::backward::<false>(&mut gates, kept, work, units),
            }
            [gates, outputs, at_cell].concat()
        };
        for (one, two) in run(true).iter().zip(run(false)) {
            assert!((one - two).abs() < 1e-5, "{one} {two}");
        }
    }

    /// One unit's step from the equations: out of what opens its gates and the memory before come
    /// memory and output.
    fn slow([input, forget, candidate, output]: [f64; 4], before: f64) -> [f64; 2] {
        let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
        let cell = logistic(input) * candidate.tanh() + logistic(forget) * before;
        [cell, logistic(output) * cell.tanh()]
    }

    /// What opens the gates of a unit, the memory before, and the slopes at memory and output.
    struct Unit {
        own: [f64; 4],
        memory: f64,
        at_cell: f64,
        at_output: f64,
    }

    impl Unit {
        /// A loss with these slopes, after a change of one gate, or of the memory as the fifth.
        fn loss(&self, which: usize, change: f64) -> f64 {
            let (mut own, mut memory) = (self.own, self.memory);
            *own.get_mut(which).unwrap_or(&mut memory) += change;
            let [cell, output] = slow(own, memory);
            self.at_cell * cell + self.at_output * output
        }

        /// The slope of the loss by central differences.
        fn slope(&self, which: usize) -> f64 {
            (self.loss(which, 1e-5) - self.loss(which, -1e-5)) / 2e-5
        }
    }

    fn check(units: usize, rows: usize, is_first: bool, seed: u64) {
        let size = units * rows;
        let opening: Vec<f32> = values(4 * size, seed).iter().map(|it| 3.0 * it).collect();
        let before = if is_first { Vec::new() } else { values(size, seed ^ 1) };
        let (mut gates, mut cells) = (opening.clone(), vec![f32::NAN; size]);
        let (mut bounded, mut outputs) = (cells.clone(), cells.clone());
        let step = Step { units, cells: &mut cells, bounded: &mut bounded, outputs: &mut outputs };
        forward(&mut gates, &before, step);
        let (at_output, at_cell) = (values(size, seed ^ 2), values(size, seed ^ 3));
        let (mut flowing, mut into_before) = (at_output.clone(), at_cell.clone());
        backward(&mut gates, (&before, &bounded), (&mut flowing, &mut into_before), units);
        for at in 0..size {
            let place = |gate: usize| (at / units * 4 + gate) * units + at % units;
            let unit = Unit {
                own: [0, 1, 2, 3].map(|gate| f64::from(opening[place(gate)])),
                memory: before.get(at).copied().map_or(0.0, f64::from),
                at_cell: at_cell[at].into(),
                at_output: at_output[at].into(),
            };
            let [cell, output] = slow(unit.own, unit.memory);
            assert!((f64::from(cells[at]) - cell).abs() < 1e-6);
            assert!((f64::from(outputs[at]) - output).abs() < 1e-6);
            let slopes = [0, 1, 2, 3].map(|gate| gates[place(gate)]).into_iter();
            let slopes = slopes.chain((!is_first).then(|| into_before[at]));
            for (which, found) in slopes.enumerate() {
                let expected = unit.slope(which);
                assert!((f64::from(found) - expected).abs() < 2e-6, "{which}: {found} {expected}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_step_and_its_slopes_are_those_of_the_equations(
            (units, rows) in (1..10_usize, 1..4_usize), is_first: bool, seed: u64,
        ) {
            check(units, rows, is_first, seed);
        }
    }
}
