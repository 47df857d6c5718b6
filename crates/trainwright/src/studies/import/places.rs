//! The planned trial that each result fills.

use std::collections::HashMap;

use trainwright_design::Design;
use trainwright_store::StoredTrial;
use trainwright_study::{Configuration, Study};

/// Where results go, by what ran.
pub(super) struct Places {
    /// Planned trials by row and replicate.
    planned: HashMap<(u32, u32), u32>,
    of_configuration: HashMap<String, OfConfiguration>,
    /// Results of each row so far.
    pub(super) results: HashMap<u32, u32>,
    /// Results that a row may have.
    pub(super) most: u32,
}

/// The rows of a configuration, and how far they are filled.
#[derive(Default)]
struct OfConfiguration {
    rows: Vec<u32>,
    /// Rows that are full.
    full: usize,
    /// Results outside the design.
    outside: u32,
}

/// The place of one result.
pub(super) struct Spot {
    pub(super) fills: Option<u32>,
    pub(super) replicate: u32,
    pub(super) in_design: bool,
}

impl Places {
    pub(super) fn of(study: &Study, design: &Design, trials: &[StoredTrial]) -> Self {
        let cell = |trial: &StoredTrial| Some(((trial.row?, trial.replicate), trial.number));
        let mut of_configuration: HashMap<String, OfConfiguration> = HashMap::new();
        for (row, configuration) in (1..).zip(design.rows()) {
            of_configuration.entry(configuration.identity()).or_default().rows.push(row);
        }
        Self {
            planned: trials.iter().filter_map(cell).collect(),
            of_configuration,
            results: HashMap::new(),
            most: study.design.replications,
        }
    }

    /// A row listed twice takes its results one after the other.
    pub(super) fn next(
        &mut self,
        line: u64,
        configuration: &Configuration,
    ) -> Result<Spot, String> {
        let own = self.of_configuration.entry(configuration.identity()).or_default();
        let Some(first) = own.rows.first() else {
            own.outside += 1;
            return Ok(Spot { fills: None, replicate: own.outside, in_design: false });
        };
        let most = self.most;
        let Some(&row) = own.rows.get(own.full) else {
            return Err(format!(
                "line {line}: row {first} ({configuration}) has more than the {most} results that \
                 the study plans; raise `replications`"
            ));
        };
        let count = self.results.entry(row).or_default();
        *count += 1;
        if *count == most {
            own.full += 1;
        }
        let fills = self.planned.get(&(row, *count)).copied();
        Ok(Spot { fills, replicate: *count, in_design: true })
    }
}
