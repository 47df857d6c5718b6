//! How training is spread over devices, and which keys say more about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::network_name::NetworkName;
use crate::job::schedule::Schedule;
use crate::job::{JobError, JobSpec, UpdateMode};

/// How training is spread over devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// One device does everything.
    #[default]
    OneDevice,
    /// Replicas on threads of one process share each batch and stay equal.
    Mirrored,
    /// The same with processes, here or on several machines.
    MultiWorker,
    /// Servers own the parameters; workers pull them and push gradients.
    ParameterServer,
    /// Replicas drift apart for some steps, then their parameters are averaged.
    LocalSgd,
}

/// When a parameter server applies the gradients of workers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consistency {
    /// Those of a step together, when enough have come.
    #[default]
    Sync,
    /// Each as it comes.
    Async,
    /// Each as it comes, but no worker runs further ahead of the slowest than `staleness` allows.
    Bounded,
}

/// How batch and learning rate follow the number of replicas.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// The batch is that of all replicas together, and the rate stays.
    #[default]
    Global,
    /// The batch is that of each replica, and the rate grows with their number (Goyal et al. 2017).
    PerReplica,
}

/// In which order the gradients of replicas are added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AllReduce {
    /// One that does not depend on the number of replicas.
    #[default]
    Fixed,
    /// That of a ring: the bits depend on the number of replicas.
    Ring,
}

/// Keys that some strategies have, with those strategies.
const KEYS: [(&str, &[Strategy]); 13] = {
    use Strategy::{LocalSgd, Mirrored, MultiWorker, ParameterServer};
    [
        ("replicas", &[Mirrored, LocalSgd]),
        ("workers", &[MultiWorker, ParameterServer, LocalSgd]),
        ("servers", &[ParameterServer]),
        ("consistency", &[ParameterServer]),
        ("staleness", &[ParameterServer]),
        ("backup", &[ParameterServer]),
        ("sync_every", &[LocalSgd]),
        ("outer_momentum", &[LocalSgd]),
        ("all_reduce", &[Mirrored, MultiWorker]),
        ("compress", &[Mirrored, MultiWorker]),
        ("scaling", &[Mirrored, MultiWorker, ParameterServer, LocalSgd]),
        ("overlap", &[Mirrored, MultiWorker]),
        ("elastic", &[MultiWorker, LocalSgd]),
    ]
};

/// Most replicas, workers or servers of a job: each has a thread or a process and a connection to
/// all others.
const MOST_RANKS: u32 = 256;

impl Strategy {
    /// As studies and commands write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::OneDevice => "one-device",
            Self::Mirrored => "mirrored",
            Self::MultiWorker => "multi-worker",
            Self::ParameterServer => "parameter-server",
            Self::LocalSgd => "local-sgd",
        }
    }
}

/// Keys of a `[job]` table that its strategy has nothing to do with: they are for the strategies of
/// other trials.
pub(super) fn idle_keys(object: &serde_json::Map<String, serde_json::Value>) -> Vec<&'static str> {
    let word = |key: &str, default| object.get(key).map_or(Some(default), |own| own.as_str());
    let strategy = word("strategy", Strategy::OneDevice.word());
    let lacks = |owners: &[Strategy]| !owners.iter().any(|own| strategy == Some(own.word()));
    let mut idle: Vec<&str> =
        KEYS.iter().filter(|(_, owners)| lacks(owners)).map(|(key, _)| *key).collect();
    let consistency = word("consistency", "sync");
    if consistency != Some("bounded") {
        idle.push("staleness");
    }
    if consistency != Some("sync") {
        idle.push("backup");
    }
    idle
}

impl JobSpec {
    /// Replicas of the network that train together, on threads or as processes.
    pub fn ranks(&self) -> u32 {
        self.replicas * self.workers
    }

    /// Examples of a step over all replicas.
    pub fn global_batch(&self) -> u32 {
        match self.scaling {
            Scaling::Global => self.batch,
            Scaling::PerReplica => self.batch.saturating_mul(self.ranks()),
        }
    }

    /// The global batch that the learning rate is meant for, where the rate follows the batch.
    pub fn rate_is_for(&self) -> Option<u32> {
        match self.scaling {
            Scaling::Global => self.reference_batch,
            Scaling::PerReplica => Some(self.reference_batch.unwrap_or(self.batch)),
        }
    }

    /// Keys that say more than nothing, with what they say.
    fn telling_keys(&self) -> [(&'static str, Option<String>); 13] {
        let more = |count: u32, idle: u32| (count != idle).then(|| count.to_string());
        let word = |telling: bool, word: &str| telling.then(|| word.to_owned());
        let consistency = match self.consistency {
            Consistency::Sync => None,
            Consistency::Async => word(true, "async"),
            Consistency::Bounded => word(true, "bounded"),
        };
        [
            ("replicas", more(self.replicas, 1)),
            ("workers", more(self.workers, 1)),
            ("servers", more(self.servers, 1)),
            ("consistency", consistency),
            ("staleness", more(self.staleness, 0)),
            ("backup", more(self.backup, 0)),
            ("sync_every", more(self.sync_every, 1)),
            ("outer_momentum", word(self.outer_momentum != 0.0, &self.outer_momentum.to_string())),
            ("all_reduce", word(self.all_reduce == AllReduce::Ring, "ring")),
            ("compress", word(!self.compress.is_none(), &self.compress.to_string())),
            ("scaling", word(self.scaling == Scaling::PerReplica, "per-replica")),
            ("overlap", word(self.overlap, "true")),
            ("elastic", word(self.elastic, "true")),
        ]
    }

    /// Only keys that the strategy has, and in numbers that it can have.
    pub(super) fn check_strategy(&self) -> Result<(), JobError> {
        let fault = |key: &str, message: String| Err(JobError { key: key.to_owned(), message });
        let counts =
            [("replicas", self.replicas), ("workers", self.workers), ("servers", self.servers)];
        for (key, count) in counts {
            if count == 0 || count > MOST_RANKS {
                return fault(key, format!("must be from 1 to {MOST_RANKS}, this is {count}"));
            }
        }
        if self.sync_every == 0 {
            return fault("sync_every", "must be at least 1".to_owned());
        }
        for ((key, told), (_, owners)) in self.telling_keys().into_iter().zip(KEYS) {
            if let Some(told) = told
                && !owners.contains(&self.strategy)
            {
                let message = format!(
                    "strategy `{}` has none, this is {told}; {} {}",
                    self.strategy.word(),
                    words(owners),
                    if owners.len() == 1 { "has" } else { "have" }
                );
                return fault(key, message);
            }
        }
        self.check_together()
    }

    /// Keys of a strategy that do not go with each other. One table of them reads best.
    fn check_together(&self) -> Result<(), JobError> {
        let local = self.strategy == Strategy::LocalSgd;
        let servers = self.strategy == Strategy::ParameterServer;
        let one_device = self.strategy == Strategy::OneDevice;
        let sparse = self.network == NetworkName::Logistic;
        let faults = [
            (
                "strategy",
                sparse && !one_device && !servers,
                "network `logistic` is trained by `one-device`, whose `threads` share its work, or \
                 by `parameter-server`",
            ),
            (
                "overlap",
                self.overlap
                    && (self.elastic
                        || self.all_reduce == AllReduce::Ring
                        || !self.compress.is_none()),
                "only sums in the fixed order of a job that is not elastic run beside the backward \
                 pass",
            ),
            (
                "workers",
                local && self.replicas > 1 && self.workers > 1,
                "give replicas (threads) or workers (processes), not both",
            ),
            (
                "schedule",
                local && self.schedule == Schedule::NoiseScale,
                "replicas of `local-sgd` have no common gradients whose noise could be measured",
            ),
            (
                "schedule",
                servers && self.schedule == Schedule::NoiseScale,
                "workers of `parameter-server` do not measure the noise of their gradients",
            ),
            (
                "update",
                servers && self.update == UpdateMode::Hogwild,
                "`hogwild` is for the threads of `one-device`; servers have consistency `async`",
            ),
            (
                "staleness",
                self.staleness > 0 && self.consistency != Consistency::Bounded,
                "only consistency `bounded` has it",
            ),
            (
                "backup",
                self.backup > 0 && self.consistency != Consistency::Sync,
                "only consistency `sync` has backup workers",
            ),
            ("backup", self.backup >= self.workers, "must be fewer than the workers"),
            (
                "compress",
                !self.compress.is_none() && self.all_reduce == AllReduce::Ring,
                "compressed sums are not made by a ring: leave all_reduce out",
            ),
        ];
        match faults.into_iter().find(|fault| fault.1) {
            Some((key, _, message)) => {
                Err(JobError { key: key.to_owned(), message: message.to_owned() })
            }
            None => Ok(()),
        }
    }
}

/// Strategies in words: `a`, `b` and `c`.
fn words(strategies: &[Strategy]) -> String {
    let words: Vec<String> = strategies.iter().map(|own| format!("`{}`", own.word())).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job of these keys, not checked.
    fn job(keys: &str) -> JobSpec {
        let text = format!(r#"{{"network":"mlp","data":"d","seed":1,{keys}}}"#);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[track_caller]
    fn check(keys: &str, key: &str, message: &str) {
        let error = job(keys).check().unwrap_err();
        assert_eq!((error.key.as_str(), error.message.as_str()), (key, message), "{keys}");
    }

    #[test]
    fn counts_belong_to_their_strategies() {
        check(
            r#""workers":2"#,
            "workers",
            "strategy `one-device` has none, this is 2; `multi-worker`, `parameter-server` and \
             `local-sgd` have",
        );
        check(
            r#""strategy":"mirrored","servers":2"#,
            "servers",
            "strategy `mirrored` has none, this is 2; `parameter-server` has",
        );
        check(
            r#""strategy":"mirrored","replicas":0"#,
            "replicas",
            "must be from 1 to 256, this is 0",
        );
        check(r#""strategy":"local-sgd","sync_every":0"#, "sync_every", "must be at least 1");
        let job = job(r#""strategy":"multi-worker","workers":3"#);
        assert_eq!((job.check(), job.ranks()), (Ok(()), 3));
    }

    #[test]
    fn each_key_is_refused_by_the_strategies_that_have_it_not_and_taken_by_the_others() {
        let values = [
            ("replicas", "2"),
            ("workers", "2"),
            ("servers", "2"),
            ("consistency", r#""async""#),
            ("staleness", r#"1,"consistency":"bounded""#),
            ("backup", r#"1,"workers":2"#),
            ("sync_every", "4"),
            ("outer_momentum", "0.5"),
            ("all_reduce", r#""ring""#),
            ("compress", r#""bf16""#),
            ("scaling", r#""per-replica""#),
            ("overlap", "true"),
            ("elastic", "true"),
        ];
        use Strategy::{LocalSgd, Mirrored, MultiWorker, OneDevice, ParameterServer};
        for ((key, value), (known, owners)) in values.into_iter().zip(KEYS) {
            assert_eq!(key, known);
            for strategy in [OneDevice, Mirrored, MultiWorker, ParameterServer, LocalSgd] {
                let keys = format!(r#""strategy":"{}","{key}":{value}"#, strategy.word());
                let taken = job(&keys).check();
                assert_eq!(taken.is_ok(), owners.contains(&strategy), "{keys}: {taken:?}");
            }
        }
    }

    #[test]
    fn what_says_nothing_is_taken_by_every_strategy() {
        let idle = r#""replicas":1,"workers":1,"servers":1,"consistency":"sync","staleness":0,
            "backup":0,"sync_every":1,"outer_momentum":0,"all_reduce":"fixed","compress":"none",
            "scaling":"global","elastic":false"#;
        let own = job(idle);
        assert_eq!(own.check(), Ok(()));
        let text = serde_json::to_string(&own).unwrap();
        for key in ["servers", "consistency", "sync_every", "compress", "scaling", "elastic"] {
            assert!(!text.contains(key), "jobs of older programs had no such key: {text}");
        }
    }

    #[test]
    fn keys_that_do_not_go_with_each_other_are_refused() {
        for (keys, key) in [
            (r#""strategy":"local-sgd","replicas":2,"workers":2"#, "workers"),
            (r#""strategy":"local-sgd","replicas":2,"schedule":"noise-scale""#, "schedule"),
            (r#""strategy":"parameter-server","staleness":1"#, "staleness"),
            (r#""strategy":"parameter-server","schedule":"noise-scale""#, "schedule"),
            (r#""strategy":"parameter-server","workers":2,"backup":2"#, "backup"),
            (r#""strategy":"mirrored","compress":"f16","all_reduce":"ring""#, "compress"),
            (r#""strategy":"mirrored","compress":"f16","overlap":true"#, "overlap"),
            (r#""scaling":"per-replica""#, "scaling"),
            (r#""strategy":"mirrored","replicas":2,"elastic":true"#, "elastic"),
            (r#""strategy":"local-sgd","outer_momentum":1.0"#, "outer_momentum"),
        ] {
            assert_eq!(job(keys).check().unwrap_err().key, key, "{keys}");
        }
        let async_backup = r#""strategy":"parameter-server","consistency":"async","backup":1"#;
        check(async_backup, "backup", "only consistency `sync` has backup workers");
        let elastic = r#""strategy":"multi-worker","workers":2,"elastic":true"#;
        assert_eq!(job(elastic).check(), Ok(()));
    }

    #[test]
    fn a_batch_of_each_replica_scales_the_rate_by_their_number() {
        let own = job(r#""strategy":"mirrored","replicas":4,"batch":8,"scaling":"per-replica""#);
        assert_eq!((own.global_batch(), own.rate_is_for()), (32, Some(8)));
        let own = job(r#""strategy":"mirrored","replicas":4,"batch":8,"reference_batch":16"#);
        assert_eq!((own.global_batch(), own.rate_is_for()), (8, Some(16)));
        assert_eq!(job(r#""batch":8"#).rate_is_for(), None);
    }
}
