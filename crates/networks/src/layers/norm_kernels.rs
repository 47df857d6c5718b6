//! The loops of batch norm over rows of channels, with the activation that follows.

use crate::arithmetic::simd::{LANES, Lanes, add_product, fused_kernels};
use crate::network::description::Activation;

/// Numbers of each channel that turn a value into its normalised one:
/// `(value - mean) * scale + shift`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Affine<'a> {
    pub(crate) mean: &'a [f32],
    pub(crate) scale: &'a [f32],
    pub(crate) shift: &'a [f32],
}

/// Numbers of each channel that turn a gradient of the normalised value into one of the value:
/// `gradient * scale + (value - mean) * slope + offset`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descent<'a> {
    pub(crate) slope: &'a [f32],
    pub(crate) offset: &'a [f32],
}

/// Channels whose sums are kept together while the rows go by.
const BLOCK: usize = 64;

/// Lower and upper end of an activation's rising part.
#[inline(always)]
fn ends(activation: Activation) -> (f32, f32) {
    match activation {
        Activation::Linear => (f32::NEG_INFINITY, f32::INFINITY),
        Activation::Relu => (0.0, f32::INFINITY),
        Activation::Relu6 => (0.0, 6.0),
    }
}

#[inline(always)]
fn clamped(value: f32, (low, high): (f32, f32)) -> f32 {
    // Written so that NaN passes.
    let raised = if value < low { low } else { value };
    if raised > high { high } else { raised }
}

/// A gradient where the value before the activation lies on its rising part, else 0; by bits, so
/// that the gradient is read in either case and the loops stay free of branches.
#[inline(always)]
fn masked(gradient: f32, y: f32, (low, high): (f32, f32)) -> f32 {
    let mask = u32::from((y > low) & (y < high)).wrapping_neg();
    f32::from_bits(gradient.to_bits() & mask)
}

#[inline(always)]
fn lanes(values: &[f32], at: usize) -> &Lanes {
    values[at..at + LANES].try_into().expect("a slice of that many numbers")
}

fused_kernels! {
    /// Normalises rows of channels into another place.
    fn normalise<const FMA: bool>(
        from: &[f32],
        to: &mut [f32],
        affine: Affine<'_>,
        activation: Activation,
    ) {
        let (channels, ends) = (affine.mean.len(), ends(activation));
        for (from, to) in from.chunks_exact(channels).zip(to.chunks_exact_mut(channels)) {
            let affine = affine.mean.iter().zip(affine.scale).zip(affine.shift);
            for ((to, &x), ((&mean, &scale), &shift)) in to.iter_mut().zip(from).zip(affine) {
                *to = clamped(add_product::<FMA>(x - mean, scale, shift), ends);
            }
        }
    }

    /// As [`normalise`], in place.
    fn normalise_in_place<const FMA: bool>(
        values: &mut [f32],
        affine: Affine<'_>,
        activation: Activation,
    ) {
        let (channels, ends) = (affine.mean.len(), ends(activation));
        for row in values.chunks_exact_mut(channels) {
            let affine = affine.mean.iter().zip(affine.scale).zip(affine.shift);
            for (value, ((&mean, &scale), &shift)) in row.iter_mut().zip(affine) {
                *value = clamped(add_product::<FMA>(*value - mean, scale, shift), ends);
            }
        }
    }

    /// Adds a bias to each row, in place, and applies the activation.
    fn add_bias<const FMA: bool>(values: &mut [f32], bias: &[f32], activation: Activation) {
        let ends = ends(activation);
        for row in values.chunks_exact_mut(bias.len()) {
            for (value, &bias) in row.iter_mut().zip(bias) {
                *value = clamped(*value + bias, ends);
            }
        }
    }

    /// Adds to `sums` the sum of each channel's distances from a pivot, then the sums of their
    /// squares.
    fn moments<const FMA: bool>(values: &[f32], pivot: &[f32], sums: &mut [f64]) {
        let channels = pivot.len();
        let (first, second) = sums.split_at_mut(channels);
        let mut at = 0;
        while at + LANES <= channels {
            let middle = lanes(pivot, at);
            let (mut sum, mut square) = ([0.0_f32; LANES], [0.0_f32; LANES]);
            for row in values.chunks_exact(channels) {
                let row = lanes(row, at);
                for lane in 0..LANES {
                    let distance = row[lane] - middle[lane];
                    sum[lane] += distance;
                    square[lane] = add_product::<FMA>(distance, distance, square[lane]);
                }
            }
            for lane in 0..LANES {
                first[at + lane] += f64::from(sum[lane]);
                second[at + lane] += f64::from(square[lane]);
            }
            at += LANES;
        }
        for row in values.chunks_exact(channels) {
            for channel in at..channels {
                let distance = f64::from(row[channel]) - f64::from(pivot[channel]);
                first[channel] += distance;
                second[channel] += distance * distance;
            }
        }
    }

    /// Adds to `sums` the sum of each channel's gradients before the activation, then the sums of
    /// their products with `value - mean`.
    fn gradient_moments<const FMA: bool>(
        gradients: &[f32],
        values: &[f32],
        affine: Affine<'_>,
        activation: Activation,
        sums: &mut [f64],
    ) {
        let (channels, (low, high)) = (affine.mean.len(), ends(activation));
        let (first, second) = sums.split_at_mut(channels);
        for start in (0..channels).step_by(BLOCK) {
            let range = start..channels.min(start + BLOCK);
            let (mut sum, mut product) = ([0.0_f32; BLOCK], [0.0_f32; BLOCK]);
            let (sum, product) = (&mut sum[..range.len()], &mut product[..range.len()]);
            let [mean, scale, shift] =
                [affine.mean, affine.scale, affine.shift].map(|numbers| &numbers[range.clone()]);
            let rows = gradients.chunks_exact(channels).zip(values.chunks_exact(channels));
            for (gradient, value) in rows {
                let own = gradient[range.clone()].iter().zip(&value[range.clone()]);
                let affine = mean.iter().zip(scale).zip(shift);
                let sums = sum.iter_mut().zip(product.iter_mut());
                for (((&gradient, &value), ((&mean, &scale), &shift)), (sum, product)) in
                    own.zip(affine).zip(sums)
                {
                    let distance = value - mean;
                    let y = add_product::<FMA>(distance, scale, shift);
                    let kept = masked(gradient, y, (low, high));
                    *sum += kept;
                    *product = add_product::<FMA>(kept, distance, *product);
                }
            }
            for (channel, (&sum, &product)) in range.zip(sum.iter().zip(&*product)) {
                first[channel] += f64::from(sum);
                second[channel] += f64::from(product);
            }
        }
    }

    /// Turns gradients of normalised values into gradients of the values, in place.
    fn descend<const FMA: bool>(
        gradients: &mut [f32],
        values: &[f32],
        affine: Affine<'_>,
        descent: Descent<'_>,
        activation: Activation,
    ) {
        let (channels, (low, high)) = (affine.mean.len(), ends(activation));
        let Affine { mean, scale, shift } = affine;
        let Descent { slope, offset } = descent;
        let rows = gradients.chunks_exact_mut(channels).zip(values.chunks_exact(channels));
        for (gradient, value) in rows {
            let [mean, scale, shift, slope, offset] =
                [mean, scale, shift, slope, offset].map(|numbers| &numbers[..gradient.len()]);
            let value = &value[..gradient.len()];
            for channel in 0..gradient.len() {
                let distance = value[channel] - mean[channel];
                let y = add_product::<FMA>(distance, scale[channel], shift[channel]);
                let kept = masked(gradient[channel], y, (low, high));
                let rest = add_product::<FMA>(distance, slope[channel], offset[channel]);
                gradient[channel] = add_product::<FMA>(kept, scale[channel], rest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(found: &[f32], expected: &[f32]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()));
        }
    }

    proptest! {
        #[test]
        fn both_compilations_agree(
            channels in 1..20_usize, rows in 1..20_usize, which in 0..3_usize, seed in 0..99_u32,
        ) {
            let numbers = |count: usize, salt: u32| -> Vec<f32> {
                let number = |index: usize| {
                    let mixed = (index as u32 + 1).wrapping_mul(2_654_435_761 ^ seed ^ (salt << 9));
                    (mixed >> 16) as f32 / 16_384.0 - 2.0
                };
                (0..count).map(number).collect()
            };
            let activation = [Activation::Linear, Activation::Relu, Activation::Relu6][which];
            let (x, g) = (numbers(rows * channels, 1), numbers(rows * channels, 2));
            let each: Vec<Vec<f32>> = (3..8).map(|salt| numbers(channels, salt)).collect();
            let affine = Affine { mean: &each[0], scale: &each[1], shift: &each[2] };
            let descent = Descent { slope: &each[3], offset: &each[4] };

            let [mut one, mut two] = [x.clone(), x.clone()];
            plain::normalise::<false>(&x, &mut one, affine, activation);
            normalise(&x, &mut two, affine, activation);
            close(&two, &one);
            let mut three = x.clone();
            normalise_in_place(&mut three, affine, activation);
            prop_assert_eq!(&two, &three);

            let [mut one, mut two] = [x.clone(), x.clone()];
            plain::add_bias::<false>(&mut one, &each[0], activation);
            add_bias(&mut two, &each[0], activation);
            prop_assert_eq!(&one, &two);
            let (low, high) = ends(activation);
            for (index, value) in one.iter().enumerate() {
                let expected = (x[index] + each[0][index % channels]).clamp(low, high);
                prop_assert!((value - expected).abs() < 1e-6);
            }

            let [mut one, mut two] = [vec![0.5; 2 * channels], vec![0.5; 2 * channels]];
            plain::moments::<false>(&x, &each[0], &mut one);
            moments(&x, &each[0], &mut two);
            plain::gradient_moments::<false>(&g, &x, affine, activation, &mut one);
            gradient_moments(&g, &x, affine, activation, &mut two);
            for (one, two) in one.iter().zip(&two) {
                prop_assert!((one - two).abs() < 1e-4 * (1.0 + one.abs()));
            }

            let [mut one, mut two] = [g.clone(), g.clone()];
            plain::descend::<false>(&mut one, &x, affine, descent, activation);
            descend(&mut two, &x, affine, descent, activation);
            close(&two, &one);
        }
    }
}
