//! Variables that a front end sets for each trial of one run.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use trainwright_study::PlannedTrial;

/// Gives each trial that starts variables of its own, besides those of the study and the protocol.
///
/// They are not kept with the trial: they hold for one run, and may be secret.
#[derive(Clone)]
pub struct TrialVariables(Arc<Variables>);

type Variables = dyn Fn(&PlannedTrial) -> BTreeMap<String, String> + Send + Sync;

impl TrialVariables {
    /// Those that a function gives; it is asked once for each start of a trial.
    pub fn new(
        variables: impl Fn(&PlannedTrial) -> BTreeMap<String, String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(variables))
    }

    /// The variables of a trial that starts now.
    pub fn of(&self, trial: &PlannedTrial) -> BTreeMap<String, String> {
        (self.0)(trial)
    }
}

impl fmt::Debug for TrialVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TrialVariables(..)")
    }
}
