//! One pass over parameters for each kind of update, compiled as in `arithmetic/kernels.rs` or, where it pays,
//! with fused operations.

use crate::arithmetic::kernels::kernels;
use crate::arithmetic::simd::{add_product, fused_kernels};

/// The numbers of one Adam step; see `adam.rs` for their meaning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdamStep {
    pub(crate) beta1: f32,
    pub(crate) beta2: f32,
    pub(crate) rate: f32,
    pub(crate) second_scale: f32,
    pub(crate) epsilon: f32,
    /// Share of a parameter that is added to its gradient.
    pub(crate) decay: f32,
    /// What a parameter is multiplied by before the step.
    pub(crate) shrink: f32,
}

/// The numbers of one step of descent, with or without momentum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DescentStep {
    pub(crate) rate: f32,
    pub(crate) momentum: f32,
    /// Share of a parameter that is added to its gradient.
    pub(crate) decay: f32,
}

/// The numbers of one AdaGrad step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdaGradStep {
    pub(crate) rate: f32,
    pub(crate) epsilon: f32,
    /// Share of a parameter that is added to its gradient.
    pub(crate) decay: f32,
}

/// What an optimiser remembers, with 0 in place of what is too small to move a parameter.
///
/// A parameter whose gradients have become 0, such as that of a pixel which is always black,
/// leaves a memory that shrinks from step to step until it is subnormal, and processors compute
/// with such numbers many times slower.
#[inline(always)]
fn without_faded(memory: f32) -> f32 {
    if memory.abs() < FADED { 0.0 } else { memory }
}

/// What is smaller than this is too small to move a parameter.
const FADED: f32 = 1e-30;

fused_kernels! {
    /// One pass of Adam over parameters and moments.
    fn adam<const FMA: bool>(
        parameters: &mut [f32],
        moments: [&mut [f32]; 2],
        gradients: &[f32],
        step: AdamStep,
    ) {
        let [first, second] = moments;
        let AdamStep { beta1, beta2, rate, second_scale, epsilon, decay, shrink } = step;
        let moments = first.iter_mut().zip(second);
        for ((parameter, (m, v)), &g) in parameters.iter_mut().zip(moments).zip(gradients) {
            let g = add_product::<FMA>(decay, *parameter, g);
            *m = without_faded(add_product::<FMA>(beta1, *m, (1.0 - beta1) * g));
            let square = add_product::<FMA>(beta2, *v, (1.0 - beta2) * g * g);
            // Never negative, so that it need not be asked for its size.
            *v = if square < FADED { 0.0 } else { square };
            let change = rate * *m / add_product::<FMA>(v.sqrt(), second_scale, epsilon);
            *parameter = add_product::<FMA>(shrink, *parameter, -change);
        }
    }
}

kernels! {
    /// One pass of plain gradient descent.
    fn descend(parameters: &mut [f32], gradients: &[f32], step: DescentStep) {
        let DescentStep { rate, decay, .. } = step;
        for (parameter, &gradient) in parameters.iter_mut().zip(gradients) {
            *parameter -= rate * (gradient + decay * *parameter);
        }
    }

    /// One pass of gradient descent with momentum.
    fn descend_with_momentum(
        parameters: &mut [f32],
        velocity: &mut [f32],
        gradients: &[f32],
        step: DescentStep,
    ) {
        let DescentStep { rate, momentum, decay } = step;
        for ((parameter, v), &g) in parameters.iter_mut().zip(velocity).zip(gradients) {
            *v = without_faded(momentum * *v + (g + decay * *parameter));
            *parameter -= rate * *v;
        }
    }

    /// One pass of gradient descent with Nesterov's momentum.
    fn descend_with_nesterov(
        parameters: &mut [f32],
        velocity: &mut [f32],
        gradients: &[f32],
        step: DescentStep,
    ) {
        let DescentStep { rate, momentum, decay } = step;
        for ((parameter, v), &g) in parameters.iter_mut().zip(velocity).zip(gradients) {
            let g = g + decay * *parameter;
            *v = without_faded(momentum * *v + g);
            *parameter -= rate * (g + momentum * *v);
        }
    }

    /// One pass of AdaGrad over parameters and sums of squares.
    fn adagrad(
        parameters: &mut [f32],
        squares: &mut [f32],
        gradients: &[f32],
        step: AdaGradStep,
    ) {
        let AdaGradStep { rate, epsilon, decay } = step;
        for ((parameter, sum), &g) in parameters.iter_mut().zip(squares).zip(gradients) {
            let g = g + decay * *parameter;
            *sum += g * g;
            *parameter -= rate * g / (sum.sqrt() + epsilon);
        }
    }

    /// Adds the squares of values to eight sums, the value at place `i` to sum `i % 8`.
    fn add_squares(values: &[f32], sums: &mut [f64; 8]) {
        let (whole, rest) = values.as_chunks::<8>();
        for chunk in whole {
            for (sum, &value) in sums.iter_mut().zip(chunk) {
                *sum += f64::from(value) * f64::from(value);
            }
        }
        for (sum, &value) in sums.iter_mut().zip(rest) {
            *sum += f64::from(value) * f64::from(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type State = [Vec<f32>; 3];

    /// Runs a kernel both ways on equal inputs and compares every bit of what it leaves.
    fn check(state: State, run: [&dyn Fn(&mut State); 2]) {
        let [mut plain, mut dispatched] = [state.clone(), state];
        run[0](&mut plain);
        run[1](&mut dispatched);
        let bits = |state: &State| -> Vec<u32> {
            state.iter().flatten().map(|value| value.to_bits()).collect()
        };
        assert_eq!(bits(&plain), bits(&dispatched));
    }

    proptest! {
        #[test]
        fn both_compilations_agree_on_updates(
            values in prop::collection::vec(prop::array::uniform4(0.0_f32..10.0), 0..70),
            decay in 0.0_f32..0.1,
        ) {
            let column = |index: usize| values.iter().map(|row| row[index]).collect::<Vec<f32>>();
            let g: Vec<f32> = column(3).iter().map(|value| value - 5.0).collect();
            let state = [column(0), column(1), column(2)];
            let step = AdamStep {
                beta1: 0.9, beta2: 0.999, rate: 0.01, second_scale: 3.0, epsilon: 1e-8,
                decay, shrink: 1.0 - decay,
            };
            let [mut plain, mut fused] = [state.clone(), state.clone()];
            let [p, m, v] = &mut plain;
            plain::adam::<false>(p, [m, v], &g, step);
            let [p, m, v] = &mut fused;
            adam(p, [m, v], &g, step);
            for (plain, fused) in plain.iter().flatten().zip(fused.iter().flatten()) {
                // A few roundings of numbers up to 10.
                prop_assert!((plain - fused).abs() < 1e-5);
            }
            let step = DescentStep { rate: 0.1, momentum: 0.9, decay };
            check(state.clone(), [
                &|[p, v, _]| portable::descend_with_momentum(p, v, &g, step),
                &|[p, v, _]| descend_with_momentum(p, v, &g, step),
            ]);
            check(state.clone(), [
                &|[p, v, _]| portable::descend_with_nesterov(p, v, &g, step),
                &|[p, v, _]| descend_with_nesterov(p, v, &g, step),
            ]);
            check(state.clone(), [
                &|[p, _, _]| portable::descend(p, &g, step),
                &|[p, _, _]| descend(p, &g, step),
            ]);
            let step = AdaGradStep { rate: 0.1, epsilon: 1e-10, decay };
            check(state, [
                &|[p, n, _]| portable::adagrad(p, n, &g, step),
                &|[p, n, _]| adagrad(p, n, &g, step),
            ]);
        }

        #[test]
        fn memories_fade_to_zero_and_never_become_subnormal(gradient in -1.0_f32..1.0) {
            let step = AdamStep {
                beta1: 0.9, beta2: 0.9, rate: 0.01, second_scale: 1.0, epsilon: 1e-8,
                decay: 0.0, shrink: 1.0,
            };
            let (mut p, mut m, mut v) = ([1.0_f32], [0.0_f32], [0.0_f32]);
            adam(&mut p, [&mut m, &mut v], &[gradient], step);
            for _ in 0..900 {
                adam(&mut p, [&mut m, &mut v], &[0.0], step);
                prop_assert!(!m[0].is_subnormal() && !v[0].is_subnormal());
            }
            prop_assert_eq!((m[0], v[0]), (0.0, 0.0));
        }

        #[test]
        fn both_compilations_agree_on_squares(values in prop::collection::vec(-9.0_f32..9.0, 0..70)) {
            let (mut plain, mut dispatched) = ([1.0; 8], [1.0; 8]);
            portable::add_squares(&values, &mut plain);
            add_squares(&values, &mut dispatched);
            prop_assert_eq!(plain, dispatched);
        }
    }
}
