//! ReLU and ReLU6 as a layer of their own and as the end of others.

use crate::arithmetic::kernels;
use crate::arithmetic::matrix::Writing;
use crate::arithmetic::simd::fused_kernels;
use crate::layers::layer::{Backward, Forward, Layer, Needs};
use crate::network::description::Activation;
use crate::threads::parts::{Cut, Parts};

/// An activation between two layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rectifier(pub(crate) Activation);

/// Numbers that are worked on at a time.
const STRETCH: usize = 1 << 14;

/// Applies an activation in place.
pub(crate) fn apply(activation: Activation, values: &mut [f32]) {
    match activation {
        Activation::Linear => {}
        Activation::Relu => kernels::relu(values),
        Activation::Relu6 => relu6(values),
    }
}

/// Keeps a gradient only where the activation's output lies off its flat parts.
pub(crate) fn backward(activation: Activation, gradients: &mut [f32], outputs: &[f32]) {
    match activation {
        Activation::Linear => {}
        Activation::Relu => kernels::relu_backward(gradients, outputs),
        Activation::Relu6 => relu6_backward(gradients, outputs),
    }
}

fused_kernels! {
    /// Values below 0 become 0 and those above 6 become 6; NaN stays NaN.
    fn relu6<const FMA: bool>(values: &mut [f32]) {
        for value in values {
            let positive = if *value < 0.0 { 0.0 } else { *value };
            *value = if positive > 6.0 { 6.0 } else { positive };
        }
    }

    /// Keeps a gradient only where the output is above 0 and below 6.
    fn relu6_backward<const FMA: bool>(gradients: &mut [f32], outputs: &[f32]) {
        for (gradient, &output) in gradients.iter_mut().zip(outputs) {
            *gradient = if output > 0.0 && output < 6.0 { *gradient } else { 0.0 };
        }
    }

    /// Adds one slice to another.
    fn add<const FMA: bool>(sums: &mut [f32], values: &[f32]) {
        for (sum, &value) in sums.iter_mut().zip(values) {
            *sum += value;
        }
    }
}

impl Layer for Rectifier {
    fn needs(&self) -> Needs {
        Needs { output: true, ..Needs::default() }
    }

    fn forward(&self, pass: Forward<'_>) {
        let stretch = stretch(pass.output.len());
        let (count, output) =
            (pass.output.len().div_ceil(stretch), Parts::new(pass.output, Cut::Every(stretch)));
        pass.rooms.team.run(count, &|part| {
            let own = output.take(part);
            own.copy_from_slice(&pass.input[part * stretch..][..own.len()]);
            apply(self.0, own);
        });
    }

    fn backward(&self, pass: Backward<'_>) {
        let Some(target) = pass.input_gradients else { return };
        let stretch = stretch(pass.output.len());
        let count = pass.output.len().div_ceil(stretch);
        let from = Parts::new(pass.output_gradients, Cut::Every(stretch));
        let to = Parts::new(target.values, Cut::Every(stretch));
        pass.rooms.team.run(count, &|part| {
            let (from, to) = (from.take(part), to.take(part));
            backward(self.0, from, &pass.output[part * stretch..][..from.len()]);
            match target.into {
                Writing::Replace => to.copy_from_slice(from),
                Writing::Add => add(to, from),
            }
        });
    }
}

/// Numbers that are worked on at a time, so that parts stay few.
pub(crate) fn stretch(length: usize) -> usize {
    length.div_ceil(256).max(STRETCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::layer::Mode;
    use crate::layers::layer::alone::Alone;
    use crate::network::initial_weights::test_values as values;

    #[test]
    fn relu6_is_flat_outside_zero_to_six() {
        let mut values = [-1.0, 0.0, 3.0, 6.0, 7.0, f32::NAN];
        apply(Activation::Relu6, &mut values);
        assert_eq!(values[..5], [0.0, 0.0, 3.0, 6.0, 6.0]);
        assert!(values[5].is_nan());
        let mut gradients = [1.0; 5];
        backward(Activation::Relu6, &mut gradients, &values[..5]);
        assert_eq!(gradients, [0.0, 0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn both_compilations_agree() {
        let values: Vec<f32> = (0..77).map(|value| value as f32 * 0.3 - 9.0).collect();
        let [mut plain, mut dispatched] = [values.clone(), values.clone()];
        plain::relu6::<false>(&mut plain);
        relu6(&mut dispatched);
        assert_eq!(plain, dispatched);
        plain::relu6_backward::<false>(&mut plain, &values);
        relu6_backward(&mut dispatched, &values);
        plain::add::<false>(&mut plain, &values);
        add(&mut dispatched, &values);
        assert_eq!(plain, dispatched);
    }

    /// Longer than what is worked on at a time, so that there are several parts.
    #[test]
    fn long_values_are_rectified_alike_on_any_number_of_threads() {
        let length = 2 * STRETCH + 77;
        let input: Vec<f32> = values(length, 1).iter().map(|value| 9.0 * value).collect();
        let at_output = values(length, 2);
        for (activation, most) in [(Activation::Relu, f32::INFINITY), (Activation::Relu6, 6.0)] {
            for (threads, into) in [(1, Writing::Replace), (3, Writing::Add)] {
                let (layer, mode) = (Rectifier(activation), Mode::Train { seed: 1 });
                let (parameters, other, examples) = (&[][..], None, 1);
                let alone = Alone {
                    layer: &layer,
                    parameters,
                    input: &input,
                    other,
                    examples,
                    mode,
                    threads,
                };
                let found = alone.run(&at_output, into);
                let before = if into == Writing::Add { 1.0 } else { 0.0 };
                for at in 0..length {
                    let slope =
                        if input[at] > 0.0 && input[at] < most { at_output[at] } else { 0.0 };
                    assert_eq!(found.output[at], input[at].clamp(0.0, most));
                    assert_eq!(found.at_input[at], before + slope);
                }
            }
        }
    }
}
