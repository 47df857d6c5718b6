//! What earlier studies of the store found good.

use trainwright_search::{Aims, History, Space};
use trainwright_store::Store;
use trainwright_study::{Configuration, Study, TrialState};

use crate::Error;

/// Configurations of each earlier study that are tried first: enough to profit, too few to suffer.
const BEST: usize = 3;

/// The best configurations of earlier studies that this one could try too.
///
/// # Errors
/// The store has no such study or cannot be read.
pub(super) fn known_good(
    store: &Store,
    study: &Study,
    space: &Space,
    aims: &Aims,
) -> Result<Vec<Configuration>, Error> {
    let names = study.search.iter().flat_map(|own| &own.warm_start);
    let mut found: Vec<Configuration> = Vec::new();
    for (place, name) in names.enumerate() {
        let earlier = store.study(name)?.ok_or_else(|| {
            let place = place.to_string();
            let message = format!("the store has no study `{name}`");
            let help = "name a study whose trials are in the same store".to_owned();
            study.fault_at(&["search", "warm_start", &place], message, Some(help))
        })?;
        let mut known = History::new(Aims { limits: Vec::new(), ..aims.clone() });
        for trial in store.trials(earlier.id)? {
            // Formulas are this study's own, so that both mean the same.
            let trial = crate::studies::derived::derived_trial(study, trial);
            if trial.state == TrialState::Finished {
                known.tell(&trial.observation());
            }
        }
        let mut cells: Vec<(f64, Configuration)> = known
            .cells()
            .into_iter()
            .filter_map(|own| Some((own.loss(0)?, own.configuration)))
            .collect();
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ours = cells.into_iter().filter_map(|(_, own)| ours(study, space, &own));
        for own in ours.take(BEST) {
            if !found.iter().any(|known| known.same_as(&own)) {
                found.push(own);
            }
        }
    }
    Ok(found)
}

/// The configuration of another study with the factors of this one, where all have values here.
fn ours(study: &Study, space: &Space, other: &Configuration) -> Option<Configuration> {
    let level = |factor: &trainwright_study::Factor| {
        let level = match other.get(&factor.name) {
            Some(level) => factor.value(level)?,
            // A factor that the other study did not have, or that did not exist there.
            None => factor
                .before
                .clone()
                .or_else(|| factor.when.as_ref().and(factor.levels.first().cloned()))?,
        };
        Some((factor.name.clone(), level))
    };
    let pairs: Option<Vec<_>> = study.factors.iter().map(level).collect();
    space.allowed(&Configuration::new(pairs?)).map(|own| own.configuration)
}
