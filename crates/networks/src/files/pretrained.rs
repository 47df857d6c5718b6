//! Weights that another program trained, by the names of their tensors.

use crate::error::NetworksError;
use crate::files::safetensors::SafeTensors;
use crate::network::Network;
use crate::network::tensors::TensorInfo;

/// What of a network a file of weights filled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadedWeights {
    /// Tensors that were in the file.
    pub loaded: Vec<String>,
    /// Tensors of the last layer that stay as they were, because the file has other classes.
    pub kept: Vec<String>,
}

impl Network {
    /// Fills parameters and state from a safetensors file in PyTorch's order, such as
    /// torchvision's weights of MobileNetV2.
    ///
    /// Every tensor must be there with its shape; only the last layer may differ, which then
    /// stays as it was, so that a network learns other classes than its weights knew.
    ///
    /// # Errors
    /// When a tensor of another layer is missing or has another shape.
    pub fn load_weights(
        &self,
        file: &SafeTensors,
        parameters: &mut [f32],
        state: &mut [f32],
    ) -> Result<LoadedWeights, NetworksError> {
        let head = self.nodes.last().map_or(0..0, |node| node.tensors.clone());
        let mut result = LoadedWeights::default();
        for (index, tensor) in self.tensors.iter().enumerate() {
            let own = &mut parameters[tensor.range.clone()];
            match fill(file, tensor, own) {
                Ok(()) => result.loaded.push(tensor.name.clone()),
                Err(_) if head.contains(&index) => result.kept.push(tensor.name.clone()),
                Err(error) => return Err(error),
            }
        }
        for tensor in &self.state_tensors {
            fill(file, tensor, &mut state[tensor.range.clone()])?;
            result.loaded.push(tensor.name.clone());
        }
        Ok(result)
    }
}

fn fill(file: &SafeTensors, tensor: &TensorInfo, own: &mut [f32]) -> Result<(), NetworksError> {
    let Some(names) = tensor.pytorch_biases() else {
        return fill_by_name(file, &tensor.name, tensor, own);
    };
    let mut half = vec![0.0; own.len()];
    own.fill(0.0);
    for name in names {
        fill_by_name(file, &name, tensor, &mut half)?;
        own.iter_mut().zip(&half).for_each(|(sum, half)| *sum += half);
    }
    Ok(())
}

fn fill_by_name(
    file: &SafeTensors,
    name: &str,
    tensor: &TensorInfo,
    own: &mut [f32],
) -> Result<(), NetworksError> {
    let expected = tensor.kind.pytorch_shape(&tensor.shape);
    let found = file.shapes().find(|(found, _)| *found == name);
    let misfit = |found: Option<Vec<usize>>| NetworksError::WeightShape {
        tensor: name.to_owned(),
        expected: expected.clone(),
        found: found
            .map_or("it is not in the file".into(), |shape| format!("the file has {shape:?}")),
    };
    let (name, shape) = found.ok_or_else(|| misfit(None))?;
    if shape != expected {
        return Err(misfit(Some(shape.to_vec())));
    }
    let values = file.values(name).ok_or_else(|| misfit(Some(shape.to_vec())))?;
    own.copy_from_slice(&tensor.kind.from_pytorch(&tensor.shape, &values));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NamedTensor, write_safetensors};

    fn network(outputs: usize) -> Network {
        Network::perceptron(3, &[2], outputs).unwrap()
    }

    /// A file with the tensors of a network in PyTorch's order, changed by `edit`.
    fn file(
        network: &Network,
        parameters: &[f32],
        edit: impl Fn(&mut Vec<(String, Vec<usize>, Vec<f32>)>),
    ) -> SafeTensors {
        let mut all: Vec<_> =
            network.tensors().iter().flat_map(|tensor| tensor.to_pytorch(parameters)).collect();
        edit(&mut all);
        let tensors: Vec<NamedTensor<'_>> = all
            .iter()
            .map(|(name, shape, values)| NamedTensor {
                name: name.clone(),
                shape: shape.clone(),
                values,
            })
            .collect();
        let path = std::env::temp_dir().join(format!(
            "pretrained-{}-{:?}.safetensors",
            std::process::id(),
            std::thread::current().id()
        ));
        let mut bytes = Vec::new();
        write_safetensors(&mut bytes, &[].into(), &tensors).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let file = SafeTensors::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file
    }

    #[test]
    fn weights_in_the_order_of_pytorch_come_back_as_they_were() {
        let network = network(4);
        let parameters = network.initial_parameters(7);
        let file = file(&network, &parameters, |_| {});
        let mut found = vec![f32::NAN; parameters.len()];
        let told = network.load_weights(&file, &mut found, &mut []).unwrap();
        assert_eq!(found, parameters);
        assert_eq!((told.loaded.len(), told.kept.len()), (4, 0));
    }

    #[test]
    fn a_last_layer_of_other_classes_stays_as_it_was() {
        let (theirs, ours) = (network(4), network(2));
        let file = file(&theirs, &theirs.initial_parameters(7), |_| {});
        let before = ours.initial_parameters(1);
        let mut found = before.clone();
        let told = ours.load_weights(&file, &mut found, &mut []).unwrap();
        assert_eq!(told.kept.len(), 2);
        for tensor in ours.tensors() {
            let same = found[tensor.range.clone()] == before[tensor.range.clone()];
            if told.kept.contains(&tensor.name) {
                assert!(same, "{} has changed", tensor.name);
            } else if tensor.name.ends_with("weight") {
                assert!(!same, "{} was not loaded", tensor.name);
            }
        }
    }

    #[test]
    fn a_missing_or_misshapen_tensor_of_another_layer_is_refused() {
        let network = network(4);
        let mut found = network.initial_parameters(1);
        let first = network.tensors()[0].name.clone();
        let without = file(&network, &found, |all| all.retain(|(name, ..)| *name != first));
        let error = network.load_weights(&without, &mut found, &mut []).unwrap_err();
        let words = format!(
            "tensor `{first}` should have the dimensions [2, 3], but it is not in the file"
        );
        assert_eq!(error.to_string(), words);
        let turned = file(&network, &found, |all| all[0].1 = vec![3, 2]);
        let error = network.load_weights(&turned, &mut found, &mut []).unwrap_err();
        assert!(error.to_string().ends_with("[2, 3], but the file has [3, 2]"), "{error}");
    }

    #[test]
    fn the_two_biases_of_a_memory_are_added() {
        let text = "name = \"m\"\ninput = [2, 1]\n[[layer]]\nkind = \"lstm\"\nunits = 1\n[[layer]]\nkind = \"dense\"\noutputs = 2\n";
        let network = Network::new(&crate::NetworkDescription::from_toml(text).unwrap()).unwrap();
        let parameters = network.initial_parameters(1);
        let file = file(&network, &parameters, |all| {
            for (name, _, values) in all.iter_mut().filter(|(name, ..)| name.contains("bias_")) {
                values.fill(if name.contains("_ih_") { 0.25 } else { 0.5 });
            }
        });
        let mut found = vec![0.0; parameters.len()];
        network.load_weights(&file, &mut found, &mut []).unwrap();
        let biases = network.tensors().iter().find(|it| it.pytorch_biases().is_some()).unwrap();
        assert_eq!(found[biases.range.clone()], [0.75; 4]);
    }
}
