//! Forward and backward passes one by one, for networks that are parts of larger ones.
//!
//! A part gets its inputs from the part before it and the gradients of its outputs from the part
//! after it; [`Network::loss_gradients`] is what comes after the last.

use crate::losses::loss::BatchScore;
use crate::network::Network;
use crate::network::gradient_sink::GradientVector;
use crate::network::workspace::Workspace;

impl Network {
    /// Lets backward passes compute the gradients of the inputs too. Workspaces that were made
    /// before do not fit any more.
    pub fn want_input_gradients(&mut self) {
        self.input_gradients = true;
    }

    /// The outputs for some examples, while learning; the workspace keeps what the backward pass
    /// needs.
    ///
    /// # Panics
    /// When the slices do not fit the shape or the workspace is too small.
    pub fn forward<'w>(
        &self,
        parameters: &[f32],
        inputs: &[f32],
        workspace: &'w mut Workspace,
    ) -> &'w [f32] {
        workspace.forward_pass(self, parameters, inputs)
    }

    /// The gradients of the parameters, into `gradients`, and those of the inputs where they are
    /// wanted; for the outputs' gradients after a forward pass with the same inputs.
    ///
    /// # Panics
    /// When the slices do not fit the shape or the workspace.
    pub fn backward<'w>(
        &self,
        parameters: &[f32],
        (inputs, output_gradients): (&[f32], &[f32]),
        gradients: &mut [f32],
        workspace: &'w mut Workspace,
    ) -> &'w [f32] {
        let mut sink = GradientVector(gradients);
        workspace.backward_pass(self, parameters, (inputs, output_gradients), &mut sink)
    }

    /// Scores logits and turns them into gradients of the mean loss over `of` examples.
    ///
    /// # Panics
    /// When there are not as many rows of logits as labels.
    pub fn loss_gradients(
        &self,
        logits: &mut [f32],
        labels: &[u32],
        of: usize,
        label_smoothing: f32,
    ) -> BatchScore {
        assert_eq!(logits.len(), labels.len() * self.outputs(), "one row of logits an example");
        self.loss.learn(logits, labels, of, label_smoothing)
    }

    /// Numbers of one example's output.
    pub fn output_count(&self) -> usize {
        self.outputs()
    }
}

#[cfg(test)]
mod tests {
    use crate::network::description::NetworkDescription;
    use crate::network::{Batch, Learned, Network, StepOptions};

    /// Two parts of a network, one after the other, give its gradients bit for bit.
    #[test]
    fn parts_one_after_another_are_the_whole() {
        let text = "name = \"w\"\ninput = [6, 6, 2]\n[[layer]]\nname = \"a\"\nkind = \"convolution\"\n\
            filters = 3\nkernel = 3\npadding = 1\nactivation = \"relu\"\n[[layer]]\nkind = \"flatten\"\n\
            name = \"f\"\n[[layer]]\nname = \"b\"\nkind = \"dense\"\noutputs = 8\n\
            activation = \"relu\"\n[[layer]]\nname = \"c\"\nkind = \"dense\"\noutputs = 4\n";
        let whole = NetworkDescription::from_toml(text).unwrap();
        let mut first = whole.clone();
        first.layers.truncate(3);
        let mut second = whole.clone();
        second.layers.drain(..3);
        second.input = vec![8];
        let network = Network::new(&whole).unwrap();
        let first = Network::new(&first).unwrap();
        let mut second = Network::new(&second).unwrap();
        second.want_input_gradients();
        let parameters = network.initial_parameters(3);
        let inputs: Vec<f32> = (0..5 * 72).map(|at| (at % 17) as f32 / 17.0).collect();
        let labels = [0, 1, 2, 3, 1];
        let mut expected = vec![0.0; parameters.len()];
        let learned = Learned { gradients: &mut expected, statistics: &mut [] };
        let mut workspace = network.workspace(5, 1).unwrap();
        let batch = Batch { inputs: &inputs, labels: &labels };
        let options = StepOptions::default();
        let score = network.gradients(&parameters, &[], batch, options, learned, &mut workspace);

        let cut = first.parameter_count();
        let (own, other) = parameters.split_at(cut);
        let mut spaces = (first.workspace(5, 1).unwrap(), second.workspace(5, 1).unwrap());
        let middle = first.forward(own, &inputs, &mut spaces.0).to_vec();
        let mut logits = second.forward(other, &middle, &mut spaces.1).to_vec();
        assert_eq!(network.loss_gradients(&mut logits, &labels, 5, 0.0), score);
        let mut found = vec![0.0; parameters.len()];
        let (found_first, found_second) = found.split_at_mut(cut);
        let back = second.backward(other, (&middle, &logits), found_second, &mut spaces.1);
        let back = back.to_vec();
        let none = first.backward(own, (&inputs, &back), found_first, &mut spaces.0);
        assert!(none.is_empty(), "nobody wants the gradients of pictures");
        assert_eq!(found, expected);
    }
}
