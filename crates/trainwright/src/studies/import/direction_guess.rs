//! Which end of a metric is good, where the file that it comes from does not say.
//!
//! A study without an objective looks for the smallest value, which of an accuracy is the worst
//! one. So `init --from` writes an objective, and says that it is a guess.

/// Words in the name of a metric whose large values are good.
const LARGE_IS_GOOD: [&str; 20] = [
    "acc",
    "accuracy",
    "auc",
    "auroc",
    "auprc",
    "f1",
    "precision",
    "recall",
    "score",
    "r2",
    "reward",
    "return",
    "bleu",
    "rouge",
    "psnr",
    "ssim",
    "iou",
    "dice",
    "map",
    "throughput",
];

/// The objective that a metric of this name most likely has, as study files write it.
pub(crate) fn guessed_objective(metric: &str) -> &'static str {
    let name = metric.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    match words.any(|word| LARGE_IS_GOOD.contains(&word)) || name.ends_with("accuracy") {
        true => "maximize",
        false => "minimize",
    }
}

/// The line of a study file that holds the guess.
pub(crate) fn guessed_line(metric: &str) -> String {
    format!(
        "objective = \"{}\" # a guess by the name: which end is good?",
        guessed_objective(metric)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracies_are_large_and_losses_small() {
        for name in ["val/acc", "Accuracy", "eval_f1", "testAccuracy", "AUC", "images.score"] {
            assert_eq!(guessed_objective(name), "maximize", "{name}");
        }
        for name in ["loss", "val_loss", "time", "accumulated_error", "rmse", "mapping", ""] {
            assert_eq!(guessed_objective(name), "minimize", "{name}");
        }
    }
}
