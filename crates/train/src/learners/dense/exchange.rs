//! How the gradients of ranks become one change of the parameters.

use trainwright_comm::{Algorithm, Group, Order, Rounding, TopK};
use trainwright_study::{AllReduce, Compression, JobSpec, Strategy};

use super::drifting::Drift;
use super::replica::Leaves;
use crate::error::TrainError;

/// How the gradients of ranks become one change of the parameters.
pub(super) enum Exchange {
    /// Each rank owns a piece of the parameters: it gets the sum of its gradients in the fixed
    /// order, updates it and gives it to the others.
    Owned,
    /// Each rank gets the sum of all gradients and updates all parameters.
    Whole(WholeSum),
    /// Each rank updates a copy of its own, and copies are averaged now and then.
    Drifting(Drift),
}

/// How whole gradients are added up.
pub(super) enum WholeSum {
    /// In the fixed order.
    Fixed,
    /// In that of a ring.
    Ring,
    /// Rounded for the way.
    Rounded(Rounding),
    /// The largest numbers only.
    Top(TopK),
}

impl Exchange {
    /// The exchange of a job with so many parameters.
    pub(super) fn of(job: &JobSpec, parameters: usize) -> Self {
        if job.strategy == Strategy::LocalSgd {
            return Self::Drifting(Drift::new(job, parameters));
        }
        match (job.compress, job.all_reduce) {
            (Compression::F16, _) => Self::Whole(WholeSum::Rounded(Rounding::F16)),
            (Compression::Bf16, _) => Self::Whole(WholeSum::Rounded(Rounding::Bf16)),
            (Compression::TopK { ratio }, _) => {
                let count = (ratio * parameters as f64).ceil() as usize;
                Self::Whole(WholeSum::Top(TopK::new(parameters, count)))
            }
            (Compression::None, AllReduce::Ring) => Self::Whole(WholeSum::Ring),
            // Whoever is left after a loss must know what the optimiser of all pieces remembered.
            (Compression::None, AllReduce::Fixed) if job.elastic => Self::Whole(WholeSum::Fixed),
            (Compression::None, AllReduce::Fixed) => Self::Owned,
        }
    }

    /// Whether each rank updates only what it owns.
    pub(super) fn is_owned(&self) -> bool {
        matches!(self, Self::Owned)
    }

    /// What a rank adds up by itself before it meets the others.
    pub(super) fn leaves(&self) -> Leaves {
        match self {
            Self::Owned | Self::Whole(WholeSum::Fixed) => Leaves::OfStep,
            Self::Whole(_) => Leaves::Own,
            Self::Drifting(_) => Leaves::Apart,
        }
    }
}

impl WholeSum {
    /// Replaces the gradients of this rank by the sum over all; nothing for the fixed order, whose
    /// nodes are added up otherwise.
    pub(super) fn add_up(
        &mut self,
        group: &mut Group,
        values: &mut [f32],
    ) -> Result<(), TrainError> {
        match self {
            Self::Fixed => {}
            Self::Ring => group.all_reduce(values, Algorithm::Ring, Order::Fast)?,
            Self::Rounded(rounding) => group.all_reduce_rounded(values, *rounding)?,
            Self::Top(top) => group.all_reduce_top_k(values, top)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::learners::fake::fake_job;

    #[test]
    fn a_job_says_how_its_ranks_exchange() {
        let of = |keys| Exchange::of(&fake_job(keys), 1000);
        assert!(of(json!({})).is_owned());
        assert!(matches!(of(json!({ "elastic": true })), Exchange::Whole(WholeSum::Fixed)));
        assert!(matches!(of(json!({ "all_reduce": "ring" })), Exchange::Whole(WholeSum::Ring)));
        let bf16 = of(json!({ "compress": "bf16" }));
        assert!(matches!(bf16, Exchange::Whole(WholeSum::Rounded(Rounding::Bf16))));
        let top = of(json!({ "compress": "top-k:0.01" }));
        assert_eq!(top.leaves(), Leaves::Own);
        assert!(matches!(top, Exchange::Whole(WholeSum::Top(_))));
        assert_eq!(of(json!({ "strategy": "local-sgd" })).leaves(), Leaves::Apart);
    }
}
