//! Variables made of the levels that a study declares and its trials had.

use std::collections::{HashMap, HashSet};

use trainwright_study::{Domain, Factor, Level};

use super::{Origin, Variable, coded};
use crate::error::AnalysisError;

impl Variable {
    /// Places observed levels among those a study declares and `further` ones of its design.
    ///
    /// A conditional factor that some trials lack becomes a category with the level `absent`.
    pub(crate) fn from_factor(
        factor: &Factor,
        further: &[Level],
        observed: &[(u32, Option<&Level>)],
    ) -> Result<Self, AnalysisError> {
        let mut levels = levels_of(factor, further, observed);
        let conditional = factor.when.is_some() && observed.iter().any(|(_, l)| l.is_none());
        let numeric = factor.is_numeric() && !conditional;
        if factor.is_numeric() {
            levels.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        if conditional {
            levels.insert(0, Level::Text("absent".to_owned()));
        }
        let mut codes = Vec::with_capacity(observed.len());
        let places: HashMap<String, usize> = levels.iter().map(Level::identity).zip(0..).collect();
        for &(trial, level) in observed {
            let code = match level {
                // A store or table may give back the number that a text such as `16` looks like.
                Some(level) => places.get(&level.identity()).copied().or_else(|| {
                    let text = level.to_string();
                    levels.iter().position(|own| own.to_string() == text)
                }),
                None if conditional => Some(0),
                None => {
                    let factor = factor.name.clone();
                    return Err(AnalysisError::MissingLevel { trial, factor });
                }
            };
            codes.push(code.ok_or_else(|| AnalysisError::UnknownLevel {
                trial,
                factor: factor.name.clone(),
                level: level.map(Level::to_string).unwrap_or_default(),
            })?);
        }
        let place = |l: &Level| factor.scale.position(number(l));
        let positions: Option<Vec<f64>> = numeric.then(|| levels.iter().map(place).collect());
        let raw = numeric.then(|| codes.iter().map(|&c| number(&levels[c])).collect());
        let coded = match (positions, factor.ends()) {
            // The ends of the factor are -1 and +1 even where the design runs beyond them.
            (Some(positions), Some((low, high))) => {
                let (low, high) = (place(low), place(high));
                Some(
                    codes
                        .iter()
                        .map(|&c| (2.0 * positions[c] - low - high) / (high - low))
                        .collect(),
                )
            }
            _ => coded(&codes, levels.len(), None),
        };
        let listed = factor.domain == Domain::Levels && further.is_empty();
        let origin = if listed { Origin::Declared } else { Origin::Observed };
        Ok(Self { name: factor.name.clone(), levels, codes, raw, polynomials: None, coded, origin })
    }
}

/// Declared levels with those of the design; of a range those that ran.
fn levels_of(factor: &Factor, further: &[Level], observed: &[(u32, Option<&Level>)]) -> Vec<Level> {
    let mut levels = factor.levels.clone();
    if factor.domain == Domain::Range {
        let inside = |level: &&Level| factor.value(level).is_some();
        let ran = observed.iter().filter_map(|(_, level)| *level).filter(inside).cloned();
        levels = ran.chain(further.iter().cloned()).collect();
        levels.sort_by(|a, b| number(a).total_cmp(&number(b)));
        levels.dedup_by(|a, b| a.same_as(b));
        let run: HashSet<String> =
            observed.iter().filter_map(|(_, level)| *level).map(Level::identity).collect();
        levels.retain(|level| run.contains(&level.identity()));
    } else {
        levels.extend(further.iter().cloned());
    }
    levels
}

fn number(level: &Level) -> f64 {
    level.number().expect("all levels of a numeric factor are numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(levels: Vec<Level>, when: Option<&str>) -> Factor {
        Factor {
            name: "lr".to_owned(),
            levels,
            scale: trainwright_study::Scale::Log,
            domain: trainwright_study::Domain::Levels,
            kind: trainwright_study::FactorKind::Hyper,
            change: trainwright_study::Change::Easy,
            before: None,
            when: when.map(|text| trainwright_study::Expression::parse(text).unwrap()),
        }
    }

    #[test]
    fn a_declared_scale_places_the_middle_level() {
        let declared = factor(vec![1.0, 0.01, 0.1].into_iter().map(Level::Number).collect(), None);
        let (low, middle) = (Level::Number(0.01), Level::Number(0.1));
        let found =
            Variable::from_factor(&declared, &[], &[(1, Some(&middle)), (2, Some(&low))]).unwrap();
        assert!(found.coded.unwrap()[0].abs() < 1e-12);
        assert_eq!(found.raw.unwrap(), [0.1, 0.01]);
        let missing = Variable::from_factor(&declared, &[], &[(3, None)]).unwrap_err().to_string();
        assert_eq!(missing, "trial 3 has no level of factor `lr`");
        let strange = Variable::from_factor(&declared, &[], &[(4, Some(&Level::Integer(7)))]);
        let message = strange.unwrap_err().to_string();
        assert_eq!(message, "trial 4: `7` is not a level of factor `lr`");
    }

    #[test]
    fn texts_that_look_like_numbers_are_found_again() {
        let texts = ["16", "32", "auto"].map(|text| Level::Text(text.to_owned()));
        let declared = factor(texts.to_vec(), None);
        let (number, text) = (Level::Integer(32), Level::Text("auto".to_owned()));
        let found = Variable::from_factor(&declared, &[], &[(1, Some(&number)), (2, Some(&text))]);
        assert_eq!(found.unwrap().codes, [1, 2]);
    }

    #[test]
    fn a_conditional_factor_is_absent_as_a_level() {
        let levels = vec![Level::Number(0.5), Level::Number(0.9)];
        let declared = factor(levels.clone(), Some("epochs > 1"));
        let found =
            Variable::from_factor(&declared, &[], &[(1, None), (2, Some(&levels[1]))]).unwrap();
        assert_eq!((found.codes, found.levels.len(), found.raw), (vec![0, 2], 3, None));
    }
}
