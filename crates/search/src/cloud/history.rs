//! What is known of other workloads on the same candidates.

/// Runs of other workloads.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// Names of the low-level metrics.
    pub metric_names: Vec<String>,
    /// One entry a workload.
    pub workloads: Vec<PastWorkload>,
}

/// What a workload gave on each candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct PastWorkload {
    /// Its name.
    pub name: String,
    /// Workloads of one group are alike, such as one program on several sizes of input.
    pub group: String,
    /// One entry a candidate; nothing where it never ran.
    pub runs: Vec<Option<PastRun>>,
}

/// One run of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct PastRun {
    /// How long it took, in seconds; of a failed run until it failed, where that is known.
    pub elapsed_s: Option<f64>,
    /// Whether it ended well.
    pub completed: bool,
    /// Low-level metrics in the order of the names.
    pub metrics: Vec<Option<f64>>,
}

impl PastRun {
    /// The time of a run that ended well.
    pub fn finished(&self) -> Option<f64> {
        self.elapsed_s.filter(|_| self.completed)
    }
}

impl PastWorkload {
    /// The time on a candidate, where a run ended well there.
    pub fn finished(&self, candidate: usize) -> Option<f64> {
        self.runs[candidate].as_ref().and_then(PastRun::finished)
    }
}

impl History {
    /// The same without a group, so that a workload never learns from its own kind.
    pub fn without_group(&self, group: &str) -> Self {
        let others = self.workloads.iter().filter(|own| own.group != group);
        Self { metric_names: self.metric_names.clone(), workloads: others.cloned().collect() }
    }

    /// Names of the groups, each once, in the order of their first workload.
    pub fn groups(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for own in &self.workloads {
            if !names.contains(&own.group.as_str()) {
                names.push(&own.group);
            }
        }
        names
    }

    /// The middle of each metric on a candidate, for runs that lack one; of all candidates where
    /// none has it, and 0 where there is no value at all.
    pub(super) fn usual_metrics(&self, candidate: usize) -> Vec<f64> {
        (0..self.metric_names.len())
            .map(|metric| {
                let of = |run: &PastRun| run.metrics.get(metric).copied().flatten();
                let own: Vec<f64> = self
                    .workloads
                    .iter()
                    .filter_map(|work| of(work.runs[candidate].as_ref()?))
                    .collect();
                let all = || -> Vec<f64> {
                    self.workloads
                        .iter()
                        .flat_map(|work| work.runs.iter().flatten().filter_map(of))
                        .collect()
                };
                median(own).or_else(|| median(all())).unwrap_or(0.0)
            })
            .collect()
    }
}

/// The middle of some values.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some((values[low] + values[high]) / 2.0)
}

/// Metrics on a scale on which ratios are differences, since rates span many powers of ten.
pub(super) fn on_log_scale(value: f64) -> f64 {
    value.signum() * value.abs().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(name: &str, group: &str, metric: Option<f64>) -> PastWorkload {
        let run = PastRun { elapsed_s: Some(2.0), completed: true, metrics: vec![metric] };
        PastWorkload { name: name.to_owned(), group: group.to_owned(), runs: vec![Some(run), None] }
    }

    #[test]
    fn a_group_goes_as_a_whole() {
        let workloads = vec![
            workload("a-1", "a", None),
            workload("b-1", "b", None),
            workload("a-2", "a", None),
        ];
        let history = History { metric_names: vec!["m".to_owned()], workloads };
        assert_eq!(history.groups(), ["a", "b"]);
        assert_eq!(history.without_group("a").workloads, [workload("b-1", "b", None)]);
    }

    #[test]
    fn what_is_usual_comes_from_the_candidate_or_from_all() {
        let workloads = [Some(1.0), Some(5.0), None].map(|own| workload("w", "g", own)).to_vec();
        let history = History { metric_names: vec!["m".to_owned()], workloads };
        assert_eq!(history.usual_metrics(0), [3.0]);
        assert_eq!(history.usual_metrics(1), [3.0]);
        assert_eq!(History { workloads: Vec::new(), ..history }.usual_metrics(0), [0.0]);
    }

    #[test]
    fn the_middle_of_an_even_number_lies_between() {
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(vec![4.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(Vec::new()), None);
    }
}
