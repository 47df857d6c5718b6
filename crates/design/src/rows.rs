//! Collects rows: absent factors go, repeats merge, forbidden rows are dropped and remembered.

use std::collections::HashSet;

use trainwright_study::{Configuration, Study};

use crate::condition::{active, violated};
use crate::error::DesignError;
use crate::note::DesignNote;

/// Rows under construction.
pub(crate) struct RowList<'a> {
    study: &'a Study,
    rows: Vec<Configuration>,
    /// Without conditional factors no two combinations make the same row.
    conditional: bool,
    seen: HashSet<String>,
    merged: usize,
    dropped: Vec<Vec<Configuration>>,
}

impl<'a> RowList<'a> {
    pub(crate) fn new(study: &'a Study) -> Self {
        let dropped = vec![Vec::new(); study.constraints.len()];
        let conditional = study.factors.iter().any(|factor| factor.when.is_some());
        Self { study, rows: Vec::new(), conditional, seen: HashSet::new(), merged: 0, dropped }
    }

    /// Adds a combination of all factors.
    pub(crate) fn push(&mut self, combination: &Configuration) -> Result<(), DesignError> {
        let row = active(self.study, combination)?;
        if self.conditional && !self.seen.insert(row.identity()) {
            self.merged += 1;
            return Ok(());
        }
        match violated(self.study, &row)? {
            Some(index) => self.dropped[index].push(row),
            None => self.rows.push(row),
        }
        Ok(())
    }

    /// The rows and what happened to the others.
    pub(crate) fn finish(self) -> Result<(Vec<Configuration>, Vec<DesignNote>), DesignError> {
        let constraints = self.study.constraints.iter().map(|own| own.source().to_owned());
        if self.rows.is_empty()
            && let Some(index) = self.dropped.iter().rposition(|dropped| !dropped.is_empty())
        {
            let constraint = self.study.constraints[index].source().to_owned();
            return Err(DesignError::NothingLeft { constraint, index });
        }
        let mut notes: Vec<DesignNote> = constraints
            .zip(self.dropped)
            .filter(|(_, configurations)| !configurations.is_empty())
            .map(|(constraint, configurations)| DesignNote::Dropped { constraint, configurations })
            .collect();
        if self.merged > 0 {
            notes.push(DesignNote::Merged { combinations: self.merged });
        }
        Ok((self.rows, notes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{configuration, study};

    #[test]
    fn rows_that_differ_in_absent_factors_only_run_once() {
        let study = study(
            &[("a", "levels = [1, 2]"), ("b", "levels = [1, 2]\nwhen = \"a == 2\"")],
            "type = \"full\"",
        );
        let mut rows = RowList::new(&study);
        for row in ["a=1 b=1", "a=2 b=1", "a=1 b=2", "a=2 b=2"] {
            rows.push(&configuration(row)).unwrap();
        }
        let (rows, notes) = rows.finish().unwrap();
        let told: Vec<String> = rows.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["a=1", "a=2 b=1", "a=2 b=2"]);
        assert_eq!(notes, [DesignNote::Merged { combinations: 1 }]);
    }

    #[test]
    fn the_first_constraint_that_forbids_a_row_is_told() {
        let study = study(
            &[("a", "levels = [1, 2]")],
            "type = \"full\"\n[[constraint]]\nexpr = \"a < 3\"\n[[constraint]]\nexpr = \"a < 2\"",
        );
        let mut rows = RowList::new(&study);
        rows.push(&configuration("a=2")).unwrap();
        let refused = rows.finish().unwrap_err();
        let expected = DesignError::NothingLeft { constraint: "a < 2".to_owned(), index: 1 };
        assert_eq!(refused, expected);
        assert_eq!(violated(&study, &configuration("a=1")), Ok(None));
        assert_eq!(violated(&study, &configuration("a=3")), Ok(Some(0)));
    }
}
