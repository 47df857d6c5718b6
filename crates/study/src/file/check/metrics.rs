//! Rules about metrics and echoes.

use std::collections::{BTreeMap, BTreeSet};

use super::factors::RESERVED;
use super::{Checker, at};
use crate::file::draft::{EchoDraft, MetricDraft, MetricFrom};
use crate::file::ordered::Ordered;
use crate::metric::NO_VALUE_GROUP;
use crate::metric::derived::{KERNEL_FIGURES, depends_on_itself, formulas_in_order};
use crate::{
    Echo, EvaluateError, Factor, Metric, MetricSource, Pattern, Pick, Template, TextFile, Value,
    seconds_per,
};

/// Names of quantities that mean nothing without a unit.
const NEED_A_UNIT: [&str; 11] = [
    "time", "duration", "latency", "seconds", "minutes", "hours", "price", "money", "dollars",
    "euros", "usd",
];

impl Checker<'_> {
    pub(super) fn metrics(
        &mut self,
        drafts: Ordered<MetricDraft>,
        factors: &[Factor],
    ) -> Option<Vec<Metric>> {
        let planned = drafts.0.len();
        if drafts.0.is_empty() {
            let help = "add a table such as [metrics.time] with from = \"wall\" and unit = \"s\"";
            self.fault(at!["metrics"], "the study has no metrics", Some(help));
            return None;
        }
        let mut metrics = Vec::new();
        for (name, draft) in drafts.0 {
            let table = at!["metrics", &name];
            self.identifier(table, "metric", &name);
            if factors.iter().any(|factor| factor.name == name) {
                self.fault(table, format!("`{name}` is already a factor"), None);
            }
            if KERNEL_FIGURES.contains(&name.as_str()) {
                let message = format!("`{name}` is always measured");
                self.fault(table, message, Some("choose another name for this metric"));
            } else if RESERVED.contains(&name.as_str()) {
                let message = format!("`{name}` has a meaning of its own");
                self.fault(table, message, Some("choose another name for this metric"));
            }
            if let Some(file) = &draft.file {
                self.no_control_characters(at!["metrics", &name, "file"], file);
            }
            self.unit(&name, &draft);
            if let Some([low, high]) = draft.range
                && !(low.is_finite() && high.is_finite() && low < high)
            {
                let message = format!("the range of `{name}` is empty");
                let help = "write the smaller end first, such as [0, 1]";
                self.fault(at!["metrics", &name, "range"], message, Some(help));
            }
            let (pick, unit, objective) = (draft.pick, draft.unit.clone(), draft.objective);
            let range = draft.range.map(|[low, high]| (low, high));
            if let Some(source) = self.source(&name, draft) {
                let pick = pick.unwrap_or(Pick::Last);
                metrics.push(Metric { name, source, pick, unit, range, objective });
            }
        }
        if metrics.len() < planned {
            return None;
        }
        self.formulas(&metrics, factors);
        Some(metrics)
    }

    fn unit(&mut self, name: &str, draft: &MetricDraft) {
        let table = at!["metrics", name];
        let wall = draft.from == Some(MetricFrom::Wall);
        match draft.unit.as_deref() {
            None if wall || name.split('_').any(|word| NEED_A_UNIT.contains(&word)) => {
                let help = "add unit = \"s\", or the unit that it has";
                let message = format!("`{name}` has no unit; time and money need one");
                self.fault(table, message, Some(help));
            }
            Some(unit) if wall && seconds_per(unit).is_none() => {
                let message = format!("`{unit}` is no unit of time");
                let help = "use us, ms, s, min or h";
                self.fault(at!["metrics", name, "unit"], message, Some(help));
            }
            _ => {}
        }
    }

    fn source(&mut self, name: &str, draft: MetricDraft) -> Option<MetricSource> {
        let from = match (draft.from, &draft.expr) {
            (None, Some(_)) => Some(MetricFrom::Expr),
            (from, _) => from,
        };
        self.keys_that_do_not_go_with(name, from, &draft);
        let key = draft.key.unwrap_or_else(|| name.to_owned());
        let file_or = |name: &str| draft.file.clone().unwrap_or_else(|| name.to_owned());
        Some(match from {
            None => MetricSource::Reported { key },
            Some(MetricFrom::Wall) => MetricSource::Wall,
            Some(MetricFrom::Jsonl) => MetricSource::Jsonl { key },
            Some(MetricFrom::Stdout) => MetricSource::Stdout { key },
            Some(MetricFrom::Regex) => {
                let Some(text) = &draft.pattern else {
                    return self.missing(name, "match", r"'accuracy: (?P<value>[0-9.]+)'");
                };
                let pattern = self.pattern(at!["metrics", name, "match"], text)?;
                MetricSource::Regex { file: text_file(&file_or("stdout")), pattern }
            }
            Some(MetricFrom::Json) => {
                let (Some(file), Some(pointer)) = (draft.file, draft.pointer) else {
                    return self.missing(name, "file` and `pointer", "\"/eval/accuracy\"");
                };
                if !pointer.is_empty() && !pointer.starts_with('/') {
                    let message = format!("the pointer `{pointer}` does not start with `/`");
                    self.fault(at!["metrics", name, "pointer"], message, None);
                }
                MetricSource::Json { file, pointer }
            }
            Some(MetricFrom::Csv) => {
                let Some(file) = draft.file else {
                    return self.missing(name, "file", "\"results.csv\"");
                };
                let column = draft.column.unwrap_or_else(|| name.to_owned());
                MetricSource::Csv { file, column }
            }
            Some(MetricFrom::Tensorboard) => MetricSource::Tensorboard {
                file: file_or("."),
                tag: draft.tag.unwrap_or_else(|| name.to_owned()),
            },
            Some(MetricFrom::Expr) => {
                let Some(text) = &draft.expr else {
                    return self.missing(name, "expr", "\"time / accuracy\"");
                };
                let expr = self.expression(at!["metrics", name, "expr"], text)?;
                MetricSource::Expr { expr }
            }
        })
    }

    fn missing(&mut self, name: &str, key: &str, example: &str) -> Option<MetricSource> {
        let message = format!("`{name}` needs `{key}`");
        self.fault(at!["metrics", name], message, Some(&format!("such as {example}")));
        None
    }

    fn keys_that_do_not_go_with(
        &mut self,
        name: &str,
        from: Option<MetricFrom>,
        draft: &MetricDraft,
    ) {
        use MetricFrom as F;
        let lines = matches!(from, None | Some(F::Jsonl | F::Stdout));
        let many = !matches!(from, Some(F::Wall | F::Json | F::Expr));
        let files = matches!(from, Some(F::Regex | F::Json | F::Csv | F::Tensorboard));
        let keys = [
            ("key", draft.key.is_some(), lines),
            ("file", draft.file.is_some(), files),
            ("match", draft.pattern.is_some(), from == Some(F::Regex)),
            ("pick", draft.pick.is_some(), many),
            ("pointer", draft.pointer.is_some(), from == Some(F::Json)),
            ("column", draft.column.is_some(), from == Some(F::Csv)),
            ("tag", draft.tag.is_some(), from == Some(F::Tensorboard)),
            ("expr", draft.expr.is_some(), from == Some(F::Expr)),
        ];
        for (key, present, fits) in keys {
            if present && !fits {
                let message = format!("`{key}` does not go with where `{name}` is read");
                self.fault(
                    at!["metrics", name, key],
                    message,
                    Some("change `from`, or leave it out"),
                );
            }
        }
    }

    fn pattern(&mut self, place: &[crate::file::locate::Step], text: &str) -> Option<Pattern> {
        match Pattern::parse(text) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let help = if error == NO_VALUE_GROUP {
                    "name the group that holds the value, such as 'loss=(?P<value>[0-9.]+)'"
                } else {
                    "a literal string in single quotes needs no doubled backslashes"
                };
                self.fault(place, format!("bad pattern: {error}"), Some(help));
                None
            }
        }
    }

    /// Names in formulas must exist and must not go round in a circle.
    fn formulas(&mut self, metrics: &[Metric], factors: &[Factor]) {
        let known = || {
            let names = metrics.iter().map(|metric| metric.name.as_str());
            names.chain(factors.iter().map(|factor| factor.name.as_str())).chain(KERNEL_FIGURES)
        };
        let names: BTreeSet<&str> = known().collect();
        let ordered: BTreeSet<&str> =
            formulas_in_order(metrics).into_iter().map(|(metric, _)| &*metric.name).collect();
        let by_name: BTreeMap<&str, &Metric> =
            metrics.iter().map(|metric| (&*metric.name, metric)).collect();
        for metric in metrics {
            let Some(expr) = metric.formula() else { continue };
            let place = at!["metrics", &metric.name, "expr"];
            for name in expr.names() {
                if !names.contains(name) {
                    let message = format!("`{name}` is no metric and no factor");
                    self.unknown_name(place, message, name, known());
                }
            }
            let in_order = ordered.contains(metric.name.as_str());
            if !in_order && depends_on_itself(metric, &by_name) {
                let message = format!("`{}` depends on itself", metric.name);
                self.fault(place, message, None);
            }
            // Any number does for finding a text or a condition where a number belongs.
            let scope = |name: &str| {
                let factor = factors.iter().find(|factor| factor.name == name);
                Some(factor.and_then(|f| f.levels.first()).map_or(Value::Number(1.0), Value::from))
            };
            if let Err(error @ EvaluateError::WrongKind { .. }) = expr.number(&scope) {
                self.fault(place, error.to_string(), None);
            }
        }
    }

    /// Trials that run at the same time must not read each other's results.
    pub(super) fn shared_files(&mut self, metrics: &[Metric], slots: u32) {
        for metric in metrics {
            let file = match &metric.source {
                MetricSource::Json { file, .. } | MetricSource::Csv { file, .. } => file,
                MetricSource::Regex { file: TextFile::Path(file), .. } => file,
                _ => continue,
            };
            if slots > 1 && Template::parse(file).names().next().is_none() {
                let message = format!("{slots} trials at a time would share the file `{file}`");
                let help = "put {trial.dir} or {trial} in its name, and in the command's";
                self.fault(at!["metrics", &metric.name, "file"], message, Some(help));
            }
        }
    }

    pub(super) fn echoes(&mut self, drafts: Ordered<EchoDraft>, factors: &[Factor]) -> Vec<Echo> {
        let mut echoes = Vec::new();
        for (name, draft) in drafts.0 {
            if !factors.iter().any(|factor| factor.name == name) {
                let names = factors.iter().map(|factor| factor.name.as_str());
                let message = format!("`{name}` is no factor");
                self.unknown_name(at!["echo", &name], message, &name, names);
            }
            if let Some(pattern) = self.pattern(at!["echo", &name, "match"], &draft.pattern) {
                let file = text_file(draft.file.as_deref().unwrap_or("stdout"));
                echoes.push(Echo { factor: name, file, pattern });
            }
        }
        echoes
    }
}

fn text_file(name: &str) -> TextFile {
    match name {
        "stdout" => TextFile::Stdout,
        "stderr" => TextFile::Stderr,
        path => TextFile::Path(path.to_owned()),
    }
}

#[cfg(test)]
mod tests;
