//! From coded coordinates to the levels of a study's factors.
//!
//! -1 is a factor's lowest level and +1 its highest; what lies between or beyond is placed on the
//! factor's scale. A factor whose ends are whole numbers takes whole numbers only.

use std::collections::BTreeMap;

use trainwright_study::{Configuration, Domain, Factor, Level, Study};

use crate::error::DesignError;
use crate::note::DesignNote;

/// Whether two coded coordinates of a factor may run as the same level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// Points that fill a space may share a level.
    Allowed,
    /// A design of few levels needs them all.
    Refused,
}

/// Rows of coded coordinates as configurations, with notes on what was rounded.
pub(crate) fn configurations(
    study: &Study,
    design: &'static str,
    coded: &[Vec<f64>],
    repeats: Repeats,
) -> Result<(Vec<Configuration>, Vec<DesignNote>), DesignError> {
    let mut notes = Vec::new();
    let mut axes = Vec::new();
    for (column, factor) in study.factors.iter().enumerate() {
        let mut used: Vec<f64> = coded.iter().map(|row| row[column]).collect();
        used.sort_by(f64::total_cmp);
        used.dedup();
        let axis = Axis::of(factor, design)?;
        let levels = axis.levels(&used, repeats)?;
        notes.extend(axis.rounded(&levels));
        notes.extend(axis.outside(&levels));
        axes.push(levels.into_iter().map(|own| (own.coded.to_bits(), own.level)).collect());
    }
    let axes: Vec<BTreeMap<u64, Level>> = axes;
    let configuration = |row: &Vec<f64>| {
        let cells = study.factors.iter().zip(&axes).zip(row);
        let pairs = cells.map(|((factor, levels), coded)| {
            (factor.name.clone(), levels[&coded.to_bits()].clone())
        });
        Configuration::new(pairs.collect())
    };
    Ok((coded.iter().map(configuration).collect(), notes))
}

/// A numeric factor as an axis of coded coordinates.
pub(crate) struct Axis<'a> {
    factor: &'a Factor,
    design: &'static str,
    low: &'a Level,
    high: &'a Level,
    /// The middle one of three levels.
    middle: Option<&'a Level>,
}

/// The level at a coded coordinate.
struct Placed {
    coded: f64,
    /// The value before rounding to a whole number.
    exact: f64,
    level: Level,
}

impl<'a> Axis<'a> {
    pub(crate) fn of(factor: &'a Factor, design: &'static str) -> Result<Self, DesignError> {
        if factor.when.is_some() {
            let factor = factor.name.clone();
            return Err(DesignError::ConditionalFactor { factor, design });
        }
        let Some((low, high)) = factor.ends() else {
            return Err(DesignError::NotNumeric { factor: factor.name.clone(), design });
        };
        let middle = match factor.levels.as_slice() {
            [_, _, _] => factor.levels.iter().find(|own| !own.same_as(low) && !own.same_as(high)),
            _ => None,
        };
        Ok(Self { factor, design, low, high, middle })
    }

    /// The levels at these coordinates, in order.
    fn levels(&self, coded: &[f64], repeats: Repeats) -> Result<Vec<Placed>, DesignError> {
        let placed: Vec<Placed> =
            coded.iter().map(|&coded| self.place(coded)).collect::<Result<_, _>>()?;
        let same = placed.windows(2).find(|two| two[0].level.same_as(&two[1].level));
        match same {
            Some(two) if repeats == Repeats::Refused => Err(DesignError::LevelsCollapse {
                factor: self.factor.name.clone(),
                first: two[0].exact,
                second: two[1].exact,
                level: two[0].level.clone(),
            }),
            _ => Ok(placed),
        }
    }

    fn place(&self, coded: f64) -> Result<Placed, DesignError> {
        let number = |level: &Level| level.number().expect("the ends are numbers");
        let (low, high) = (number(self.low), number(self.high));
        let named = match coded {
            -1.0 => Some(self.low),
            0.0 => self.middle,
            1.0 => Some(self.high),
            _ => None,
        };
        if let Some(level) = named {
            return Ok(Placed { coded, exact: number(level), level: level.clone() });
        }
        let scale = self.factor.scale;
        let (from, to) = (scale.position(low), scale.position(high));
        let exact = tidy(scale.value((from + to) / 2.0 + coded * (to - from) / 2.0));
        if low > 0.0 && exact <= 0.0 {
            let (factor, design) = (self.factor.name.clone(), self.design);
            return Err(DesignError::BelowZero { factor, value: exact, design });
        }
        let level = if self.takes_whole_numbers() {
            Level::Integer(exact.round() as i64)
        } else {
            Level::Number(exact)
        };
        if level.number() == Some(0.0) && low > 0.0 {
            let (factor, design) = (self.factor.name.clone(), self.design);
            return Err(DesignError::BelowZero { factor, value: 0.0, design });
        }
        Ok(Placed { coded, exact, level })
    }

    /// The level in the middle of the axis.
    pub(crate) fn centre(&self) -> Result<(Level, Option<DesignNote>), DesignError> {
        let levels = self.levels(&[-1.0, 0.0, 1.0], Repeats::Refused)?;
        let note = self.rounded(&levels);
        let centre = levels.into_iter().nth(1).expect("three levels were asked for");
        Ok((centre.level, note))
    }

    fn takes_whole_numbers(&self) -> bool {
        self.factor.levels.iter().all(|level| matches!(level, Level::Integer(_)))
    }

    fn rounded(&self, levels: &[Placed]) -> Option<DesignNote> {
        let moved = |own: &&Placed| own.level.number() != Some(own.exact);
        let first = levels.iter().find(moved)?;
        Some(DesignNote::Rounded {
            factor: self.factor.name.clone(),
            wanted: first.exact,
            level: first.level.clone(),
            others: levels.iter().filter(moved).count() - 1,
        })
    }

    fn outside(&self, levels: &[Placed]) -> Option<DesignNote> {
        let beyond = levels.iter().any(|own| own.coded.abs() > 1.0);
        let (lowest, highest) = (levels.first()?, levels.last()?);
        beyond.then(|| DesignNote::Beyond {
            factor: self.factor.name.clone(),
            low: lowest.level.clone(),
            high: highest.level.clone(),
            is_range: self.factor.domain == Domain::Range,
        })
    }
}

/// A value without the last digits, which are the scale's rounding.
fn tidy(value: f64) -> f64 {
    format!("{value:.11e}").parse().expect("a printed number reads")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(factor: &str) -> Study {
        Study::from_text(&format!(
            "schema = 1\n[study]\nname = \"t\"\n[factors.x]\n{factor}\n[design]\ntype = \"full\"\n\
             [metrics.time]\nfrom = \"wall\"\nunit = \"s\"\n"
        ))
        .unwrap()
    }

    fn levels(factor: &str, coded: &[f64], repeats: Repeats) -> Result<String, DesignError> {
        let rows: Vec<Vec<f64>> = coded.iter().map(|&own| vec![own]).collect();
        let (rows, notes) = configurations(&study(factor), "test", &rows, repeats)?;
        let rows: Vec<String> = rows.iter().map(|row| row.get("x").unwrap().to_string()).collect();
        let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        Ok([rows, notes].concat().join("; "))
    }

    #[track_caller]
    fn check(factor: &str, coded: &[f64], expected: &str) {
        assert_eq!(levels(factor, coded, Repeats::Refused).unwrap(), expected, "{factor}");
    }

    #[test]
    fn coordinates_are_placed_on_the_scale() {
        check("levels = [0.1, 0.3]", &[0.0, 1.0, -1.0, 0.5], "0.2; 0.3; 0.1; 0.25");
        check(
            "levels = [0.01, 0.0001]\nscale = \"log\"",
            &[-1.0, 0.0, 0.5],
            "0.0001; 0.001; 0.00316227766017",
        );
        check("levels = [32, 128]\nscale = \"log2\"", &[-1.0, 0.0, 1.0], "32; 64; 128");
        check("range = { from = 1, to = 9 }", &[-1.0, 0.0, 0.5], "1; 5; 7");
        check("levels = [1, 2, 9]", &[-1.0, 0.0, 1.0], "1; 2; 9");
        check(
            "levels = [10.0, 20.0]",
            &[-1.5, 0.0, 1.5],
            "7.5; 15; 22.5; `x` also runs beyond its levels, from 7.5 to 22.5",
        );
    }

    #[test]
    fn whole_numbers_stay_whole_and_say_so() {
        check(
            "levels = [1, 4]",
            &[-1.0, 0.0, 1.0],
            "1; 3; 4; `x` takes whole numbers: 2.5 runs as 3",
        );
        let fault = levels("levels = [1, 2]", &[-1.0, 0.0, 1.0], Repeats::Refused).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "factor `x` takes whole numbers, and both 1.5 and 2 would run as 2"
        );
        assert!(levels("levels = [1, 2]", &[-0.5, -0.4], Repeats::Allowed).is_ok());
    }

    #[test]
    fn positive_factors_stay_positive() {
        for factor in ["levels = [1.0, 4.0]", "levels = [1, 4]"] {
            let fault = levels(factor, &[-1.8, 0.0, 1.8], Repeats::Refused).unwrap_err();
            assert!(fault.to_string().contains("though its levels are above 0"), "{fault}");
        }
        check(
            "levels = [-1.0, 1.0]",
            &[-2.0],
            "-2; `x` also runs beyond its levels, from -2 to -2",
        );
    }

    #[test]
    fn texts_have_no_middle() {
        let fault = levels("levels = [\"a\", \"b\"]", &[0.0], Repeats::Refused).unwrap_err();
        assert!(matches!(fault, DesignError::NotNumeric { .. }));
    }
}
