//! Trials in short, for tables of many: what a table shows of each, read in one pass.

use rusqlite::{Connection, Row, Rows};

use trainwright_study::{Configuration, TrialState};

use crate::rows::{STRATA, damaged, json_of_trial};

/// A trial without what it ran and used.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialLine {
    /// Position in the run order, from 1.
    pub number: u32,
    /// Row of the design, from 1; absent where no design asked for it.
    pub row: Option<u32>,
    /// Number among the repeats of its configuration, from 1.
    pub replicate: u32,
    /// What runs.
    pub configuration: Configuration,
    /// Where it stands.
    pub state: TrialState,
    /// Times it was started.
    pub attempts: u32,
    /// Whether it was measured elsewhere.
    pub imported: bool,
    /// Block that it runs in, from 1.
    pub block: Option<u32>,
    /// Group of runs between which hard-to-change factors are set anew, from 1.
    pub whole_plot: Option<u32>,
}

/// Hands out the trials of a study in run order, each with its measurements by metric.
pub(crate) fn each(
    connection: &Connection,
    version: u32,
    study: i64,
    mut each: impl FnMut(&TrialLine, &[(String, f64)]),
) -> rusqlite::Result<()> {
    let strata = if version >= STRATA { "block, whole_plot" } else { "NULL, NULL" };
    let mut trials = connection.prepare_cached(&format!(
        "SELECT number, row, replicate, configuration, state, attempts, imported, {strata}
         FROM trial WHERE study = ?1 ORDER BY number"
    ))?;
    let mut measured = connection.prepare_cached(
        "SELECT number, metric, value FROM measurement WHERE study = ?1 ORDER BY number",
    )?;
    let mut measured = Measured { rows: measured.query([study])?, next: None, own: Vec::new() };
    measured.step()?;
    let mut rows = trials.query([study])?;
    while let Some(row) = rows.next()? {
        let line = line(row)?;
        let values = measured.of(line.number)?;
        each(&line, values);
    }
    Ok(())
}

/// Measurements in the order of trials.
struct Measured<'a> {
    rows: Rows<'a>,
    /// The first measurement of a later trial.
    next: Option<(u32, String, f64)>,
    own: Vec<(String, f64)>,
}

impl Measured<'_> {
    fn step(&mut self) -> rusqlite::Result<()> {
        self.next = match self.rows.next()? {
            Some(row) => Some((row.get(0)?, row.get(1)?, row.get(2)?)),
            None => None,
        };
        Ok(())
    }

    /// Those of a trial; trials are asked for in order.
    fn of(&mut self, number: u32) -> rusqlite::Result<&[(String, f64)]> {
        self.own.clear();
        while let Some((trial, metric, value)) = self.next.take_if(|own| own.0 <= number) {
            if trial == number {
                self.own.push((metric, value));
            }
            self.step()?;
        }
        Ok(&self.own)
    }
}

fn line(row: &Row<'_>) -> rusqlite::Result<TrialLine> {
    let number = row.get(0)?;
    let state = row.get_ref(4)?.as_str().ok().and_then(TrialState::from_word);
    Ok(TrialLine {
        number,
        row: row.get(1)?,
        replicate: row.get(2)?,
        configuration: json_of_trial(row, 3, number, "configuration")?
            .ok_or_else(|| damaged(number, "configuration", 3))?,
        state: state.ok_or_else(|| damaged(number, "state", 4))?,
        attempts: row.get(5)?,
        imported: row.get(6)?,
        block: row.get(7)?,
        whole_plot: row.get(8)?,
    })
}
