//! What to keep in mind about measured commands.

use trainwright_analysis::wording::{brief, count, list};
use trainwright_stats::sample;

use super::{BenchEnd, BenchReply, BenchRequest, BenchResult};

/// Median absolute deviations from the median beyond which a run is far off: ten, where a normal
/// distribution has one value in 10^11.
const FAR: f64 = 10.0;
/// Runs below which nothing is called far off.
const FEW: usize = 8;
/// Seconds below which starting a process is most of what is timed.
const SHORT_S: f64 = 0.005;

pub(super) fn notes(reply: &BenchReply, request: &BenchRequest) -> Vec<String> {
    let mut notes = Vec::new();
    if reply.end == BenchEnd::TimeUp {
        notes.push(format!(
            "the time was up after {} of every command",
            count(reply.rounds as usize, "run")
        ));
    }
    if reply.end == BenchEnd::Interrupted {
        notes.push("stopped: only what had run is compared".to_owned());
    }
    for result in &reply.results {
        notes.extend(far_values(result, request.warmup));
        if result.failed > 0 {
            notes.push(format!(
                "`{}`: {} of {} failed and {} all the same",
                result.name,
                count(result.failed, "run"),
                result.runs,
                if result.failed == 1 { "counts" } else { "count" }
            ));
        }
    }
    if request.metric.is_none() {
        notes.extend(short(reply));
    }
    notes
}

/// Commands so short that the start of a process is most of their time.
fn short(reply: &BenchReply) -> Option<String> {
    let is_short = |own: &&BenchResult| own.mean.is_some_and(|mean| mean < SHORT_S);
    let short: Vec<String> =
        reply.results.iter().filter(is_short).map(|own| format!("`{}`", own.name)).collect();
    if short.is_empty() {
        return None;
    }
    let shell = match reply.shell_start_s {
        Some(_) => "; without a shell (-N) they are measured more exactly",
        None => "",
    };
    let below = brief(1000.0 * SHORT_S);
    Some(format!(
        "{} below {below} ms: starting a process is part of what is timed{shell}",
        if short.len() == 1 { format!("{} is", short[0]) } else { format!("{} are", list(&short)) }
    ))
}

/// A slow first run, or others far from the rest.
fn far_values(result: &BenchResult, warmup: u32) -> Option<String> {
    let values = &result.values;
    if values.len() < FEW {
        return None;
    }
    let median = sample::median(values).ok()?;
    let away: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    let spread = sample::median(&away).ok()?;
    if spread == 0.0 {
        return None;
    }
    let far: Vec<usize> = (0..values.len()).filter(|&at| away[at] > FAR * spread).collect();
    let name = &result.name;
    match far.as_slice() {
        [] => None,
        [0] if values[0] > median => Some(format!(
            "`{name}`: the first run is {} times the median: caches were cold; {} with --warmup{}, \
             or clear them before every run with --prepare",
            brief(values[0] / median),
            if warmup == 0 { "run it first" } else { "run it more often first" },
            if warmup == 0 { " 3" } else { "" },
        )),
        far => Some(format!(
            "`{name}`: {} of {} far from the others (more than {FAR} median deviations): something \
             else ran on the machine, or the command has two speeds; the median is {}",
            count(far.len(), "run"),
            values.len(),
            brief(median),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(values: &[f64]) -> BenchResult {
        BenchResult {
            name: "a".to_owned(),
            command: "a".to_owned(),
            parameters: Vec::new(),
            runs: values.len(),
            failed: 0,
            mean: None,
            sd: None,
            ci_low: None,
            ci_high: None,
            median: None,
            min: None,
            max: None,
            wall_s: None,
            user_s: None,
            system_s: None,
            peak_memory_bytes: None,
            values: values.to_vec(),
            times_s: Vec::new(),
            user_times_s: Vec::new(),
            system_times_s: Vec::new(),
            memory_bytes: Vec::new(),
            exit_codes: Vec::new(),
        }
    }

    #[test]
    fn a_slow_first_run_is_blamed_on_cold_caches() {
        let told = far_values(&result(&[9.0, 1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.0]), 0).unwrap();
        assert!(told.starts_with("`a`: the first run is 9 times the median"), "{told}");
        assert!(told.contains("--warmup 3"), "{told}");
    }

    #[test]
    fn runs_far_from_the_others_are_counted() {
        let told = far_values(&result(&[1.0, 1.1, 9.0, 0.9, 1.0, 1.05, 0.95, 1.0]), 0).unwrap();
        assert!(told.starts_with("`a`: 1 run of 8 far from the others"), "{told}");
        assert_eq!(far_values(&result(&[1.0, 1.1, 1.3, 0.9, 1.0, 1.05, 0.95, 1.0]), 0), None);
        assert_eq!(
            far_values(&result(&[1.0, 1.0, 1.0, 1.0, 50.0, 1.0, 1.0, 1.0]), 0),
            None,
            "no spread"
        );
    }
}
