//! Inflated variances, and whether only the units cause them.

use trainwright_stats::Fit;

use super::{Evidence, Finding, info, warning};
use crate::fit::fitted::Fitted;
use crate::fit::overlap::inflation;
use crate::model::model_matrix::Coding;
use crate::wording::{brief, list};

/// Inflation above which coefficients in raw units are hard to read.
const INFLATED: f64 = 5.0;

/// Inflation up to which columns count as nearly orthogonal.
const NEARLY_ORTHOGONAL: f64 = 1.5;

/// Inflation that everybody calls collinearity; from 10 on many do.
const CALLED_COLLINEAR: f64 = 20.0;

pub(super) fn findings(evidence: &Evidence<'_>) -> Vec<Finding> {
    let fitted = evidence.fitted;
    let by_term = inflation(evidence.problem, fitted);
    let worst = by_term.iter().flatten().fold(1.0f64, |most, own| most.max(*own));
    if worst > INFLATED {
        let named = by_term.iter().zip(&evidence.problem.term_names);
        let names: Vec<String> = named
            .filter(|(own, _)| own.is_some_and(|own| own > INFLATED))
            .map(|(_, name)| name.clone())
            .collect();
        let text = format!(
            "{} move together in these data (variance inflation up to {}), so their separate \
             coefficients are uncertain",
            list(&names),
            brief(worst)
        );
        return vec![warning("collinearity", text)];
    }
    let (own, coded) = (largest(&fitted.fit), largest(&fitted.coded_fit));
    if own <= INFLATED || evidence.problem.coding == Coding::Coded {
        return vec![];
    }
    let inflated = inflated(fitted, evidence.problem.alpha);
    let instead = if coded <= NEARLY_ORTHOGONAL {
        format!("with levels coded -1 and +1 it is at most {}", brief(coded))
    } else {
        format!("taken term by term, whatever the units, it is at most {}", brief(worst))
    };
    let text = format!(
        "variance inflation up to {} (in {inflated}) comes from products of uncoded units, not from \
         the data: {instead}",
        brief(own)
    );
    vec![info(ONLY_CODING, text)]
}

/// A study is fitted in coded units; says what whoever fits it in natural units would see.
///
/// `raw` is the study's problem fitted in natural units.
pub(crate) fn in_natural_units(raw: &Fitted, alpha: f64) -> Option<Finding> {
    let (natural, coded) = (largest(&raw.fit), largest(&raw.coded_fit));
    if natural <= CALLED_COLLINEAR || coded > NEARLY_ORTHOGONAL {
        return None;
    }
    let text = format!(
        "in natural units the variance inflation would be up to {} (in {}), which looks like \
         collinearity but comes from the units alone: coded -1 and +1, as here, it is at most {}",
        brief(natural),
        inflated(raw, alpha),
        brief(coded)
    );
    Some(info(ONLY_CODING, text))
}

const ONLY_CODING: &str = "collinearity-is-coding";

fn largest(fit: &Fit) -> f64 {
    fit.coefficients.iter().flatten().filter_map(|c| c.vif).fold(0.0, f64::max)
}

fn inflated(fitted: &Fitted, alpha: f64) -> String {
    let names: Vec<String> = fitted
        .summary(alpha)
        .coefficients
        .iter()
        .filter(|c| c.vif.is_some_and(|v| v > INFLATED))
        .map(|c| c.name.clone())
        .collect();
    list(&names)
}
