//! Rules about factors.

use std::collections::HashSet;

use super::{Checker, at};
use crate::draft::{FactorDraft, RangeDraft};
use crate::ordered::Ordered;
use crate::{Change, Domain, Expression, Factor, Level, Scale};

/// Names that placeholders and expressions already use.
const RESERVED: [&str; 17] = [
    "seed",
    "trial",
    "replicate",
    "params",
    "row",
    "block",
    "whole_plot",
    "state",
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
            factors.push(Factor { name, levels, domain, scale, kind, change, when });
        }
        self.conditions(&factors);
        factors
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
            let message = format!("`{name}` has {} level, a factor needs 2", levels.len());
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
