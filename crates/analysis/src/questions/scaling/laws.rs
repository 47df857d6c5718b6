//! The laws, fitted.
//!
//! Amdahl (AFIPS 1967): time = T (f + (1 - f) / n) for one size. Gustafson (Communications of the
//! ACM 31, 1988): work per time = R (a + (1 - a) n) for sizes that grow with n. Ernest
//! (Venkataraman et al., NSDI 2016): time = t0 + t1 s / n + t2 ln n + t3 n. Gunther (universal
//! scalability law; Guerrilla Capacity Planning, 2007): time = T ((1 - s) / n + s + k (n - 1)) for one
//! size, Amdahl's law with a cost of keeping workers in step. Each is linear in coefficients that
//! cannot be negative. Intervals are those of the terms that are not zero.

use serde::Serialize;
use trainwright_stats::{Columns, non_negative_least_squares};

use super::points::{Point, cells};
use super::{ScalingOptions, fit_quality};
use crate::error::AnalysisError;
use crate::questions::curve::Curve;

/// Which law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// A serial part that workers cannot share.
    Amdahl,
    /// A serial part beside work that grows with the workers.
    Gustafson,
    /// A serial part, and workers that have to agree with each other.
    Gunther,
    /// Serial part, shared work, a tree of messages and a cost a worker.
    Ernest,
}

impl Law {
    /// The law's name in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amdahl => "Amdahl",
            Self::Gustafson => "Gustafson",
            Self::Gunther => "Gunther",
            Self::Ernest => "Ernest",
        }
    }

    fn equation(self) -> &'static str {
        match self {
            Self::Amdahl => "time = T * (f + (1 - f) / n)",
            Self::Gustafson => "size / time = R * (a + (1 - a) * n)",
            Self::Gunther => "time = T * ((1 - s) / n + s + k * (n - 1))",
            Self::Ernest => "time = t0 + t1 * size / n + t2 * ln(n) + t3 * n",
        }
    }

    /// Values of the law's terms at a point.
    fn terms(self, workers: f64, size: f64) -> Vec<f64> {
        match self {
            Self::Amdahl => vec![1.0, 1.0 / workers],
            Self::Gustafson => vec![1.0, workers],
            Self::Gunther => vec![1.0, 1.0 / workers, workers - 1.0],
            Self::Ernest => vec![1.0, size / workers, workers.ln(), workers],
        }
    }

    /// What the law explains: a time, or work per time.
    fn explained(self, point: &Point) -> f64 {
        match self {
            Self::Gustafson => point.size / point.time,
            Self::Amdahl | Self::Gunther | Self::Ernest => point.time,
        }
    }
}

/// A law fitted to the times, or why it was not.
#[derive(Debug, Clone, Serialize)]
pub struct LawFit {
    /// The law.
    pub law: Law,
    /// Its equation, `n` being the number of workers.
    pub equation: &'static str,
    /// Whether the data tell its terms apart.
    pub separable: bool,
    /// Why it was not fitted.
    pub not_fitted: Option<String>,
    /// Why it does not describe the times, where it does not: its predictions then mean nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Share of the variation that it explains.
    pub r2: Option<f64>,
    /// Residual standard deviation; absent without spare measurements.
    pub sigma: Option<f64>,
    /// Measurements less free coefficients.
    pub df_residual: usize,
    /// Akaike's criterion for few measurements (AICc); the smallest describes best for its number of
    /// terms. Absent for work per time, and where too few measurements are left.
    pub aicc: Option<f64>,
    /// p-value of the means of repeats lying on the law; absent without repeats to tell.
    pub lack_of_fit_p: Option<f64>,
    /// Largest miss as a share of the measurement.
    pub worst_miss: Option<f64>,
    /// Times at numbers of workers asked for.
    pub predictions: Vec<Prediction>,
    /// What the fit means.
    pub text: String,
}

/// A fitted parameter.
#[derive(Debug, Clone, Serialize)]
pub struct Parameter {
    /// Its letter in the equation.
    pub name: &'static str,
    /// What it stands for.
    pub meaning: &'static str,
    /// Estimate.
    pub estimate: f64,
    /// Lower end of its interval; absent at a bound without one, or without spare measurements.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// True where the estimate lies at the end of what the law allows.
    pub at_bound: bool,
}

/// A predicted time.
#[derive(Debug, Clone, Serialize)]
pub struct Prediction {
    /// Number of workers.
    pub workers: f64,
    /// Size of the problem, where sizes were measured.
    pub size: Option<f64>,
    /// Predicted time; absent where the law gives none.
    pub time: Option<f64>,
    /// Lower end of the interval of one new measurement.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Workers over the largest number measured.
    pub beyond: f64,
}

pub(super) fn fit_all(
    points: &[Point],
    options: &ScalingOptions,
) -> Result<Vec<LawFit>, AnalysisError> {
    [Law::Amdahl, Law::Gustafson, Law::Gunther, Law::Ernest]
        .into_iter()
        .map(|law| match unsuited(law, points) {
            Some(reason) => Ok(not_fitted(law, reason)),
            None => fit(law, points, options),
        })
        .collect()
}

fn unsuited(law: Law, points: &[Point]) -> Option<String> {
    let one_size = points.iter().all(|p| p.size == points[0].size);
    match law {
        Law::Amdahl | Law::Gunther if !one_size => {
            Some("the law is about one size, but the sizes differ".to_owned())
        }
        Law::Gustafson if one_size => {
            Some("the law is about sizes that grow with the workers; give their column".to_owned())
        }
        _ => None,
    }
}

fn not_fitted(law: Law, reason: String) -> LawFit {
    LawFit {
        law,
        equation: law.equation(),
        text: String::new(),
        separable: false,
        not_fitted: Some(reason),
        doubt: None,
        parameters: vec![],
        r2: None,
        sigma: None,
        df_residual: 0,
        aicc: None,
        lack_of_fit_p: None,
        worst_miss: None,
        predictions: vec![],
    }
}

/// A law's free terms as a curve.
struct Fitted {
    law: Law,
    coefficients: Vec<f64>,
    free: Vec<usize>,
    curve: Curve,
}

fn fit(law: Law, points: &[Point], options: &ScalingOptions) -> Result<LawFit, AnalysisError> {
    let stats = |source| AnalysisError::Stats { response: options.column.clone(), source };
    let y: Vec<f64> = points.iter().map(|p| law.explained(p)).collect();
    let rows: Vec<Vec<f64>> = points.iter().map(|p| law.terms(p.workers, p.size)).collect();
    let column = |j: usize| rows.iter().map(|row| row[j]).collect::<Vec<f64>>();
    let all: Vec<Vec<f64>> = (0..rows[0].len()).map(column).collect();
    let columns = Columns::new(all.clone()).map_err(stats)?;
    let found = non_negative_least_squares(&columns, &y).map_err(stats)?;
    let free = found.free.iter().map(|&j| all[j].clone()).collect();
    let Some(curve) = Curve::fit(free, &y).map_err(stats)? else {
        return Ok(not_fitted(law, "its terms cannot be told apart in these data".to_owned()));
    };
    let whole = Curve::fit(all, &y).map_err(stats)?;
    let fitted = Fitted { law, coefficients: found.coefficients, free: found.free, curve };
    let parameters = match law {
        Law::Amdahl | Law::Gustafson | Law::Gunther => {
            share_and_scale(&fitted, whole.as_ref(), options.alpha)
        }
        Law::Ernest => terms_of_ernest(&fitted, options.alpha),
    };
    Ok(LawFit {
        law,
        equation: law.equation(),
        separable: whole.is_some(),
        not_fitted: None,
        doubt: None,
        parameters,
        r2: fitted.curve.r2,
        sigma: fitted.curve.variance.map(f64::sqrt),
        df_residual: fitted.curve.df,
        aicc: fit_quality::aicc(law, &fitted.curve, &y),
        lack_of_fit_p: fit_quality::lack_of_fit_p(&fitted.curve, points, &y),
        worst_miss: fitted.curve.worst_miss(&y),
        predictions: predictions(&fitted, points, options),
        text: String::new(),
    })
}

/// The serial share, first term over both, the cost of keeping in step over both, where the law has
/// one, and the value at one worker, their sum.
fn share_and_scale(fitted: &Fitted, whole: Option<&Curve>, alpha: f64) -> Vec<Parameter> {
    let terms = fitted.coefficients.len();
    let (first, second) = (fitted.coefficients[0], fitted.coefficients[1]);
    let scale = first + second;
    let is_free = |term: usize| fitted.free.contains(&term);
    let unit = |term: usize| (0..terms).map(|j| f64::from(u8::from(j == term))).collect::<Vec<_>>();
    let one_worker: Vec<f64> = (0..terms).map(|j| f64::from(u8::from(j < 2))).collect();
    // Without bounds a share may leave what the law allows; it holds only for the part inside.
    let share = |term: usize, most: f64| {
        whole
            .and_then(|curve| curve.ratio_interval(&unit(term), &one_worker, alpha))
            .map(|[low, high]| [low.max(0.0), high.min(most)])
            .filter(|[low, high]| low <= high)
    };
    let of_free: Vec<f64> = fitted.free.iter().map(|&j| one_worker[j]).collect();
    let total = fitted.curve.interval(&of_free, alpha);
    let (letters, meanings) = match fitted.law {
        Law::Gustafson => {
            (["a", "R"], ["share of the time that is serial", "work per time of one worker"])
        }
        Law::Gunther => (["s", "T"], ["share of the work that is serial", "time of one worker"]),
        _ => (["f", "T"], ["share of the work that is serial", "time of one worker"]),
    };
    let bound = !(is_free(0) && is_free(1));
    let mut found = vec![parameter(letters[0], meanings[0], first / scale, share(0, 1.0), bound)];
    if fitted.law == Law::Gunther {
        let (value, ends) = (fitted.coefficients[2] / scale, share(2, f64::INFINITY));
        let meaning = "cost of each further worker, as a share of the time of one";
        found.push(parameter("k", meaning, value, ends, !is_free(2)));
    }
    found.push(parameter(letters[1], meanings[1], scale, total, false));
    found
}

fn terms_of_ernest(fitted: &Fitted, alpha: f64) -> Vec<Parameter> {
    let terms = [
        ("t0", "serial part"),
        ("t1", "work that workers share, a unit of size"),
        ("t2", "messages over a tree of workers"),
        ("t3", "cost of each worker"),
    ];
    terms
        .into_iter()
        .enumerate()
        .map(|(j, (name, meaning))| {
            let place = fitted.free.iter().position(|&own| own == j);
            let interval = place.and_then(|at| {
                let mut unit = vec![0.0; fitted.free.len()];
                unit[at] = 1.0;
                fitted.curve.interval(&unit, alpha)
            });
            parameter(name, meaning, fitted.coefficients[j], interval, place.is_none())
        })
        .collect()
}

fn parameter(
    name: &'static str,
    meaning: &'static str,
    estimate: f64,
    interval: Option<[f64; 2]>,
    at_bound: bool,
) -> Parameter {
    let (ci_low, ci_high) = (interval.map(|i| i[0]), interval.map(|i| i[1]));
    Parameter { name, meaning, estimate, ci_low, ci_high, at_bound }
}

fn predictions(fitted: &Fitted, points: &[Point], options: &ScalingOptions) -> Vec<Prediction> {
    let most = points.iter().fold(0.0f64, |m, p| m.max(p.workers));
    let size =
        options.predict_size.unwrap_or_else(|| points.iter().fold(0.0f64, |m, p| m.max(p.size)));
    let one = |&workers: &f64| {
        let terms = fitted.law.terms(workers, size);
        let free: Vec<f64> = fitted.free.iter().map(|&j| terms[j]).collect();
        let value = fitted.curve.combine(&free).value;
        let interval = fitted.curve.prediction(&free, options.alpha);
        let (time, interval) = match fitted.law {
            // Work per time turned into time; an interval that reaches 0 has no slowest time.
            Law::Gustafson => (
                (value > 0.0).then(|| size / value),
                interval.filter(|i| i[0] > 0.0).map(|[low, high]| [size / high, size / low]),
            ),
            Law::Amdahl | Law::Gunther | Law::Ernest => (Some(value), interval),
        };
        Prediction {
            workers,
            size: options.size.is_some().then_some(size),
            time,
            low: interval.map(|i| i[0]),
            high: interval.map(|i| i[1]),
            beyond: workers / most,
        }
    };
    options.predict.iter().map(one).collect()
}

/// Distinct combinations of workers and size.
pub(super) fn settings(points: &[Point]) -> usize {
    cells(points).len()
}
