//! A column of the right side of an equation: its levels, and its values raw and coded.

use std::collections::{HashMap, HashSet};

use trainwright_stats::orthogonal_polynomials;
use trainwright_study::{Domain, Factor, Level};

use crate::csv_table::{Column, Table};
use crate::error::AnalysisError;
use crate::model::derived_columns::{self, Derived};

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
#[derive(Debug, Clone, PartialEq, Eq)]
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
    },
}

impl Variable {
    /// Reads the chosen rows of a table's column.
    pub(crate) fn from_table(
        table: &Table,
        name: &str,
        rows: &[usize],
    ) -> Result<Self, AnalysisError> {
        let empty = |row: usize| AnalysisError::EmptyFactor {
            line: table.line(row),
            column: name.to_owned(),
        };
        // A column may bear such a name itself.
        if let Some(derived) = Derived::of(name).filter(|_| table.names().all(|own| own != name)) {
            return Self::from_derived(table, name, derived, rows);
        }
        match table.column(name)? {
            Column::Numeric(cells) => {
                let values: Vec<f64> = rows
                    .iter()
                    .map(|&row| cells[row].ok_or_else(|| empty(row)))
                    .collect::<Result<_, _>>()?;
                Ok(Self::numeric(name, values))
            }
            Column::Categorical(cells) => {
                let texts: Vec<&str> = rows
                    .iter()
                    .map(|&row| cells[row].as_deref().ok_or_else(|| empty(row)))
                    .collect::<Result<_, _>>()?;
                Ok(Self::categorical(name, &texts))
            }
        }
    }

    /// Computes the chosen rows of what is no column of a table but made of some.
    fn from_derived(
        table: &Table,
        name: &str,
        derived: Derived,
        rows: &[usize],
    ) -> Result<Self, AnalysisError> {
        match derived {
            Derived::Computed(computed) => {
                let values = derived_columns::values(table, &computed, rows.iter().copied())?;
                let mut variable = Self::numeric(name, values);
                if let [column] = computed.names().into_iter().collect::<Vec<_>>().as_slice() {
                    variable.origin = Origin::Computed { column: (*column).to_owned() };
                }
                Ok(variable)
            }
            Derived::Polynomial { column, degree } => {
                let variable = Self::from_table(table, &column, rows)?;
                let Some(values) = &variable.raw else {
                    let (expression, reason) =
                        (name.to_owned(), format!("column `{column}` holds texts"));
                    return Err(AnalysisError::NotComputable { expression, line: 1, reason });
                };
                let columns = orthogonal_polynomials(values, degree).map_err(|source| {
                    AnalysisError::Variable { variable: name.to_owned(), source }
                })?;
                let names = (1..=degree).map(|power| format!("{name}{power}")).collect();
                let polynomials = Polynomials { names, columns, in_products: InProducts::Whole };
                let (name, polynomials) = (name.to_owned(), Some(polynomials));
                let origin = Origin::Computed { column };
                Ok(Self { name, polynomials, origin, ..variable })
            }
            Derived::Category { column } => {
                let plain = Self::from_table(table, &column, rows)?;
                let (name, coded) = (name.to_owned(), plain.coded_as_category());
                let origin = Origin::Computed { column };
                Ok(Self { name, raw: None, coded, origin, ..plain })
            }
        }
    }

    /// Whether its values are a power of the column it is computed from.
    pub(crate) fn is_power_of_column(&self) -> bool {
        let Origin::Computed { column } = &self.origin else { return false };
        let inside = self.name.strip_prefix("I(").and_then(|rest| rest.strip_suffix(')'));
        let parts = inside.and_then(|inside| inside.rsplit_once('^'));
        parts.is_some_and(|(base, degree)| {
            base.trim().trim_matches('`') == column && degree.trim().parse::<u32>().is_ok()
        })
    }

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
            Origin::Computed { column } => column,
            _ => &self.name,
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

/// Numbers by size, texts by alphabet.
pub(crate) fn sort_levels(texts: &mut [&str]) {
    if texts.iter().all(|t| t.parse::<f64>().is_ok()) {
        let value = |t: &str| t.parse::<f64>().unwrap_or(f64::INFINITY);
        texts.sort_by(|a, b| value(a).total_cmp(&value(b)).then_with(|| a.cmp(b)));
    } else {
        texts.sort_unstable();
    }
}

fn number(level: &Level) -> f64 {
    level.number().expect("all levels of a numeric factor are numbers")
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

    fn from(csv: &str, name: &str) -> Result<Variable, String> {
        let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        let rows: Vec<usize> = (0..table.rows()).collect();
        Variable::from_table(&table, name, &rows).map_err(|error| error.to_string())
    }

    #[test]
    fn a_column_may_bear_the_name_of_a_function_of_another() {
        let csv = "x,log2(x)\n2,7\n8,9\n";
        assert_eq!(from(csv, "log2(x)").unwrap().raw.unwrap(), [7.0, 9.0], "the column itself");
        let computed = from("x\n2\n8\n", "log2(x)").unwrap();
        assert_eq!(computed.raw.as_ref().unwrap(), &[1.0, 3.0]);
        assert_eq!(computed.source(), "x");
        assert!(!computed.is_power_of_column());
        assert!(from("x\n2\n8\n", "I(x^3)").unwrap().is_power_of_column());
        assert!(!from("x,z\n2,1\n8,2\n", "I(x * z)").unwrap().is_power_of_column());
    }

    #[test]
    fn numbers_taken_as_categories_have_no_values() {
        let own = from("x\n10\n2\n10\n5\n", "factor(x)").unwrap();
        assert_eq!((own.raw, own.coded), (None, None), "three categories have no one column");
        assert_eq!(own.codes, [2, 0, 2, 1], "in the order of the numbers");
        let two = from("x\n10\n2\n10\n", "factor(x)").unwrap();
        assert_eq!(two.coded.unwrap(), [1.0, -1.0, 1.0]);
    }

    #[test]
    fn polynomials_are_orthogonal_to_the_mean_and_to_each_other() {
        let own = from("x\n1\n2\n4\n8\n9\n", "poly(x, 2)").unwrap();
        let found = own.polynomials.unwrap();
        assert_eq!(found.names, ["poly(x, 2)1", "poly(x, 2)2"]);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let ones = [1.0; 5];
        let [first, second] = [&found.columns[0], &found.columns[1]];
        for (a, b) in [(&ones[..], &first[..]), (&ones[..], &second[..]), (&first[..], &second[..])]
        {
            assert!(dot(a, b).abs() < 1e-12);
        }
        assert_eq!(
            from("g\na\nb\n", "poly(g, 1)").unwrap_err(),
            "`poly(g, 1)` has no value in line 1: column `g` holds texts"
        );
    }

    #[test]
    fn an_empty_cell_of_a_factor_is_refused_with_its_line() {
        let csv = "x,g\n1,a\n,b\n3,\n";
        let words = |line: u32, column: &str| {
            format!(
                "line {line}, column `{column}`: the cell is empty, but every row needs its factors"
            )
        };
        assert_eq!(from(csv, "x").unwrap_err(), words(3, "x"));
        assert_eq!(from(csv, "g").unwrap_err(), words(4, "g"));
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
