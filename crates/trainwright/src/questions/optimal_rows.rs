//! The verb `design d-optimal` and `design augment`: rows chosen for the coefficients of a model.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;
use trainwright_design::{Optimality, augment};
use trainwright_study::draft::{
    DesignDraft, DesignKindDraft, FactorDraft, MetricDraft, StudyDraft,
};
use trainwright_study::{Configuration, Level, Study, is_identifier};

use crate::Error;

/// What rows are chosen for.
#[derive(Debug, Clone)]
pub struct OptimalRequest {
    /// Terms such as `main + 2fi`, `quadratic` or `A*B + A^2`.
    pub model: String,
    /// Rows to choose.
    pub runs: u32,
    /// Random starts of the search.
    pub starts: u32,
    /// Decides the random starts.
    pub seed: u64,
}

/// Chosen rows and how good they are together with those that were there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OptimalRows {
    /// Names of the factors.
    pub factors: Vec<String>,
    /// Rows that were there.
    pub existing: usize,
    /// Rows chosen.
    pub rows: Vec<Vec<Level>>,
    /// How good all rows together are.
    pub optimality: Optimality,
}

/// Chooses rows among all combinations of these levels.
///
/// # Errors
/// Terms that do not read, too few rows for them, too many combinations.
pub(crate) fn optimal_rows(
    factors: &[(String, Vec<Level>)],
    request: &OptimalRequest,
) -> Result<OptimalRows, Error> {
    choose(factors, &[], request)
}

/// Chooses further rows for those of a table, among all combinations of the levels in it.
///
/// # Errors
/// A table that does not read, or a column of one value; as for [`optimal_rows`].
pub(crate) fn augmented_rows(
    file: &Path,
    columns: &[String],
    request: &OptimalRequest,
) -> Result<OptimalRows, Error> {
    let refused = |message: String| Error::Import { file: file.to_owned(), message };
    let text = std::fs::read_to_string(file)
        .map_err(|source| Error::Input { path: file.to_owned(), source })?;
    let (factors, rows) = read(&text, columns).map_err(refused)?;
    choose(&factors, &rows, request)
}

fn choose(
    factors: &[(String, Vec<Level>)],
    existing: &[Configuration],
    request: &OptimalRequest,
) -> Result<OptimalRows, Error> {
    let study = study(factors, request)?;
    let (rows, optimality) = augment(&study, existing).map_err(|error| {
        let help = error.help().map(|help| format!("; {help}")).unwrap_or_default();
        Error::Request(format!("cannot choose rows: {error}{help}"))
    })?;
    let names: Vec<String> = factors.iter().map(|(name, _)| name.clone()).collect();
    let cells = |row: &Configuration| -> Vec<Level> {
        row.iter().map(|(_, level)| level.clone()).collect()
    };
    let rows = rows.iter().map(cells).collect();
    Ok(OptimalRows { factors: names, existing: existing.len(), rows, optimality })
}

/// A study that only says what to choose from.
fn study(factors: &[(String, Vec<Level>)], request: &OptimalRequest) -> Result<Study, Error> {
    let mut draft = StudyDraft::new("rows");
    draft.study.seed = request.seed;
    let factor = |(name, levels): &(String, Vec<Level>)| {
        (name.clone(), FactorDraft::with_levels(levels.clone()))
    };
    draft.factors = factors.iter().map(factor).collect();
    draft.design = Some(DesignDraft {
        runs: Some(request.runs),
        starts: Some(request.starts),
        model: Some(request.model.clone()),
        ..DesignDraft::new(DesignKindDraft::DOptimal)
    });
    draft.metrics = std::iter::once(("_response".to_owned(), MetricDraft::default())).collect();
    Study::from_draft(draft).map_err(|fault| {
        let first = fault.problems.first().map(|own| own.message.clone()).unwrap_or_default();
        Error::Request(format!("cannot choose rows: {first}"))
    })
}

type Columns = Vec<(String, Vec<Level>)>;

/// The levels of each column in order, and the rows.
fn read(text: &str, columns: &[String]) -> Result<(Columns, Vec<Configuration>), String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let names: Vec<String> = match columns {
        [] => header.iter().map(str::to_owned).collect(),
        chosen => chosen.to_vec(),
    };
    let mut places = Vec::new();
    for name in &names {
        if !is_identifier(name) {
            return Err(format!("column `{name}` cannot name a factor: use letters and digits"));
        }
        let place = header.iter().position(|own| own == name);
        let known = || header.iter().collect::<Vec<_>>().join(", ");
        places.push(place.ok_or_else(|| format!("no column `{name}`; there are {}", known()))?);
    }
    let mut levels: Vec<Vec<Level>> = vec![Vec::new(); names.len()];
    let mut seen = vec![BTreeSet::new(); names.len()];
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let mut pairs = Vec::new();
        let columns = names.iter().zip(&places).zip(&mut levels).zip(&mut seen);
        for (((name, &place), levels), seen) in columns {
            if record[place].is_empty() {
                return Err(format!("line {line}: `{name}` is empty"));
            }
            let level = Level::parse(&record[place]);
            if seen.insert(level.identity()) {
                levels.push(level.clone());
            }
            pairs.push((name.clone(), level));
        }
        rows.push(Configuration::new(pairs));
    }
    for (name, levels) in names.iter().zip(&mut levels) {
        if levels.len() < 2 {
            return Err(format!(
                "column `{name}` has fewer than 2 values; name others with --columns"
            ));
        }
        if levels.iter().all(|level| level.number().is_some()) {
            levels.sort_by(|a, b| a.number().partial_cmp(&b.number()).expect("numbers are finite"));
        }
    }
    Ok((names.into_iter().zip(levels).collect(), rows))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(model: &str, runs: u32) -> OptimalRequest {
        OptimalRequest { model: model.to_owned(), runs, starts: 3, seed: 1 }
    }

    fn factors(levels: &[&[i64]]) -> Vec<(String, Vec<Level>)> {
        let level = |own: &&[i64]| own.iter().map(|&value| Level::Integer(value)).collect();
        ["a", "b", "c"].map(str::to_owned).into_iter().zip(levels.iter().map(level)).collect()
    }

    fn names(columns: &[&str]) -> Vec<String> {
        columns.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn two_levels_in_four_rows_are_the_full_factorial() {
        let found =
            optimal_rows(&factors(&[&[-1, 1], &[-1, 1]]), &request("main + 2fi", 4)).unwrap();
        let mut rows: Vec<String> =
            found.rows.iter().map(|row| format!("{} {}", row[0], row[1])).collect();
        rows.sort();
        assert_eq!(rows, ["-1 -1", "-1 1", "1 -1", "1 1"]);
        assert!((found.optimality.d_efficiency - 100.0).abs() < 1e-9);
        assert_eq!((found.existing, found.optimality.coefficients), (0, 4));
    }

    #[test]
    fn what_cannot_be_chosen_says_why() {
        let two = factors(&[&[-1, 1], &[-1, 1]]);
        for (model, runs) in [("main + 2fi", 3), ("main +", 4), ("a*q", 4)] {
            let error = optimal_rows(&two, &request(model, runs)).unwrap_err();
            assert!(error.to_string().starts_with("cannot choose rows: "), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
    }

    #[test]
    fn a_table_gives_its_levels_in_order() {
        let (columns, rows) = read("a, b\n10,x\n2,y\n10,y\n", &[]).unwrap();
        let texts: Vec<String> = columns[0].1.iter().map(Level::to_string).collect();
        assert_eq!(texts, ["2", "10"], "numbers by size");
        let texts: Vec<String> = columns[1].1.iter().map(Level::to_string).collect();
        assert_eq!(texts, ["x", "y"], "texts as they come");
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0].to_string(), "a=10 b=x");
    }

    #[test]
    fn columns_may_be_chosen_and_must_be_there() {
        let table = "a,note,b\n1,x,3\n2,x,4\n";
        let (columns, _) = read(table, &names(&["b", "a"])).unwrap();
        assert_eq!(columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        let refused = |text: &str, columns: &[&str]| read(text, &names(columns)).unwrap_err();
        assert_eq!(refused(table, &["c"]), "no column `c`; there are a, note, b");
        assert_eq!(
            refused(table, &[]),
            "column `note` has fewer than 2 values; name others with --columns"
        );
        assert_eq!(
            refused("a b,c\n1,2\n3,4\n", &[]),
            "column `a b` cannot name a factor: use letters and digits"
        );
        assert_eq!(refused("a,b\n1,2\n,4\n", &[]), "line 3: `a` is empty");
    }

    proptest! {
        #[test]
        fn chosen_rows_have_only_levels_that_were_offered(
            a in proptest::collection::btree_set(-9_i64..9, 2..4),
            b in proptest::collection::btree_set(-9_i64..9, 2..4),
            runs in 4_u32..8,
        ) {
            let (a, b): (Vec<i64>, Vec<i64>) = (a.into_iter().collect(), b.into_iter().collect());
            let offered = factors(&[&a, &b]);
            let found = optimal_rows(&offered, &request("main", runs)).unwrap();
            prop_assert_eq!(found.rows.len(), runs as usize);
            for row in &found.rows {
                for (level, (_, levels)) in row.iter().zip(&offered) {
                    prop_assert!(levels.iter().any(|own| own.same_as(level)));
                }
            }
            prop_assert!(found.optimality.d_efficiency > 0.0);
        }
    }
}
