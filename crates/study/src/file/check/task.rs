//! Rules about what a trial runs.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checker, at};
use crate::file::draft::{JobDraft, WordDraft};
use crate::file::locate::Step;
use crate::{
    CommandTemplate, CommandWord, Configuration, Factor, JOB_KEYS, JobTemplate, RunOptions, Task,
    Template,
};

/// The keys of `[run]` that make up a command.
pub(super) struct CommandDraft {
    pub words: Option<Vec<WordDraft>>,
    pub env: BTreeMap<String, String>,
    pub keep_env: Vec<String>,
    pub workdir: Option<String>,
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
        factors: &[Factor],
    ) -> Option<Option<Task>> {
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
            (Some(job), false) => self.job(job, factors).map(|job| Some(Task::Job(job))),
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

    fn job(&mut self, draft: JobDraft, factors: &[Factor]) -> Option<JobTemplate> {
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
        self.job_values(&template, factors);
        Some(template)
    }

    /// Tries every level of every factor once, the others at their first.
    fn job_values(&mut self, template: &JobTemplate, factors: &[Factor]) {
        let first = |skip: usize| -> Vec<_> {
            let others = factors.iter().enumerate().filter(|(index, _)| *index != skip);
            others.filter_map(|(_, f)| Some((f.name.clone(), f.levels.first()?.clone()))).collect()
        };
        let mut seen = BTreeSet::new();
        for (index, factor) in factors.iter().enumerate() {
            for (position, level) in factor.levels.iter().enumerate() {
                let mut pairs = first(index);
                pairs.push((factor.name.clone(), level.clone()));
                let Err(error) = template.job(&Configuration::new(pairs), 0) else { continue };
                let place: Vec<Step> = if error.key == factor.name {
                    at!["factors", &factor.name, "levels", position].to_vec()
                } else if factors.iter().any(|other| other.name == error.key) {
                    // Its own turn comes, or came, with its own place.
                    continue;
                } else {
                    at!["job", &error.key].to_vec()
                };
                if seen.insert(format!("{place:?}")) {
                    self.fault(&place, error.message, None);
                }
            }
        }
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
