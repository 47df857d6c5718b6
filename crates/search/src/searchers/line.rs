//! A line search along one numeric factor after the other: double while it improves, then steps of
//! a tenth.
//!
//! Means of replicates are compared by Welch's test where there are replicates: a tie is no
//! improvement, so that the walk stops where the noise begins.

use trainwright_study::{Configuration, Domain, Factor, Level};

use super::walk::{Need, Results};
use crate::gaussian_process::Distance;
use crate::{Cell, History, Searcher, Space, StopReason, Suggestion};

/// Most steps in one direction: 60 doublings are 18 orders of magnitude.
const MOST_STEPS: usize = 60;

/// The step from a lowest value of 0 or less, as a share of the whole range.
const FIRST_STEP: f64 = 0.01;

/// Suggests steps along one factor at a time.
#[derive(Debug, Clone)]
pub struct LineSearch {
    space: Space,
    factors: Vec<Factor>,
    start: Configuration,
    alpha: f64,
}

/// Where a walk is.
struct Spot<'c> {
    configuration: Configuration,
    cell: Option<&'c Cell>,
}

impl LineSearch {
    /// A search from a configuration along the factors of a study, in their order.
    pub fn new(space: Space, factors: &[Factor], start: Configuration, alpha: f64) -> Self {
        Self { space, factors: factors.to_vec(), start, alpha }
    }

    fn walk(&self, results: &Results<'_>) -> Result<StopReason, Need> {
        let cell = results.of_configuration(&self.start)?;
        let mut spot = Spot { configuration: self.start.clone(), cell };
        let mut at_edge = Vec::new();
        for factor in &self.factors {
            if spot.configuration.get(&factor.name).is_none() {
                continue;
            }
            let is_number = self
                .space
                .dimensions()
                .iter()
                .any(|own| own.name() == factor.name && own.distance() == Distance::Difference);
            if is_number {
                if self.along(factor, &mut spot, results)? {
                    at_edge.push(factor.name.clone());
                }
            } else {
                for level in &factor.levels {
                    self.step(factor, level, &mut spot, results)?;
                }
            }
        }
        Ok(StopReason::NoStepImproves { at_edge })
    }

    /// Walks along a numeric factor; says whether the best value is at an end of its range.
    fn along<'c>(
        &self,
        factor: &Factor,
        spot: &mut Spot<'c>,
        results: &'c Results<'_>,
    ) -> Result<bool, Need> {
        // Upwards by doubling; where that never helps, downwards by halving.
        let mut helped = self.stride(factor, 2.0, spot, results)?;
        if !helped {
            helped = self.stride(factor, 0.5, spot, results)?;
        }
        // The best may lie up to one doubling away on either side.
        let finer = self.stride(factor, 1.1, spot, results)?;
        if !finer {
            self.stride(factor, 1.0 / 1.1, spot, results)?;
        }
        let value = spot.configuration.get(&factor.name).and_then(Level::number);
        let ends = factor.ends().map(|(low, high)| [low.number(), high.number()]);
        Ok((helped || finer) && ends.is_some_and(|ends| ends.contains(&value)))
    }

    /// Steps by a ratio while it improves; says whether it ever did.
    fn stride<'c>(
        &self,
        factor: &Factor,
        ratio: f64,
        spot: &mut Spot<'c>,
        results: &'c Results<'_>,
    ) -> Result<bool, Need> {
        for steps in 0..MOST_STEPS {
            let now = spot.configuration.get(&factor.name).and_then(Level::number);
            let next = now.and_then(|now| next_level(factor, now, ratio));
            let Some(next) = next else { return Ok(steps > 0) };
            if !self.step(factor, &next, spot, results)? {
                return Ok(steps > 0);
            }
        }
        Ok(true)
    }

    /// Goes to another level of a factor if that is better.
    fn step<'c>(
        &self,
        factor: &Factor,
        level: &Level,
        spot: &mut Spot<'c>,
        results: &'c Results<'_>,
    ) -> Result<bool, Need> {
        let with = |(name, own): (&str, &Level)| {
            let changed = if name == factor.name { level } else { own };
            (name.to_owned(), changed.clone())
        };
        let combination = Configuration::new(spot.configuration.iter().map(with).collect());
        // A change of category may bring factors with it; their first values stand for them.
        let Some(own) = self.space.allowed(&self.whole(&combination)) else { return Ok(false) };
        if own.configuration.same_as(&spot.configuration) {
            return Ok(false);
        }
        let there = results.of_configuration(&own.configuration)?;
        let better = results.better(there, spot.cell);
        if better {
            *spot = Spot { configuration: own.configuration, cell: there };
        }
        Ok(better)
    }

    /// All factors, absent ones at their first level.
    fn whole(&self, configuration: &Configuration) -> Configuration {
        let level = |own: &Factor| {
            let known = configuration.get(&own.name).cloned();
            (own.name.clone(), known.unwrap_or_else(|| own.levels[0].clone()))
        };
        Configuration::new(self.factors.iter().map(level).collect())
    }
}

/// The level that a ratio leads to: inside a range, at its end at most; among levels the nearest
/// beyond; nothing at the end.
///
/// No ratio leads away from 0 or past it, so where the lowest value is 0 or less the distance from
/// it is what grows, and the first step is [`FIRST_STEP`].
fn next_level(factor: &Factor, now: f64, ratio: f64) -> Option<Level> {
    let (low, high) = factor.ends()?;
    let up = ratio > 1.0;
    let (from, width) = (low.number()?.min(0.0), high.number()? - low.number()?);
    let least = if up { FIRST_STEP * width } else { 0.0 };
    let target = match now - from {
        distance if distance > 0.0 => from + distance * ratio,
        _ => from + least,
    };
    if factor.domain == Domain::Levels {
        let numbers = factor.levels.iter().filter_map(|own| Some((own.number()?, own)));
        let beyond = numbers.filter(|(own, _)| if up { *own > now } else { *own < now });
        let nearest = beyond.min_by(|a, b| (a.0 - target).abs().total_cmp(&(b.0 - target).abs()));
        return nearest.map(|(_, own)| own.clone());
    }
    let whole = matches!((low, high), (Level::Integer(_), Level::Integer(_)));
    let mut next = if whole { target.round() } else { target };
    if whole && next == now {
        next += if up { 1.0 } else { -1.0 };
    }
    let next = next.clamp(low.number()?, high.number()?);
    let level = if whole { Level::Integer(next as i64) } else { Level::Number(next) };
    (next != now).then_some(level)
}

impl Searcher for LineSearch {
    fn name(&self) -> &'static str {
        "line"
    }

    fn suggest(&mut self, known: &History) -> Suggestion {
        match self.walk(&Results::of(known, self.alpha)) {
            Ok(reason) => Suggestion::Stop(reason),
            Err(need) => need.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trainwright_study::Study;

    use super::*;

    fn factor(lines: &str) -> Factor {
        let text =
            format!("schema = 1\n[study]\nname = \"s\"\n[factors.x]\n{lines}\n[metrics.y]\n");
        Study::from_text(&text).unwrap().factors.remove(0)
    }

    #[test]
    fn steps_stay_in_the_range_and_reach_its_end() {
        let real = factor("range = { from = 0.01, to = 0.1 }\nscale = \"log\"");
        assert_eq!(next_level(&real, 0.02, 2.0), Some(Level::Number(0.04)));
        assert_eq!(next_level(&real, 0.08, 2.0), Some(Level::Number(0.1)));
        assert_eq!(next_level(&real, 0.1, 2.0), None);
        let whole = factor("range = { from = 1, to = 9 }");
        assert_eq!(next_level(&whole, 2.0, 1.1), Some(Level::Integer(3)), "at least one further");
        assert_eq!(next_level(&whole, 2.0, 0.5), Some(Level::Integer(1)));
        let levels = factor("levels = [32, 128, 64]");
        assert_eq!(next_level(&levels, 32.0, 2.0), Some(Level::Integer(64)));
        assert_eq!(next_level(&levels, 128.0, 2.0), None);
    }

    #[test]
    fn a_step_leads_away_from_zero_and_past_it() {
        let real = factor("range = { from = 0.0, to = 0.5 }");
        assert_eq!(next_level(&real, 0.0, 2.0), Some(Level::Number(0.005)));
        assert_eq!(next_level(&real, 0.005, 2.0), Some(Level::Number(0.01)));
        assert_eq!(next_level(&real, 0.0, 0.5), None);
        let whole = factor("range = { from = 0, to = 9 }");
        assert_eq!(next_level(&whole, 0.0, 2.0), Some(Level::Integer(1)));
        assert_eq!(next_level(&whole, 0.0, 1.1), Some(Level::Integer(1)));
        assert_eq!(next_level(&whole, 1.0, 0.5), Some(Level::Integer(0)));
        let levels = factor("levels = [0, 100, 10]");
        assert_eq!(next_level(&levels, 0.0, 2.0), Some(Level::Integer(10)));
        assert_eq!(next_level(&levels, 10.0, 0.5), Some(Level::Integer(0)));
        let signed = factor("range = { from = -8, to = 8 }");
        assert_eq!(next_level(&signed, -4.0, 2.0), Some(Level::Integer(0)));
        assert_eq!(next_level(&signed, 0.0, 2.0), Some(Level::Integer(8)));
    }

    proptest! {
        /// However often it is called, a ratio leads to the end of its direction.
        #[test]
        fn steps_go_one_way_and_end(start in 0_u32..=100, up: bool, fine: bool) {
            for lines in [
                "range = { from = 0.001, to = 10.0 }\nscale = \"log\"",
                "range = { from = -2.0, to = 3.0 }",
                "range = { from = 0, to = 40 }",
                "levels = [-1.0, 0.0, 0.5, 4.0, 32.0]",
            ] {
                let own = factor(lines);
                let (low, high) = own.ends().map(|(low, high)| (low.number().unwrap(), high.number().unwrap())).unwrap();
                let mut now = low + (high - low) * f64::from(start) / 100.0;
                if own.levels[0].number() == Some(0.0) && own.domain == Domain::Range {
                    now = now.round();
                }
                let ratio = if fine { 1.1 } else { 2.0 };
                let ratio = if up { ratio } else { 1.0 / ratio };
                for _ in 0..400 {
                    let Some(next) = next_level(&own, now, ratio) else { break };
                    let next = next.number().unwrap();
                    prop_assert!((low..=high).contains(&next), "{lines}: {next}");
                    prop_assert!(if up { next > now } else { next < now }, "{lines}: {now} to {next}");
                    now = next;
                }
                if up {
                    prop_assert_eq!(now, high, "{}", lines);
                }
            }
        }
    }
}
