//! A study with made-up but plausible trials.

use std::collections::BTreeMap;

use trainwright_analysis::{Analysis, StudyOptions, analyze_study};
use trainwright_design::{Design, plan};
use trainwright_report::{ReportInput, ReportTrial};
use trainwright_study::{
    Configuration, Machine, Measurement, NetworkScope, NetworkUsage, Observation, PlannedTrial,
    Seed, Series, Study, TrialState, Usage,
};

const TEXT: &str = r#"schema = 1

[study]
name = "fashion-2-5-1"
description = "Which of five settings drives the cost of training a small network on Fashion-MNIST?"
seed = 7

[factors.neurons]
levels = [32, 128]
[factors.lr]
levels = [0.001, 0.01]
scale = "log"
[factors.batch]
levels = [32, 256]
scale = "log2"
[factors.replicas]
levels = [1, 2]
kind = "system"
[factors.epochs]
levels = [1, 2]

[design]
DESIGN
replications = REPLICATIONS
order = "randomized"

[run]
command = ["python3", "train.py", "--neurons", "{neurons}", "--lr", "{lr}", "--batch", "{batch}",
  "--replicas", "{replicas}", "--epochs", "{epochs}", "--seed", "{seed}"]

[metrics.time]
from = "wall"
unit = "s"
[metrics.accuracy]
from = "jsonl"
unit = "fraction"
range = [0, 1]
[metrics.cost]
expr = "time / (accuracy * 100)^2"
objective = "minimize"
unit = "s per %²"

[analysis]
response = "cost"
terms = "main + 2fi"
"#;

/// A study, its plan, its trials and their analysis.
pub(crate) struct Simulated {
    pub(crate) study: Study,
    pub(crate) design: Design,
    pub(crate) trials: Vec<ReportTrial>,
    pub(crate) machines: Vec<Machine>,
    pub(crate) analysis: Option<Analysis>,
}

impl Simulated {
    /// Sixteen rows, each run this often; each series has so many points.
    pub(crate) fn new(replications: u32, points: usize) -> Self {
        Self::designed("type = \"fractional\"\nruns = 16\nresolution = 5", replications, points)
    }

    /// The same with lines of one's own in the section `design`.
    pub(crate) fn designed(design: &str, replications: u32, points: usize) -> Self {
        let text =
            TEXT.replace("REPLICATIONS", &replications.to_string()).replace("DESIGN", design);
        let study = Study::from_text(&text).expect("the sample study is right");
        let design = Design::of(&study).expect("the sample design exists");
        let trials = plan(&study, &design).iter().map(|own| trial(own, points)).collect();
        let machines = vec![Machine {
            host: "bench-1".into(),
            cpu: "AMD EPYC 7B13".into(),
            cores: 2,
            memory_bytes: 8 << 30,
            system: "Linux 6.12.9".into(),
            trainwright: "0.1.0".into(),
            git_commit: Some("4be0c1d2f7a93e5581b6a1c04d9e77f0a2b3c4d5".into()),
            git_dirty: Some(true),
        }];
        Self { study, design, trials, machines, analysis: None }.analysed()
    }

    /// Makes a trial end badly.
    pub(crate) fn broken(mut self, number: usize, state: TrialState, reason: &str) -> Self {
        let trial = &mut self.trials[number - 1];
        trial.state = state;
        trial.measurements.clear();
        trial.reason = Some(reason.to_owned());
        trial.output_end = Some("epoch 1\nTraceback (most recent call last):\n  <module>\n".into());
        self.analysed()
    }

    /// The same with the analysis of its trials as they are now.
    pub(crate) fn analysed(mut self) -> Self {
        let observations: Vec<Observation> = self.trials.iter().map(observation).collect();
        self.analysis =
            analyze_study(&self.study, &self.design, &observations, &StudyOptions::default()).ok();
        self
    }

    /// What the report is given.
    pub(crate) fn input(&self) -> ReportInput<'_> {
        let refused = self.analysis.is_none().then(|| "no trial has finished".to_owned());
        ReportInput {
            study: &self.study,
            design: &self.design,
            analysis: self.analysis.as_ref(),
            analysis_refused: refused,
            search: None,
            trials: &self.trials,
            machines: &self.machines,
            cluster: &[],
            program: "trainwright 0.1.0",
            written_at: "2026-11-15 21:00 UTC",
        }
    }
}

/// A planned trial that ran; times and accuracies follow its levels and a little noise.
fn trial(planned: &PlannedTrial, points: usize) -> ReportTrial {
    let level = |name: &str| planned.configuration.get(name).and_then(|own| own.number());
    let high = |name: &str, limit: f64| level(name).is_some_and(|own| own > limit);
    let sign = |name, limit| if high(name, limit) { 1.0 } else { -1.0 };
    let (lr, batch) = (sign("lr", 0.005), sign("batch", 100.0));
    let noise = |part| normal(Seed::new(u64::from(planned.seed)).derive(part));
    let pace = 0.22 * sign("neurons", 64.0) - 0.28 * batch + 0.33 * sign("epochs", 1.5)
        - 0.07 * sign("replicas", 1.5);
    let time = 6.0 * f64::exp(pace + 0.14 * noise(1));
    let accuracy = 0.8 + 0.045 * lr - 0.03 * batch + 0.04 * lr * batch + 0.012 * noise(2);
    let value = |metric: &str, value| Measurement { metric: metric.into(), value, in_range: true };
    ReportTrial {
        number: planned.number,
        row: planned.row,
        replicate: planned.replicate,
        configuration: planned.configuration.clone(),
        state: TrialState::Finished,
        attempts: 1,
        started_ms: Some(1_763_240_000_000 + i64::from(planned.number) * 8_000),
        measurements: vec![
            value("time", time),
            value("accuracy", accuracy),
            value("cost", time / (accuracy * 100.0).powi(2)),
        ],
        usage: Some(usage(time)),
        reason: None,
        excluded: None,
        output_end: Some("done\n".into()),
        command: command(&planned.configuration),
        series: series(time, accuracy, points, planned.seed),
        files: vec![],
    }
}

fn usage(time: f64) -> Usage {
    Usage {
        wall_s: time,
        user_s: 1.7 * time,
        system_s: 0.1 * time,
        peak_memory_bytes: Some(310 << 20),
        disk_read_bytes: Some(11 << 20),
        disk_write_bytes: Some(4096),
        network: Some(NetworkUsage {
            received_bytes: 9_000,
            sent_bytes: 8_000,
            loopback_bytes: 0,
            scope: NetworkScope::Machine,
        }),
        run_queue_s: Some(0.01 * time),
        major_faults: Some(2),
        gpus: Vec::new(),
        earlier_s: None,
        exit_code: Some(0),
        signal: None,
    }
}

fn command(configuration: &Configuration) -> Vec<String> {
    let mut words = vec!["python3".to_owned(), "train.py".to_owned()];
    for (name, level) in configuration.iter() {
        words.extend([format!("--{name}"), level.to_string()]);
    }
    words
}

fn series(time: f64, accuracy: f64, points: usize, seed: u32) -> Vec<Series> {
    let seed = Seed::new(u64::from(seed));
    let make = |name: &str, axis: &str, unit: &str, value: &dyn Fn(f64, f64) -> f64| {
        let part = seed.derive(name.len() as u64);
        let share = |index: usize| (index + 1) as f64 / points as f64;
        let reach = if axis == "s" { time } else { 400.0 };
        Series {
            name: name.into(),
            axis: axis.into(),
            unit: unit.into(),
            at: (0..points).map(|index| share(index) * reach).collect(),
            values: (0..points)
                .map(|index| value(share(index), normal(part.derive(index as u64))))
                .collect(),
        }
    };
    vec![
        make("metric.accuracy", "step", "fraction", &|at, noise| {
            accuracy * (1.0 - 0.8 * f64::exp(-5.0 * at)) + 0.004 * noise
        }),
        make("metric.loss", "step", "", &|at, noise| {
            (1.0 - accuracy) * 2.2 + 1.6 * f64::exp(-5.0 * at) + 0.02 * noise
        }),
        make("cpu.user", "s", "cores", &|_, noise| (1.7 + 0.1 * noise).max(0.0)),
        make("cpu.system", "s", "cores", &|_, noise| (0.1 + 0.03 * noise).max(0.0)),
        make("cpu.core0", "s", "percent", &|_, noise| (90.0 + 4.0 * noise).min(100.0)),
        make("memory", "s", "bytes", &|at, _| 3.1e8 * (1.0 - f64::exp(-9.0 * at))),
        make("disk.read", "s", "bytes/s", &|at, noise| {
            if at < 0.2 { 5e7 + 4e6 * noise } else { 0.0 }
        }),
        make("disk.write", "s", "bytes/s", &|_, _| 700.0),
        make("network.received", "s", "bytes/s", &|_, noise| (2e3 + 900.0 * noise).max(0.0)),
        make("network.sent", "s", "bytes/s", &|_, noise| (1e3 + 400.0 * noise).max(0.0)),
    ]
}

/// Twelve uniform numbers less six are normal enough for a sample.
fn normal(seed: Seed) -> f64 {
    let uniform = |part| (seed.derive(part).value() >> 11) as f64 / (1u64 << 53) as f64;
    (0..12).map(uniform).sum::<f64>() - 6.0
}

fn observation(trial: &ReportTrial) -> Observation {
    let values: BTreeMap<String, f64> =
        trial.measurements.iter().map(|own| (own.metric.clone(), own.value)).collect();
    Observation {
        trial: trial.number,
        row: trial.row,
        replicate: trial.replicate,
        block: None,
        whole_plot: None,
        slots: None,
        seconds: None,
        configuration: trial.configuration.clone(),
        state: trial.state,
        values,
    }
}
