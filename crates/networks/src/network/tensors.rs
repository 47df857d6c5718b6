//! Names and places of the tensors in the flat vectors of a network.

use std::ops::Range;

/// One named tensor of a flat vector of parameters, gradients or state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// Unique within its vector, such as `features.0.0.weight`.
    pub name: String,
    /// Where its values lie, row by row.
    pub range: Range<usize>,
    /// Its dimensions, in the order that [`TensorKind`] tells.
    pub shape: Vec<usize>,
    /// What its dimensions mean.
    pub kind: TensorKind,
    /// Whether training changes it; the gradients of a frozen tensor are 0.
    pub trainable: bool,
}

impl TensorInfo {
    /// Names of the two biases that PyTorch has in place of a memory's one.
    pub(crate) fn pytorch_biases(&self) -> Option<[String; 2]> {
        let names = ["bias_ih_", "bias_hh_"].map(|name| self.name.replacen("bias_", name, 1));
        (self.kind == TensorKind::MemoryBias).then_some(names)
    }

    /// The tensor as PyTorch would keep it: names, dimensions and values.
    ///
    /// # Panics
    /// When the flat vector is shorter than the network's.
    pub fn to_pytorch(&self, flat: &[f32]) -> Vec<(String, Vec<usize>, Vec<f32>)> {
        let values = self.kind.to_pytorch(&self.shape, &flat[self.range.clone()]);
        let shape = self.kind.pytorch_shape(&self.shape);
        match self.pytorch_biases() {
            Some([first, second]) => {
                let zeros = vec![0.0; values.len()];
                vec![(first, shape.clone(), values), (second, shape, zeros)]
            }
            None => vec![(self.name.clone(), shape, values)],
        }
    }
}

/// What the dimensions of a tensor mean; PyTorch orders some of them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorKind {
    /// One value a channel or output; PyTorch's order.
    Vector,
    /// Inputs, outputs; PyTorch has outputs, inputs.
    Dense,
    /// Numbers of a flat picture, outputs; PyTorch has outputs, numbers, and in a flat picture all
    /// positions of one channel come before the next channel, where ours has them last.
    FlatPicture {
        /// Height times width of the picture.
        positions: usize,
    },
    /// Height, width, inputs, outputs; PyTorch has outputs, inputs, height, width.
    Convolution,
    /// Height, width, channels; PyTorch has channels, 1, height, width.
    Depthwise,
    /// One value a gate of a memory; PyTorch has two such vectors, whose sum it is.
    MemoryBias,
    /// Rows of a table, width; PyTorch's order.
    Table,
}

impl TensorKind {
    /// The tensor's dimensions in PyTorch's order.
    pub fn pytorch_shape(self, shape: &[usize]) -> Vec<usize> {
        match (self, shape) {
            (Self::Dense | Self::FlatPicture { .. }, &[inputs, outputs]) => vec![outputs, inputs],
            (Self::Convolution, &[height, width, inputs, outputs]) => {
                vec![outputs, inputs, height, width]
            }
            (Self::Depthwise, &[height, width, channels]) => vec![channels, 1, height, width],
            _ => shape.to_vec(),
        }
    }

    /// The tensor's values in PyTorch's order.
    ///
    /// # Panics
    /// When the values are not as many as the shape says.
    pub fn to_pytorch(self, shape: &[usize], values: &[f32]) -> Vec<f32> {
        let mut theirs = vec![0.0; values.len()];
        for (&value, place) in values.iter().zip(self.pytorch_places(shape, values.len())) {
            theirs[place] = value;
        }
        theirs
    }

    /// Values in our order from those in PyTorch's; the shape is ours.
    ///
    /// # Panics
    /// When the values are not as many as the shape says.
    pub fn from_pytorch(self, shape: &[usize], values: &[f32]) -> Vec<f32> {
        self.pytorch_places(shape, values.len()).map(|place| values[place]).collect()
    }

    /// For each value in our order, its place in PyTorch's: there the last of our dimensions
    /// comes first, and a convolution's inputs come before its height and width.
    fn pytorch_places(self, shape: &[usize], count: usize) -> impl Iterator<Item = usize> {
        assert_eq!(shape.iter().product::<usize>(), count, "a tensor {shape:?} has other values");
        let (outer, inner, last) = match (self, shape) {
            (Self::Dense, &[inputs, outputs]) => (1, inputs, outputs),
            (Self::FlatPicture { positions }, &[inputs, outputs]) => {
                (positions, inputs / positions, outputs)
            }
            (Self::Convolution, &[height, width, inputs, outputs]) => {
                (height * width, inputs, outputs)
            }
            (Self::Depthwise, &[height, width, channels]) => (height * width, 1, channels),
            _ => (1, 1, count),
        };
        let is_vector = matches!(self, Self::Vector | Self::MemoryBias | Self::Table);
        (0..count).map(move |place| {
            let (rest, output) = (place / last, place % last);
            let (position, input) = (rest / inner, rest % inner);
            if is_vector { place } else { (output * inner + input) * outer + position }
        })
    }
}

/// Lays tensors one after another into a flat vector.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    tensors: Vec<TensorInfo>,
}

impl Layout {
    /// Adds a tensor and tells where it lies.
    pub(crate) fn add(&mut self, name: String, kind: TensorKind, shape: &[usize]) -> Range<usize> {
        let start = self.len();
        let range = start..start + shape.iter().product::<usize>();
        let shape = shape.to_vec();
        self.tensors.push(TensorInfo { name, range: range.clone(), shape, kind, trainable: true });
        range
    }

    /// How many values there are so far.
    pub(crate) fn len(&self) -> usize {
        self.tensors.last().map_or(0, |tensor| tensor.range.end)
    }

    /// How many tensors there are so far.
    pub(crate) fn count(&self) -> usize {
        self.tensors.len()
    }

    /// The tensors in their order.
    pub(crate) fn into_tensors(self) -> Vec<TensorInfo> {
        self.tensors
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(count: usize) -> Vec<f32> {
        (0..count).map(|number| number as f32).collect()
    }

    #[test]
    fn pytorch_has_the_outputs_first() {
        let found = TensorKind::Dense.to_pytorch(&[2, 3], &numbers(6));
        assert_eq!(found, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        // Height 1, width 2, two inputs, one output: inputs before positions.
        let found = TensorKind::Convolution.to_pytorch(&[1, 2, 2, 1], &numbers(4));
        assert_eq!(found, [0.0, 2.0, 1.0, 3.0]);
        let found = TensorKind::Depthwise.to_pytorch(&[2, 1, 2], &numbers(4));
        assert_eq!(found, [0.0, 2.0, 1.0, 3.0]);
        // Two positions of two channels: the channel comes first.
        let flat = TensorKind::FlatPicture { positions: 2 };
        assert_eq!(flat.to_pytorch(&[4, 1], &numbers(4)), [0.0, 2.0, 1.0, 3.0]);
        assert_eq!(flat.pytorch_shape(&[4, 1]), [1, 4]);
        assert_eq!(TensorKind::Depthwise.pytorch_shape(&[3, 3, 8]), [8, 1, 3, 3]);
    }

    #[test]
    fn there_and_back_is_where_it_was() {
        let cases: [(TensorKind, &[usize]); 6] = [
            (TensorKind::FlatPicture { positions: 6 }, &[24, 5]),
            (TensorKind::Vector, &[7]),
            (TensorKind::Dense, &[3, 5]),
            (TensorKind::Convolution, &[3, 2, 4, 5]),
            (TensorKind::Depthwise, &[3, 2, 4]),
            (TensorKind::Table, &[4, 3]),
        ];
        for (kind, shape) in cases {
            let values = numbers(shape.iter().product());
            let theirs = kind.to_pytorch(shape, &values);
            assert_eq!(kind.from_pytorch(shape, &theirs), values, "{kind:?}");
        }
    }

    #[test]
    fn tensors_lie_one_after_another() {
        let mut layout = Layout::default();
        assert_eq!(layout.add("a".into(), TensorKind::Dense, &[2, 3]), 0..6);
        assert_eq!(layout.add("b".into(), TensorKind::Vector, &[3]), 6..9);
        assert_eq!(layout.len(), 9);
        assert_eq!(layout.into_tensors()[1].name, "b");
    }

    proptest! {
        /// Every value by its own indices, in loops as PyTorch's documentation has the dimensions.
        #[test]
        fn each_value_goes_where_its_indices_say(
            [height, width, inputs, outputs] in prop::array::uniform4(1..5_usize),
        ) {
            let shape = [height, width, inputs, outputs];
            let ours = numbers(shape.iter().product());
            let theirs = TensorKind::Convolution.to_pytorch(&shape, &ours);
            let flat = TensorKind::FlatPicture { positions: height * width };
            let flat_theirs = flat.to_pytorch(&[height * width * inputs, outputs], &ours);
            for (at, value) in ours.iter().enumerate() {
                let (output, rest) = (at % outputs, at / outputs);
                let (input, rest) = (rest % inputs, rest / inputs);
                let (column, row) = (rest % width, rest / width);
                let place = ((output * inputs + input) * height + row) * width + column;
                prop_assert_eq!(theirs[place], *value);
                // A flat picture has its channels, rows and columns in the same order there.
                prop_assert_eq!(flat_theirs[place], *value);
            }
            let shape = [height, width, inputs];
            let ours = numbers(shape.iter().product());
            let theirs = TensorKind::Depthwise.to_pytorch(&shape, &ours);
            for (at, value) in ours.iter().enumerate() {
                let (channel, position) = (at % inputs, at / inputs);
                prop_assert_eq!(theirs[channel * height * width + position], *value);
            }
            let ours = numbers(inputs * outputs);
            let theirs = TensorKind::Dense.to_pytorch(&[inputs, outputs], &ours);
            for (at, value) in ours.iter().enumerate() {
                prop_assert_eq!(theirs[at % outputs * inputs + at / outputs], *value);
            }
        }
    }

    #[test]
    fn a_memory_s_bias_becomes_two_of_which_one_is_zero() {
        let tensor = TensorInfo {
            name: "rnn.bias_l0_reverse".to_owned(),
            range: 1..3,
            shape: vec![2],
            kind: TensorKind::MemoryBias,
            trainable: true,
        };
        let named = |name: &str, values: [f32; 2]| (name.to_owned(), vec![2], values.to_vec());
        let expected = [
            named("rnn.bias_ih_l0_reverse", [5.0, 6.0]),
            named("rnn.bias_hh_l0_reverse", [0.0, 0.0]),
        ];
        assert_eq!(tensor.to_pytorch(&[4.0, 5.0, 6.0, 7.0]), expected);
    }

    #[test]
    #[should_panic(expected = "a tensor [2, 3] has other values")]
    fn a_shape_that_does_not_fit_its_values_is_refused() {
        TensorKind::Dense.to_pytorch(&[2, 3], &[0.0; 5]);
    }
}
