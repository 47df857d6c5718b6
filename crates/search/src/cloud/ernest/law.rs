//! The law and its fit.

use serde::Serialize;
use trainwright_stats::{Columns, StudentT, non_negative_least_squares};

use super::terms;
use crate::error::CloudError;

/// The fewest runs that a law is fitted to.
const LEAST_RUNS: usize = 2;

/// A run on part of the input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaledRun {
    /// Machines, or cores.
    pub machines: f64,
    /// Share of the input.
    pub share: f64,
    /// How long it took.
    pub elapsed_s: f64,
}

/// t = a + b share / machines + c log(machines) + d machines, none of them negative.
///
/// ```
/// use trainwright_search::cloud::ernest::{Law, ScaledRun};
///
/// let run = |machines: f64, elapsed_s| ScaledRun { machines, share: 1.0, elapsed_s };
/// let law = Law::fit(&[run(1.0, 110.0), run(2.0, 60.0), run(5.0, 30.0), run(10.0, 20.0)])?;
/// assert!((law.predict(1.0, 4.0).elapsed_s - 35.0).abs() < 1e-6);
/// assert!(law.predict(1.0, 40.0).extrapolates);
/// # Ok::<(), trainwright_search::CloudError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Law {
    /// a, b, c and d.
    pub coefficients: [f64; 4],
    /// The root of the sum of squared residuals.
    pub residual: f64,
    /// Fewest and most machines of the runs.
    pub machines: (f64, f64),
    /// Smallest and largest share of the runs.
    pub shares: (f64, f64),
    runs: usize,
    free: usize,
}

/// What a law foretells.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Prediction {
    /// The time expected.
    pub elapsed_s: f64,
    /// A new run lies above this with a chance of 97.5 %; nothing where there are no more runs
    /// than terms.
    pub low_s: Option<f64>,
    /// A new run lies below this with a chance of 97.5 %.
    pub high_s: Option<f64>,
    /// Whether it lies beyond the machines or shares of the runs.
    pub extrapolates: bool,
}

impl Law {
    /// Fits the law to runs, in seconds as they are.
    ///
    /// # Errors
    /// Too few runs, or a number that is not above 0.
    pub fn fit(runs: &[ScaledRun]) -> Result<Self, CloudError> {
        if runs.len() < LEAST_RUNS {
            return Err(CloudError::TooFewRuns { least: LEAST_RUNS, found: runs.len() });
        }
        for run in runs {
            let numbers =
                [("machines", run.machines), ("share", run.share), ("elapsed_s", run.elapsed_s)];
            for (what, value) in numbers {
                if !(value.is_finite() && value > 0.0) {
                    return Err(CloudError::NotAbove0 { what, value });
                }
            }
        }
        let rows: Vec<[f64; 4]> = runs.iter().map(|own| terms(own.share, own.machines)).collect();
        let column = |at: usize| rows.iter().map(|row| row[at]).collect();
        let matrix = Columns::new((0..4).map(column).collect()).expect("terms are finite");
        let times: Vec<f64> = runs.iter().map(|own| own.elapsed_s).collect();
        let fit = non_negative_least_squares(&matrix, &times).expect("times are finite");
        let range = |value: fn(&ScaledRun) -> f64| {
            let all = || runs.iter().map(value);
            (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max))
        };
        Ok(Self {
            coefficients: [0, 1, 2, 3].map(|at| fit.coefficients[at]),
            residual: fit.ss_residual.max(0.0).sqrt(),
            machines: range(|own| own.machines),
            shares: range(|own| own.share),
            runs: runs.len(),
            free: fit.free.len(),
        })
    }

    /// The time on so many machines of a share of the input.
    ///
    /// The interval is that of the residuals alone: it grows with the distance from the runs by as
    /// much as the prediction does, since what is unknown about the terms grows with them.
    pub fn predict(&self, share: f64, machines: f64) -> Prediction {
        let all = terms(share, machines);
        let elapsed_s: f64 = all.iter().zip(&self.coefficients).map(|(x, c)| x * c).sum();
        let beyond = |value: f64, (low, high): (f64, f64)| {
            value < low * (1.0 - 1e-9) || value > high * (1.0 + 1e-9)
        };
        let half = self.runs.checked_sub(self.free).filter(|df| *df > 0).and_then(|df| {
            let df = df as f64;
            let t = StudentT::new(df).and_then(|own| own.quantile(0.975)).ok()?;
            let stretch = (machines / self.machines.1).max(share / self.shares.1).max(1.0);
            Some(t * self.residual / df.sqrt() * (1.0 + 1.0 / self.runs as f64).sqrt() * stretch)
        });
        Prediction {
            elapsed_s,
            low_s: half.map(|half| (elapsed_s - half).max(0.0)),
            high_s: half.map(|half| elapsed_s + half),
            extrapolates: beyond(machines, self.machines) || beyond(share, self.shares),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example that comes with Ernest (github.com/amplab/ernest, Apache-2.0): logistic
    /// regression on RCV1.
    const RCV1: [(f64, f64, f64); 7] = [
        (32.0, 0.125, 7.94516801834),
        (4.0, 0.015625, 4.72029209137),
        (4.0, 0.021382, 4.87661099434),
        (12.0, 0.050164, 6.71376490593),
        (12.0, 0.055921, 6.71519398689),
        (12.0, 0.061678, 6.6739718914),
        (16.0, 0.061678, 6.83566999435),
    ];

    fn rcv1() -> Law {
        let run = |(machines, share, elapsed_s)| ScaledRun { machines, share, elapsed_s };
        Law::fit(&RCV1.map(run)).unwrap()
    }

    #[test]
    fn the_fit_and_the_predictions_are_those_of_ernest() {
        let law = rcv1();
        // From its document, reproduced with SciPy's nnls.
        let expected = [1.90012687, 162.19821226, 1.58832362, 0.0];
        for (own, expected) in law.coefficients.iter().zip(expected) {
            assert!((own - expected).abs() < 1e-7, "{:?}", law.coefficients);
        }
        assert!((law.residual - 0.27297448).abs() < 1e-7, "{}", law.residual);
        let times = [
            44.6515640166,
            25.4777295249,
            19.36348049,
            16.4412832993,
            14.7682298198,
            13.7061636865,
            12.9855393036,
        ];
        for (machines, expected) in [4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0].into_iter().zip(times)
        {
            let own = law.predict(1.0, machines).elapsed_s;
            assert!((own - expected).abs() < 1e-8, "{machines}: {own}");
        }
    }

    #[test]
    fn beyond_the_runs_it_says_so_and_is_less_sure() {
        let law = rcv1();
        let within = law.predict(0.06, 12.0);
        assert!(!within.extrapolates);
        let beyond = law.predict(1.0, 64.0);
        assert!(beyond.extrapolates);
        let width = |own: Prediction| own.high_s.unwrap() - own.elapsed_s;
        assert!(width(beyond) > 3.0 * width(within));
        assert!(within.low_s.unwrap() < within.elapsed_s);
    }

    #[test]
    fn nine_in_ten_new_runs_lie_within_the_interval() {
        let mut random = trainwright_random::Random::new(3);
        let mut time = |machines: f64| {
            let noise: f64 = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            20.0 + 300.0 / machines + 2.0 * noise
        };
        let mut within = 0;
        for _ in 0..400 {
            let counts = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];
            let runs = counts.map(|machines| ScaledRun {
                machines,
                share: 1.0,
                elapsed_s: time(machines),
            });
            let own = Law::fit(&runs).unwrap().predict(1.0, 5.0);
            let new = time(5.0);
            within += u32::from(own.low_s.unwrap() < new && new < own.high_s.unwrap());
        }
        // 95 % of 400 are 380, with a standard deviation of 4.4.
        assert!((360..=398).contains(&within), "{within}");
    }

    #[test]
    fn faulty_runs_are_refused() {
        let run = |elapsed_s| ScaledRun { machines: 2.0, share: 1.0, elapsed_s };
        assert_eq!(Law::fit(&[run(3.0)]), Err(CloudError::TooFewRuns { least: 2, found: 1 }));
        let error = Law::fit(&[run(3.0), run(-1.0)]).unwrap_err().to_string();
        assert_eq!(error, "elapsed_s is -1, where a number above 0 is needed");
    }
}
