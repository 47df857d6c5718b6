//! The optimiser that a job asks for.

use trainwright_networks::{AdaGrad, Adam, Optimizer, Sgd, Trained};
use trainwright_study::{JobSpec, Optimizer as Name};

/// Weight decay of AdamW where none is given, as in PyTorch.
const ADAMW_DECAY: f64 = 0.01;

/// Makes the optimiser of a job for these parameters.
///
/// # Panics
/// For `ftrl`, which a checked job has with sparse models alone.
pub(crate) fn optimizer(job: &JobSpec, trained: Trained) -> Box<dyn Optimizer> {
    let (momentum, decay) = (job.momentum as f32, job.weight_decay.unwrap_or(0.0));
    match job.optimizer {
        Name::Sgd => Box::new(Sgd::new(trained).with_weight_decay(decay)),
        Name::Momentum => Box::new(Sgd::with_momentum(trained, momentum).with_weight_decay(decay)),
        Name::Nesterov => Box::new(Sgd::with_nesterov(trained, momentum).with_weight_decay(decay)),
        Name::Adam => Box::new(Adam::new(trained).with_weight_decay(decay)),
        Name::AdamW => {
            let decay = job.weight_decay.unwrap_or(ADAMW_DECAY);
            Box::new(Adam::new(trained).with_decoupled_decay(decay))
        }
        Name::AdaGrad => Box::new(AdaGrad::new(trained).with_weight_decay(decay)),
        Name::Ftrl => unreachable!("a checked job has ftrl with sparse models alone"),
    }
}
