//! Two groups or two columns compared by resampling.

use trainwright_stats::{
    Bootstrap, BootstrapOptions, Contrast, Location, bootstrap_pairs, bootstrap_two_samples,
};

use super::input::{Groups, Pairs};
use super::outcome::Outcome;
use super::{StatsTest, TestQuestion};
use crate::csv_table::Table;

/// An interval for the difference or ratio of two means or medians.
pub(super) fn resampled(request: &TestQuestion<'_>, table: &Table) -> Result<Outcome, String> {
    let usual = BootstrapOptions::default();
    let options = BootstrapOptions {
        location: request.statistic.unwrap_or(usual.location),
        contrast: if request.ratio { Contrast::Ratio } else { Contrast::Difference },
        seed: request.seed.unwrap_or(usual.seed),
        ..usual
    };
    let column = request.column.unwrap_or_default();
    if let Some(with) = request.with {
        let pairs = Pairs::read(table, column, with)?;
        let found = bootstrap_pairs(&pairs.first, &pairs.second, &options)
            .map_err(|error| format!("columns `{column}` and `{with}`: {error}"))?;
        return Ok(outcome(&found, &options, [column, with]).pairs(&pairs));
    }
    let groups = Groups::read(table, column, request.by.unwrap_or_default())?;
    let [first, second] = groups.values.as_slice() else {
        return Err(groups.not_two(StatsTest::Bootstrap));
    };
    let found =
        bootstrap_two_samples(first, second, &options).map_err(|error| groups.words(&error))?;
    Ok(outcome(&found, &options, [&groups.names[0], &groups.names[1]]).groups(&groups))
}

fn outcome(found: &Bootstrap, options: &BootstrapOptions, names: [&str; 2]) -> Outcome {
    let [low, high] = found.interval;
    let (what, neutral, how) = match (options.location, options.contrast) {
        (Location::Mean, Contrast::Difference) => ("difference of means", 0.0, "less"),
        (Location::Median, Contrast::Difference) => ("difference of medians", 0.0, "less"),
        (Location::Mean, Contrast::Ratio) => ("ratio of means", 1.0, "over"),
        (Location::Median, Contrast::Ratio) => ("ratio of medians", 1.0, "over"),
    };
    let verdict = if low <= neutral && neutral <= high {
        format!("The interval holds {neutral}: no evidence of a difference.")
    } else {
        format!("The interval leaves out {neutral}: the two differ.")
    };
    let words = format!(
        "The {what}, `{}` {how} `{}`, is {:.4} with a 95 % interval from {low:.4} to {high:.4}. \
         {verdict}",
        names[0], names[1], found.estimate
    );
    Outcome::without_test(words)
        .with("statistic", found.estimate)
        .with("p", None::<f64>)
        .with("contrast", what)
        .with("first", names[0])
        .with("second", names[1])
        .with("ci_low", low)
        .with("ci_high", high)
        .with("std_error", found.std_error)
        .with("resamples", options.resamples)
        .with("seed", options.seed)
        .with("interval_method", "BCa bootstrap, expanded for small samples")
}
