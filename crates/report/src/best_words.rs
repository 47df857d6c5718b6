//! What stands beside the best configuration measured: those like it, and the best predicted.

use trainwright_analysis::wording::count;
use trainwright_analysis::{Analysis, Best, PredictedBest};

use crate::figure::{figure, to_spread};

/// Configurations named one by one; more are counted.
const NAMED: usize = 3;

/// Sentences about the best, without the configuration itself.
pub(crate) fn beside_the_best(analysis: &Analysis, best: &Best) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(interval_method(best));
    lines.extend(alike(best));
    lines.extend(best.predicted.as_ref().map(|own| predicted(analysis, own)));
    lines
}

fn interval_method(best: &Best) -> Option<String> {
    let whose = match best.spread? {
        "own" => ", from its own spread, since the configurations vary unequally (Welch)",
        "strata" => ", with the errors of whole plots and of trials within them",
        _ => "",
    };
    Some(format!("The interval allows for having chosen this configuration by its mean{whose}."))
}

fn alike(best: &Best) -> Option<String> {
    let by = match best.spread? {
        "own" => "Welch's comparisons with it",
        "strata" => "comparisons with it, by the errors of whole plots",
        _ => "Hsu's comparisons with the best",
    };
    if best.alike.is_empty() {
        return Some(format!("No other configuration that was run can be as good ({by})."));
    }
    let named: Vec<String> = best
        .alike
        .iter()
        .take(NAMED)
        .map(|own| format!("{} ({})", own.configuration, figure(own.mean)))
        .collect();
    let more = match best.alike.len().saturating_sub(NAMED) {
        0 => String::new(),
        left => format!(", and {left} more"),
    };
    Some(format!("These may be as good ({by}): {}{more}.", named.join(", ")))
}

fn predicted(analysis: &Analysis, own: &PredictedBest) -> String {
    let which = match (own.all_looked_at, own.combinations) {
        (true, Some(all)) => format!("over all {} of the levels tried", count(all, "combination")),
        _ => "near the best measured, by changing one factor at a time".to_owned(),
    };
    let run = match own.measured {
        _ if own.same => ", the best measured too".to_owned(),
        0 => ", not run yet".to_owned(),
        1 => ", run once".to_owned(),
        times => format!(", run {times} times"),
    };
    let value = match (own.low, own.high) {
        (Some(low), Some(high)) => {
            let [mean, from, to] = [own.mean, low, high].map(|value| to_spread(value, low, high));
            let level = figure(100.0 * (1.0 - analysis.alpha));
            format!("{mean} ({level} % prediction interval of a trial {from} to {to})")
        }
        _ => figure(own.mean),
    };
    let beyond = match own.beyond_prediction {
        0 => String::new(),
        left => format!(
            " {} cannot be predicted while terms are aliased.",
            count(left, "other combination")
        ),
    };
    format!(
        "Best predicted {which}: {}{run}: {} {value}.{beyond}",
        own.configuration, analysis.response
    )
}

/// The confirming runs, where the effects and the best row point to different configurations.
pub(crate) fn confirming_runs(best: &Best) -> Option<String> {
    let own = best.predicted.as_ref().filter(|own| !own.same)?;
    let runs = best.n.max(own.measured).max(3);
    Some(format!(
        "The best measured and the best by the effects differ: run {} and {} again, {runs} times \
         each, before choosing",
        best.configuration, own.configuration
    ))
}
