//! Rules about factors.

use std::collections::HashSet;

use super::{Checker, at};
use crate::file::draft::{FactorDraft, RangeDraft};
use crate::file::ordered::Ordered;
use crate::{Change, Domain, Expression, Factor, Level, Scale};

/// Names that placeholders, expressions and the columns of exports already use.
pub(super) const RESERVED: [&str; 18] = [
    "seed",
    "trial",
    "replicate",
    "params",
    "row",
    "block",
    "whole_plot",
    "state",
    "excluded",
    "attempts",
    "wall_s",
    "cpu_s",
    "peak_memory_bytes",
    "disk_read_bytes",
    "disk_write_bytes",
    "and",
    "or",
    "not",
];

impl Checker<'_> {
    pub(super) fn factors(&mut self, drafts: Ordered<FactorDraft>) -> Vec<Factor> {
        let mut factors = Vec::new();
        for (name, draft) in drafts.0 {
            let table = at!["factors", &name];
            self.identifier(table, "factor", &name);
            if RESERVED.contains(&name.as_str()) {
                let message = format!("`{name}` has a meaning of its own");
                self.fault(table, message, Some("choose another name for this factor"));
            }
            let when = draft
                .when
                .as_deref()
                .and_then(|when| self.expression(at!["factors", &name, "when"], when));
            let levels = self.levels(&name, &draft);
            let change = if draft.hard_to_change { Change::Hard } else { Change::Easy };
            let domain = if draft.range.is_some() { Domain::Range } else { Domain::Levels };
            let (scale, kind) = (draft.scale, draft.kind);
            let mut factor =
                Factor { name, levels, domain, scale, kind, change, when, before: None };
            factor.before = self.before(draft.before.as_ref(), &factor);
            factors.push(factor);
        }
        self.conditions(&factors);
        factors
    }

    /// The value of trials from before the factor, one that it has now.
    fn before(&mut self, before: Option<&Level>, factor: &Factor) -> Option<Level> {
        let value = factor.value(before?);
        if value.is_none() && !factor.levels.is_empty() {
            self.no_level(at!["factors", &factor.name, "before"], before?, factor);
        }
        value
    }

    fn levels(&mut self, name: &str, draft: &FactorDraft) -> Vec<Level> {
        let table = at!["factors", name];
        let levels = match (&draft.levels, &draft.range) {
            (Some(levels), None) => levels.clone(),
            (Some(_), Some(_)) => {
                self.fault(table, format!("`{name}` has both levels and a range"), None);
                return Vec::new();
            }
            (None, Some(range)) => return self.range(name, range, draft.scale),
            (None, None) => {
                let help = "add levels, such as levels = [32, 256]";
                self.fault(table, format!("`{name}` has no levels"), Some(help));
                return Vec::new();
            }
        };
        let place = at!["factors", name, "levels"];
        if levels.len() < 2 {
            let count = if levels.is_empty() { "no levels" } else { "1 level" };
            let message = format!("`{name}` has {count}, a factor needs 2");
            self.fault(place, message, Some("move a constant into [job] or the command"));
        }
        let mut known = HashSet::new();
        for (index, level) in levels.iter().enumerate() {
            self.level(name, index, level, draft.scale);
            if !known.insert(level.identity()) {
                let message = format!("level {level} of `{name}` is there twice");
                self.fault(at!["factors", name, "levels", index], message, None);
            }
        }
        let numbers = levels.iter().filter(|level| level.number().is_some()).count();
        if numbers != 0 && numbers != levels.len() {
            let help = "write all levels as numbers or all as texts";
            self.fault(place, format!("`{name}` mixes numbers and texts"), Some(help));
        }
        levels
    }

    /// The ends of a range, as levels.
    fn range(&mut self, name: &str, range: &RangeDraft, scale: Scale) -> Vec<Level> {
        let place = at!["factors", name, "range"];
        let (from, to) = (&range.from, &range.to);
        match (from.number(), to.number()) {
            (Some(low), Some(high)) if low < high && high.is_finite() && low.is_finite() => {
                if scale != Scale::Linear && low <= 0.0 {
                    let message = format!("{from} of `{name}` has no place on a log scale");
                    self.fault(place, message, Some("leave `scale` out, or begin above 0"));
                }
                vec![from.clone(), to.clone()]
            }
            _ => {
                let message = format!("the range of `{name}` from {from} to {to} is empty");
                let help = "write numbers, the smaller first: range = { from = 0.001, to = 0.1 }";
                self.fault(place, message, Some(help));
                Vec::new()
            }
        }
    }

    fn level(&mut self, name: &str, index: usize, level: &Level, scale: Scale) {
        let place = at!["factors", name, "levels", index];
        if let Level::Text(text) = level {
            self.no_control_characters(place, text);
        }
        match level.number() {
            Some(value) if !value.is_finite() => {
                self.fault(place, format!("level {level} of `{name}` is not finite"), None);
            }
            Some(value) if scale != Scale::Linear && value <= 0.0 => {
                let message = format!("level {level} of `{name}` has no place on a log scale");
                self.fault(place, message, Some("leave `scale` out, or use levels above 0"));
            }
            None if scale != Scale::Linear => {
                let message = format!("`{name}` has a scale but level {level} is no number");
                self.fault(at!["factors", name, "scale"], message, Some("leave `scale` out"));
            }
            _ => {}
        }
    }

    /// Conditions may only speak of other factors that always exist.
    fn conditions(&mut self, factors: &[Factor]) {
        for factor in factors {
            let Some(when) = &factor.when else { continue };
            let place = at!["factors", &factor.name, "when"];
            self.condition(place, when, factors);
            if let Some(other) = conditional_name(when, factors) {
                let message = format!("`{other}` is itself conditional or the factor itself");
                let help = "make the condition speak of factors without a `when`";
                self.fault(place, message, Some(help));
            }
        }
    }
}

fn conditional_name<'a>(when: &Expression, factors: &'a [Factor]) -> Option<&'a str> {
    let names = when.names();
    let conditional = factors.iter().filter(|factor| factor.when.is_some());
    conditional.map(|factor| factor.name.as_str()).find(|name| names.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FactorKind;
    use crate::file::check::tests::{check, faults_of, taken, text_with};

    /// The factor `a` with these lines instead of its levels.
    #[track_caller]
    fn refused(lines: &str, expected: &[&str]) {
        check("levels = [1, 2]", lines, expected);
    }

    #[test]
    fn names_with_a_meaning_of_their_own_name_no_factor() {
        for name in RESERVED {
            let words = format!(
                "4:10: `{name}` has a meaning of its own (choose another name for this factor)"
            );
            assert!(
                faults_of(&text_with("factors.a", &format!("factors.{name}"))).contains(&words)
            );
        }
    }

    #[test]
    fn a_factor_is_named_by_an_identifier() {
        for name in ["a b", "2x", "a-b", "", "é-"] {
            let words = format!(
                "4:10: `{name}` cannot name a factor \
                 (use a letter or underscore, then letters, digits and underscores)"
            );
            assert_eq!(faults_of(&text_with("factors.a", &format!("factors.{name:?}"))), [words]);
        }
        assert_eq!(taken("factors.a", "factors._a2").factors[0].name, "_a2");
        assert_eq!(taken("factors.a", "factors.\"größe\"").factors[0].name, "größe");
    }

    #[test]
    fn a_factor_has_levels_or_a_range() {
        refused("", &["4:10: `a` has no levels (add levels, such as levels = [32, 256])"]);
        refused(
            "levels = [1, 2]\nrange = { from = 1, to = 2 }",
            &["4:10: `a` has both levels and a range"],
        );
        refused(
            "levels = []",
            &[
                "5:10: `a` has no levels, a factor needs 2 (move a constant into [job] or the command)",
            ],
        );
    }

    #[test]
    fn every_level_that_is_there_twice_is_named() {
        refused(
            "levels = [1, 2, 1.0, 2, 1]",
            &[
                "5:17: level 1 of `a` is there twice",
                "5:22: level 2 of `a` is there twice",
                "5:25: level 1 of `a` is there twice",
            ],
        );
        refused("levels = [0, -0.0]", &["5:14: level -0 of `a` is there twice"]);
        // A word, a truth value and a number that look alike are three levels.
        let factor = &taken("[1, 2]", "[\"1\", true, \"true\"]").factors[0];
        assert_eq!(factor.levels.len(), 3);
    }

    #[test]
    fn levels_are_finite() {
        refused(
            "levels = [1, inf, nan]",
            &["5:14: level inf of `a` is not finite", "5:19: level NaN of `a` is not finite"],
        );
    }

    #[test]
    fn a_scale_is_for_numbers_above_0() {
        let log = "has no place on a log scale (leave `scale` out, or use levels above 0)";
        for scale in ["log", "log2"] {
            let words = format!("5:14: level -1 of `a` {log}");
            refused(&format!("levels = [1, -1]\nscale = \"{scale}\""), &[&words]);
        }
        refused(
            "levels = [\"x\", \"y\"]\nscale = \"log\"",
            &[
                "6:9: `a` has a scale but level x is no number (leave `scale` out)",
                "6:9: `a` has a scale but level y is no number (leave `scale` out)",
            ],
        );
        assert_eq!(taken("levels = [1, 2]", "levels = [0, -1]").factors[0].scale, Scale::Linear);
    }

    #[test]
    fn a_range_has_two_numbers_that_differ() {
        let empty = |from: &str, to: &str, shown: &str| {
            let words = format!(
                "5:1: the range of `a` from {shown} is empty (write numbers, the smaller first: \
                 range = {{ from = 0.001, to = 0.1 }})"
            );
            refused(&format!("range = {{ from = {from}, to = {to} }}"), &[&words]);
        };
        empty("1", "1.0", "1 to 1");
        empty("2", "1", "2 to 1");
        empty("\"a\"", "1", "a to 1");
        empty("1", "inf", "1 to inf");
        empty("nan", "1", "NaN to 1");
        let factor = &taken("levels = [1, 2]", "range = { from = -1, to = 2.5 }").factors[0];
        assert_eq!(factor.levels, [Level::Integer(-1), Level::Number(2.5)]);
        assert_eq!(factor.domain, Domain::Range);
    }

    #[test]
    fn what_is_not_said_of_a_factor_is_usual() {
        let factor = &taken("\"s\"", "\"t\"").factors[0];
        let (kind, change) = (FactorKind::Hyper, Change::Easy);
        assert_eq!((factor.kind, factor.change, factor.scale), (kind, change, Scale::Linear));
        assert!(factor.when.is_none() && factor.before.is_none());
        let machine = taken("[1, 2]", "[1, 2]\nkind = \"system\"\nhard_to_change = true");
        let factor = &machine.factors[0];
        assert_eq!((factor.kind, factor.change), (FactorKind::System, Change::Hard));
    }

    #[test]
    fn the_value_from_before_lies_in_the_range_or_is_a_level() {
        let of = |lines: &str| taken("levels = [1, 2]", lines).factors[0].before.clone();
        assert_eq!(of("levels = [1, 2]\nbefore = 2.0"), Some(Level::Integer(2)));
        assert_eq!(of("range = { from = 1, to = 2 }\nbefore = 1.25"), Some(Level::Number(1.25)));
        refused(
            "range = { from = 1, to = 2 }\nbefore = 3",
            &["6:10: 3 is no level of `a` (it goes from 1 to 2)"],
        );
    }

    #[test]
    fn factors_without_levels_are_told_that_alone() {
        refused(
            "before = 3",
            &["4:10: `a` has no levels (add levels, such as levels = [32, 256])"],
        );
    }

    #[test]
    fn a_condition_speaks_of_factors_that_are_always_there() {
        let help = "make the condition speak of factors without a `when`";
        check(
            "[\"x\", \"y\"]",
            "[\"x\", \"y\"]\nwhen = \"b == 'x'\"",
            &[&format!("8:8: `b` is itself conditional or the factor itself ({help})")],
        );
        check(
            "[\"x\", \"y\"]",
            "[\"x\", \"y\"]\nwhen = \"a == 1\"\n[factors.c]\nlevels = [1, 2]\nwhen = \"b == 'x'\"",
            &[&format!("11:8: `b` is itself conditional or the factor itself ({help})")],
        );
    }

    #[test]
    fn a_condition_that_is_none_is_told() {
        refused(
            "levels = [1, 2]\nwhen = \"b\"",
            &["6:8: `the whole` in `b` wants a condition (write a comparison)"],
        );
        refused(
            "levels = [1, 2]\nwhen = \"bb == 1\"",
            &["6:8: `bb` is no factor (there are a, b)"],
        );
    }
}
