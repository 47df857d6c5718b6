//! Rules about metrics and echoes.

use std::collections::{BTreeMap, BTreeSet};

use super::factors::RESERVED;
use super::{Checker, at};
use crate::file::draft::{EchoDraft, MetricDraft, MetricFrom};
use crate::file::ordered::Ordered;
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
                let help = "a literal string in single quotes needs no doubled backslashes";
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
mod tests {
    use super::*;
    use crate::file::check::tests::{check, faults_of, taken, text_with};
    use crate::{Direction, Expression};

    /// The metric `m` with these lines.
    #[track_caller]
    fn refused(lines: &str, expected: &[&str]) {
        check("[metrics.m]\n", &format!("[metrics.m]\n{lines}\n"), expected);
    }

    fn metric(lines: &str) -> Metric {
        taken("[metrics.m]\n", &format!("[metrics.m]\n{lines}\n")).metrics[0].clone()
    }

    #[test]
    fn a_study_measures_something() {
        check(
            "[metrics.m]",
            "[metrics]",
            &["10:2: the study has no metrics \
               (add a table such as [metrics.time] with from = \"wall\" and unit = \"s\")"],
        );
    }

    #[test]
    fn a_metric_that_says_nothing_is_reported_under_its_name() {
        let own = metric("");
        assert_eq!(own.source, MetricSource::Reported { key: "m".to_owned() });
        assert_eq!((own.pick, own.unit, own.range, own.objective), (Pick::Last, None, None, None));
    }

    #[test]
    fn sources_read_with_their_keys_or_with_the_name_of_the_metric() {
        let text = |text: &str| text.to_owned();
        let of = |lines: &str, source: MetricSource| {
            assert_eq!(metric(lines).source, source, "{lines}");
        };
        of("key = \"k\"", MetricSource::Reported { key: text("k") });
        of("from = \"jsonl\"", MetricSource::Jsonl { key: text("m") });
        of("from = \"stdout\"\nkey = \"k\"", MetricSource::Stdout { key: text("k") });
        of("from = \"wall\"\nunit = \"min\"", MetricSource::Wall);
        of(
            "from = \"csv\"\nfile = \"a.csv\"",
            MetricSource::Csv { file: text("a.csv"), column: text("m") },
        );
        of(
            "from = \"tensorboard\"\ntag = \"loss/val\"",
            MetricSource::Tensorboard { file: text("."), tag: text("loss/val") },
        );
        of(
            "from = \"json\"\nfile = \"a.json\"\npointer = \"\"",
            MetricSource::Json { file: text("a.json"), pointer: String::new() },
        );
        let expr = Expression::parse("a + 1").unwrap();
        of("expr = \"a + 1\"", MetricSource::Expr { expr });
    }

    #[test]
    fn a_pattern_is_searched_in_the_text_that_the_study_names() {
        let of = |line: &str| {
            let lines = format!("from = \"regex\"\nmatch = 'm=(?P<value>.*)'\n{line}");
            match metric(&lines).source {
                MetricSource::Regex { file, .. } => file,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(of(""), TextFile::Stdout);
        assert_eq!(of("file = \"stderr\""), TextFile::Stderr);
        assert_eq!(of("file = \"./stdout\""), TextFile::Path("./stdout".to_owned()));
    }

    #[test]
    fn what_a_source_cannot_do_without_is_told_with_an_example() {
        let at = "10:10: `m` needs";
        refused(
            "from = \"regex\"",
            &[&format!("{at} `match` (such as 'accuracy: (?P<value>[0-9.]+)')")],
        );
        let json = format!("{at} `file` and `pointer` (such as \"/eval/accuracy\")");
        refused("from = \"json\"", &[&json]);
        refused("from = \"json\"\nfile = \"a.json\"", &[&json]);
        refused("from = \"json\"\npointer = \"/a\"", &[&json]);
        refused("from = \"csv\"", &[&format!("{at} `file` (such as \"results.csv\")")]);
        refused("from = \"expr\"", &[&format!("{at} `expr` (such as \"time / accuracy\")")]);
    }

    #[test]
    fn a_pointer_starts_at_the_root() {
        refused(
            "from = \"json\"\nfile = \"a.json\"\npointer = \"eval\"",
            &["13:11: the pointer `eval` does not start with `/`"],
        );
    }

    /// Keys with a value that reads, and the words of `from` that they go with; `-` is none.
    const KEYS: [(&str, &str, &str); 7] = [
        ("key", "\"k\"", "- jsonl stdout"),
        ("file", "\"f\"", "regex json csv tensorboard"),
        ("match", "'(?P<value>.)'", "regex"),
        ("pick", "\"max\"", "- jsonl stdout regex csv tensorboard"),
        ("pointer", "\"/p\"", "json"),
        ("column", "\"c\"", "csv"),
        ("tag", "\"t\"", "tensorboard"),
    ];

    #[test]
    fn each_key_goes_with_its_sources_and_with_no_other() {
        for from in ["-", "wall", "jsonl", "stdout", "regex", "json", "csv", "tensorboard", "expr"]
        {
            for (key, value, own) in KEYS {
                let from_line =
                    if from == "-" { String::new() } else { format!("from = \"{from}\"") };
                let lines = format!("[metrics.m]\n{from_line}\n{key} = {value}");
                let faults = faults_of(&text_with("[metrics.m]", &lines));
                let words = format!(
                    ": `{key}` does not go with where `m` is read (change `from`, or leave it out)"
                );
                let refused = faults.iter().any(|fault| fault.ends_with(&words));
                let fits = own.split(' ').any(|own| own == from);
                assert_eq!(refused, !fits, "{from} and {key}: {faults:?}");
            }
        }
    }

    #[test]
    fn a_formula_beside_another_source_is_refused() {
        refused(
            "from = \"jsonl\"\nexpr = \"a\"",
            &["12:8: `expr` does not go with where `m` is read (change `from`, or leave it out)"],
        );
    }

    #[test]
    fn time_and_money_need_a_unit_whatever_they_are_called() {
        for word in NEED_A_UNIT {
            for name in [word.to_owned(), format!("train_{word}"), format!("{word}_of_day")] {
                let text = text_with("[metrics.m]", &format!("[metrics.{name}]"));
                let words = format!(
                    "10:10: `{name}` has no unit; time and money need one \
                     (add unit = \"s\", or the unit that it has)"
                );
                assert_eq!(faults_of(&text), [words]);
                assert_eq!(faults_of(&(text + "unit = \"any\"\n")), Vec::<String>::new());
            }
        }
        // Part of a word is no word.
        taken("[metrics.m]", "[metrics.timeouts]");
    }

    #[test]
    fn wall_time_is_counted_in_a_unit_of_time() {
        for unit in ["us", "µs", "ms", "s", "seconds", "min", "minutes", "h", "hours"] {
            metric(&format!("from = \"wall\"\nunit = \"{unit}\""));
        }
        refused(
            "from = \"wall\"\nunit = \"days\"",
            &["12:8: `days` is no unit of time (use us, ms, s, min or h)"],
        );
    }

    #[test]
    fn what_the_kernel_measures_is_no_metric_of_the_study() {
        for name in KERNEL_FIGURES {
            let words =
                format!("10:10: `{name}` is always measured (choose another name for this metric)");
            check("[metrics.m]", &format!("[metrics.{name}]"), &[&words]);
        }
    }

    #[test]
    fn a_range_of_belief_has_a_smaller_and_a_larger_end() {
        let words = "11:9: the range of `m` is empty (write the smaller end first, such as [0, 1])";
        for bad in ["[1, 1]", "[2, 1]", "[0, inf]", "[nan, 1]"] {
            refused(&format!("range = {bad}"), &[words]);
        }
        assert_eq!(metric("range = [-1, 0.5]").range, Some((-1.0, 0.5)));
        assert_eq!(metric("objective = \"maximize\"").objective, Some(Direction::Maximize));
    }

    #[test]
    fn a_formula_gives_a_number() {
        refused("expr = \"b * 2\"", &["11:8: `*` in `b * 2` wants numbers"]);
        refused("expr = \"a < 2\"", &["11:8: `the whole` in `a < 2` wants a number"]);
        // What is no number at the first levels alone may be one at others.
        metric("expr = \"1 / (a - 1)\"");
    }

    #[test]
    fn a_formula_may_use_factors_other_metrics_and_the_kernels_figures() {
        metric("expr = \"n * a + wall_s / cpu_s\"\n[metrics.n]\n[analysis]\nresponse = \"m\"");
    }

    #[test]
    fn each_unknown_name_of_a_formula_is_told() {
        let there = "(there are m, a, b, wall_s, cpu_s, peak_memory_bytes, disk_read_bytes, \
                     disk_write_bytes)";
        refused(
            "expr = \"loss + wall + accuracy\"",
            &[
                &format!("11:8: `accuracy` is no metric and no factor {there}"),
                &format!("11:8: `loss` is no metric and no factor {there}"),
                "11:8: `wall` is no metric and no factor (did you mean `wall_s`?)",
            ],
        );
    }

    #[test]
    fn files_with_a_name_of_their_own_are_shared_by_no_two_trials() {
        let of = |lines: &str| {
            let text = format!("[engine]\nslots = 2\n[metrics.m]\n{lines}");
            faults_of(&text_with("[metrics.m]", &text))
        };
        let shared = |file: &str| {
            format!(
                "14:8: 2 trials at a time would share the file `{file}` \
                 (put {{trial.dir}} or {{trial}} in its name, and in the command's)"
            )
        };
        assert_eq!(of("from = \"csv\"\nfile = \"a.csv\""), [shared("a.csv")]);
        assert_eq!(of("from = \"json\"\nfile = \"a.json\"\npointer = \"/m\""), [shared("a.json")]);
        assert_eq!(of("from = \"csv\"\nfile = \"{trial}.csv\""), Vec::<String>::new());
        // The engine gives each trial its own output.
        let output = "from = \"regex\"\nfile = \"stderr\"\nmatch = '(?P<value>.)'";
        assert_eq!(of(output), Vec::<String>::new());
    }

    #[test]
    fn an_echo_reads_a_factor_back() {
        let of = |echo: &str| text_with("[metrics.m]", &format!("[echo.{echo}\n[metrics.m]"));
        let study = crate::Study::from_text(&of("a]\nmatch = 'a=(?P<value>.*)'")).unwrap();
        let pattern = Pattern::parse("a=(?P<value>.*)").unwrap();
        let expected = Echo { factor: "a".to_owned(), file: TextFile::Stdout, pattern };
        assert_eq!(study.echoes, [expected]);
        assert_eq!(
            faults_of(&of("c]\nmatch = '(?P<value>.)'")),
            ["10:7: `c` is no factor (there are a, b)"]
        );
        assert_eq!(
            faults_of(&of("a]\nmatch = 'a=(.*)'")),
            ["11:9: bad pattern: the pattern has no group `(?P<value>...)` \
              (a literal string in single quotes needs no doubled backslashes)"]
        );
    }
}
