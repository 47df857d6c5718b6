//! Whether the trainer can take every level of every factor.

use std::collections::BTreeSet;

use super::task::Knobs;
use super::{Checker, at};
use crate::file::locate::Step;
use crate::{Configuration, Expression, Factor, JobError, JobTemplate, Value};

/// How many combinations are looked at for one that the study allows with a level.
const MOST_LOOKED_AT: usize = 256;

impl Checker<'_> {
    /// Tries the rows that the study lists; without a list every level of every factor once, the
    /// others at their first that go with it.
    pub(super) fn job_levels(&mut self, template: &JobTemplate, knobs: &Knobs<'_>) {
        let factors = knobs.factors;
        let mut told = BTreeSet::new();
        if let Some(rows) = knobs.rows {
            for row in rows {
                let row = existing(factors, row.clone());
                let Err(error) = template.job(&row, 0) else { continue };
                let factor = factors.iter().find(|factor| factor.name == error.key);
                let level = factor.and_then(|factor| {
                    let own = row.get(&factor.name)?;
                    factor.levels.iter().position(|level| level.same_as(own))
                });
                self.job_fault(&error, factor.map(|factor| (factor, level)), &mut told);
            }
            return;
        }
        for (index, factor) in factors.iter().enumerate() {
            for position in 0..factor.levels.len() {
                let Some(tried) = allowed_with(knobs, index, position) else { continue };
                let Err(error) = template.job(&tried, 0) else { continue };
                if error.key == factor.name {
                    self.job_fault(&error, Some((factor, Some(position))), &mut told);
                } else if !factors.iter().any(|other| other.name == error.key) {
                    self.job_fault(&error, None, &mut told);
                }
                // The turn of another factor comes, or came, with its own place.
            }
        }
    }

    /// Tells a fault once, at the level or at the key of `[job]` that is to blame.
    fn job_fault(
        &mut self,
        error: &JobError,
        level: Option<(&Factor, Option<usize>)>,
        told: &mut BTreeSet<String>,
    ) {
        let place: Vec<Step> = match level {
            Some((factor, Some(level))) => at!["factors", &factor.name, "levels", level].to_vec(),
            Some((factor, None)) => at!["factors", &factor.name].to_vec(),
            None => at!["job", &error.key].to_vec(),
        };
        if told.insert(format!("{place:?}")) {
            self.fault(&place, error.message.clone(), None);
        }
    }
}

/// The first configuration with this level that the study would run; nothing where none is near.
fn allowed_with(knobs: &Knobs<'_>, index: usize, position: usize) -> Option<Configuration> {
    let Knobs { factors, constraints, .. } = knobs;
    if factors.iter().any(|factor| factor.levels.is_empty()) {
        return None;
    }
    let mut chosen = vec![0; factors.len()];
    chosen[index] = position;
    let conditions = constraints.iter().chain(factors.iter().filter_map(|own| own.when.as_ref()));
    let named: BTreeSet<&str> = conditions.flat_map(Expression::names).collect();
    let turned: Vec<usize> = (0..factors.len())
        .filter(|&other| other != index && named.contains(factors[other].name.as_str()))
        .collect();
    for _ in 0..MOST_LOOKED_AT {
        let level =
            |(factor, &at): (&Factor, &usize)| (factor.name.clone(), factor.levels[at].clone());
        let all = Configuration::new(factors.iter().zip(&chosen).map(level).collect());
        let configuration = existing(factors, all);
        if configuration.get(&factors[index].name).is_some()
            && constraints.iter().all(|constraint| holds(constraint, &configuration))
        {
            return Some(configuration);
        }
        if !turn(&mut chosen, &turned, factors) {
            return None;
        }
    }
    None
}

/// The configuration without the factors whose `when` does not hold.
fn existing(factors: &[Factor], all: Configuration) -> Configuration {
    if factors.iter().all(|factor| factor.when.is_none()) {
        return all;
    }
    all.filtered(|name| {
        let when = factors.iter().find(|own| own.name == name).and_then(|own| own.when.as_ref());
        when.is_none_or(|when| truth(when, &all) == Some(true))
    })
}

/// Whether a constraint lets a configuration be; one that speaks of an absent factor does.
fn holds(constraint: &Expression, configuration: &Configuration) -> bool {
    truth(constraint, configuration) != Some(false)
}

fn truth(condition: &Expression, configuration: &Configuration) -> Option<bool> {
    let scope = |name: &str| configuration.get(name).map(Value::from);
    condition.truth(&scope).ok()
}

/// Goes on to the next combination of these factors' levels; `false` after the last.
fn turn(chosen: &mut [usize], turned: &[usize], factors: &[Factor]) -> bool {
    for &place in turned {
        chosen[place] += 1;
        if chosen[place] < factors[place].levels.len() {
            return true;
        }
        chosen[place] = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::file::check::task::tests::job;
    use crate::file::check::tests::faults_of;

    #[test]
    fn every_level_that_the_trainer_cannot_take_is_told_at_its_place() {
        let factors = "[factors.lr]\nlevels = [0.1, -1.0, 0.2]\n[factors.batch]\nlevels = [0, 8]";
        assert_eq!(
            faults_of(&job(factors, "network = \"mlp\"\ndata = \"d\"")),
            ["9:16: a learning rate is above 0, this is -1", "11:11: must be at least 1",]
        );
    }

    #[test]
    fn a_key_that_the_trainer_cannot_take_is_told_once() {
        let factors = "[factors.lr]\nlevels = [0.1, 0.2, 0.3]\n[factors.batch]\nlevels = [4, 8]";
        assert_eq!(
            faults_of(&job(factors, "network = \"mlp\"\ndata = \"d\"\nepochs = 0")),
            ["8:10: must be at least 1"]
        );
        // Two keys that do not read: neither alone is at fault, so the table is.
        let faults = faults_of(&job(
            factors,
            "network = \"mlp\"\ndata = \"d\"\nepochs = \"many\"\nneurons = \"few\"",
        ));
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].starts_with("5:2: invalid type: string"), "{faults:?}");
    }

    #[test]
    fn a_conditional_factor_is_tried_where_it_exists() {
        let factors = "[factors.optimizer]\nlevels = [\"sgd\", \"ftrl\"]\n\
                       [factors.l1]\nlevels = [0.1, 0.2]\nwhen = \"optimizer == 'ftrl'\"";
        let text = job(factors, "network = \"logistic\"\ndata = \"d\"");
        assert_eq!(faults_of(&text), Vec::<String>::new());
        let bad = text.replace("[0.1, 0.2]", "[0.1, -0.2]");
        assert_eq!(faults_of(&bad), ["11:16: must be finite and at least 0, this is -0.2"]);
    }

    #[test]
    fn a_combination_that_a_constraint_rules_out_is_not_held_against_the_study() {
        let factors = "[factors.network]\nlevels = [\"mlp\", \"logistic\"]\n\
                       [factors.optimizer]\nlevels = [\"adam\", \"ftrl\"]\n\
                       [[constraint]]\nexpr = \"(network == 'mlp') == (optimizer == 'adam')\"";
        let text = job(factors, "data = \"d\"");
        assert_eq!(faults_of(&text), Vec::<String>::new());
        let without = text.split("[[constraint]]").next().unwrap();
        assert_eq!(faults_of(without), ["10:19: ftrl trains network `logistic` alone"],);
    }

    #[test]
    fn a_combination_that_a_table_does_not_list_is_not_held_against_the_study() {
        let factors = "[factors.network]\nlevels = [\"mlp\", \"logistic\"]\n\
                       [factors.optimizer]\nlevels = [\"adam\", \"ftrl\"]\n\
                       [design]\ntype = \"table\"\n\
                       rows = [[\"mlp\", \"adam\"], [\"logistic\", \"ftrl\"]]";
        let text = job(factors, "data = \"d\"");
        assert_eq!(faults_of(&text), Vec::<String>::new());
        let bad = text.replace("[\"mlp\", \"adam\"],", "[\"mlp\", \"ftrl\"], [\"mlp\", \"ftrl\"],");
        assert_eq!(faults_of(&bad), ["10:19: ftrl trains network `logistic` alone"]);
    }

    #[test]
    fn a_value_of_a_range_that_a_table_lists_is_tried() {
        let text = job(
            "[factors.batch]\nrange = { from = 1, to = 64 }\n[design]\ntype = \"table\"\n\
             rows = [[2.5], [3]]",
            "network = \"mlp\"\ndata = \"d\"",
        );
        let faults = faults_of(&text);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].starts_with("8:10: invalid type: floating point `2.5`"), "{faults:?}");
    }

    #[test]
    fn a_level_that_no_allowed_combination_holds_is_not_tried() {
        let factors = "[factors.lr]\nlevels = [0.1, -1.0]\n[factors.batch]\nlevels = [4, 8]\n\
                       [[constraint]]\nexpr = \"lr > 0\"";
        let text = job(factors, "network = \"mlp\"\ndata = \"d\"");
        assert_eq!(faults_of(&text), Vec::<String>::new());
    }

    #[test]
    fn a_constraint_on_an_absent_factor_does_not_hold_a_level_back() {
        let factors = "[factors.batch]\nlevels = [4, 0]\n\
                       [factors.momentum]\nlevels = [0.5, 0.9]\nwhen = \"batch == 4\"\n\
                       [[constraint]]\nexpr = \"momentum < 0.6\"";
        let text = job(factors, "network = \"mlp\"\ndata = \"d\"\noptimizer = \"momentum\"");
        assert_eq!(faults_of(&text), ["10:14: must be at least 1"]);
    }
}
