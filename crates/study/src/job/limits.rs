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
            ("outer_momentum", Some(self.outer_momentum), 0.0, BELOW_ONE),
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
            (
                "micro_batch",
                sparse && self.micro_batch.is_some(),
                "network `logistic` has no flat gradients for this",
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A job of these keys, not checked.
    fn job(keys: &str) -> JobSpec {
        let text = format!(r#"{{"data":"d","seed":1,{keys}}}"#);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[track_caller]
    fn check(keys: &str, key: &str, message: &str) {
        let error = job(keys).check().unwrap_err();
        assert_eq!((error.key.as_str(), error.message.as_str()), (key, message), "{keys}");
        assert_eq!(error.to_string(), format!("`{key}`: {message}"));
    }

    #[track_caller]
    fn check_number(key: &str, value: &str, bound: &str) {
        let message = format!("must be {bound}, this is {value}");
        check(&format!(r#""network":"mlp","{key}":{value}"#), key, &message);
    }

    #[test]
    fn numbers_outside_their_bounds_are_told_with_the_bounds() {
        check_number("warmup", "-0.5", "finite and at least 0");
        check_number("weight_decay", "-0.1", "finite and at least 0");
        check_number("l1", "-1", "finite and at least 0");
        check_number("momentum", "1", "at least 0 and below 1");
        check_number("momentum", "-0.1", "at least 0 and below 1");
        check_number("label_smoothing", "1", "at least 0 and below 1");
        check_number("clip_norm", "0", "finite and above 0");
        check_number("time_limit_s", "-3", "finite and above 0");
        check_number("hash_bits", "0", "from 1 to 30");
        check_number("hash_bits", "31", "from 1 to 30");
    }

    #[test]
    fn numbers_at_their_bounds_are_taken() {
        for keys in [
            r#""warmup":0,"weight_decay":0,"momentum":0,"label_smoothing":0"#,
            r#""momentum":0.9999999999999999,"label_smoothing":0.9999999999999999"#,
            r#""clip_norm":1e-300,"time_limit_s":1e300,"warmup":1e300"#,
        ] {
            assert_eq!(job(&format!(r#""network":"mlp",{keys}"#)).check(), Ok(()), "{keys}");
        }
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        for value in [f64::NAN, f64::INFINITY] {
            let own = job(r#""network":"mlp""#);
            let spoilt = [
                JobSpec { warmup: value, ..own.clone() },
                JobSpec { momentum: value, ..own.clone() },
                JobSpec { clip_norm: Some(value), ..own.clone() },
                JobSpec { lr: value, ..own },
            ];
            assert!(spoilt.iter().all(|job| job.check().is_err()), "{value}");
        }
    }

    #[test]
    fn counts_of_examples_are_at_least_one() {
        check(r#""network":"mlp","micro_batch":0"#, "micro_batch", "must be at least 1");
        check(
            r#""network":"logistic","optimizer":"sgd","strategy":"mirrored","replicas":2"#,
            "strategy",
            "network `logistic` is trained by `one-device`, whose `threads` share its work, or by \
             `parameter-server`",
        );
    }

    #[test]
    fn the_sparse_model_refuses_what_only_networks_have() {
        let sparse = |keys: &str| format!(r#""network":"logistic","optimizer":"sgd",{keys}"#);
        for (keys, key, message) in [
            (
                r#""weight_decay":0"#,
                "weight_decay",
                "for network `logistic` only optimizer `ftrl` has this penalty",
            ),
            (
                r#""label_smoothing":0.1"#,
                "label_smoothing",
                "network `logistic` has no smoothed labels",
            ),
            (r#""clip_norm":1"#, "clip_norm", "network `logistic` has no flat gradients for this"),
            (
                r#""schedule":"noise-scale""#,
                "schedule",
                "network `logistic` has no flat gradients for this",
            ),
            (
                r#""early_stopping":2"#,
                "early_stopping",
                "network `logistic` does not stop early yet: give the epochs",
            ),
            (r#""size":8"#, "size", "network `logistic` sees no pictures"),
            (r#""weights":"w""#, "weights", "network `logistic` starts from zero"),
            (r#""freeze":"f""#, "freeze", "network `logistic` has no layers"),
        ] {
            check(&sparse(keys), key, message);
        }
        assert_eq!(
            job(&sparse(r#""hash_bits":30,"test_data":"t","update":"hogwild""#)).check(),
            Ok(())
        );
    }

    #[test]
    fn networks_refuse_what_only_the_sparse_model_has() {
        for (keys, key, message) in [
            (r#""l1":0.1"#, "l1", "only optimizer `ftrl` has this penalty"),
            (
                r#""test_data":"t""#,
                "test_data",
                "only the data of network `logistic` are single files",
            ),
            (r#""hash_bits":8"#, "hash_bits", "only the features of network `logistic` are hashed"),
        ] {
            check(&format!(r#""network":"mlp",{keys}"#), key, message);
        }
    }

    #[test]
    fn the_sparse_model_has_three_optimizers() {
        for (word, taken) in [
            ("sgd", true),
            ("adagrad", true),
            ("ftrl", true),
            ("adam", false),
            ("adamw", false),
            ("momentum", false),
            ("nesterov", false),
        ] {
            let keys = format!(r#""network":"logistic","optimizer":"{word}""#);
            assert_eq!(job(&keys).check().is_ok(), taken, "{word}");
        }
        let ftrl = r#""network":"logistic","optimizer":"ftrl","l1":1,"weight_decay":1"#;
        assert_eq!(job(ftrl).check(), Ok(()));
    }
}
