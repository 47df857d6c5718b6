//! What the measurements and fits can and cannot tell.

use super::fit_quality::{Slowdown, best_law, turning_point};
use super::laws::{Law, LawFit, settings};
use super::points::Point;
use super::{ScalingOptions, ScalingRow};
use crate::findings::{Finding, info, warning};
use crate::wording::{brief, count, list, p_value, percent};

/// Predictions further beyond the measured range than this are flagged.
const FAR: f64 = 2.0;

/// An efficiency below this wastes most of the machine.
const LOW: f64 = 0.5;

/// Terms of Ernest's law.
const ERNEST_TERMS: usize = 4;

/// Settings beyond its terms with which a law can be checked.
const SPARE_SETTINGS: usize = 2;

pub(super) fn findings(
    points: &[Point],
    rows: &[ScalingRow],
    fits: &[LawFit],
    options: &ScalingOptions,
) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(no_replication(rows, options));
    found.extend(no_speed_up(rows, options));
    found.extend(low_efficiency(rows, options));
    found.extend(superlinear(rows, options));
    found.extend(does_not_fit(fits, options));
    found.extend(few_points(points, fits));
    found.extend(not_separable(fits));
    found.extend(extrapolation(points, fits));
    found
}

fn no_replication(rows: &[ScalingRow], options: &ScalingOptions) -> Option<Finding> {
    if rows.iter().any(|row| row.n > 1) {
        return None;
    }
    let text = format!(
        "every number of {} was measured once, so the spread of {} is unknown: no interval of a \
         speed-up exists, and a small difference may be noise; repeat every setting at least 3 times",
        options.workers, options.column
    );
    Some(warning("no-replication", text))
}

/// Whether a row is faster than the first: by its interval, or without one by its value.
fn is_faster(row: &ScalingRow) -> bool {
    row.speed_up_low.unwrap_or(row.speed_up) > 1.0
}

fn no_speed_up(rows: &[ScalingRow], options: &ScalingOptions) -> Option<Finding> {
    let others = &rows[1..];
    if others.iter().any(is_faster) {
        return None;
    }
    let best = others.iter().max_by(|a, b| a.speed_up.total_cmp(&b.speed_up))?;
    let text = format!(
        "more {} bring nothing that can be told from noise: the best speed-up over {} is {} (at \
         {}); the work is too small, serial, or bound by something that workers share",
        options.workers,
        brief(rows[0].workers),
        brief(best.speed_up),
        brief(best.workers)
    );
    Some(warning("no-speed-up", text))
}

fn low_efficiency(rows: &[ScalingRow], options: &ScalingOptions) -> Option<Finding> {
    let last = rows.last().filter(|row| rows.len() > 1 && is_faster(row))?;
    let surely = last.efficiency_high.unwrap_or(last.efficiency);
    if surely >= LOW {
        return None;
    }
    let text = format!(
        "at {} {} the efficiency is {}: most of what is paid for waits",
        brief(last.workers),
        options.workers,
        percent(100.0 * last.efficiency)
    );
    Some(info("low-efficiency", text))
}

fn superlinear(rows: &[ScalingRow], options: &ScalingOptions) -> Option<Finding> {
    let beyond: Vec<String> = rows[1..]
        .iter()
        .filter(|row| row.efficiency_low.is_some_and(|low| low > 1.0))
        .map(|row| format!("{} ({})", brief(row.workers), percent(100.0 * row.efficiency)))
        .collect();
    if beyond.is_empty() {
        return None;
    }
    let text = format!(
        "the efficiency is above 100 % at {} {}: the settings do not do the same work, or the \
         first one was held back, by memory or by a cold start for instance",
        list(&beyond),
        options.workers
    );
    Some(warning("superlinear-speed-up", text))
}

/// Times that rise again beyond some number of workers.
pub(super) fn slowdown(slow: &Slowdown, fits: &[LawFit], options: &ScalingOptions) -> Finding {
    let evidence = match slow.p {
        Some(p) => format!(" ({})", p_value(p)),
        None => ", measured once each".to_owned(),
    };
    let turn = fits
        .iter()
        .find(|fit| fit.law == Law::Gunther)
        // A law that misses the means of repeats says nothing about where they turn.
        .filter(|fit| fit.lack_of_fit_p.is_none_or(|p| p >= options.alpha))
        .and_then(turning_point)
        .map(|turn| format!("; by Gunther's law it is shortest at about {}", brief(turn)));
    let text = format!(
        "beyond {} {} {} rises again: at {} it is {} times as long{evidence}{}; workers contend for \
         something or wait for each other, and no law without such a cost says what more would do",
        brief(slow.fastest),
        options.workers,
        options.column,
        brief(slow.most),
        brief(slow.times),
        turn.unwrap_or_default()
    );
    warning("slowdown", text)
}

/// A best law that repeats contradict.
fn does_not_fit(fits: &[LawFit], options: &ScalingOptions) -> Option<Finding> {
    let best = fits.iter().find(|fit| Some(fit.law) == best_law(fits))?;
    let p = best.lack_of_fit_p.filter(|p| *p < options.alpha)?;
    let text = format!(
        "the means of repeats lie off even the best of the laws, {}'s, by more than repeats differ \
         ({}): what laws say about other numbers of {} does not follow",
        best.law.name(),
        p_value(p),
        options.workers
    );
    Some(warning("law-does-not-fit", text))
}

/// Too few numbers of workers for Ernest's terms, where no law of fewer terms stands in for it.
fn few_points(points: &[Point], fits: &[LawFit]) -> Option<Finding> {
    let settings = settings(points);
    let checked = |fit: &LawFit| {
        let describes = fit.not_fitted.is_none() && fit.doubt.is_none() && fit.law != Law::Ernest;
        describes && settings >= fit.parameters.len() + SPARE_SETTINGS
    };
    if settings > ERNEST_TERMS || fits.iter().any(checked) {
        return None;
    }
    let text = format!(
        "Ernest's law has {ERNEST_TERMS} terms and there are {}: the fit follows the \
         measurements and cannot be checked by them; measure more numbers of workers",
        count(settings, "setting")
    );
    Some(warning("fewer-points-than-terms", text))
}

fn not_separable(fits: &[LawFit]) -> Option<Finding> {
    let mixed = |fit: &&LawFit| fit.not_fitted.is_none() && !fit.separable;
    let laws: Vec<String> =
        fits.iter().filter(mixed).map(|fit| fit.law.name().to_owned()).collect();
    if laws.is_empty() {
        return None;
    }
    let text = format!(
        "the settings do not tell the terms of {}'s law apart, so its parts can be exchanged for each \
         other at no loss and only their sum is known; vary workers and size independently, over more \
         numbers of workers",
        list(&laws)
    );
    Some(warning("terms-not-separable", text))
}

fn extrapolation(points: &[Point], fits: &[LawFit]) -> Option<Finding> {
    let most = points.iter().fold(0.0f64, |m, p| m.max(p.workers));
    let predicted = |workers: f64| {
        let of = |fit: &LawFit| {
            if fit.doubt.is_some() {
                return None;
            }
            let time = fit.predictions.iter().find(|p| p.workers == workers)?.time?;
            Some(format!("{} {}", fit.law.name(), brief(time)))
        };
        fits.iter().filter_map(of).collect::<Vec<_>>()
    };
    let ernest = fits.iter().find(|fit| fit.law == Law::Ernest)?;
    let far: Vec<String> = ernest
        .predictions
        .iter()
        .filter(|p| p.beyond > FAR)
        .map(|p| {
            let times = predicted(p.workers);
            let beyond = brief(p.beyond);
            let says = match times.len() {
                0 => "no law describes the times".to_owned(),
                1 => format!("the law says {}", list(&times)),
                _ => format!("the laws say {}", list(&times)),
            };
            format!("{} ({beyond} times as many; {says})", brief(p.workers))
        })
        .collect();
    if far.is_empty() {
        return None;
    }
    let text = format!(
        "the largest number of workers measured is {}, and predictions reach {}: laws that agree on \
         the measurements part beyond them, and intervals do not include being the wrong law",
        brief(most),
        list(&far)
    );
    Some(warning("extrapolation", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> ScalingOptions {
        ScalingOptions {
            column: "time".to_owned(),
            workers: "cores".to_owned(),
            size: None,
            predict: vec![],
            predict_size: None,
            alpha: 0.05,
        }
    }

    /// A row whose interval reaches a tenth to either side.
    fn row(workers: f64, speed_up: f64) -> ScalingRow {
        let efficiency = speed_up / workers;
        ScalingRow {
            workers,
            size: None,
            n: 3,
            mean: 10.0 / speed_up,
            speed_up,
            speed_up_low: Some(0.9 * speed_up),
            speed_up_high: Some(1.1 * speed_up),
            efficiency,
            efficiency_low: Some(0.9 * efficiency),
            efficiency_high: Some(1.1 * efficiency),
        }
    }

    #[test]
    fn a_speed_up_within_its_interval_is_none() {
        let told =
            no_speed_up(&[row(1.0, 1.0), row(2.0, 1.05), row(4.0, 1.1)], &options()).unwrap();
        assert!(
            told.text.starts_with(
                "more cores bring nothing that can be told from noise: the best speed-up over 1 is \
                 1.1 (at 4)"
            ),
            "{}",
            told.text
        );
        assert!(no_speed_up(&[row(1.0, 1.0), row(2.0, 1.2)], &options()).is_none());
        let mut once = row(2.0, 1.01);
        once.speed_up_low = None;
        assert!(
            no_speed_up(&[row(1.0, 1.0), once], &options()).is_none(),
            "a value alone is believed"
        );
    }

    #[test]
    fn low_efficiency_is_told_only_where_it_is_sure_and_there_is_a_gain() {
        let of = |speed_up: f64| low_efficiency(&[row(1.0, 1.0), row(8.0, speed_up)], &options());
        assert_eq!(
            of(2.0).unwrap().text,
            "at 8 cores the efficiency is 25.0 %: most of what is paid for waits"
        );
        assert!(of(3.8).is_none(), "its interval reaches beyond a half");
        assert!(of(1.05).is_none(), "without a gain that is another finding");
    }

    #[test]
    fn more_than_the_workers_can_explain_is_told_at_each() {
        let rows = [row(1.0, 1.0), row(2.0, 2.4), row(4.0, 4.1), row(8.0, 10.0)];
        let told = superlinear(&rows, &options()).unwrap();
        assert!(
            told.text
                .starts_with("the efficiency is above 100 % at 2 (120.0 %) and 8 (125.0 %) cores:"),
            "{}",
            told.text
        );
        assert!(superlinear(&rows[..1], &options()).is_none());
    }

    #[test]
    fn measurements_made_once_have_no_spread() {
        let once = |own: ScalingRow| ScalingRow { n: 1, ..own };
        assert!(no_replication(&[once(row(1.0, 1.0)), once(row(2.0, 1.5))], &options()).is_some());
        assert!(no_replication(&[once(row(1.0, 1.0)), row(2.0, 1.5)], &options()).is_none());
    }

    #[test]
    fn a_rise_is_told_with_its_evidence() {
        let slow = Slowdown { fastest: 8.0, most: 32.0, times: 1.5, p: Some(0.003) };
        let told = slowdown(&slow, &[], &options());
        assert!(
            told.text.starts_with(
                "beyond 8 cores time rises again: at 32 it is 1.5 times as long (p = 0.003); workers"
            ),
            "{}",
            told.text
        );
        let once = slowdown(&Slowdown { p: None, ..slow }, &[], &options());
        assert!(once.text.contains("times as long, measured once each;"), "{}", once.text);
    }
}
