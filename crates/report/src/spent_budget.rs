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

#[cfg(test)]
mod tests {
    use crate::tests::SmallStudy;

    use super::*;

    #[test]
    fn hours_are_counted_over_all_slots_and_only_while_something_is_left() {
        let own = SmallStudy::with(
            "[metrics.y]",
            "[budget]\nmax_hours = 2\n[engine]\nslots = 3\n[metrics.y]",
        );
        // Three slots use two hours of the wall clock in six hours of trials.
        let told = |hours: f64, left: usize| spent_budget(&own.study, 3600.0 * hours, left);
        assert_eq!(told(5.9, 4), None);
        assert_eq!(told(6.0, 0), None, "nothing is left to run");
        assert_eq!(
            told(6.0, 1).unwrap(),
            "1 trial was not run, since `max_hours = 2` is used up: raise it, then `trainwright run \
             study.toml`"
        );
        assert!(told(7.0, 4).unwrap().starts_with("4 trials were not run"));
        let unlimited = SmallStudy::with("", "");
        assert_eq!(spent_budget(&unlimited.study, 1e9, 4), None);
    }
}
