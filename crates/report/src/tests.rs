//! A study of two factors, its trials and an analysis, which the tests of this crate share.

use trainwright_analysis::{Analysis, Effect, Formula, TableOptions, TermOrder, analyze_csv};
use trainwright_design::Design;
use trainwright_study::{Configuration, Level, Measurement, Study, TrialState};

use crate::input::{ReportInput, ReportTrial};

const TEXT: &str = "schema = 1\n[study]\nname = \"small\"\n[factors.a]\nlevels = [1, 2]\n\
                    [factors.b]\nlevels = [10, 20]\n[design]\ntype = \"full\"\nreplications = 2\n\
                    [run]\ncommand = [\"run\", \"{a}\", \"{b}\"]\n[metrics.y]\n\
                    objective = \"minimize\"\n";

/// Eight observations of `y` over `a` and `b`; `a` adds 6, `b` nothing.
const TABLE: &str =
    "a,b,y\n1,10,10.1\n1,10,9.9\n1,20,10.2\n1,20,9.8\n2,10,16.1\n2,10,15.9\n2,20,16.2\n2,20,15.8\n";

/// The study, the design it asks for and trials of one's own.
pub(crate) struct SmallStudy {
    pub(crate) study: Study,
    pub(crate) design: Design,
    pub(crate) trials: Vec<ReportTrial>,
}

impl SmallStudy {
    /// With one replacement in its file.
    pub(crate) fn with(from: &str, to: &str) -> Self {
        let study = Study::from_text(&TEXT.replace(from, to)).unwrap();
        let design = Design::of(&study).unwrap();
        Self { study, design, trials: Vec::new() }
    }

    /// What a report is given.
    pub(crate) fn input<'a>(&'a self, analysis: Option<&'a Analysis>) -> ReportInput<'a> {
        ReportInput {
            study: &self.study,
            design: &self.design,
            analysis,
            analysis_refused: None,
            search: None,
            trials: &self.trials,
            machines: &[],
            cluster: &[],
            program: "trainwright 1",
            written_at: "today",
        }
    }
}

/// The analysis of the table, with effects of one's own.
pub(crate) fn analysis(effects: Vec<Effect>) -> Analysis {
    let formula = Formula::parse("y ~ a * b", TermOrder::Formula).unwrap();
    let found = analyze_csv(TABLE.as_bytes(), &[], &formula, &TableOptions::default()).unwrap();
    Analysis { effects, findings: vec![], checks: vec![], ..found }
}

/// An effect of a size, with p-value and share of the variation.
pub(crate) fn effect(term: &str, size: f64, p: Option<f64>, percent: f64) -> Effect {
    Effect {
        term: term.to_owned(),
        effect: Some(size),
        ci_low: None,
        ci_high: None,
        p,
        p_adjusted: p,
        percent: Some(percent),
        candidates: vec![],
        taken_for_none: vec![],
        turn: None,
        part_of: None,
    }
}

/// A configuration of both factors.
pub(crate) fn configuration(a: i64, b: i64) -> Configuration {
    let level = |name: &str, value: i64| (name.to_owned(), Level::Integer(value));
    Configuration::new(vec![level("a", a), level("b", b)])
}

/// A trial of a row that measured a value, or ended without one.
pub(crate) fn trial(number: u32, row: u32, state: TrialState, y: Option<f64>) -> ReportTrial {
    let measured = |value: f64| Measurement { metric: "y".to_owned(), value, in_range: true };
    ReportTrial {
        number,
        row: Some(row),
        replicate: 1,
        configuration: configuration(
            1 + i64::from((row - 1) % 2),
            10 * (1 + i64::from((row - 1) / 2)),
        ),
        state,
        attempts: 1,
        started_ms: None,
        measurements: y.map(measured).into_iter().collect(),
        usage: None,
        reason: None,
        excluded: None,
        output_end: None,
        command: vec![],
        series: vec![],
        files: vec![],
    }
}
