//! A column of the right side of an equation: its levels, and its values raw and coded.

mod from_factor;
mod from_table;

use std::collections::{HashMap, HashSet};

use trainwright_stats::orthogonal_polynomials;
use trainwright_study::Level;

/// A factor or covariate with a value for every observation.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// Distinct levels: numbers by size, texts by alphabet or in the order of the study.
    pub(crate) levels: Vec<Level>,
    /// Level of each observation.
    pub(crate) codes: Vec<usize>,
    /// Values as measured, if they are numbers that enter as such.
    pub(crate) raw: Option<Vec<f64>>,
    /// Columns that enter in place of the values: orthogonal polynomials.
    pub(crate) polynomials: Option<Polynomials>,
    /// Values from -1 (lowest level) to +1 (highest); `None` for three or more categories.
    pub(crate) coded: Option<Vec<f64>>,
    origin: Origin,
}

/// Orthogonal polynomials of a variable, one column a degree.
#[derive(Debug, Clone)]
pub(crate) struct Polynomials {
    pub(crate) names: Vec<String>,
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) in_products: InProducts,
}

/// What a variable with polynomials brings into products with other variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InProducts {
    /// All its columns.
    Whole,
    /// Its values alone.
    Straight,
}

/// Where the levels of a variable come from.
#[derive(Debug, Clone, PartialEq)]
enum Origin {
    /// A study lists them.
    Declared,
    /// They are the values seen in a table, or points of a design between declared levels.
    Observed,
    /// They number the blocks that trials ran in, which nobody chose to compare.
    Block,
    /// They are those of the factor whose power it is.
    Power {
        /// The factor.
        factor: String,
    },
    /// They are computed from one column of a table.
    Computed {
        /// The column.
        column: String,
        /// Its values, where they are numbers.
        values: Option<Vec<f64>>,
    },
}

impl Variable {
    /// Whether its values are a power of the column it is computed from.
    pub(crate) fn is_power_of_column(&self) -> bool {
        let Origin::Computed { column, .. } = &self.origin else { return false };
        let inside = self.name.strip_prefix("I(").and_then(|rest| rest.strip_suffix(')'));
        let parts = inside.and_then(|inside| inside.rsplit_once('^'));
        parts.is_some_and(|(base, degree)| {
            base.trim().trim_matches('`') == column && degree.trim().parse::<u32>().is_ok()
        })
    }

    /// The block of each observation, as a category.
    pub(crate) fn from_blocks(blocks: &[u32]) -> Self {
        let texts: Vec<String> = blocks.iter().map(u32::to_string).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Self { origin: Origin::Block, ..Self::categorical("block", &texts) }
    }

    /// A power of a numeric factor under a name, in raw and in coded units.
    pub(crate) fn power(&self, name: &str, exponent: i32) -> Option<Self> {
        let raised = |values: &Option<Vec<f64>>| {
            Some(values.as_ref()?.iter().map(|v| v.powi(exponent)).collect())
        };
        let (raw, coded) = (raised(&self.raw), raised(&self.coded));
        let (name, origin) = (name.to_owned(), Origin::Power { factor: self.name.clone() });
        let own = Self { name, raw, coded, origin, polynomials: None, ..self.clone() };
        self.raw.is_some().then_some(own)
    }

    /// The same variable with orthogonal polynomials of its levels up to a degree, each level
    /// counted once; nothing where there are too few levels.
    pub(crate) fn bent(&self, degree: usize, in_products: InProducts) -> Option<Self> {
        let coded = self.raw.as_ref().and(self.coded.as_ref())?;
        let mut place: Vec<Option<f64>> = vec![None; self.levels.len()];
        self.codes.iter().zip(coded).for_each(|(&code, &at)| place[code] = Some(at));
        let positions: Vec<f64> = place.iter().copied().flatten().collect();
        let of_levels = orthogonal_polynomials(&positions, degree).ok()?;
        let mut rank = vec![0; self.levels.len()];
        let seen = (0..place.len()).filter(|&code| place[code].is_some());
        seen.enumerate().for_each(|(at, code)| rank[code] = at);
        let column = |own: &Vec<f64>| {
            let largest = own.iter().fold(0.0f64, |most, v| most.max(v.abs()));
            self.codes.iter().map(|&code| own[rank[code]] / largest).collect()
        };
        let columns = of_levels.iter().map(column).collect();
        let names = (1..=degree).map(|power| self.name_of_degree(power)).collect();
        let polynomials = Some(Polynomials { names, columns, in_products });
        Some(Self { polynomials, ..self.clone() })
    }

    fn name_of_degree(&self, power: usize) -> String {
        let name = &self.name;
        match power {
            1 => format!("{name}[linear]"),
            2 => format!("{name}[quadratic]"),
            3 => format!("{name}[cubic]"),
            _ => format!("{name}[degree {power}]"),
        }
    }

    /// The same variable with the values of these observations.
    pub(crate) fn at_rows(&self, rows: &[usize]) -> Self {
        let chosen = |values: &Vec<f64>| rows.iter().map(|&row| values[row]).collect();
        Self {
            codes: rows.iter().map(|&row| self.codes[row]).collect(),
            raw: self.raw.as_ref().map(chosen),
            coded: self.coded.as_ref().map(chosen),
            polynomials: self.polynomials.as_ref().map(|own| Polynomials {
                names: own.names.clone(),
                columns: own.columns.iter().map(chosen).collect(),
                in_products: own.in_products,
            }),
            ..self.clone()
        }
    }

    /// What it is made of: the factor or column whose power or function it is, or itself.
    pub(crate) fn source(&self) -> &str {
        match &self.origin {
            Origin::Power { factor } => factor,
            Origin::Computed { column, .. } => column,
            _ => &self.name,
        }
    }

    /// The column that it is computed from, as a variable of its own.
    pub(crate) fn column_behind(&self) -> Option<Self> {
        match &self.origin {
            Origin::Computed { column, values: Some(values) } => {
                Some(Self::numeric(column, values.clone()))
            }
            _ => None,
        }
    }

    /// Different levels among the observations.
    pub(crate) fn observed_levels(&self) -> usize {
        self.codes.iter().collect::<HashSet<_>>().len()
    }

    /// Whether a study lists its levels.
    pub(crate) fn is_declared(&self) -> bool {
        self.origin == Origin::Declared
    }

    /// A numeric variable whose levels are its distinct values.
    fn numeric(name: &str, values: Vec<f64>) -> Self {
        let mut distinct = values.clone();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup();
        let codes: Vec<usize> =
            values.iter().map(|v| distinct.partition_point(|d| d < v)).collect();
        let coded = coded(&codes, distinct.len(), Some(&distinct));
        let levels = distinct.into_iter().map(Level::of).collect();
        let (name, origin) = (name.to_owned(), Origin::Observed);
        Self { name, levels, codes, raw: Some(values), polynomials: None, coded, origin }
    }

    fn categorical(name: &str, texts: &[&str]) -> Self {
        let mut distinct = texts.to_vec();
        sort_levels(&mut distinct);
        distinct.dedup();
        let places: HashMap<&str, usize> =
            distinct.iter().enumerate().map(|(code, text)| (*text, code)).collect();
        let codes: Vec<usize> = texts.iter().map(|text| places[text]).collect();
        let coded = coded(&codes, distinct.len(), None);
        let levels = distinct.iter().map(|t| Level::Text((*t).to_owned())).collect();
        let (name, origin) = (name.to_owned(), Origin::Observed);
        Self { name, levels, codes, raw: None, polynomials: None, coded, origin }
    }

    fn coded_as_category(&self) -> Option<Vec<f64>> {
        coded(&self.codes, self.levels.len(), None)
    }

    /// Whether the levels are those of a factor rather than readings, which hardly repeat.
    pub(crate) fn is_factor(&self) -> bool {
        let few = self.levels.len() <= 12 && 2 * self.levels.len() <= self.codes.len();
        !self.is_block()
            && !self.is_power()
            && (self.origin == Origin::Declared || self.raw.is_none() || few)
    }

    /// Whether it tells in which block an observation was made.
    pub(crate) fn is_block(&self) -> bool {
        self.origin == Origin::Block
    }

    /// Whether it is a power of another variable.
    pub(crate) fn is_power(&self) -> bool {
        matches!(self.origin, Origin::Power { .. })
    }

    /// Whether the levels are numbers.
    pub(crate) fn is_numeric(&self) -> bool {
        self.raw.is_some()
    }
}

/// Numbers by size, texts by alphabet.
pub(crate) fn sort_levels(texts: &mut [&str]) {
    if texts.iter().all(|t| t.parse::<f64>().is_ok()) {
        let value = |t: &str| t.parse::<f64>().unwrap_or(f64::INFINITY);
        texts.sort_by(|a, b| value(a).total_cmp(&value(b)).then_with(|| a.cmp(b)));
    } else {
        texts.sort_unstable();
    }
}

/// Codes on -1 to +1: two levels at the ends, numbers in proportion to their position.
fn coded(codes: &[usize], levels: usize, positions: Option<&[f64]>) -> Option<Vec<f64>> {
    if levels <= 2 {
        return Some(codes.iter().map(|&c| if c == 0 { -1.0 } else { 1.0 }).collect());
    }
    let positions = positions?;
    let (low, high) = (positions[0], positions[levels - 1]);
    Some(codes.iter().map(|&c| (2.0 * positions[c] - low - high) / (high - low)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_coded_by_position_and_two_texts_by_alphabet() {
        let x = Variable::numeric("x", vec![3.0, 1.0, 2.0, 5.0]);
        assert_eq!(x.coded.unwrap(), [0.0, -1.0, -0.5, 1.0]);
        let g = Variable::categorical("g", &["b", "a", "b"]);
        assert_eq!(g.coded.unwrap(), [1.0, -1.0, 1.0]);
        assert_eq!(Variable::categorical("g", &["b", "a", "c"]).coded, None);
    }

    #[test]
    fn few_values_that_repeat_are_levels_and_many_are_readings() {
        let of = |levels: u32, runs: u32| {
            let values = (0..runs).map(|at| f64::from(at % levels)).collect();
            Variable::numeric("x", values).is_factor()
        };
        assert!(of(2, 4) && of(12, 24));
        assert!(!of(3, 5), "fewer than two runs a level");
        assert!(!of(13, 130), "more levels than anyone sets");
        assert!(Variable::categorical("g", &["a", "b"]).is_factor());
        let block = Variable::from_blocks(&[1, 1, 2, 10]);
        assert!(block.is_block() && !block.is_factor());
        assert_eq!(block.codes, [0, 0, 1, 2], "blocks are numbers, 10 after 2");
    }

    #[test]
    fn powers_and_bent_lines_stand_for_their_factor() {
        let x = Variable::numeric("x", vec![0.0, 1.0, 2.0, 4.0]);
        let square = x.power("x^2", 2).unwrap();
        assert_eq!(square.raw.as_ref().unwrap(), &[0.0, 1.0, 4.0, 16.0]);
        assert_eq!(square.coded.as_ref().unwrap(), &[1.0, 0.25, 0.0, 1.0], "of -1, -0.5, 0 and 1");
        assert!(square.is_power() && square.source() == "x");
        assert!(Variable::categorical("g", &["a", "b"]).power("g^2", 2).is_none());
        let bent = x.bent(2, InProducts::Whole).unwrap().polynomials.unwrap();
        assert_eq!(bent.names, ["x[linear]", "x[quadratic]"]);
        let most = |own: &Vec<f64>| own.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        assert!(bent.columns.iter().all(|own| (most(own) - 1.0).abs() < 1e-12));
        assert!(x.bent(4, InProducts::Whole).is_none(), "four levels have no fourth degree");
    }

    #[test]
    fn categories_that_are_numbers_are_ordered_by_size() {
        let dose = Variable::categorical("dose", &["10", "2", "0.5"]);
        let names: Vec<String> = dose.levels.iter().map(Level::to_string).collect();
        assert_eq!(names, ["0.5", "2", "10"]);
    }
}
