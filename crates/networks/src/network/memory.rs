//! What a network takes of memory, told before any of it is allocated.

use crate::network::Network;
use crate::network::slots::SlotPlan;

/// Bytes of a number.
const NUMBER: u128 = size_of::<f32>() as u128;

impl Network {
    /// Bytes of a vector with one number a parameter.
    pub fn parameter_bytes(&self) -> u64 {
        told(self.parameter_count() as u128 * NUMBER)
    }

    /// Bytes of the buffers that [`Self::workspace`] would make; the largest number where they are
    /// more than it can tell.
    pub fn workspace_bytes(&self, capacity: usize, threads: usize) -> u64 {
        let slots: u128 = SlotPlan::new(&self.lifetimes().0).sizes.iter().map(wide).sum();
        let (mut fixed, mut scratch, mut partials, mut sums) = (0, 0, 0, 0);
        for needs in self.nodes.iter().map(|node| node.layer.needs()) {
            fixed += wide(&needs.fixed);
            scratch = scratch.max(needs.scratch);
            partials = partials.max(needs.partials);
            sums = sums.max(needs.sums);
        }
        let of_threads = wide(&scratch).saturating_mul(wide(&threads));
        let numbers = slots.saturating_mul(wide(&capacity)).saturating_add(of_threads);
        let shared = fixed + wide(&partials) + 2 * wide(&sums);
        told(numbers.saturating_add(shared).saturating_mul(NUMBER))
    }
}

fn wide(size: &usize) -> u128 {
    *size as u128
}

fn told(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::description::{
        Activation, LayerDescription, LossName, NetworkDescription, Returns,
    };

    #[test]
    fn a_workspace_takes_what_was_told() {
        let texts = ["mlp:784-128-10", "cnn:flowers", "mobilenet-v2:0.25", "lstm:12", "bilstm:7"];
        for text in texts {
            let network = Network::new(&text.parse().unwrap()).unwrap();
            for (capacity, threads) in [(1, 1), (7, 1), (32, 3)] {
                let made = network.workspace(capacity, threads).unwrap().bytes() as u64;
                assert_eq!(network.workspace_bytes(capacity, threads), made, "{text}, {capacity}");
            }
            let numbers = network.initial_parameters(1).len();
            assert_eq!(network.parameter_bytes(), 4 * numbers as u64);
        }
    }

    #[test]
    fn a_network_beyond_any_memory_is_told_in_bytes() {
        let network = Network::new(&"lstm:100000".parse().unwrap()).unwrap();
        assert!(network.parameter_bytes() > 4 * 100_000 * 100_000);
        assert_eq!(network.workspace_bytes(usize::MAX, usize::MAX), u64::MAX);
    }

    /// Sizes that break arithmetic: small ones, powers of two and their neighbours.
    fn size() -> impl Strategy<Value = usize> {
        let edge = (0..64_u32, -1..=1_i64)
            .prop_map(|(power, by)| (1_usize << power).wrapping_add_signed(by as isize));
        prop_oneof![0..6_usize, 6..40_usize, edge]
    }

    fn layer() -> impl Strategy<Value = LayerDescription> {
        use LayerDescription as L;
        let activation = Activation::Relu;
        let window = (size(), size(), size(), size(), any::<bool>());
        let convolution = window.prop_map(move |(filters, kernel, stride, padding, batch_norm)| {
            L::Convolution { filters, kernel, stride, padding, batch_norm, activation }
        });
        let window = (size(), size(), size(), any::<bool>());
        let depthwise = window.prop_map(move |(kernel, stride, padding, batch_norm)| {
            L::Depthwise { kernel, stride, padding, batch_norm, activation }
        });
        let lstm = (size(), any::<bool>(), any::<bool>());
        let lstm = lstm.prop_map(|(units, bidirectional, all)| L::Lstm {
            units,
            bidirectional,
            returns: if all { Returns::Sequence } else { Returns::Last },
        });
        prop_oneof![
            size().prop_map(move |outputs| L::Dense { outputs, activation }),
            convolution,
            depthwise,
            Just(L::BatchNorm { activation }),
            size().prop_map(|size| L::MaxPool { size }),
            prop::option::of(size()).prop_map(|size| L::AveragePool { size }),
            Just(L::Flatten),
            Just(L::Dropout { rate: 0.5 }),
            lstm,
            (size(), size()).prop_map(|(rows, width)| L::Embedding { rows, width }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn any_numbers_make_a_network_or_an_error(
            input in prop::collection::vec(size(), 1..4),
            layers in prop::collection::vec(layer(), 1..4),
            head in prop::option::of(size()),
            (capacity, threads) in (size(), size()),
        ) {
            let mut layers = layers;
            if let Some(outputs) = head {
                layers.push(LayerDescription::Flatten);
                layers.push(LayerDescription::Dense { outputs, activation: Activation::Linear });
            }
            let layers = layers.into_iter().map(Into::into).collect();
            let (name, loss) = ("any".to_owned(), LossName::Softmax);
            let Ok(network) = Network::new(&NetworkDescription { name, input, loss, layers })
            else { return Ok(()) };
            let numbers = |shape: &[usize]| shape.iter().map(wide).product::<u128>();
            let tensors = network.tensors().iter().map(|tensor| numbers(&tensor.shape));
            prop_assert_eq!(tensors.sum::<u128>(), wide(&network.parameter_count()));
            for operator in network.operators() {
                let kept = u128::from(operator.activation_bytes);
                prop_assert!(kept >= NUMBER * numbers(&operator.output_shape), "{operator:?}");
            }
            let least = numbers(&[network.sizes[1], capacity]) * NUMBER;
            let told = network.workspace_bytes(capacity, threads);
            prop_assert!(told == u64::MAX || u128::from(told) >= least);
        }

        #[test]
        fn any_numbers_in_a_short_text_make_a_network_or_an_error(
            (first, second, third) in (size(), size(), size()),
        ) {
            let texts =
                [format!("mlp:{first}-{second}-{third}"), format!("lstm:{first}"), format!("bilstm:{first}")];
            for text in texts {
                let input = [second, third];
                let description = NetworkDescription::of(&text, None, None);
                let open = NetworkDescription::of(&text, Some(&input), Some(third));
                for description in [description, open].into_iter().flatten() {
                    if let Ok(network) = Network::new(&description) {
                        prop_assert!(network.workspace_bytes(first, 1) > 0 || first == 0);
                    }
                }
            }
        }
    }
}
