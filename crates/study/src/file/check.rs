//! From a draft to a study: every rule of the study file that one file can break by itself.
//!
//! All faults are collected, each with its place. Whether a design exists for these factors is
//! for the `design` crate to say, whether a formula reads for `analysis`.

mod design;
mod design_rows;
mod factors;
mod job_levels;
mod metrics;
mod search;
mod task;

use std::io;
use std::path::Path;
use std::time::Duration;

use toml::de::DeTable;

use crate::expression::Expression;
use crate::file::draft::{
    AnalysisDraft, BudgetDraft, EngineDraft, EngineKind, PrepareDraft, RunDraft, StudyDraft,
};
use crate::file::duration::parse_duration;
use crate::file::locate::{Step, inside, locate};
use crate::file::problem::Problem;
use crate::file::schema::nearest;
use crate::{
    AnalysisSpec, Budget, DesignKind, DesignSpec, EngineSpec, EvaluateError, Factor, Metric,
    RunOptions, Seed, SourceFile, SparkSpec, Study, Value, is_identifier,
};

/// Reads files that the study names, relative to its folder.
pub(crate) type ReadFile<'a> = dyn Fn(&Path) -> io::Result<String> + 'a;

/// The longest name of a study: with what is added to it, it must name a folder.
const LONGEST_NAME: usize = 200;

/// Collects faults while a draft is turned into a study.
pub(crate) struct Checker<'a> {
    text: &'a str,
    document: &'a DeTable<'a>,
    read_file: &'a ReadFile<'a>,
    problems: Vec<Problem>,
}

macro_rules! at {
    ($($step:expr),+) => { &[$(crate::file::locate::Step::from($step)),+] };
}
pub(crate) use at;

pub(crate) fn check(
    draft: StudyDraft,
    source: &SourceFile,
    document: &DeTable<'_>,
    read_file: &ReadFile<'_>,
) -> Result<Study, Vec<Problem>> {
    let mut checker = Checker { text: &source.text, document, read_file, problems: Vec::new() };
    let study = checker.study(draft, source);
    match study {
        Some(study) if checker.problems.is_empty() => Ok(study),
        _ => {
            checker.problems.sort_by_key(|problem| problem.span.start);
            Err(checker.problems)
        }
    }
}

impl Checker<'_> {
    fn study(&mut self, draft: StudyDraft, source: &SourceFile) -> Option<Study> {
        if draft.schema != 1 {
            let message = format!("this program reads schema 1, not {}", draft.schema);
            self.fault(at!["schema"], message, None);
        }
        let name = draft.study.name;
        let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
        if name.len() > LONGEST_NAME {
            let message = format!("the study's name has {} bytes", name.len());
            let help = format!("{LONGEST_NAME} are enough for the folder that it names");
            self.fault(at!["study", "name"], message, Some(&help));
        } else if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            let help = "use letters, digits, dots, dashes and underscores: it names a folder";
            self.fault(at!["study", "name"], format!("bad study name `{name}`"), Some(help));
        }
        let factors = self.factors(draft.factors);
        let constraints = self.constraints(&draft.constraint, &factors);
        let design = self.design(draft.design, &factors);
        let slots = self.slots(&draft.engine, &draft.run);
        let engine = self.engine(draft.engine);
        let (run, command) = self.run_options(draft.run, slots, &draft.telemetry.sample_every);
        let rows = match design.as_ref().map(|design| &design.kind) {
            Some(DesignKind::Table { rows }) => Some(rows.as_slice()),
            _ => None,
        };
        let knobs = task::Knobs { factors: &factors, constraints: &constraints, rows };
        let task = self.task(draft.job, command, &run, &knobs);
        let echoes = self.echoes(draft.echo, &factors);
        let budget = self.budget(&draft.budget);
        // Missing or faulty metrics would only bring more faults in their wake.
        let metrics = self.metrics(draft.metrics, &factors)?;
        self.shared_files(&metrics, slots);
        let analysis = self.analysis(draft.analysis, &metrics, design.as_ref());
        let search = match (draft.search, &analysis) {
            (Some(own), Some(analysis)) => self.search(own, &metrics, &analysis.response, &budget),
            _ => None,
        };
        Some(Study {
            name,
            description: draft.study.description,
            seed: Seed::new(draft.study.seed),
            factors,
            design: design?,
            search,
            task: task?,
            run,
            engine,
            metrics,
            echoes,
            analysis: analysis?,
            constraints,
            budget,
            source: source.clone(),
        })
    }

    /// Notes a fault at a place.
    fn fault(&mut self, path: &[Step], message: impl Into<String>, help: Option<&str>) {
        let span = locate(self.document, path);
        self.problems.push(Problem { message: message.into(), span, help: help.map(Into::into) });
    }

    /// Notes a fault in a list of known names, with a guess at what was meant.
    fn unknown_name<'n>(
        &mut self,
        path: &[Step],
        message: String,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) {
        let known: Vec<&str> = known.collect();
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "there are none".to_owned(),
            None => format!("there are {}", known.join(", ")),
        };
        self.fault(path, message, Some(&help));
    }

    fn identifier(&mut self, path: &[Step], what: &str, name: &str) {
        if !is_identifier(name) {
            let message = format!("`{name}` cannot name a {what}");
            let help = "use a letter or underscore, then letters, digits and underscores";
            self.fault(path, message, Some(help));
        }
    }

    /// Refuses what no command line, variable or path can hold, or no terminal should be shown.
    fn no_control_characters(&mut self, path: &[Step], text: &str) {
        let odd = |c: &char| c.is_control() && !"\n\r\t".contains(*c);
        if let Some(odd) = text.chars().find(odd) {
            let message =
                format!("the control character U+{:04X} cannot stand here", u32::from(odd));
            self.fault(path, message, Some("leave it out"));
        }
    }

    fn expression(&mut self, path: &[Step], source: &str) -> Option<Expression> {
        match Expression::parse(source) {
            Ok(expression) => Some(expression),
            Err(error) => {
                let span = inside(self.text, locate(self.document, path), &error.span);
                let help = Some(
                    "expressions know + - * / ^, comparisons, and or not, log exp sqrt abs min max"
                        .to_owned(),
                );
                let message = format!("bad expression: {}", error.message);
                self.problems.push(Problem { message, span, help });
                None
            }
        }
    }

    /// Whether an expression over factors gives a condition at the factors' first levels.
    fn condition(&mut self, path: &[Step], expression: &Expression, factors: &[Factor]) {
        for name in expression.names() {
            if !factors.iter().any(|factor| factor.name == name) {
                let message = format!("`{name}` is no factor");
                self.unknown_name(path, message, name, factors.iter().map(|f| f.name.as_str()));
                return;
            }
        }
        let scope = |name: &str| {
            let factor = factors.iter().find(|factor| factor.name == name)?;
            factor.levels.first().map(Value::from)
        };
        if let Err(error @ EvaluateError::WrongKind { .. }) = expression.truth(&scope) {
            self.fault(path, error.to_string(), Some("write a comparison"));
        }
    }

    fn constraints(
        &mut self,
        drafts: &[crate::file::draft::ConstraintDraft],
        factors: &[Factor],
    ) -> Vec<Expression> {
        let mut constraints = Vec::new();
        for (index, draft) in drafts.iter().enumerate() {
            let path = at!["constraint", index, "expr"];
            if let Some(expression) = self.expression(path, &draft.expr) {
                self.condition(path, &expression, factors);
                constraints.push(expression);
            }
        }
        constraints
    }

    /// What runs the trials; only a cluster has a master and settings.
    fn engine(&mut self, draft: EngineDraft) -> EngineSpec {
        let EngineDraft { kind, master, conf, .. } = draft;
        let help = "write kind = \"spark\" and a master such as \"spark://host:7077\"";
        match (kind, master) {
            (EngineKind::Spark, Some(master)) if !master.trim().is_empty() => {
                EngineSpec::Spark(SparkSpec { master, conf })
            }
            (EngineKind::Spark, _) => {
                self.fault(at!["engine", "kind"], "the Spark engine needs a `master`", Some(help));
                EngineSpec::Local
            }
            (EngineKind::Local, Some(_)) => {
                let message = "`master` is for the Spark engine";
                self.fault(at!["engine", "master"], message, Some(help));
                EngineSpec::Local
            }
            (EngineKind::Local, None) if !conf.is_empty() => {
                self.fault(at!["engine", "conf"], "`conf` is for the Spark engine", Some(help));
                EngineSpec::Local
            }
            (EngineKind::Local, None) => EngineSpec::Local,
        }
    }

    fn slots(&mut self, engine: &EngineDraft, run: &RunDraft) -> u32 {
        let slots = engine.slots.unwrap_or(1);
        if slots == 0 {
            self.fault(at!["engine", "slots"], "slots must be at least 1", None);
        }
        if run.parallel == Some(0) {
            self.fault(at!["run", "parallel"], "parallel must be at least 1", None);
        }
        match (engine.slots, run.parallel) {
            (None, Some(parallel)) => parallel,
            (_, Some(parallel)) => parallel.min(slots),
            (_, None) => slots,
        }
    }

    fn run_options(
        &mut self,
        draft: RunDraft,
        slots: u32,
        sample_every: &Option<String>,
    ) -> (RunOptions, task::CommandDraft) {
        let timeout = self.duration(at!["run", "timeout"], &draft.timeout);
        let grace = self.duration(at!["run", "grace"], &draft.grace);
        let sample_every = self.duration(at!["telemetry", "sample_every"], sample_every);
        if draft.retries > 0 && draft.retry_on.as_ref().is_some_and(Vec::is_empty) {
            let help = "name the exit codes that deserve another attempt, such as [137, 143]";
            self.fault(at!["run", "retry_on"], "`retries` without exit codes", Some(help));
        }
        let options = RunOptions {
            timeout,
            grace: grace.unwrap_or(Duration::from_secs(5)),
            retries: draft.retries,
            retry_on: draft.retry_on.unwrap_or_else(|| vec![137, 143]),
            slots,
            warmup: draft.warmup,
            prepare: draft.prepare.as_ref().map(PrepareDraft::command),
            sample_every,
            mlflow: draft.mlflow,
        };
        let command = task::CommandDraft {
            words: draft.command,
            env: draft.env,
            keep_env: draft.keep_env,
            workdir: draft.workdir,
        };
        (options, command)
    }

    fn duration(&mut self, path: &[Step], text: &Option<String>) -> Option<Duration> {
        let text = text.as_deref()?;
        let duration = parse_duration(text);
        if duration.is_none() {
            let message = format!("`{text}` is not a duration");
            self.fault(path, message, Some("write a number and ms, s, m or h, such as \"20m\""));
        }
        duration
    }

    fn analysis(
        &mut self,
        draft: AnalysisDraft,
        metrics: &[Metric],
        design: Option<&DesignSpec>,
    ) -> Option<AnalysisSpec> {
        let names = || metrics.iter().map(|metric| metric.name.as_str());
        let wanted = metrics.iter().filter(|metric| metric.objective.is_some());
        let response = match (draft.response, wanted.count(), metrics) {
            (Some(response), _, _) => response,
            (None, 1, _) => names()
                .zip(metrics)
                .find_map(|(name, metric)| metric.objective.map(|_| name.to_owned()))?,
            (None, 0, [only]) => only.name.clone(),
            (None, _, _) => {
                let help = format!("name one of {}", names().collect::<Vec<_>>().join(", "));
                self.fault(at!["analysis"], "`analysis.response` is missing", Some(&help));
                return None;
            }
        };
        if !names().any(|name| name == response) {
            let message = format!("the response `{response}` is no metric");
            self.unknown_name(at!["analysis", "response"], message, &response, names());
        }
        let alpha = draft.alpha.unwrap_or(0.05);
        if !(alpha > 0.0 && alpha < 0.5) {
            let message = format!("alpha is {alpha}");
            self.fault(at!["analysis", "alpha"], message, Some("choose between 0 and 0.5"));
        }
        let terms = draft.terms.unwrap_or_else(|| default_terms(design).to_owned());
        let diverged = draft.diverged.unwrap_or_default();
        Some(AnalysisSpec { response, terms, alpha, diverged })
    }

    fn budget(&mut self, draft: &BudgetDraft) -> Budget {
        let amounts = [("max_hours", draft.max_hours), ("price_per_hour", draft.price_per_hour)];
        for (key, amount) in amounts {
            if let Some(amount) = amount
                && !(amount.is_finite() && amount >= 0.0)
            {
                let help = "write a number that is not negative";
                self.fault(at!["budget", key], format!("`{key}` is {amount}"), Some(help));
            }
        }
        Budget { max_hours: draft.max_hours, price_per_hour: draft.price_per_hour }
    }
}

/// Terms of an equation that the study does not give: designs for surfaces are made to see squares,
/// those for screening and for one factor at a time cannot tell products from the rest.
fn default_terms(design: Option<&DesignSpec>) -> &'static str {
    match design.map(|design| &design.kind) {
        Some(DesignKind::CentralComposite { .. } | DesignKind::BoxBehnken { .. }) => "quadratic",
        Some(DesignKind::OneFactor { .. } | DesignKind::PlackettBurman { .. }) => "main",
        _ => "main + 2fi",
    }
}

#[cfg(test)]
mod tests;
