//! Finds what differs between two bases.

use std::collections::{BTreeMap, BTreeSet};

use super::basis::{KeptCommand, KeptTask, MetricRule, StudyBasis};
use super::{CommandPart, StudyChange};
use crate::{
    CommandWord, Configuration, DesignKind, Expression, Factor, Level, MetricSource, Template,
};

/// What has changed from `old` to `new`, in the order of the study file.
///
/// ```
/// use trainwright_study::{ChangeEffect, Study, changes};
///
/// let text = "schema = 1\n[study]\nname = \"s\"\n[factors.x]\nlevels = [1, 2]\n[metrics.y]\n";
/// let old = Study::from_text(text)?.basis();
/// let new = Study::from_text(&text.replace("[1, 2]", "[1, 2, 4]"))?.basis();
/// let found = changes(&old, &new);
/// assert_eq!(found[0].words(), "the factor `x` has the new level 4");
/// assert_eq!(found[0].effect(), ChangeEffect::Grows);
/// # Ok::<(), trainwright_study::FaultyFile>(())
/// ```
pub fn changes(old: &StudyBasis, new: &StudyBasis) -> Vec<StudyChange> {
    let mut found = Vec::new();
    let (old_seed, new_seed) = (old.study.seed.value(), new.study.seed.value());
    if old_seed != new_seed {
        found.push(StudyChange::SeedChanged { old: old_seed, new: new_seed });
    }
    compare_factors(&old.factors, &new.factors, &mut found);
    compare_designs(old, new, &mut found);
    let texts = |all: &[Expression]| all.iter().map(Expression::to_string).collect::<Vec<_>>();
    let (old_conditions, new_conditions) = (texts(&old.constraints), texts(&new.constraints));
    if old_conditions != new_conditions {
        let (old, new) = (old_conditions, new_conditions);
        found.push(StudyChange::ConstraintsChanged { old, new });
    }
    let joined = joined(&old.factors, &new.factors);
    let parts = task_parts(old.task.as_ref(), new.task.as_ref(), &joined);
    if !parts.is_empty() {
        found.push(StudyChange::CommandChanged { parts });
    }
    // An older version kept no metrics: what they were is not known, and not told.
    if let (Some(old), Some(new)) = (&old.metrics, &new.metrics) {
        compare_metrics(old, new, &mut found);
    }
    found
}

/// Factors that have joined, at the values that trials had before.
fn joined(old: &[Factor], new: &[Factor]) -> Configuration {
    let known: BTreeSet<&str> = old.iter().map(|factor| factor.name.as_str()).collect();
    let added = new.iter().filter(|factor| !known.contains(factor.name.as_str()));
    let pairs = added.filter_map(|factor| Some((factor.name.clone(), factor.before.clone()?)));
    Configuration::new(pairs.collect())
}

fn compare_factors(old: &[Factor], new: &[Factor], found: &mut Vec<StudyChange>) {
    let by_name = |factors| -> BTreeMap<String, Factor> {
        let pair = |factor: &Factor| (factor.name.clone(), factor.clone());
        <[Factor]>::iter(factors).map(pair).collect()
    };
    let (before, now) = (by_name(old), by_name(new));
    for factor in old.iter().filter(|factor| !now.contains_key(&factor.name)) {
        found.push(StudyChange::FactorRemoved { name: factor.name.clone() });
    }
    for factor in new {
        match before.get(&factor.name) {
            Some(earlier) => compare_factor(earlier, factor, found),
            None => {
                let (name, before) = (factor.name.clone(), factor.before.clone());
                found.push(StudyChange::FactorAdded { name, before });
            }
        }
    }
    let stayed = old.iter().map(|factor| &factor.name).filter(|name| now.contains_key(*name));
    let still = new.iter().map(|factor| &factor.name).filter(|name| before.contains_key(*name));
    if !stayed.eq(still) {
        found.push(StudyChange::FactorsReordered);
    }
}

fn compare_factor(old: &Factor, new: &Factor, found: &mut Vec<StudyChange>) {
    let name = || new.name.clone();
    let only_in = |own: &[Level], other: &[Level]| -> Vec<Level> {
        let keys: BTreeSet<String> = other.iter().map(value_key).collect();
        own.iter().filter(|level| !keys.contains(&value_key(level))).cloned().collect()
    };
    let (added, removed) = (only_in(&new.levels, &old.levels), only_in(&old.levels, &new.levels));
    let same_order = old.levels.iter().map(value_key).eq(new.levels.iter().map(value_key));
    if added.is_empty() && removed.is_empty() && !same_order {
        found.push(StudyChange::LevelsReordered { factor: name() });
    }
    if !added.is_empty() {
        found.push(StudyChange::LevelsAdded { factor: name(), levels: added });
    }
    if !removed.is_empty() {
        found.push(StudyChange::LevelsRemoved { factor: name(), levels: removed });
    }
    if (old.scale, old.domain) != (new.scale, new.domain) {
        found.push(StudyChange::FactorRescaled { name: name() });
    }
    let condition = |factor: &Factor| factor.when.as_ref().map(Expression::to_string);
    if condition(old) != condition(new) || old.change != new.change {
        found.push(StudyChange::FactorRuleChanged { name: name() });
    }
    if old.kind != new.kind {
        found.push(StudyChange::FactorKindChanged { name: name() });
    }
}

/// A text that is the same for levels of the same value.
fn value_key(level: &Level) -> String {
    match level.number() {
        Some(number) => format!("{}", number + 0.0),
        None => format!("{level:?}"),
    }
}

fn compare_designs(old: &StudyBasis, new: &StudyBasis, found: &mut Vec<StudyChange>) {
    let (old, new) = (&old.design, &new.design);
    if !same_kind(&old.kind, &new.kind) {
        let (old, new) = (Box::new(old.kind.clone()), Box::new(new.kind.clone()));
        found.push(StudyChange::DesignChanged { old, new });
    }
    let (before, now) = (&old.additions, &new.additions);
    if (before.centre_points, &before.foldover) != (now.centre_points, &now.foldover) {
        found.push(StudyChange::AdditionsChanged);
    }
    if before.blocks != now.blocks {
        let (old, new) = (before.blocks.clone(), now.blocks.clone());
        found.push(StudyChange::BlocksChanged { old, new });
    }
    if old.order != new.order {
        found.push(StudyChange::OrderChanged { old: old.order, new: new.order });
    }
}

/// Whether configurations are chosen alike, however their numbers are spelled.
fn same_kind(old: &DesignKind, new: &DesignKind) -> bool {
    let same_rows = |old: &[Configuration], new: &[Configuration]| {
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.same_as(new))
    };
    match (old, new) {
        (DesignKind::Table { rows: old }, DesignKind::Table { rows: new }) => same_rows(old, new),
        (DesignKind::OneFactor { baseline: old }, DesignKind::OneFactor { baseline: new }) => {
            old.same_as(new)
        }
        (
            DesignKind::DOptimal { candidates: old, runs, model, starts },
            DesignKind::DOptimal {
                candidates: new,
                runs: new_runs,
                model: new_model,
                starts: new_starts,
            },
        ) => (runs, model, starts) == (new_runs, new_model, new_starts) && same_rows(old, new),
        _ => old == new,
    }
}

/// Parts of the task that are not what they were, with joined factors at their earlier values.
fn task_parts(
    old: Option<&KeptTask>,
    new: Option<&KeptTask>,
    joined: &Configuration,
) -> Vec<CommandPart> {
    match (old, new) {
        (None, None) => Vec::new(),
        (Some(KeptTask::Job(old)), Some(KeptTask::Job(new))) => {
            let now = new.fields.iter().chain(joined.iter());
            let now = now.map(|(key, level)| (key.to_owned(), level.clone())).collect();
            job_parts(&old.fields, &Configuration::new(now), joined)
        }
        (Some(KeptTask::Command(old)), Some(KeptTask::Command(new))) => {
            command_parts(old, new, joined)
        }
        _ => {
            let what = "what a trial runs".to_owned();
            let text = |task: Option<&KeptTask>| Some(task_word(task).to_owned());
            vec![CommandPart { what, old: text(old), new: text(new) }]
        }
    }
}

fn task_word(task: Option<&KeptTask>) -> &'static str {
    match task {
        None => "nothing",
        Some(KeptTask::Job(_)) => "a job of the built-in trainer",
        Some(KeptTask::Command(_)) => "a command",
    }
}

fn job_parts(old: &Configuration, new: &Configuration, joined: &Configuration) -> Vec<CommandPart> {
    let mut keys: Vec<&str> = new.iter().map(|(key, _)| key).collect();
    keys.extend(old.iter().map(|(key, _)| key).filter(|key| new.get(key).is_none()));
    let part = |key: &str| {
        let (before, now) = (old.get(key), new.get(key));
        let same = match (before, now) {
            (Some(before), Some(now)) => before.same_as(now),
            // What the trainer took without the key is not known here; the user said it.
            (None, Some(_)) => joined.get(key).is_some(),
            _ => false,
        };
        let what = format!("`{key}` of the job");
        let (old, new) = (before.map(Level::to_string), now.map(Level::to_string));
        (!same).then_some(CommandPart { what, old, new })
    };
    keys.into_iter().filter_map(part).collect()
}

fn command_parts(old: &KeptCommand, new: &KeptCommand, joined: &Configuration) -> Vec<CommandPart> {
    let mut parts = Vec::new();
    let before = command_text(&old.words, &Configuration::default());
    if before != command_text(&new.words, joined) {
        let new = command_text(&new.words, &Configuration::default());
        parts.push(CommandPart { what: "the command".into(), old: Some(before), new: Some(new) });
    }
    let names: BTreeSet<&String> = old.env.keys().chain(new.env.keys()).collect();
    for name in names {
        let (before, now) = (old.env.get(name), new.env.get(name));
        let same = match (before, now) {
            (Some(before), Some(now)) => before.mark() == now.mark(),
            _ => false,
        };
        if !same {
            // What is no longer to be shown is not shown as what it was either.
            let shown = now.is_none_or(|now| now.shown().is_some());
            let old = before.and_then(|before| before.shown()).filter(|_| shown);
            let new = now.and_then(|now| now.shown());
            parts.push(CommandPart { what: format!("the variable `{name}`"), old, new });
        }
    }
    let folder = |template: Option<&Template>| template.map(|own| own.source().to_owned());
    let (before, now) = (folder(old.workdir.as_ref()), folder(new.workdir.as_ref()));
    if before != now {
        parts.push(CommandPart { what: "the folder to run in".into(), old: before, new: now });
    }
    parts
}

/// The words of a command as one line, with these factors filled in.
fn command_text(words: &[CommandWord], values: &Configuration) -> String {
    let filled = |template: &Template| {
        let value = |name: &str| {
            let level = values.get(name).map(Level::to_string);
            Some(level.unwrap_or_else(|| format!("{{{name}}}")))
        };
        let text = template.render(value).expect("every placeholder has a text");
        if text.is_empty() || text.contains([' ', '\t', '\n', '\'', '"']) {
            format!("{text:?}")
        } else {
            text
        }
    };
    let texts = words.iter().map(|word| match word {
        CommandWord::One(template) => filled(template),
        CommandWord::Group(group) => {
            let inner: Vec<String> = group.iter().map(filled).collect();
            let filled_in = group.iter().flat_map(Template::names).any(|n| values.get(n).is_some());
            // A group whose factor has a value is like words that are always there.
            if filled_in { inner.join(" ") } else { format!("[{}]", inner.join(" ")) }
        }
    });
    texts.collect::<Vec<_>>().join(" ")
}

fn compare_metrics(old: &[MetricRule], new: &[MetricRule], found: &mut Vec<StudyChange>) {
    let before: BTreeMap<&str, &MetricRule> = old.iter().map(|own| (&*own.name, own)).collect();
    let now: BTreeSet<&str> = new.iter().map(|own| &*own.name).collect();
    for rule in old.iter().filter(|own| !now.contains(&*own.name)) {
        found.push(StudyChange::MetricRemoved { name: rule.name.clone() });
    }
    for rule in new {
        let name = rule.name.clone();
        let Some(earlier) = before.get(&*rule.name) else {
            let is_formula = matches!(rule.source, MetricSource::Expr { .. });
            found.push(StudyChange::MetricAdded { name, is_formula });
            continue;
        };
        match (&earlier.source, &rule.source) {
            (MetricSource::Expr { expr: old }, MetricSource::Expr { expr: new }) if old != new => {
                let (old, new) = (old.to_string(), new.to_string());
                found.push(StudyChange::FormulaChanged { name, old, new });
            }
            _ if *earlier != rule => found.push(StudyChange::MetricRuleChanged { name }),
            _ => {}
        }
    }
}
