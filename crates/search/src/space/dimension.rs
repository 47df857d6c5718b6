//! One factor of a space: its values, their places in the unit interval and what a predictor sees
//! of them.

use trainwright_study::{Domain, Factor, Level, Scale};

use crate::gaussian_process::Distance;

/// Digits that tell two values of a range apart: more would only make configurations hard to read.
const DIGITS: i32 = 6;
/// What a predictor sees of a category that does not exist in a configuration.
const NO_CATEGORY: f64 = -1.0;
/// Where the middle is: what a predictor sees of a number that does not exist in a configuration.
const MIDDLE: f64 = 0.5;

/// A factor as a searcher sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    name: String,
    values: Values,
}

/// Which values a dimension has.
#[derive(Debug, Clone, PartialEq)]
enum Values {
    /// All numbers from the lower to the higher.
    Real { low: f64, high: f64, scale: Scale },
    /// All whole numbers from the lower to the higher.
    Whole { low: i64, high: i64, scale: Scale },
    /// Numbers, ascending, with their places between 0 and 1.
    Ordered { levels: Vec<Level>, places: Vec<f64> },
    /// Anything else.
    Categories { levels: Vec<Level> },
}

impl Dimension {
    /// What a factor is to a searcher.
    pub(crate) fn of(factor: &Factor) -> Self {
        let name = factor.name.clone();
        let numbers: Option<Vec<f64>> = factor.levels.iter().map(Level::number).collect();
        let Some(mut numbers) = numbers else {
            return Self { name, values: Values::Categories { levels: factor.levels.clone() } };
        };
        numbers.sort_by(f64::total_cmp);
        let (low, high) = (numbers[0], numbers[numbers.len() - 1]);
        let scale = factor.scale;
        let values = match (factor.domain, &factor.levels[0], &factor.levels[1]) {
            (Domain::Range, Level::Integer(_), Level::Integer(_)) => {
                Values::Whole { low: low as i64, high: high as i64, scale }
            }
            (Domain::Range, ..) => Values::Real { low, high, scale },
            (Domain::Levels, ..) => {
                let place = |own: &f64| {
                    let (from, to) = (scale.position(low), scale.position(high));
                    (scale.position(*own) - from) / (to - from)
                };
                let places = numbers.iter().map(place).collect();
                let level = |own: &f64| {
                    let same = |level: &&Level| level.number() == Some(*own);
                    factor.levels.iter().find(same).cloned()
                };
                Values::Ordered { levels: numbers.iter().filter_map(level).collect(), places }
            }
        };
        Self { name, values }
    }

    /// The factor's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How far two of its values are apart, to a predictor.
    pub fn distance(&self) -> Distance {
        match self.values {
            Values::Categories { .. } => Distance::Mismatch,
            _ => Distance::Difference,
        }
    }

    /// Whether it has all numbers between two, or all whole ones, rather than levels of its own.
    pub fn is_range(&self) -> bool {
        matches!(self.values, Values::Real { .. } | Values::Whole { .. })
    }

    /// How many values it has; nothing where they are too many to count.
    pub fn count(&self) -> Option<u64> {
        match &self.values {
            Values::Real { .. } => None,
            Values::Whole { low, high, .. } => high.abs_diff(*low).checked_add(1),
            Values::Ordered { levels, .. } | Values::Categories { levels } => {
                Some(levels.len() as u64)
            }
        }
    }

    /// Its value number `index`, from 0; nothing for a range of all numbers.
    pub(crate) fn value(&self, index: u64) -> Option<Level> {
        match &self.values {
            Values::Real { .. } => None,
            Values::Whole { low, .. } => Some(Level::Integer(low.checked_add_unsigned(index)?)),
            Values::Ordered { levels, .. } | Values::Categories { levels } => {
                levels.get(index as usize).cloned()
            }
        }
    }

    /// The number of a value, from 0; nothing for a range of all numbers.
    pub(crate) fn index(&self, level: &Level) -> Option<u64> {
        match &self.values {
            Values::Real { .. } => None,
            Values::Whole { low, high, .. } => {
                let own = level.number()?.round() as i64;
                (*low..=*high).contains(&own).then(|| own.abs_diff(*low))
            }
            Values::Ordered { levels, .. } | Values::Categories { levels } => {
                levels.iter().position(|own| own.same_as(level)).map(|own| own as u64)
            }
        }
    }

    /// The value whose part of the unit interval holds the place. Each of several values has an
    /// equal part, on its scale.
    pub fn level(&self, place: f64) -> Level {
        let place = place.clamp(0.0, 1.0);
        match &self.values {
            Values::Real { low, high, scale } => {
                let (from, to) = (scale.position(*low), scale.position(*high));
                let exact = scale.value(from + place * (to - from));
                Level::Number(rounded(exact).clamp(*low, *high))
            }
            Values::Whole { low, high, scale } => {
                let (from, to) = borders(*low, *high, *scale);
                let exact = scale.value(from + place * (to - from));
                Level::Integer((exact.round() as i64).clamp(*low, *high))
            }
            Values::Ordered { levels, .. } | Values::Categories { levels } => {
                levels[part(place, levels.len())].clone()
            }
        }
    }

    /// The middle of the part of the unit interval that a value has.
    pub fn place(&self, level: &Level) -> Option<f64> {
        match &self.values {
            Values::Real { low, high, scale } => {
                let (from, to) = (scale.position(*low), scale.position(*high));
                let own = scale.position(level.number()?);
                Some(((own - from) / (to - from)).clamp(0.0, 1.0))
            }
            Values::Whole { low, high, scale } => {
                let (from, to) = borders(*low, *high, *scale);
                let own = scale.position(level.number()?);
                Some(((own - from) / (to - from)).clamp(0.0, 1.0))
            }
            Values::Ordered { levels, .. } | Values::Categories { levels } => {
                let index = levels.iter().position(|own| own.same_as(level))?;
                Some((index as f64 + 0.5) / levels.len() as f64)
            }
        }
    }

    /// What a predictor sees of a value, or of its absence.
    pub(crate) fn feature(&self, level: Option<&Level>) -> Option<f64> {
        match (&self.values, level) {
            (Values::Categories { .. }, None) => Some(NO_CATEGORY),
            (_, None) => Some(MIDDLE),
            (Values::Categories { levels }, Some(level)) => {
                levels.iter().position(|own| own.same_as(level)).map(|index| index as f64)
            }
            (Values::Ordered { levels, places }, Some(level)) => {
                let index = levels.iter().position(|own| own.same_as(level));
                index.map(|index| places[index]).or_else(|| self.between(level))
            }
            (_, Some(level)) => self.place(level),
        }
    }

    /// What a predictor sees of the value at a place, without making the value.
    pub(crate) fn feature_at(&self, place: f64) -> f64 {
        let place = place.clamp(0.0, 1.0);
        match &self.values {
            // The rounding of values is far below what a predictor can tell apart.
            Values::Real { .. } => place,
            Values::Whole { low, high, scale } => {
                let (from, to) = borders(*low, *high, *scale);
                let exact = scale.value(from + place * (to - from));
                let whole = exact.round().clamp(*low as f64, *high as f64);
                ((scale.position(whole) - from) / (to - from)).clamp(0.0, 1.0)
            }
            Values::Ordered { places, .. } => places[part(place, places.len())],
            Values::Categories { levels } => part(place, levels.len()) as f64,
        }
    }

    /// The place of a number that is none of the levels, such as a centre point of a design.
    fn between(&self, level: &Level) -> Option<f64> {
        let Values::Ordered { levels, places } = &self.values else { return None };
        let own = level.number()?;
        let numbers: Vec<f64> = levels.iter().filter_map(Level::number).collect();
        let above = numbers.iter().position(|other| *other > own)?;
        let below = above.checked_sub(1)?;
        let share = (own - numbers[below]) / (numbers[above] - numbers[below]);
        Some(places[below] + share * (places[above] - places[below]))
    }
}

/// Which of so many equal parts of the unit interval holds a place.
fn part(place: f64, parts: usize) -> usize {
    ((place * parts as f64) as usize).min(parts - 1)
}

/// Half a step below the lowest and above the highest whole number, on the scale.
fn borders(low: i64, high: i64, scale: Scale) -> (f64, f64) {
    let low = low as f64 - 0.5;
    // Whole numbers on a log scale begin at 1, so that half a step below is above 0.
    (scale.position(low), scale.position(high as f64 + 0.5))
}

/// A number with as many digits as tell values of a range apart.
fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    let text = format!("{value:.*e}", (DIGITS - 1) as usize);
    text.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trainwright_study::Study;

    use super::*;

    fn dimension(lines: &str) -> Dimension {
        let text =
            format!("schema = 1\n[study]\nname = \"s\"\n[factors.x]\n{lines}\n[metrics.y]\n");
        Dimension::of(&Study::from_text(&text).unwrap().factors[0])
    }

    fn all() -> Vec<Dimension> {
        [
            "range = { from = -5.0, to = 10.0 }",
            "range = { from = 0.0001, to = 0.1 }\nscale = \"log\"",
            "range = { from = 1, to = 64 }\nscale = \"log2\"",
            "range = { from = -3, to = 3 }",
            "levels = [256, 32, 64]\nscale = \"log2\"",
            "levels = [\"adam\", \"sgd\", \"rmsprop\"]",
            "levels = [true, false]",
        ]
        .map(dimension)
        .to_vec()
    }

    proptest! {
        #[test]
        fn a_value_is_found_again_at_its_place(place in 0.0..=1.0f64) {
            for own in all() {
                let level = own.level(place);
                let again = own.place(&level).unwrap();
                prop_assert_eq!(own.level(again), level.clone(), "{:?}", own);
                let feature = own.feature(Some(&level)).unwrap();
                prop_assert!((feature - own.feature_at(place)).abs() < 2e-6, "{:?}", own);
                prop_assert!(own.distance() == Distance::Mismatch || (0.0..=1.0).contains(&feature));
            }
        }
    }

    #[test]
    fn values_have_equal_parts_on_their_scale() {
        let share = |own: &Dimension, wanted: Level| {
            let hits = (0..10_000).filter(|i| own.level((f64::from(*i) + 0.5) / 1e4) == wanted);
            hits.count()
        };
        let (whole, levels) = (all()[3].clone(), all()[4].clone());
        assert!(share(&whole, Level::Integer(-3)).abs_diff(1429) < 3);
        assert!(share(&whole, Level::Integer(0)).abs_diff(1429) < 3);
        assert!(share(&levels, Level::Integer(256)).abs_diff(3333) < 3);
        assert_eq!(all()[2].level(0.0), Level::Integer(1));
        assert_eq!(all()[2].level(1.0), Level::Integer(64));
    }

    #[test]
    fn a_predictor_sees_levels_on_their_scale_and_categories_by_number() {
        let own = all();
        let see = |index: usize, level: Level| own[index].feature(Some(&level));
        assert_eq!(see(4, Level::Integer(64)), Some(1.0 / 3.0), "32, 64, 256 in doublings");
        assert_eq!(see(4, Level::Integer(48)), Some(1.0 / 6.0), "between two levels");
        assert_eq!(see(5, Level::Text("sgd".into())), Some(1.0));
        assert_eq!(see(5, Level::Text("none".into())), None);
        assert_eq!((own[5].feature(None), own[0].feature(None)), (Some(-1.0), Some(0.5)));
    }

    #[test]
    fn values_are_counted_and_numbered() {
        let counts: Vec<Option<u64>> = all().iter().map(Dimension::count).collect();
        assert_eq!(counts, [None, None, Some(64), Some(7), Some(3), Some(3), Some(2)]);
        assert_eq!(all()[3].value(6), Some(Level::Integer(3)));
        assert_eq!(all()[4].value(0), Some(Level::Integer(32)), "numbers ascend");
        assert_eq!(all()[0].value(0), None);
    }

    #[test]
    fn numbers_have_no_more_digits_than_they_need() {
        assert_eq!(all()[1].level(0.123_456).to_string(), "0.000234622");
        assert_eq!(rounded(0.0), 0.0);
    }
}
