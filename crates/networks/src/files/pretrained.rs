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
