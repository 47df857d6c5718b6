//! Rules about what a trial runs.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checker, at};
use crate::file::draft::{JobDraft, WordDraft};
use crate::file::locate::Step;
use crate::{
    CommandTemplate, CommandWord, Configuration, Expression, Factor, JOB_KEYS, JobTemplate,
    RunOptions, Task, Template,
};

/// The keys of `[run]` that make up a command.
pub(super) struct CommandDraft {
    pub words: Option<Vec<WordDraft>>,
    pub env: BTreeMap<String, String>,
    pub keep_env: Vec<String>,
    pub workdir: Option<String>,
}

/// What a study varies, and the conditions on it.
pub(super) struct Knobs<'a> {
    pub factors: &'a [Factor],
    pub constraints: &'a [Expression],
    /// The rows that run, where the study lists them.
    pub rows: Option<&'a [Configuration]>,
}

/// Placeholders besides factors; `params` is the file with all of them.
const PLACEHOLDERS: [&str; 5] = ["seed", "trial", "replicate", "trial.dir", "params"];

impl Checker<'_> {
    /// The task; nothing outside where it is faulty, nothing inside where there is none.
    #[expect(clippy::option_option, reason = "a study may rightly have no task")]
    pub(super) fn task(
        &mut self,
        job: Option<JobDraft>,
        command: CommandDraft,
        run: &RunOptions,
        knobs: &Knobs<'_>,
    ) -> Option<Option<Task>> {
        let factors = knobs.factors;
        let mut used: BTreeSet<&str> = BTreeSet::new();
        if let Some(prepare) = &run.prepare {
            for template in prepare.templates() {
                self.placeholders(at!["run", "prepare"], template, factors, &mut used);
            }
            if prepare.templates().is_empty() {
                let help = "begin with the program, or leave it out";
                self.fault(at!["run", "prepare"], "`prepare` has no program", Some(help));
            }
        }
        match (job, command.words.is_some()) {
            (Some(_), true) => {
                let help = "keep [job] for the built-in trainer or `command` for your own";
                let message = "the study has both [job] and a command";
                self.fault(at!["run", "command"], message, Some(help));
                None
            }
            (Some(job), false) => self.job(job, knobs).map(|job| Some(Task::Job(job))),
            (None, true) => {
                self.command(command, factors).map(|command| Some(Task::Command(command)))
            }
            (None, false) => {
                if command.workdir.is_some() || !command.env.is_empty() {
                    let help = "add command = [\"python3\", \"train.py\"]";
                    self.fault(at!["run"], "[run] has no command", Some(help));
                }
                Some(None)
            }
        }
    }

    fn job(&mut self, draft: JobDraft, knobs: &Knobs<'_>) -> Option<JobTemplate> {
        let factors = knobs.factors;
        let before = self.problems.len();
        let fields = draft.fields();
        for factor in factors {
            let table = at!["factors", &factor.name];
            if !JOB_KEYS.contains(&factor.name.as_str()) {
                let message = format!("the job does not know the factor `{}`", factor.name);
                self.unknown_name(table, message, &factor.name, JOB_KEYS.into_iter());
            }
            if fields.iter().any(|(key, _)| *key == factor.name) {
                let message = format!("`{}` is both a factor and a key of [job]", factor.name);
                self.fault(at!["job", &factor.name], message, Some("leave it out of [job]"));
            }
        }
        for key in ["network", "data"] {
            let named = fields.iter().any(|(own, _)| own == key);
            if !named && !factors.iter().any(|factor| factor.name == key) {
                let help = "such as network = \"mlp\" and data = \"fashion-mnist-sample\"";
                self.fault(at!["job"], format!("[job] has no `{key}`"), Some(help));
            }
        }
        if self.problems.len() > before {
            return None;
        }
        let template = JobTemplate { fields: Configuration::new(fields) };
        self.job_levels(&template, knobs);
        Some(template)
    }

    fn command(&mut self, draft: CommandDraft, factors: &[Factor]) -> Option<CommandTemplate> {
        let mut used = BTreeSet::new();
        let mut words = Vec::new();
        for (index, word) in draft.words.unwrap_or_default().into_iter().enumerate() {
            let place = at!["run", "command", index];
            match word {
                WordDraft::One(text) => {
                    let template = Template::parse(&text);
                    self.placeholders(place, &template, factors, &mut used);
                    self.unconditional(place, &template, factors);
                    words.push(CommandWord::One(template));
                }
                WordDraft::Group(texts) => {
                    let group: Vec<_> = texts.iter().map(|text| Template::parse(text)).collect();
                    for (inner, template) in group.iter().enumerate() {
                        let place = at!["run", "command", index, inner];
                        self.placeholders(place, template, factors, &mut used);
                    }
                    words.push(CommandWord::Group(group));
                }
            }
        }
        if !matches!(words.first(), Some(CommandWord::One(_))) {
            let help = "begin with the program, such as \"python3\"";
            self.fault(at!["run", "command"], "the command has no program", Some(help));
        }
        let env = self.variables(draft.env, &draft.keep_env, factors, &mut used);
        let keep_env = draft.keep_env.into_iter().collect();
        let workdir = draft.workdir.as_deref().map(Template::parse);
        if let Some(workdir) = &workdir {
            self.placeholders(at!["run", "workdir"], workdir, factors, &mut used);
            self.unconditional(at!["run", "workdir"], workdir, factors);
        }
        if !used.contains("params") {
            for factor in factors.iter().filter(|factor| !used.contains(factor.name.as_str())) {
                let message = format!("the command never uses the factor `{}`", factor.name);
                let help = format!(
                    "write {{{}}} where its value belongs, or {{params}} for a JSON file with all",
                    factor.name
                );
                self.fault(at!["factors", &factor.name], message, Some(&help));
            }
        }
        Some(CommandTemplate { words, env, keep_env, workdir })
    }

    fn variables<'f>(
        &mut self,
        drafts: BTreeMap<String, String>,
        keep_env: &[String],
        factors: &'f [Factor],
        used: &mut BTreeSet<&'f str>,
    ) -> BTreeMap<String, Template> {
        let mut env = BTreeMap::new();
        for (name, text) in drafts {
            let template = Template::parse(&text);
            if name.is_empty() || name.contains('=') || name.chars().any(char::is_control) {
                let message = format!("`{}` cannot name a variable", name.escape_debug());
                self.fault(at!["run", "env", &name], message, None);
            }
            self.placeholders(at!["run", "env", &name], &template, factors, used);
            env.insert(name, template);
        }
        for (index, name) in keep_env.iter().enumerate() {
            if !env.contains_key(name) {
                let message = format!("`{name}` is no variable of [run.env]");
                let known = env.keys().map(String::as_str);
                self.unknown_name(at!["run", "keep_env", index], message, name, known);
            }
        }
        env
    }

    fn placeholders<'f>(
        &mut self,
        place: &[Step],
        template: &Template,
        factors: &'f [Factor],
        used: &mut BTreeSet<&'f str>,
    ) {
        self.no_control_characters(place, template.source());
        for name in template.names() {
            let factor = factors.iter().map(|factor| factor.name.as_str()).find(|f| *f == name);
            let known = factor.or_else(|| PLACEHOLDERS.into_iter().find(|p| *p == name));
            match known {
                Some(known) => {
                    used.insert(known);
                }
                None => {
                    let known = factors.iter().map(|factor| factor.name.as_str());
                    let message = format!("nothing fills the placeholder {{{name}}}");
                    self.unknown_name(place, message, name, known.chain(PLACEHOLDERS));
                }
            }
        }
    }

    /// A conditional factor may only stand in a group that is left out with it.
    fn unconditional(&mut self, place: &[Step], template: &Template, factors: &[Factor]) {
        for factor in factors.iter().filter(|factor| factor.when.is_some()) {
            if template.names().any(|name| name == factor.name) {
                let name = &factor.name;
                let message = format!("`{name}` does not exist in every configuration");
                let help =
                    format!("put its words in a list of their own: [\"--{name}\", \"{{{name}}}\"]");
                self.fault(place, message, Some(&help));
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Study;
    use crate::file::check::tests::{check, faults_of, taken, text_with};

    /// The base study with these lines in `[run]`.
    #[track_caller]
    fn refused(lines: &str, expected: &[&str]) {
        check("[metrics.m]", &format!("[run]\n{lines}\n[metrics.m]"), expected);
    }

    fn command(lines: &str) -> CommandTemplate {
        match taken("[metrics.m]", &format!("[run]\n{lines}\n[metrics.m]")).task {
            Some(Task::Command(command)) => command,
            other => panic!("{other:?}"),
        }
    }

    /// A study of a job with these factors and keys of `[job]`.
    pub(in super::super) fn job(factors: &str, keys: &str) -> String {
        format!("schema = 1\n[study]\nname = \"s\"\n[metrics.m]\n[job]\n{keys}\n{factors}\n")
    }

    #[test]
    fn every_factor_reaches_the_command_somewhere() {
        for lines in [
            "command = [\"p\", \"{a}{b}\"]",
            "command = [\"p\", \"{params}\"]",
            "command = [\"p\", [\"-a\", \"{a}\"]]\nenv.B = \"{b}\"",
            "command = [\"p\", \"{a}\"]\nworkdir = \"runs/{b}\"",
            "command = [\"{a}\", \"{b}\", \"{seed}{trial}{replicate}{trial.dir}\"]",
        ] {
            command(lines);
        }
        refused(
            "command = [\"p\", \"{a}\"]\nprepare = \"echo {b}\"",
            &["6:10: the command never uses the factor `b` \
               (write {b} where its value belongs, or {params} for a JSON file with all)"],
        );
    }

    #[test]
    fn braces_that_hold_no_name_are_text() {
        let words = command("command = [\"awk\", \"{ print }\", \"{}\", \"{params}\"]").words;
        let CommandWord::One(template) = &words[1] else { panic!() };
        assert_eq!(template.names().count(), 0);
    }

    #[test]
    fn a_placeholder_that_nothing_fills_is_told_wherever_it_stands() {
        let there = "(there are a, b, seed, trial, replicate, trial.dir, params)";
        refused(
            "command = [\"p\", \"{params}\", [\"{size}\"]]\nenv.V = \"{sede}\"\nworkdir = \"{x9}\"\n\
             prepare = [\"mk\", \"{tral}\"]",
            &[
                &format!("11:30: nothing fills the placeholder {{size}} {there}"),
                "12:9: nothing fills the placeholder {sede} (did you mean `seed`?)",
                &format!("13:11: nothing fills the placeholder {{x9}} {there}"),
                "14:11: nothing fills the placeholder {tral} (did you mean `trial`?)",
            ],
        );
    }

    #[test]
    fn a_command_begins_with_a_program() {
        let words = "the command has no program (begin with the program, such as \"python3\")";
        refused("command = [[\"p\", \"{params}\"]]", &[&format!("11:11: {words}")]);
        let text = text_with("[metrics.m]", "[run]\ncommand = []\n[metrics.m]");
        assert!(faults_of(&text).contains(&format!("11:11: {words}")));
    }

    #[test]
    fn variables_and_folders_are_for_a_command() {
        let words = "10:2: [run] has no command (add command = [\"python3\", \"train.py\"])";
        refused("workdir = \"runs\"", &[words]);
        refused("env.A = \"1\"", &[words]);
        assert!(taken("[metrics.m]", "[run]\ntimeout = \"1s\"\n[metrics.m]").task.is_none());
    }

    #[test]
    fn a_factor_that_may_be_absent_stands_in_a_group() {
        let with = |lines: &str| {
            text_with("[1, 2]", "[1, 2]\nwhen = \"b == 'x'\"")
                .replace("[metrics.m]", &format!("[run]\n{lines}\n[metrics.m]"))
        };
        let words = "`a` does not exist in every configuration \
                     (put its words in a list of their own: [\"--a\", \"{a}\"])";
        assert_eq!(
            faults_of(&with("command = [\"p\", \"{b}\", \"{a}\"]\nworkdir = \"{a}\"")),
            [format!("12:24: {words}"), format!("13:11: {words}")]
        );
        assert_eq!(
            faults_of(&with("command = [\"p\", \"{b}\", [\"-a\", \"{a}\"]]")),
            Vec::<String>::new()
        );
    }

    #[test]
    fn variables_have_names_that_a_process_can_have() {
        for (name, shown) in [("", ""), ("A=B", "A=B"), ("A\\tB", "A\\tB")] {
            let words = format!("`{shown}` cannot name a variable");
            let lines =
                format!("command = [\"p\", \"{{params}}\"]\nenv = {{ \"{name}\" = \"1\" }}");
            let faults =
                faults_of(&text_with("[metrics.m]", &format!("[run]\n{lines}\n[metrics.m]")));
            assert_eq!(faults.len(), 1, "{faults:?}");
            assert!(faults[0].ends_with(&words), "{faults:?}");
        }
    }

    #[test]
    fn values_are_kept_of_variables_that_there_are() {
        let own = command("command = [\"p\", \"{params}\"]\nenv.A = \"1\"\nkeep_env = [\"A\"]");
        assert_eq!(own.keep_env, BTreeSet::from(["A".to_owned()]));
        refused(
            "command = [\"p\", \"{params}\"]\nkeep_env = [\"A\"]",
            &["12:13: `A` is no variable of [run.env] (there are none)"],
        );
    }

    #[test]
    fn a_job_names_its_network_and_its_data_in_a_key_or_in_a_factor() {
        let factors = "[factors.network]\nlevels = [\"mlp\", \"cnn:flowers\"]";
        assert_eq!(faults_of(&job(factors, "data = \"d\"")), Vec::<String>::new());
        assert_eq!(
            faults_of(&job("[factors.lr]\nlevels = [0.1, 0.2]", "")),
            [
                "5:2: [job] has no `network` \
                 (such as network = \"mlp\" and data = \"fashion-mnist-sample\")",
                "5:2: [job] has no `data` \
                 (such as network = \"mlp\" and data = \"fashion-mnist-sample\")",
            ]
        );
    }

    #[test]
    fn a_job_of_a_study_is_read_with_all_its_keys() {
        let text =
            job("[factors.lr]\nlevels = [0.1, 0.2]", "network = \"mlp\"\ndata = \"d\"\nbatch = 8");
        let study = Study::from_text(&text).unwrap();
        let Some(Task::Job(template)) = &study.task else { panic!() };
        assert_eq!(template.fields.to_string(), "network=mlp data=d batch=8");
    }
}
