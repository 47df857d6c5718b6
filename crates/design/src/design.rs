//! The planned list of configurations.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;
use trainwright_study::{Change, Configuration, Domain, Factor, Level, Study};

use crate::error::DesignError;
use crate::kinds::Listed;
use crate::kinds::plackett_burman::PartialAlias;
use crate::note::DesignNote;
use crate::size::check_trials;
use crate::trials::run_order::hard_setting;
use crate::two_level::blocks::Blocks;
use crate::two_level::fraction::TwoLevelFraction;
use crate::two_level::misprint::{MOST_COLUMNS, check_table};
use crate::two_level::word::{LETTERS, position};

/// The configurations of a study, in standard order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Design {
    kind: Construction,
    factors: Vec<String>,
    rows: Vec<Configuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coded: Option<Vec<Vec<i8>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fraction: Option<TwoLevelFraction>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partial_aliases: Vec<PartialAlias>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<Blocks>,
    /// Centre points, which are the last rows.
    #[serde(skip_serializing_if = "is_zero")]
    centre_points: u32,
    notes: Vec<DesignNote>,
}

/// How the rows were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Construction {
    /// No rows: configurations come from elsewhere.
    Open,
    /// One factor at a time leaves the baseline.
    OneFactor,
    /// Every combination.
    Full,
    /// A regular fraction of the two-level combinations.
    Fractional,
    /// Main effects of many two-level factors in few rows.
    PlackettBurman,
    /// A cube with points on its axes and in its centre.
    CentralComposite,
    /// Three levels without the corners of the cube.
    BoxBehnken,
    /// One point in every stratum of every factor.
    LatinHypercube,
    /// The first points of the Sobol sequence.
    Sobol,
    /// The rows that fix the coefficients of an equation best.
    DOptimal,
    /// An orthogonal array of factors with different numbers of levels.
    Mixed,
    /// The rows the user lists.
    Table,
}

impl Design {
    /// The design that a study asks for.
    ///
    /// # Errors
    /// What contradicts itself in the study, with its place in the file and what to do.
    pub fn of(study: &Study) -> Result<Self, DesignError> {
        if study.factors.is_empty() {
            return Err(DesignError::NoFactors);
        }
        let Listed { kind, rows, fraction, partial_aliases, blocks, centre_points, mut notes } =
            Listed::of(study)?;
        check_trials(rows.len(), study.design.replications)?;
        let coded = code(study, &rows);
        if kind != Construction::Open {
            notes.extend(levels_never_run(study, &rows));
        }
        if kind == Construction::Table
            && let Some(coded) = &coded
            && study.factors.len() <= MOST_COLUMNS
        {
            notes.extend(check_table(coded)?.map(DesignNote::Misprint));
        }
        if kind != Construction::Open {
            notes.extend(split_plot(study, &rows));
        }
        let factors = study.factors.iter().map(|factor| factor.name.clone()).collect();
        Ok(Self {
            kind,
            factors,
            rows,
            coded,
            fraction,
            partial_aliases,
            blocks,
            centre_points,
            notes,
        })
    }

    /// How the rows were chosen.
    pub fn kind(&self) -> Construction {
        self.kind
    }

    /// Factor names in the study's order.
    pub fn factors(&self) -> &[String] {
        &self.factors
    }

    /// Configurations in standard order; row 1 is the first.
    pub fn rows(&self) -> &[Configuration] {
        &self.rows
    }

    /// The configuration of a row counted from 1.
    pub fn row(&self, number: u32) -> Option<&Configuration> {
        self.rows.get((number as usize).checked_sub(1)?)
    }

    /// The rows as -1 for the lower and +1 for the higher level; absent unless every factor has
    /// two levels and takes part in every row.
    pub fn coded(&self) -> Option<&[Vec<i8>]> {
        self.coded.as_deref()
    }

    /// The alias structure of a fractional design; its letters are the factors in order.
    pub fn fraction(&self) -> Option<&TwoLevelFraction> {
        self.fraction.as_ref()
    }

    /// The interactions that main effects of a screening design contain; letters are the factors
    /// in order.
    pub fn partial_aliases(&self) -> &[PartialAlias] {
        &self.partial_aliases
    }

    /// The blocks that rows run in; absent where the design has none of its own.
    pub fn blocks(&self) -> Option<&Blocks> {
        self.blocks.as_ref()
    }

    /// Centre points added to a two-level design; they are its last rows.
    pub fn centre_points(&self) -> u32 {
        self.centre_points
    }

    /// Whether a row counted from 1 is an added centre point.
    pub fn is_centre(&self, number: u32) -> bool {
        let others = self.rows.len() - self.centre_points as usize;
        number as usize > others && number as usize <= self.rows.len()
    }

    /// Levels of a factor that rows run without the study listing them, in the order of the rows.
    pub fn further_levels(&self, factor: &Factor) -> Vec<Level> {
        let mut known: HashSet<String> = factor.levels.iter().map(Level::identity).collect();
        let place = self.factors.iter().position(|own| *own == factor.name).unwrap_or(0);
        let own = self.rows.iter().filter_map(|row| row.get_at(place, &factor.name));
        own.filter(|level| known.insert(level.identity())).cloned().collect()
    }

    /// What the rows alone do not tell.
    pub fn notes(&self) -> &[DesignNote] {
        &self.notes
    }

    /// The letters that stand for the factors in alias tables, in order.
    pub fn letters(&self) -> impl Iterator<Item = char> {
        LETTERS.into_iter().take(self.factors.len())
    }

    /// An effect such as `-BD` in factor names, such as `-lr:batch`.
    pub fn name_effect(&self, letters: &str) -> Option<String> {
        let (sign, word) = match letters.strip_prefix('-') {
            Some(word) => ("-", word),
            None => ("", letters),
        };
        let names: Option<Vec<_>> = word
            .chars()
            .map(|letter| self.factors.get(position(letter)?).map(String::as_str))
            .collect();
        names.filter(|names| !names.is_empty()).map(|names| format!("{sign}{}", names.join(":")))
    }
}

/// Rows as signs, where every factor has two levels and takes part in every row.
pub(crate) fn code(study: &Study, rows: &[Configuration]) -> Option<Vec<Vec<i8>>> {
    let levels: Vec<_> =
        study.factors.iter().map(|factor| factor.low_and_high()).collect::<Option<_>>()?;
    let code_row = |row: &Configuration| {
        let factors = study.factors.iter().enumerate();
        let signs = factors.zip(&levels).map(|((place, factor), (low, high))| {
            let level = row.get_at(place, &factor.name)?;
            match (level.same_as(low), level.same_as(high)) {
                (true, _) => Some(-1),
                (_, true) => Some(1),
                _ => None,
            }
        });
        signs.collect()
    };
    rows.iter().map(code_row).collect()
}

/// What hard-to-change factors mean for the run order and the evidence.
fn split_plot(study: &Study, rows: &[Configuration]) -> Option<DesignNote> {
    let hard = study.factors.iter().filter(|factor| factor.change == Change::Hard);
    let factors: Vec<String> = hard.map(|factor| factor.name.clone()).collect();
    let settings: BTreeSet<_> = rows.iter().map(|row| hard_setting(study, row)).collect();
    let (settings, replications) = (settings.len(), study.design.replications);
    (!factors.is_empty()).then_some(DesignNote::SplitPlot { factors, settings, replications })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn levels_never_run(study: &Study, rows: &[Configuration]) -> Vec<DesignNote> {
    let mut notes = Vec::new();
    let factors = study.factors.iter().enumerate();
    for (place, factor) in factors.filter(|(_, factor)| factor.domain == Domain::Levels) {
        let levels = rows.iter().filter_map(|row| row.get_at(place, &factor.name));
        let run: HashSet<String> = levels.map(Level::identity).collect();
        for level in factor.levels.iter().filter(|level| !run.contains(&level.identity())) {
            let (factor, level) = (factor.name.clone(), level.clone());
            notes.push(DesignNote::LevelNeverRun { factor, level });
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{configuration, study};

    #[test]
    fn effects_are_named_by_their_factors_and_signs() {
        let own = study(&[("lr", "levels = [1, 2]"), ("n", "levels = [1, 2]")], "type = \"full\"");
        let design = Design::of(&own).unwrap();
        assert_eq!(design.name_effect("A").as_deref(), Some("lr"));
        assert_eq!(design.name_effect("-AB").as_deref(), Some("-lr:n"));
        assert_eq!(design.name_effect("AC"), None, "there is no third factor");
        assert_eq!(design.name_effect(""), None);
        assert_eq!(design.name_effect("I"), None, "the identity is no effect");
        assert_eq!(design.row(0), None, "rows count from 1");
        assert_eq!(design.row(4), Some(&configuration("lr=2 n=2")));
    }

    #[test]
    fn centre_points_are_the_last_rows_and_bring_levels_of_their_own() {
        let own = study(
            &[("a", "levels = [1.0, 2.0]"), ("b", "levels = [10, 20]")],
            "type = \"full\"\ncenter_points = 2",
        );
        let design = Design::of(&own).unwrap();
        assert_eq!(design.rows().len(), 6);
        let centre: Vec<u32> = (0..=8).filter(|&row| design.is_centre(row)).collect();
        assert_eq!(centre, [5, 6]);
        assert_eq!(design.further_levels(&own.factors[0]), [Level::Number(1.5)]);
        assert_eq!(design.further_levels(&own.factors[1]), [Level::Integer(15)]);
        assert_eq!(design.coded(), None, "the centre is neither low nor high");
    }

    #[test]
    fn signs_follow_the_size_of_numbers_and_the_order_of_texts() {
        let own =
            study(&[("a", "levels = [2, 1]"), ("b", "levels = [\"z\", \"y\"]")], "type = \"full\"");
        let design = Design::of(&own).unwrap();
        let first = design.row(1).unwrap();
        assert_eq!(first.to_string(), "a=2 b=z");
        assert_eq!(design.coded().unwrap()[0], [1, -1], "2 is the high level, z the first");
    }

    #[test]
    fn a_level_that_never_runs_is_noted() {
        let own = study(&[("a", "levels = [1, 2, 3]")], "type = \"table\"\nrows = [[1], [3]]");
        let design = Design::of(&own).unwrap();
        let level = Level::Integer(2);
        let expected = DesignNote::LevelNeverRun { factor: "a".to_owned(), level };
        assert!(design.notes().contains(&expected), "{:?}", design.notes());
    }
}
