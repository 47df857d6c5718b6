//! What the values of a job may be, alone and together.

use crate::job::network_name::NetworkName;
use crate::job::schedule::Schedule;
use crate::job::{JobError, JobSpec, Optimizer, UpdateMode};

impl JobSpec {
    /// Numbers that lie between bounds.
    pub(crate) fn check_numbers(&self) -> Result<(), JobError> {
        let ranges = [
            ("warmup", Some(self.warmup), 0.0, f64::MAX),
            ("weight_decay", self.weight_decay, 0.0, f64::MAX),
            ("l1", Some(self.l1), 0.0, f64::MAX),
            ("momentum", Some(self.momentum), 0.0, BELOW_ONE),
            ("label_smoothing", Some(self.label_smoothing), 0.0, BELOW_ONE),
            ("clip_norm", self.clip_norm, f64::MIN_POSITIVE, f64::MAX),
            ("time_limit_s", self.time_limit_s, f64::MIN_POSITIVE, f64::MAX),
            ("hash_bits", self.hash_bits.map(f64::from), 1.0, 30.0),
        ];
        for (key, value, least, most) in ranges {
            if let Some(value) = value
                && !(least..=most).contains(&value)
            {
                let bound = match (least, most) {
                    (1.0, _) => "from 1 to 30",
                    (_, BELOW_ONE) => "at least 0 and below 1",
                    (0.0, _) => "finite and at least 0",
                    _ => "finite and above 0",
                };
                let message = format!("must be {bound}, this is {value}");
                return Err(JobError { key: key.to_owned(), message });
            }
        }
        Ok(())
    }

    /// Keys that some networks or optimisers cannot do anything with.
    pub(crate) fn check_combinations(&self) -> Result<(), JobError> {
        use Optimizer::{AdaGrad, Ftrl, Sgd};
        let sparse = self.network == NetworkName::Logistic;
        let ftrl = self.optimizer == Ftrl;
        let decay = self.weight_decay.is_some();
        let smoothing = self.label_smoothing != 0.0;
        let free = self.update == UpdateMode::Hogwild;
        let dense_only = self.clip_norm.is_some() || self.schedule == Schedule::NoiseScale;
        let faults = [
            (
                "optimizer",
                sparse && !matches!(self.optimizer, Sgd | AdaGrad | Ftrl),
                "network `logistic` is trained with sgd, adagrad or ftrl",
            ),
            ("optimizer", !sparse && ftrl, "ftrl trains network `logistic` alone"),
            ("l1", self.l1 != 0.0 && !ftrl, "only optimizer `ftrl` has this penalty"),
            (
                "weight_decay",
                sparse && decay && !ftrl,
                "for network `logistic` only optimizer `ftrl` has this penalty",
            ),
            ("label_smoothing", sparse && smoothing, "network `logistic` has no smoothed labels"),
            (
                if self.clip_norm.is_some() { "clip_norm" } else { "schedule" },
                sparse && dense_only,
                "network `logistic` has no flat gradients for this",
            ),
            (
                "early_stopping",
                sparse && self.early_stopping.is_some(),
                "network `logistic` does not stop early yet: give the epochs",
            ),
            ("size", sparse && self.size.is_some(), "network `logistic` sees no pictures"),
            ("augment", sparse && !self.augment.is_none(), "network `logistic` sees no pictures"),
            ("update", !sparse && free, "hogwild trains network `logistic` alone"),
            ("weights", sparse && self.weights.is_some(), "network `logistic` starts from zero"),
            ("freeze", sparse && self.freeze.is_some(), "network `logistic` has no layers"),
            (
                "test_data",
                !sparse && self.test_data.is_some(),
                "only the data of network `logistic` are single files",
            ),
            (
                "hash_bits",
                !sparse && self.hash_bits.is_some(),
                "only the features of network `logistic` are hashed",
            ),
        ];
        match faults.into_iter().find(|fault| fault.1) {
            Some((key, _, message)) => {
                Err(JobError { key: key.to_owned(), message: message.to_owned() })
            }
            None => Ok(()),
        }
    }
}

/// The largest number below 1.
const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;
