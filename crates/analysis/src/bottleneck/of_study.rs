//! What binds the configurations of a study.

use std::collections::BTreeMap;

use serde::Serialize;
use trainwright_study::{Capacities, Configuration, Observation, TrialState};

use super::{
    Attribution, BINDS, Resource, TrainingAccount, UsageAccount, attribute, attribute_usage,
    shared_cores,
};
use crate::findings::{Finding, info};
use crate::wording::{count, list, percent};

/// What is known of a trial's time.
#[derive(Debug, Clone)]
pub struct TrialUse {
    /// Number of the trial.
    pub trial: u32,
    /// What it used of the machine.
    pub usage: UsageAccount,
    /// What its ranks did, where they kept an account.
    pub training: Option<TrainingAccount>,
}

/// What binds the trials of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationBottleneck {
    /// The configuration.
    pub configuration: Configuration,
    /// Finished trials that tell.
    pub trials: Vec<u32>,
    /// What binds the one whose time is the middle one.
    pub attribution: Attribution,
    /// What that trial used.
    pub usage: UsageAccount,
}

/// The table of a study's configurations with what binds each, and what they have in common.
pub(crate) fn bottlenecks_of_study(
    observations: &[Observation],
    uses: &[TrialUse],
    capacities: Option<&Capacities>,
) -> (Vec<ConfigurationBottleneck>, Vec<Finding>) {
    let finished = observations.iter().filter(|own| own.state == TrialState::Finished);
    let mut groups: Vec<(&Configuration, Vec<&TrialUse>)> = Vec::new();
    for own in finished {
        let Some(used) = uses.iter().find(|used| used.trial == own.trial) else { continue };
        match groups.iter_mut().find(|(known, _)| known.same_as(&own.configuration)) {
            Some((_, members)) => members.push(used),
            None => groups.push((&own.configuration, vec![used])),
        }
    }
    let table: Vec<ConfigurationBottleneck> = groups
        .into_iter()
        .filter_map(|(configuration, mut members)| {
            members.sort_by(|a, b| a.usage.wall_s.total_cmp(&b.usage.wall_s));
            let middle = members[(members.len() - 1) / 2];
            let attribution = match &middle.training {
                Some(training) => attribute(training),
                None => attribute_usage(&middle.usage, capacities),
            }?;
            let mut trials: Vec<u32> = members.iter().map(|own| own.trial).collect();
            trials.sort_unstable();
            let (configuration, usage) = (configuration.clone(), middle.usage);
            Some(ConfigurationBottleneck { configuration, trials, attribution, usage })
        })
        .collect();
    let findings = findings(&table);
    (table, findings)
}

/// One finding of all configurations, and one of those whose cores were shared.
fn findings(table: &[ConfigurationBottleneck]) -> Vec<Finding> {
    let mut found = Vec::new();
    if let [one] = table {
        found.push(info("bottleneck", one.attribution.text.clone()));
    } else if !table.is_empty() {
        found.push(info("bottleneck", in_common(table)));
    }
    let shares = table.iter().filter_map(|own| own.attribution.shrinks_by(Resource::SharedCores));
    let most = shares.fold(0.0f64, f64::max);
    found.extend(shared_cores(most).filter(|_| most >= BINDS));
    found
}

fn in_common(table: &[ConfigurationBottleneck]) -> String {
    let mut kinds: BTreeMap<Option<Resource>, Vec<&ConfigurationBottleneck>> = BTreeMap::new();
    for own in table {
        kinds.entry(own.attribution.resource()).or_default().push(own);
    }
    let part = |(resource, members): (&Option<Resource>, &Vec<&ConfigurationBottleneck>)| {
        let Some(resource) = resource else {
            return format!("nothing in {}", count(members.len(), "configuration"));
        };
        let savings = members.iter().filter_map(|own| own.attribution.shrinks_by(*resource));
        let (least, most) = savings.fold((1.0f64, 0.0f64), |(l, m), own| (l.min(own), m.max(own)));
        let bound = if members.iter().any(|own| own.attribution.at_most) { "at most " } else { "" };
        let (least, most) = (percent(100.0 * least), percent(100.0 * most));
        let saved = if least == most { most } else { format!("{least} to {most}") };
        let configurations = count(members.len(), "configuration");
        let resource = resource.in_words();
        format!("{resource} in {configurations} (free, it would save {bound}{saved})")
    };
    let parts: Vec<String> = kinds.iter().map(part).collect();
    format!("what binds: {}", list(&parts))
}
