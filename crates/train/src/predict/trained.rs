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
