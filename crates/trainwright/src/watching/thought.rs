//! What the measurements of a study say at one moment.

use std::path::Path;

use trainwright_analysis::{Analysis, StudyOptions};
use trainwright_report::SearchPart;
use trainwright_study::Study;

use crate::studies::report::search_part;
use crate::{Error, Results, analyze};

/// Analysis and search of a study, which take longer than looking at its trials.
pub struct Thought {
    /// The change number of the store when it was thought.
    pub change: i64,
    /// What the measurements say, or why they say nothing yet.
    pub analysis: Result<Analysis, String>,
    /// What its search found, where it has one.
    pub(crate) search: Option<SearchPart>,
}

impl Thought {
    /// Analyses a study as it is now.
    ///
    /// # Errors
    /// There are no results, or the store cannot be read.
    pub fn of(study: &Study, store: &Path) -> Result<Self, Error> {
        let results = Results::read(study, Some(store))?;
        let analysis = analyze(study, &results, &StudyOptions::default());
        Ok(Self {
            change: results.change(),
            analysis: analysis.map_err(|error| error.to_string()),
            search: search_part(study, &results)?,
        })
    }

    /// No thought at all, for pages that need none.
    pub fn none(study: &Study) -> Self {
        Self {
            // No store has this number.
            change: -1,
            analysis: Err(format!("the study `{}` is being analysed", study.name)),
            search: None,
        }
    }

    /// Whether the study has a search with something to show.
    pub fn has_search(&self) -> bool {
        self.search.is_some()
    }
}
