//! Trials that did not run because the study's hours are used up.

use trainwright_analysis::wording::count;
use trainwright_study::Study;

/// What to do about `left` trials once all have used `used_s` seconds; nothing while there is time.
pub fn spent_budget(study: &Study, used_s: f64, left: usize) -> Option<String> {
    let hours = used_s / 3600.0 / f64::from(study.run.slots);
    let most = study.budget.max_hours.filter(|most| left > 0 && hours >= *most)?;
    Some(format!(
        "{} not run, since `max_hours = {most}` is used up: raise it, then `trainwright run {}`",
        count(left, "trial") + if left == 1 { " was" } else { " were" },
        study.source.path.display()
    ))
}
