//! The trials of a study as columns of one kind each, for programs that compute with them.

use std::path::Path;

use trainwright_store::TrialLine;
use trainwright_study::{Level, Study, StudyBasis, TrialState};

use crate::{Error, ExportTable, Place, Results, UsageColumns};

/// One row a planned trial, as [`ExportTable`] has it, by columns.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialColumns {
    /// Number of trials.
    pub rows: usize,
    /// The columns in order.
    pub columns: Vec<TrialColumn>,
}

/// A column of trials.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialColumn {
    /// Its name.
    pub name: String,
    /// A cell a trial.
    pub cells: Cells,
}

/// Cells of one kind; nothing where a trial has no value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Truth values.
    Truths(Vec<Option<bool>>),
    /// Texts, and levels of a factor whose kinds differ.
    Texts(Vec<Option<String>>),
}

/// Reads the trials of a study as columns.
///
/// # Errors
/// There are no results, or the store cannot be read.
pub fn trial_columns(
    study: &Study,
    store: Option<&Path>,
    usage: UsageColumns,
) -> Result<TrialColumns, Error> {
    if usage == UsageColumns::LeftOut
        && let Some(columns) = in_one_pass(study, store)?
    {
        return Ok(columns);
    }
    let results = Results::read(study, store)?;
    Ok(TrialColumns::of(study, ExportTable::new(study, &results, usage)))
}

/// The columns out of the store as it is: nothing where trials must be looked at one by one, as
/// the study has changed since they were planned or has formulas.
fn in_one_pass(study: &Study, store: Option<&Path>) -> Result<Option<TrialColumns>, Error> {
    let Some(snapshot) = Place::of(study, store).look()? else { return Ok(None) };
    let Some(known) = snapshot.study(&study.name)? else { return Ok(None) };
    let unchanged = serde_json::from_value::<StudyBasis>(known.fixed.clone())
        .is_ok_and(|kept| kept == study.basis());
    if !unchanged || study.metrics.iter().any(|metric| metric.formula().is_some()) {
        return Ok(None);
    }
    let mut lines = Lines::of(study);
    snapshot.each_trial(known.id, |trial, measured| lines.push(study, trial, measured))?;
    Ok(Some(lines.columns(study)))
}

/// Cells of trials as they come out of the store, by column.
#[derive(Default)]
struct Lines {
    trials: Vec<Option<i64>>,
    rows: Vec<Option<i64>>,
    replicates: Vec<Option<i64>>,
    states: Vec<Option<String>>,
    attempts: Vec<Option<i64>>,
    blocks: Vec<Option<i64>>,
    whole_plots: Vec<Option<i64>>,
    factors: Vec<Vec<Option<Level>>>,
    metrics: Vec<Vec<Option<f64>>>,
}

impl Lines {
    fn of(study: &Study) -> Self {
        Self {
            factors: vec![Vec::new(); study.factors.len()],
            metrics: vec![Vec::new(); study.metrics.len()],
            ..Self::default()
        }
    }

    fn push(&mut self, study: &Study, trial: &TrialLine, measured: &[(String, f64)]) {
        let ran = trial.attempts > 0 || trial.imported;
        if !ran && trial.row.is_some() && trial.replicate > study.design.replications {
            return;
        }
        // What an unfinished trial measured before is not its result.
        let open = matches!(trial.state, TrialState::Planned | TrialState::Running);
        let measured = if open { &[] } else { measured };
        let value = |name: &str| {
            measured.iter().find(|(metric, _)| metric == name).map(|(_, value)| *value)
        };
        let lacks =
            trial.state == TrialState::Finished && value(&study.analysis.response).is_none();
        let state = if lacks { TrialState::Failed } else { trial.state };
        self.trials.push(Some(trial.number.into()));
        self.rows.push(trial.row.map(i64::from));
        self.replicates.push(Some(trial.replicate.into()));
        self.states.push(Some(state.word().to_owned()));
        self.attempts.push(Some(trial.attempts.into()));
        self.blocks.push(trial.block.map(i64::from));
        self.whole_plots.push(trial.whole_plot.map(i64::from));
        for (place, (column, factor)) in self.factors.iter_mut().zip(&study.factors).enumerate() {
            column.push(trial.configuration.get_at(place, &factor.name).cloned());
        }
        for (column, metric) in self.metrics.iter_mut().zip(&study.metrics) {
            column.push(value(&metric.name).filter(|own| own.is_finite()));
        }
    }

    fn columns(self, study: &Study) -> TrialColumns {
        let rows = self.trials.len();
        let column = |name: &str, cells| TrialColumn { name: name.to_owned(), cells };
        let mut columns = vec![
            column("trial", Cells::Integers(self.trials)),
            column("row", Cells::Integers(self.rows)),
            column("replicate", Cells::Integers(self.replicates)),
            column("state", Cells::Texts(self.states)),
            column("attempts", Cells::Integers(self.attempts)),
        ];
        for (name, cells) in [("block", self.blocks), ("whole_plot", self.whole_plots)] {
            if cells.iter().any(Option::is_some) {
                columns.push(column(name, Cells::Integers(cells)));
            }
        }
        for (factor, cells) in study.factors.iter().zip(self.factors) {
            let cells = kind(&cells).map(|kind| of_kind(kind, cells));
            columns.push(column(&factor.name, cells.unwrap_or(Cells::Integers(vec![None; rows]))));
        }
        for (metric, cells) in study.metrics.iter().zip(self.metrics) {
            columns.push(column(&metric.name, Cells::Numbers(cells)));
        }
        TrialColumns { rows, columns }
    }
}

impl TrialColumns {
    fn of(study: &Study, table: ExportTable) -> Self {
        let rows = table.rows.len();
        let mut cells: Vec<Vec<Option<Level>>> =
            table.columns.iter().map(|_| Vec::with_capacity(rows)).collect();
        for row in table.rows {
            cells.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
        }
        let column = |(name, cells): (String, Vec<Option<Level>>)| {
            let cells = match kind(&cells) {
                // A metric that nobody has measured yet is a number too.
                None if study.metric(&name).is_some() => Cells::Numbers(vec![None; rows]),
                None => Cells::Integers(vec![None; rows]),
                Some(kind) => of_kind(kind, cells),
            };
            TrialColumn { name, cells }
        };
        let columns = table.columns.into_iter().zip(cells).map(column).collect();
        Self { rows, columns }
    }
}

/// The kind of cells that holds all of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integers,
    Numbers,
    Truths,
    Texts,
}

fn kind(cells: &[Option<Level>]) -> Option<Kind> {
    let own = |level: &Level| match level {
        Level::Integer(_) => Kind::Integers,
        Level::Number(_) => Kind::Numbers,
        Level::Truth(_) => Kind::Truths,
        Level::Text(_) => Kind::Texts,
    };
    cells.iter().flatten().map(own).reduce(|a, b| match (a, b) {
        _ if a == b => a,
        (Kind::Integers, Kind::Numbers) | (Kind::Numbers, Kind::Integers) => Kind::Numbers,
        _ => Kind::Texts,
    })
}

fn of_kind(kind: Kind, cells: Vec<Option<Level>>) -> Cells {
    let cells = cells.into_iter();
    match kind {
        Kind::Integers => Cells::Integers(
            cells
                .map(|cell| if let Some(Level::Integer(own)) = cell { Some(own) } else { None })
                .collect(),
        ),
        Kind::Numbers => Cells::Numbers(cells.map(|cell| cell?.number()).collect()),
        Kind::Truths => Cells::Truths(
            cells
                .map(|cell| if let Some(Level::Truth(own)) = cell { Some(own) } else { None })
                .collect(),
        ),
        Kind::Texts => Cells::Texts(
            cells
                .map(|cell| {
                    Some(match cell? {
                        Level::Text(own) => own,
                        other => other.to_string(),
                    })
                })
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::studies::tests::{TWO_BY_TWO, study};

    #[test]
    fn one_pass_gives_what_looking_at_every_trial_gives() {
        let folder = tempfile::tempdir().unwrap();
        let (store, table) = (folder.path().join("s.db"), folder.path().join("r.csv"));
        let text = TWO_BY_TWO.replace("[metrics.y]", "[metrics.z]\n[metrics.y]");
        let study = study(&text);
        let lines = "a,b,y,z\n1,low,0.5,\n2,low,1.5,3\n1,high,2.5,4\n1,low,7,8\n";
        std::fs::write(&table, lines).unwrap();
        crate::import(&study, &table, &BTreeMap::new(), Some(&store)).unwrap();
        let quick = in_one_pass(&study, Some(&store)).unwrap().unwrap();
        let results = Results::read(&study, Some(&store)).unwrap();
        let slow = ExportTable::new(&study, &results, UsageColumns::LeftOut);
        assert_eq!(quick, TrialColumns::of(&study, slow));
        assert!(quick.rows >= 4);
    }

    #[test]
    fn a_column_has_the_kind_that_holds_all_its_cells() {
        let text = |own: &str| Some(Level::Text(own.to_owned()));
        let table = ExportTable {
            study: "s".to_owned(),
            columns: ["i", "n", "t", "w", "y", "row"].map(str::to_owned).to_vec(),
            rows: vec![
                vec![
                    Some(Level::Integer(1)),
                    Some(Level::Integer(1)),
                    Some(Level::Truth(true)),
                    text("a"),
                    None,
                    None,
                ],
                vec![None, Some(Level::Number(0.5)), None, Some(Level::Integer(2)), None, None],
            ],
        };
        let own = TrialColumns::of(&study(TWO_BY_TWO), table);
        let cells: Vec<Cells> = own.columns.into_iter().map(|column| column.cells).collect();
        assert_eq!(
            cells,
            [
                Cells::Integers(vec![Some(1), None]),
                Cells::Numbers(vec![Some(1.0), Some(0.5)]),
                Cells::Truths(vec![Some(true), None]),
                Cells::Texts(vec![Some("a".to_owned()), Some("2".to_owned())]),
                Cells::Numbers(vec![None, None]),
                Cells::Integers(vec![None, None]),
            ]
        );
    }
}
