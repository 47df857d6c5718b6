//! `TensorProto` and `SummaryMetadata` as TensorBoard's plugins want them.

use crate::messages::protobuf::{put_bytes_field, put_varint_field};

const DT_FLOAT: u64 = 1;
const DT_DOUBLE: u64 = 2;
const DT_STRING: u64 = 7;

/// Steps of a histogram, TensorBoard's default.
const STEPS: usize = 30;

/// Which part of TensorBoard shows a value.
pub(super) enum Plugin {
    Scalars,
    Images,
    Histograms,
    /// With the content that says everything.
    Hparams(Vec<u8>),
}

impl Plugin {
    /// `SummaryMetadata { 1: PluginData { 1: name, 2: content }, 4: data class }`.
    pub(super) fn metadata(&self) -> Vec<u8> {
        let (name, content, class): (_, &[u8], _) = match self {
            Self::Scalars => ("scalars", &[], Some(1)),
            Self::Histograms => ("histograms", &[], Some(2)),
            Self::Images => ("images", &[], Some(3)),
            Self::Hparams(content) => ("hparams", content, None),
        };
        let (mut data, mut metadata) = (Vec::new(), Vec::new());
        put_bytes_field(&mut data, 1, name.as_bytes());
        if !content.is_empty() {
            put_bytes_field(&mut data, 2, content);
        }
        put_bytes_field(&mut metadata, 1, &data);
        if let Some(class) = class {
            put_varint_field(&mut metadata, 4, class);
        }
        metadata
    }
}

pub(super) fn scalar_tensor(value: f32) -> Vec<u8> {
    let mut tensor = begin(DT_FLOAT, &[]);
    put_bytes_field(&mut tensor, 4, &value.to_le_bytes());
    tensor
}

/// Width, height and the PNG files, all as strings.
pub(super) fn images_tensor(columns: usize, rows: usize, files: &[Vec<u8>]) -> Vec<u8> {
    let mut tensor = begin(DT_STRING, &[2 + files.len()]);
    put_bytes_field(&mut tensor, 8, columns.to_string().as_bytes());
    put_bytes_field(&mut tensor, 8, rows.to_string().as_bytes());
    files.iter().for_each(|file| put_bytes_field(&mut tensor, 8, file));
    tensor
}

/// A row `left edge, right edge, count` for each step.
pub(super) fn histogram_tensor(values: &[f64]) -> Vec<u8> {
    let rows = histogram(values);
    let mut tensor = begin(DT_DOUBLE, &[rows.len(), 3]);
    let content: Vec<u8> = rows.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
    put_bytes_field(&mut tensor, 4, &content);
    tensor
}

/// Equal steps from the smallest to the largest value; one step of width 1 when they are equal.
fn histogram(values: &[f64]) -> Vec<[f64; 3]> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let Some(low) = finite().min_by(f64::total_cmp) else { return Vec::new() };
    let high = finite().max_by(f64::total_cmp).unwrap_or(low);
    // Halves first, so that the range of numbers near the largest float does not overflow.
    let half = high / 2.0 - low / 2.0;
    if half == 0.0 {
        return vec![[low - 0.5, low + 0.5, finite().count() as f64]];
    }
    let edge = |step: usize| {
        let half_way = half * (step as f64 / STEPS as f64);
        (low + half_way + half_way).min(high)
    };
    let mut rows: Vec<[f64; 3]> =
        (0..STEPS).map(|step| [edge(step), edge(step + 1), 0.0]).collect();
    rows[STEPS - 1][1] = high;
    for value in finite() {
        let at = (value / 2.0 - low / 2.0) / half * STEPS as f64;
        rows[(at as usize).min(STEPS - 1)][2] += 1.0;
    }
    rows
}

/// `TensorProto { 1: type, 2: TensorShapeProto { 2: { 1: size } ... } }`.
fn begin(kind: u64, shape: &[usize]) -> Vec<u8> {
    let (mut tensor, mut sizes) = (Vec::new(), Vec::new());
    for &size in shape {
        let mut dimension = Vec::new();
        put_varint_field(&mut dimension, 1, size as u64);
        put_bytes_field(&mut sizes, 2, &dimension);
    }
    put_varint_field(&mut tensor, 1, kind);
    put_bytes_field(&mut tensor, 2, &sizes);
    tensor
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_values_have_one_step_and_none_have_none() {
        assert_eq!(histogram(&[2.0, 2.0, f64::NAN]), [[1.5, 2.5, 2.0]]);
        assert!(histogram(&[f64::INFINITY]).is_empty());
    }

    #[test]
    fn a_range_beyond_the_largest_float_has_finite_steps() {
        let rows = histogram(&[-1.4e308, 0.0, 1.6e308]);
        assert!(rows.iter().all(|row| row[0] < row[1] && row[1].is_finite()), "{rows:?}");
        assert_eq!((rows[0][0], rows[STEPS - 1][1]), (-1.4e308, 1.6e308));
        assert_eq!(rows.iter().map(|row| row[2]).sum::<f64>(), 3.0);
    }

    proptest! {
        #[test]
        fn steps_join_and_count_every_finite_value(values: Vec<f64>) {
            let rows = histogram(&values);
            let counted: f64 = rows.iter().map(|row| row[2]).sum();
            prop_assert_eq!(counted as usize, values.iter().filter(|it| it.is_finite()).count());
            prop_assert!(rows.windows(2).all(|pair| pair[0][1] == pair[1][0]));
            prop_assert!(rows.iter().all(|row| row[0] <= row[1]));
        }
    }
}
