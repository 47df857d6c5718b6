//! A trained network out of a checkpoint, without the data that it learned from.

use serde::{Deserialize, Serialize};
use trainwright_networks::{Network, NetworkDescription, SafeTensors, TensorInfo, Workspace};
use trainwright_records::LabelledImages;
use trainwright_study::JobSpec;

use crate::checkpoints::kept::Kept;
use crate::error::TrainError;
use crate::input::batches::{BatchBuffer, View};
use crate::learners::described::evaluation_batch;
use crate::learners::learner::wanted;
use crate::learners::memory_limit::check_memory;
use crate::{PARAMETERS, STATE};

/// What a checkpoint says about its network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AboutNetwork {
    /// Its layers.
    pub(crate) description: NetworkDescription,
    /// Rows, columns and channels of a picture before it is cropped.
    pub(crate) pictures: [usize; 3],
}

/// A network that pictures can be put into.
pub(crate) struct TrainedNetwork {
    job: JobSpec,
    network: Network,
    parameters: Vec<f32>,
    state: Vec<f32>,
    workspace: Workspace,
    batch: usize,
}

impl TrainedNetwork {
    /// Takes a network out of a checkpoint.
    ///
    /// # Errors
    /// When tensors are missing or the network cannot be built.
    pub(crate) fn open(
        job: &JobSpec,
        about: &AboutNetwork,
        file: &SafeTensors,
    ) -> Result<Self, TrainError> {
        let network = Network::new(&about.description)?;
        let batch = evaluation_batch(&network);
        check_memory(&network, batch, job.threads as usize, 1)?;
        let take = |kind: &str, infos: &[TensorInfo], count: usize| {
            let mut values = vec![0.0; count];
            for info in infos {
                let tensor = wanted(file, &format!("{kind}.{}", info.name), info.range.len())?;
                values[info.range.clone()].copy_from_slice(&tensor);
            }
            Ok::<_, TrainError>(values)
        };
        let parameters = take(PARAMETERS, network.tensors(), network.parameter_count())?;
        let state = take(STATE, network.state_tensors(), network.state_count())?;
        let workspace = network.workspace(batch, job.threads as usize)?;
        Ok(Self { job: job.clone(), network, parameters, state, workspace, batch })
    }

    /// How many classes it tells apart.
    pub(crate) fn classes(&self) -> usize {
        self.network.classes()
    }

    /// The probabilities of the classes of each picture; one number is that of the second of two.
    ///
    /// # Errors
    /// When the pictures cannot be cropped as those that were learned from.
    pub(crate) fn probabilities(
        &mut self,
        images: &LabelledImages,
    ) -> Result<Vec<Vec<f32>>, TrainError> {
        let capacity = self.batch.min(images.len());
        let mut buffer = BatchBuffer::new(images, self.job.augment, capacity, &self.network)?;
        let mut all = Vec::with_capacity(images.len());
        let numbers: Vec<u32> = (0..).take(images.len()).collect();
        for chosen in numbers.chunks(self.batch) {
            let Self { network, parameters, state, workspace, .. } = self;
            let batch = buffer.gather(chosen, View::Judged, workspace.team());
            network.check_inputs(batch.inputs)?;
            let rows = network.probabilities(parameters, state, batch.inputs, workspace);
            all.extend(rows.chunks_exact(rows.len() / chosen.len()).map(<[f32]>::to_vec));
        }
        Ok(all)
    }
}

/// What a checkpoint says about its network; those of other kinds say nothing.
///
/// # Errors
/// When it does not read.
pub(crate) fn about_network(kept: &Kept) -> Result<Option<AboutNetwork>, TrainError> {
    let Some(text) = kept.file.metadata().get(ABOUT) else { return Ok(None) };
    let about = serde_json::from_str(text)
        .map_err(|error| kept.fault(&format!("its network does not read: {error}")))?;
    Ok(Some(about))
}

/// Key of a checkpoint under which its network is described.
pub(crate) const ABOUT: &str = "network";

#[cfg(test)]
mod tests {
    use trainwright_networks::{NamedTensor, write_safetensors};

    use super::*;
    use crate::learners::fake::fake_job;

    /// A file with a dense layer of two inputs and two classes, and perhaps without its bias.
    fn file(with_bias: bool) -> (AboutNetwork, SafeTensors) {
        let description = NetworkDescription::of("mlp:2-2", None, None).unwrap();
        let network = Network::new(&description).unwrap();
        let values: Vec<Vec<f32>> = network
            .tensors()
            .iter()
            .map(
                |info| {
                    if info.range.len() == 4 { vec![1.0, 0.0, 0.0, 1.0] } else { vec![0.0, 1.0] }
                },
            )
            .collect();
        let tensors: Vec<NamedTensor<'_>> = network
            .tensors()
            .iter()
            .zip(&values)
            .filter(|(info, _)| with_bias || info.range.len() == 4)
            .map(|(info, values)| NamedTensor {
                name: format!("{PARAMETERS}.{}", info.name),
                shape: vec![values.len()],
                values,
            })
            .collect();
        let path = tempfile::NamedTempFile::new().unwrap();
        let mut bytes = Vec::new();
        write_safetensors(&mut bytes, &[].into(), &tensors).unwrap();
        std::fs::write(path.path(), bytes).unwrap();
        let about = AboutNetwork { description, pictures: [1, 2, 1] };
        (about, SafeTensors::open(path.path()).unwrap())
    }

    #[test]
    fn a_network_out_of_a_file_tells_probabilities() {
        let (about, file) = file(true);
        let mut network =
            TrainedNetwork::open(&fake_job(serde_json::json!({})), &about, &file).unwrap();
        assert_eq!(network.classes(), 2);
        let images = LabelledImages::new(vec![255, 0, 0, 255], (1, 2), vec![0, 1], 2).unwrap();
        let rows = network.probabilities(&images).unwrap();
        // Logits are pixel + bias: (1, 1) and (0, 2); softmax of the second is 1 / (1 + e^2).
        assert!((rows[0][0] - 0.5).abs() < 1e-6, "{rows:?}");
        assert!((rows[1][0] - 1.0 / (1.0 + 2_f32.exp())).abs() < 1e-6, "{rows:?}");
        assert!(rows.iter().all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-6));
    }

    #[test]
    fn a_missing_tensor_is_named_with_its_length() {
        let (about, file) = file(false);
        let error =
            TrainedNetwork::open(&fake_job(serde_json::json!({})), &about, &file).err().unwrap();
        let words = error.to_string();
        assert!(
            words.starts_with("tensor `parameters.")
                && words.ends_with("has no numbers where 2 are needed"),
            "{words}"
        );
    }
}
