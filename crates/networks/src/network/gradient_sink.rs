//! Where a backward pass writes gradients, and hears from it which are final.

/// Where a backward pass writes gradients, from the last parameter to the first.
pub trait GradientSink {
    /// Gradients that may still change: those of the first parameters, at the beginning of all.
    fn open(&mut self) -> &mut [f32];

    /// All gradients from this place on are final.
    fn final_from(&mut self, start: usize);
}

/// What a training step computes besides the score, as it becomes final.
pub struct LearnedInto<'a> {
    /// Gradients of the loss, one a parameter.
    pub gradients: &'a mut dyn GradientSink,
    /// What the examples say of each number of the state.
    pub statistics: &'a mut [f32],
}

/// Gradients that stay where they are, for who looks at them when all are final.
#[derive(Debug)]
pub struct GradientVector<'a>(pub &'a mut [f32]);

impl GradientSink for GradientVector<'_> {
    fn open(&mut self) -> &mut [f32] {
        self.0
    }

    fn final_from(&mut self, _start: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, Learned, Network, NetworkDescription, StepOptions};

    /// Takes away what is final, so that nothing can change it any more.
    struct Taken {
        open: Vec<f32>,
        taken: Vec<f32>,
        starts: Vec<usize>,
    }

    impl GradientSink for Taken {
        fn open(&mut self) -> &mut [f32] {
            &mut self.open
        }

        fn final_from(&mut self, start: usize) {
            let taken = self.open.split_off(start);
            self.taken.splice(0..0, taken);
            self.starts.push(start);
        }
    }

    #[test]
    fn what_is_final_layer_by_layer_is_what_is_there_at_the_end() {
        let description = NetworkDescription::from_toml(
            "name = \"n\"\ninput = [6, 6, 1]\n[[layer]]\nkind = \"convolution\"\nname = \"one\"\n\
             filters = 3\nkernel = 3\nbatch_norm = true\nactivation = \"relu\"\n[[layer]]\n\
             kind = \"flatten\"\n[[layer]]\nkind = \"dense\"\noutputs = 5\nactivation = \"relu\"\n\
             [[layer]]\nkind = \"dense\"\noutputs = 2\n",
        );
        let mut network = Network::new(&description.unwrap()).unwrap();
        for freezes in [false, true] {
            if freezes {
                network.freeze("one").unwrap();
            }
            let (parameters, state) = (network.initial_parameters(3), network.initial_state());
            let inputs: Vec<f32> = (0..72).map(|place| (place % 7) as f32 / 7.0).collect();
            let batch = Batch { inputs: &inputs, labels: &[0, 1] };
            let count = network.parameter_count();
            let (mut whole, mut statistics) = (vec![7.0; count], state.clone());
            let mut workspace = network.workspace(2, 1).unwrap();
            let learned = Learned { gradients: &mut whole, statistics: &mut statistics };
            let options = StepOptions::default();
            let score =
                network.gradients(&parameters, &state, batch, options, learned, &mut workspace);
            let mut sink = Taken { open: vec![7.0; count], taken: Vec::new(), starts: Vec::new() };
            let again = network.gradients_into(
                &parameters,
                &state,
                batch,
                options,
                LearnedInto { gradients: &mut sink, statistics: &mut statistics },
                &mut workspace,
            );
            assert_eq!(score.loss_sum, again.loss_sum);
            assert_eq!((sink.taken, sink.open.len()), (whole, 0));
            assert!(sink.starts.len() >= 3 && sink.starts.is_sorted_by(|a, b| a > b));
        }
    }
}
