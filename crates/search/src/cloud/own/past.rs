//! What other workloads say: each is a belief of its own, that this job goes like that one.

use super::belief::{Beliefs, log_sum};
use super::domain::{Shape, covariance};
use crate::cloud::history::{History, PastWorkload, on_log_scale};
use crate::cloud::problem::{Problem, Told};

/// The fewest workloads that say something.
const LEAST_WORKLOADS: usize = 3;
/// Passes of the fit that fills gaps; it converges in a few.
const PASSES: usize = 12;
/// How much a standard deviation of low-level metrics tells workloads apart.
const LIKENESS: f64 = 1.5;
/// A workload is followed closely, or only roughly.
const SHAPES: [Shape; 2] = [
    Shape { scaling: 0.2, slope: 0.0, amplitude: 0.1, length: 0.5, nugget: 0.06 },
    Shape { scaling: 0.4, slope: 0.0, amplitude: 0.3, length: 0.5, nugget: 0.06 },
];

/// Past workloads that were measured on at least half of the candidates.
#[derive(Debug, Clone)]
pub(super) struct Past {
    /// Log times less their mean, one row a workload; those of failed runs are filled in.
    log_times: Vec<Vec<f64>>,
    /// Low-level metrics of each workload on each candidate, on a log scale.
    metrics: Vec<Vec<Vec<Option<f64>>>>,
    /// Mean and standard deviation of each metric on each candidate.
    scales: Vec<Vec<(f64, f64)>>,
    /// Which workloads belong together.
    groups: Vec<String>,
    covariances: Vec<Vec<f64>>,
}

impl Past {
    /// What a history has to say; nothing where it is too short.
    pub(super) fn of(problem: &Problem, history: &History) -> Option<Self> {
        let all = 0..problem.candidates().len();
        let finished = |own: &PastWorkload| all.clone().filter_map(|at| own.finished(at)).count();
        let kept: Vec<&PastWorkload> =
            history.workloads.iter().filter(|own| 2 * finished(own) >= all.len()).collect();
        if kept.len() < LEAST_WORKLOADS {
            return None;
        }
        let logarithms = |own: &&PastWorkload| {
            all.clone().map(|at| own.finished(at).map(f64::ln)).collect::<Vec<_>>()
        };
        let known: Vec<Vec<Option<f64>>> = kept.iter().map(logarithms).collect();
        let width = history.metric_names.len();
        let metrics: Vec<Vec<Vec<Option<f64>>>> =
            kept.iter().map(|own| metrics_of(own, width)).collect();
        let scales = all.map(|at| scales_of(&metrics, at, width)).collect();
        Some(Self {
            log_times: fill(&known).into_iter().map(centred).collect(),
            metrics,
            scales,
            groups: kept.iter().map(|own| own.group.clone()).collect(),
            covariances: SHAPES.iter().map(|own| covariance(problem, own)).collect(),
        })
    }

    /// One belief a workload, closely and roughly, each as likely as its metrics are alike.
    pub(super) fn beliefs(&self, told: &[Told]) -> Vec<Beliefs> {
        self.beliefs_of(|row| self.likeness(row, told))
    }

    /// The same without a group, for one of its workloads, before anything is told.
    fn beliefs_without(&self, group: &str) -> Vec<Beliefs> {
        let own = |row: usize| if self.groups[row] == group { f64::NEG_INFINITY } else { 0.0 };
        self.beliefs_of(own)
    }

    fn beliefs_of(&self, score: impl Fn(usize) -> f64) -> Vec<Beliefs> {
        let scores: Vec<f64> = (0..self.log_times.len()).map(score).collect();
        let all = log_sum(&scores) + (self.covariances.len() as f64).ln();
        let members: Vec<(f64, Vec<f64>)> = scores
            .iter()
            .zip(&self.log_times)
            .filter(|(score, _)| score.is_finite())
            .map(|(score, row)| (score - all, row.clone()))
            .collect();
        let with = |covariance: &Vec<f64>| Beliefs {
            members: members.clone(),
            covariance: covariance.clone(),
        };
        self.covariances.iter().map(with).collect()
    }

    /// The logarithm of how alike the low-level metrics of runs are to those of a workload.
    fn likeness(&self, row: usize, told: &[Told]) -> f64 {
        let of_run = |own: &Told| {
            let others = &self.metrics[row][own.candidate];
            let scales = &self.scales[own.candidate];
            let apart: Vec<f64> = (0..scales.len())
                .filter_map(|metric| {
                    let value = on_log_scale(own.metrics.get(metric).copied().flatten()?);
                    Some(((value - others[metric]?) / scales[metric].1).powi(2))
                })
                .collect();
            let mean = apart.iter().sum::<f64>() / apart.len().max(1) as f64;
            -0.5 * LIKENESS * mean
        };
        told.iter().filter(|own| own.completed).map(of_run).sum()
    }

    /// How much better the past foretells its own workloads than `others` do: the mean over all of
    /// them of the log odds a measurement, each without its own group.
    pub(super) fn advantage(&self, others: &[Beliefs]) -> f64 {
        let mut odds = Vec::with_capacity(self.log_times.len());
        for (row, values) in self.log_times.iter().enumerate() {
            let measured: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
            let evidence = |beliefs: &[Beliefs]| {
                let all: Vec<f64> =
                    beliefs.iter().filter_map(|own| own.log_evidence(&measured)).collect();
                log_sum(&all)
            };
            let own = evidence(&self.beliefs_without(&self.groups[row]));
            odds.push((own - evidence(others)) / values.len() as f64);
        }
        let finite: Vec<f64> = odds.into_iter().filter(|own| own.is_finite()).collect();
        finite.iter().sum::<f64>() / finite.len().max(1) as f64
    }
}

fn centred(row: Vec<f64>) -> Vec<f64> {
    let centre = row.iter().sum::<f64>() / row.len() as f64;
    row.iter().map(|own| own - centre).collect()
}

fn metrics_of(own: &PastWorkload, width: usize) -> Vec<Vec<Option<f64>>> {
    let of_run = |at: usize| {
        let run = own.runs[at].as_ref().filter(|own| own.completed);
        let value = |metric: usize| run?.metrics.get(metric).copied().flatten().map(on_log_scale);
        (0..width).map(value).collect()
    };
    (0..own.runs.len()).map(of_run).collect()
}

fn scales_of(metrics: &[Vec<Vec<Option<f64>>>], at: usize, width: usize) -> Vec<(f64, f64)> {
    let scale = |metric: usize| {
        let own: Vec<f64> = metrics.iter().filter_map(|work| work[at][metric]).collect();
        let count = own.len().max(1) as f64;
        let mean = own.iter().sum::<f64>() / count;
        let variance = own.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        // A metric that never differs tells nothing apart, whatever rounding makes of it.
        (mean, if variance > 1e-12 { variance.sqrt() } else { f64::INFINITY })
    };
    (0..width).map(scale).collect()
}

/// Fills gaps by an offset a workload and one a candidate, fitted to what is known.
fn fill(known: &[Vec<Option<f64>>]) -> Vec<Vec<f64>> {
    let (mut works, mut columns) = (vec![0.0; known.len()], vec![0.0; known[0].len()]);
    for _ in 0..PASSES {
        for (work, row) in works.iter_mut().zip(known) {
            *work =
                mean(row.iter().zip(&columns).filter_map(|(own, column)| Some((*own)? - column)));
        }
        for (at, column) in columns.iter_mut().enumerate() {
            *column =
                mean(known.iter().zip(&works).filter_map(|(row, work)| Some(row[at]? - work)));
        }
    }
    let row = |(row, work): (&Vec<Option<f64>>, &f64)| {
        row.iter().zip(&columns).map(|(own, column)| own.unwrap_or(work + column)).collect()
    };
    known.iter().zip(&works).map(row).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), own| (sum + own, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_filled_by_its_row_and_column() {
        // Log times that are sums of both, with one missing: 3 + 20.
        let known = vec![
            vec![Some(11.0), Some(21.0)],
            vec![Some(12.0), Some(22.0)],
            vec![Some(13.0), None],
        ];
        let filled = fill(&known);
        assert!((filled[2][1] - 23.0).abs() < 1e-6, "{filled:?}");
        assert_eq!(filled[0], [11.0, 21.0]);
    }

    #[test]
    fn a_metric_that_never_differs_tells_nothing_apart() {
        let metrics = vec![vec![vec![Some(2.0), Some(1.0)]], vec![vec![Some(2.0), Some(3.0)]]];
        let scales = scales_of(&metrics, 0, 2);
        assert_eq!(scales, [(2.0, f64::INFINITY), (2.0, 1.0)]);
    }
}
