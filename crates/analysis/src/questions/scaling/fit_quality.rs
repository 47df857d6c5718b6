//! How well a law describes the times: against repeats, and against the other laws.

use trainwright_stats::{bonferroni, lack_of_fit, welch_t};

use super::laws::{Law, LawFit};
use super::points::{Point, cells};
use crate::questions::curve::Curve;
use crate::wording::{brief, p_value};

/// A law is set aside for another whose AICc is smaller by more than this (Burnham and Anderson,
/// Model Selection and Multimodel Inference, 2nd edition, 2.6).
const CLEARLY_BETTER: f64 = 4.0;

/// Without repeats a rise by this factor is told.
const CLEAR_RISE: f64 = 1.05;

/// Akaike's criterion for few measurements; laws of different quantities do not compare.
pub(super) fn aicc(law: Law, curve: &Curve, y: &[f64]) -> Option<f64> {
    let n = y.len() as f64;
    // The spread is estimated too.
    let terms = n - curve.df as f64 + 1.0;
    let left = n - terms - 1.0;
    if law == Law::Gustafson || left <= 0.0 {
        return None;
    }
    let squares = curve.variance? * curve.df as f64;
    Some(n * (squares / n).ln() + 2.0 * terms + 2.0 * terms * (terms + 1.0) / left)
}

/// Whether the means of repeats lie on the law.
pub(super) fn lack_of_fit_p(curve: &Curve, points: &[Point], y: &[f64]) -> Option<f64> {
    let mut settings: Vec<(f64, f64)> = points.iter().map(|p| (p.workers, p.size)).collect();
    settings.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    settings.dedup();
    let place = |p: &Point| settings.iter().position(|own| *own == (p.workers, p.size));
    let cells: Vec<usize> = points.iter().filter_map(place).collect();
    let squares: f64 = curve.fitted.iter().zip(y).map(|(fitted, y)| (y - fitted).powi(2)).sum();
    lack_of_fit(y, &cells, squares, curve.df).ok().and_then(|found| found.p)
}

/// The law of the time with the smallest criterion.
pub(super) fn best_law(fits: &[LawFit]) -> Option<Law> {
    let known = fits.iter().filter_map(|fit| Some((fit.law, fit.aicc?)));
    known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(law, _)| law)
}

/// Why a law does not describe the times, if it does not.
pub(super) fn doubt(
    fit: &LawFit,
    fits: &[LawFit],
    slowdown: Option<&Slowdown>,
    alpha: f64,
) -> Option<String> {
    if let Some(slow) = slowdown.filter(|_| fit.law == Law::Amdahl) {
        return Some(format!("they rise again beyond {} workers", brief(slow.fastest)));
    }
    if let Some(p) = fit.lack_of_fit_p.filter(|p| *p < alpha) {
        return Some(format!("the means of repeats lie off it (lack of fit {})", p_value(p)));
    }
    let best = best_law(fits)?;
    let least = fits.iter().find(|own| own.law == best)?.aicc?;
    (fit.aicc? - least > CLEARLY_BETTER)
        .then(|| format!("{}'s law describes them better for its terms (AICc)", best.name()))
}

/// Times that rise again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slowdown {
    /// Workers of the shortest mean time.
    pub(super) fastest: f64,
    /// The most workers measured.
    pub(super) most: f64,
    /// Mean time at the most workers over the shortest.
    pub(super) times: f64,
    /// p-value against the shortest, allowing for having chosen it; absent without repeats.
    pub(super) p: Option<f64>,
}

/// Whether the most workers take longer than fewer did: by Welch's test where there are repeats,
/// and otherwise by a rise that one measurement shows and no spread can be held against.
pub(super) fn slowdown(points: &[Point], alpha: f64) -> Option<Slowdown> {
    let cells = cells(points);
    let (last, late) = cells.last()?;
    if cells.iter().any(|(own, _)| own.size != last.size) {
        return None;
    }
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let (first, early) = cells.iter().min_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)))?;
    let times = mean(late) / mean(early);
    let found = |p| Slowdown { fastest: first.workers, most: last.workers, times, p };
    match welch_t(late, early) {
        Ok(test) => {
            // Any of the others could have been the shortest.
            let p = bonferroni(test.p, cells.len() - 1);
            (times > 1.0 && p < alpha).then(|| found(Some(p)))
        }
        Err(_) => (times > CLEAR_RISE).then(|| found(None)),
    }
}

/// Workers at which Gunther's law is fastest, where it has such a number.
pub(super) fn turning_point(fit: &LawFit) -> Option<f64> {
    let value = |name: &str| fit.parameters.iter().find(|p| p.name == name).map(|p| p.estimate);
    let (serial, cost) = (value("s")?, value("k")?);
    (cost > 0.0 && serial < 1.0).then(|| ((1.0 - serial) / cost).sqrt().max(1.0))
}

#[cfg(test)]
mod tests {
    use trainwright_random::Random;

    use super::*;

    fn points(repeats: usize, time: impl Fn(f64) -> f64, seed: u64) -> Vec<Point> {
        let mut random = Random::new(seed);
        let all = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].into_iter();
        let all = all.flat_map(|workers| std::iter::repeat_n(workers, repeats));
        all.map(|workers| {
            let spread = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            let noise = 1.0 + 0.03 * spread;
            Point { workers, size: 1.0, time: time(workers) * noise }
        })
        .collect()
    }

    #[test]
    fn times_that_level_off_are_seldom_called_a_slowdown() {
        let level = |workers: f64| 10.0 + 90.0 / workers.powi(3);
        let called = (0..400).filter(|&seed| slowdown(&points(3, level, seed), 0.05).is_some());
        // 20 are allowed; the last of the three that are level is the worst for half of them.
        assert!(called.count() <= 32);
    }

    #[test]
    fn times_that_rise_again_are_found() {
        let bent = |workers: f64| 5.0 + 95.0 / workers + 0.8 * (workers - 1.0);
        let found = slowdown(&points(3, bent, 1), 0.05).unwrap();
        assert_eq!((found.fastest, found.most), (8.0, 32.0));
        assert!(found.p.unwrap() < 0.01 && found.times > 1.2, "{found:?}");
        assert!(slowdown(&points(1, bent, 1), 0.05).unwrap().p.is_none());
        assert!(slowdown(&points(1, |workers| 100.0 / workers, 1), 0.05).is_none());
    }
}
