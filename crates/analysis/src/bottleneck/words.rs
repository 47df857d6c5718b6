//! What binds, in one sentence.

use super::account::{Link, TrainingAccount};
use super::usage_bounds::UsageAccount;
use super::{Attribution, BINDS, Binding, Idealised, Resource};
use crate::wording::{brief, list, percent};

impl Resource {
    /// The resource in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Processor => "the processor",
            Self::SharedCores => "sharing cores with other programs",
            Self::NetworkBandwidth => "the bandwidth of the network",
            Self::NetworkLatency => "round trips over the network",
            Self::Exchange => "exchange between ranks",
            Self::Disk => "the disk",
            Self::Input => "the input",
            Self::Stragglers => "waiting for the slowest rank",
            Self::Server => "the queue at the servers",
            Self::Gpu => "the GPU",
            Self::Waiting => "waiting for something that is not measured",
        }
    }

    /// That it binds.
    fn binds(self) -> String {
        let verb = if self == Self::NetworkLatency { "bind" } else { "binds" };
        format!("{} {verb}", self.in_words())
    }

    /// What would have to be so for the time to shrink.
    fn if_free(self) -> &'static str {
        match self {
            Self::Processor => "computing took no time",
            Self::SharedCores => "nobody else used the cores",
            Self::NetworkBandwidth => "bytes took no time",
            Self::NetworkLatency => "messages took no time to arrive",
            Self::Exchange => "the exchange took no time",
            Self::Disk => "the disk read at once",
            Self::Input => "examples were always there",
            Self::Stragglers => "all ranks were as fast as the middle one",
            Self::Server => "servers answered at once",
            Self::Gpu => "the GPU took no time",
            Self::Waiting => "nothing had to be waited for",
        }
    }
}

/// The sentence of a training whose ranks kept accounts.
pub(super) fn of_training(own: &Attribution, account: &TrainingAccount) -> String {
    match own.binding {
        Binding::NotAccounted => format!(
            "only {} of the training time is accounted for, too little to say what binds",
            percent(100.0 * own.covered.unwrap_or(0.0))
        ),
        Binding::Balanced => format!("balanced: {}", no_resource(own)),
        Binding::Binds { resource, shrinks_by } => format!(
            "{}: a step would take {} less if {}{}{}",
            resource.binds(),
            percent(100.0 * shrinks_by),
            resource.if_free(),
            evidence(resource, own, account),
            others(own, resource)
        ),
    }
}

/// The sentence of a program of which only its use of the machine is known.
pub(super) fn of_usage(own: &Attribution, account: &UsageAccount) -> String {
    let cores = format!("{} cores in use", brief(account.cpu_s / account.wall_s));
    match own.binding {
        Binding::Binds { resource: Resource::Waiting, shrinks_by } => format!(
            "most of the time, {}, nothing that is measured was busy ({cores}): it waited for other \
             machines, locks or the clock",
            percent(100.0 * shrinks_by)
        ),
        Binding::Binds { resource, shrinks_by } => format!(
            "{}, if anything does: it would take at most {} less if {} ({cores}){}",
            resource.binds(),
            percent(100.0 * shrinks_by),
            resource.if_free(),
            others(own, resource)
        ),
        Binding::Balanced | Binding::NotAccounted => format!("balanced: {}", no_resource(own)),
    }
}

fn no_resource(own: &Attribution) -> String {
    let most = own.idealised.first().map_or_else(String::new, |most| {
        format!("; the most, {}, by {}", percent(100.0 * most.shrinks_by), most.resource.in_words())
    });
    format!("no resource alone would save a tenth of the time if it were free{most}")
}

/// Every other resource that would save a tenth.
fn others(own: &Attribution, binding: Resource) -> String {
    let told = |other: &&Idealised| other.resource != binding && other.shrinks_by >= BINDS;
    let others: Vec<String> = own
        .idealised
        .iter()
        .filter(told)
        .map(|other| {
            format!("{} if {}", percent(100.0 * other.shrinks_by), other.resource.if_free())
        })
        .collect();
    if others.is_empty() { String::new() } else { format!("; {}", list(&others)) }
}

/// What speaks for it.
fn evidence(resource: Resource, own: &Attribution, account: &TrainingAccount) -> String {
    let used = || own.bandwidth_use.map(|used| percent(100.0 * used));
    let text = match resource {
        Resource::Stragglers => own.slow_rank.map(|slow| {
            format!(
                "rank {} takes {} times as long as the middle one",
                slow.rank,
                brief(slow.times)
            )
        }),
        Resource::NetworkBandwidth => {
            used().map(|used| format!("{used} of the bandwidth is in use over all of the time"))
        }
        Resource::NetworkLatency => {
            let messages = account.ranks.iter().map(|rank| rank.messages).max();
            messages.filter(|_| account.steps > 0).map(|messages| {
                let used = used()
                    .map_or_else(String::new, |used| format!(", {used} of the bandwidth in use"));
                format!("{} messages a step{used}", brief(messages as f64 / account.steps as f64))
            })
        }
        Resource::Exchange if account.link != Link::Memory => Some(
            "the bytes and round trips of the link as it was measured do not explain it: it is \
             slower now, or the sums themselves take long"
                .to_owned(),
        ),
        Resource::Input => account
            .machine
            .cores_in_use
            .zip(account.machine.cores)
            .map(|(used, all)| format!("{} of {all} cores in use", brief(used))),
        _ => None,
    };
    text.map_or_else(String::new, |text| format!(" ({text})"))
}
