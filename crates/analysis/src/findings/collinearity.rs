//! Inflated variances, and whether only the units cause them.

use super::{Evidence, info, warning};
use crate::analysis::Finding;
use crate::model_matrix::Coding;
use crate::wording::{figure, list};

/// Inflation above which coefficients in raw units are hard to read.
const INFLATED: f64 = 5.0;

/// Inflation up to which columns count as nearly orthogonal.
const NEARLY_ORTHOGONAL: f64 = 1.5;

pub(super) fn findings(evidence: &Evidence<'_>) -> Vec<Finding> {
    let fitted = evidence.fitted;
    let largest = |fit: &trainwright_stats::Fit| {
        fit.coefficients.iter().flatten().filter_map(|c| c.vif).fold(0.0, f64::max)
    };
    let (own, coded) = (largest(&fitted.fit), largest(&fitted.coded_fit));
    if own <= INFLATED {
        return vec![];
    }
    let summary = fitted.summary(evidence.problem.alpha);
    let inflated: Vec<String> = summary
        .coefficients
        .iter()
        .filter(|c| c.vif.is_some_and(|v| v > INFLATED))
        .map(|c| c.name.clone())
        .collect();
    if evidence.problem.coding == Coding::Raw && coded <= NEARLY_ORTHOGONAL {
        let text = format!(
            "variance inflation up to {} (in {}) comes from products of uncoded units, not from \
             the data: with levels coded -1 and +1 it is at most {}",
            figure(own),
            list(&inflated),
            figure(coded)
        );
        return vec![info("collinearity-is-coding", text)];
    }
    let text = format!(
        "{} move together in these data (variance inflation up to {}), so their separate \
         coefficients are uncertain",
        list(&inflated),
        figure(own)
    );
    vec![warning("collinearity", text)]
}
