//! A question as a person asks it, and its whole answer.

use serde::Serialize;

use crate::capacity::{LargestRate, Statistic, Target, largest_rate, servers_needed};
use crate::error::QueueingError;
use crate::queue::QueueKind;
use crate::steady_state::{Quantiles, SteadyState};

/// The queues that have a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueName {
    /// M/M/1.
    Mm1,
    /// M/M/c.
    Mmc,
    /// M/M/c/K.
    Mmck,
    /// M/G/1.
    Mg1,
    /// G/G/c.
    Ggc,
}

/// A question about a queue, not yet checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueDraft {
    /// Which queue.
    pub name: QueueName,
    /// Jobs that arrive in a unit of time.
    pub arrival_rate: f64,
    /// Jobs that one busy server ends in a unit of time.
    pub service_rate: f64,
    /// Servers; a target can choose them.
    pub servers: Option<u32>,
    /// Places, those in service included.
    pub capacity: Option<u32>,
    /// Variation of the times between arrivals.
    pub scv_arrival: Option<f64>,
    /// Variation of the service times.
    pub scv_service: Option<f64>,
    /// A time to keep within.
    pub target: Option<Target>,
}

/// All that is known about a queue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueAnswer {
    /// The queue's name, such as `M/M/4`.
    pub queue: String,
    /// Jobs that arrive in a unit of time.
    pub arrival_rate: f64,
    /// Jobs that one busy server ends in a unit of time.
    pub service_rate: f64,
    /// Servers.
    pub servers: u32,
    /// Averages and probabilities in the long run.
    #[serde(flatten)]
    pub steady_state: SteadyState,
    /// Quantiles of accepted jobs' times.
    pub quantiles: Quantiles,
    /// What a target needs.
    pub target: Option<TargetAnswer>,
}

/// What a target needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetAnswer {
    /// The figure that is limited, such as `mean response`.
    pub figure: String,
    /// The fraction of a quantile; `None` for a mean.
    pub quantile: Option<f64>,
    /// The limit.
    pub limit: f64,
    /// Whether this queue keeps it.
    pub met: bool,
    /// The fewest servers that keep it at this arrival rate.
    pub servers_needed: u32,
    /// The largest arrival rate at which this number of servers keeps it; `None` where every
    /// rate that can be served does.
    pub largest_rate: Option<f64>,
}

impl QueueName {
    fn word(self) -> &'static str {
        match self {
            Self::Mm1 => "mm1",
            Self::Mmc => "mmc",
            Self::Mmck => "mmck",
            Self::Mg1 => "mg1",
            Self::Ggc => "ggc",
        }
    }
}

impl QueueDraft {
    /// Checks the question and answers it.
    ///
    /// # Errors
    /// A number that is missing, out of range or foreign to the queue; arrivals that the servers
    /// cannot keep up with; a target that cannot be kept.
    pub fn answer(&self) -> Result<QueueAnswer, QueueingError> {
        let kind = self.kind()?;
        let servers = self.servers(kind)?;
        let queue = kind.queue(self.arrival_rate, self.service_rate, servers)?;
        let target = match &self.target {
            None => None,
            Some(target) => Some(TargetAnswer {
                figure: target.to_string(),
                quantile: match target.statistic() {
                    Statistic::Mean => None,
                    Statistic::Quantile(part) => Some(part),
                },
                limit: target.limit(),
                met: target.is_met(&queue)?,
                servers_needed: self.servers_needed(kind, target)?,
                largest_rate: match largest_rate(kind, self.service_rate, servers, target)? {
                    LargestRate::Rate(rate) => Some(rate),
                    LargestRate::Every | LargestRate::EveryBelow(_) => None,
                },
            }),
        };
        Ok(QueueAnswer {
            queue: self.title(servers),
            arrival_rate: self.arrival_rate,
            service_rate: self.service_rate,
            servers,
            steady_state: queue.steady_state(),
            quantiles: queue.quantiles(),
            target,
        })
    }

    fn kind(&self) -> Result<QueueKind, QueueingError> {
        let kind = self.name.word();
        let missing = |what| QueueingError::Missing { kind, what };
        let only = |given: bool, what, instead| match given {
            true => Err(QueueingError::NotOfThisKind { kind, what, instead }),
            false => Ok(()),
        };
        let has = |names: &[QueueName]| names.contains(&self.name);
        let (many, general) = ("ask `mmc` or `ggc` for several", "ask `mg1` or `ggc`");
        let one_server = has(&[QueueName::Mm1, QueueName::Mg1]);
        only(one_server && self.servers.is_some(), "number of servers but 1", many)?;
        let limited = has(&[QueueName::Mmck]);
        only(!limited && self.capacity.is_some(), "capacity", "ask `mmck` for a limited queue")?;
        let any_arrivals = has(&[QueueName::Ggc]);
        only(
            !any_arrivals && self.scv_arrival.is_some(),
            "variation of arrivals to choose: they are Poisson",
            "ask `ggc` for others",
        )?;
        let any_service = has(&[QueueName::Mg1, QueueName::Ggc]);
        only(
            !any_service && self.scv_service.is_some(),
            "variation of service to choose: it is exponential",
            general,
        )?;
        let scv_service = || {
            self.scv_service.ok_or_else(|| missing("the variation of service times (scv-service)"))
        };
        Ok(match self.name {
            QueueName::Mm1 | QueueName::Mmc => QueueKind::Mmc,
            QueueName::Mmck => QueueKind::Mmck {
                capacity: self
                    .capacity
                    .ok_or_else(|| missing("a capacity, which counts jobs in service too"))?,
            },
            QueueName::Mg1 => QueueKind::Mgc { scv_service: scv_service()? },
            QueueName::Ggc => QueueKind::Ggc {
                scv_arrival: self.scv_arrival.ok_or_else(|| {
                    missing("the variation of arrivals (scv-arrival); Poisson arrivals have 1")
                })?,
                scv_service: scv_service()?,
            },
        })
    }

    /// The servers given, or those that the target needs.
    fn servers(&self, kind: QueueKind) -> Result<u32, QueueingError> {
        match (self.name, self.servers, &self.target) {
            (QueueName::Mm1 | QueueName::Mg1, _, _) => Ok(1),
            (_, Some(servers), _) => Ok(servers),
            (_, None, Some(target)) => self.servers_needed(kind, target),
            (_, None, None) => Err(QueueingError::Missing {
                kind: self.name.word(),
                what: "a number of servers, or a target that chooses them",
            }),
        }
    }

    fn servers_needed(&self, kind: QueueKind, target: &Target) -> Result<u32, QueueingError> {
        servers_needed(kind, self.arrival_rate, self.service_rate, target)
    }

    fn title(&self, servers: u32) -> String {
        match (self.name, self.capacity) {
            (QueueName::Mm1, _) => "M/M/1".to_owned(),
            (QueueName::Mg1, _) => "M/G/1".to_owned(),
            (QueueName::Ggc, _) => format!("G/G/{servers}"),
            (_, Some(capacity)) => format!("M/M/{servers}/{capacity}"),
            (_, None) => format!("M/M/{servers}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measure;

    fn draft(name: QueueName) -> QueueDraft {
        QueueDraft {
            name,
            arrival_rate: 3.0,
            service_rate: 1.0,
            servers: None,
            capacity: None,
            scv_arrival: None,
            scv_service: None,
            target: None,
        }
    }

    #[track_caller]
    fn refused(draft: QueueDraft, message: &str) {
        assert_eq!(draft.answer().unwrap_err().to_string(), message);
    }

    #[test]
    fn what_is_missing_or_foreign_is_named() {
        let mmc = draft(QueueName::Mmc);
        refused(mmc, "`mmc` needs a number of servers, or a target that chooses them");
        let mm1 = QueueDraft { servers: Some(4), ..draft(QueueName::Mm1) };
        refused(mm1, "`mm1` has no number of servers but 1; ask `mmc` or `ggc` for several");
        refused(
            draft(QueueName::Mmck),
            "`mmck` needs a capacity, which counts jobs in service too",
        );
        refused(draft(QueueName::Mg1), "`mg1` needs the variation of service times (scv-service)");
        let limited = QueueDraft { capacity: Some(9), servers: Some(4), ..mmc };
        refused(limited, "`mmc` has no capacity; ask `mmck` for a limited queue");
        let varied = QueueDraft { scv_service: Some(2.0), servers: Some(4), ..mmc };
        refused(
            varied,
            "`mmc` has no variation of service to choose: it is exponential; ask `mg1` or `ggc`",
        );
    }

    #[test]
    fn a_target_chooses_the_servers() {
        let target = Target::new(Measure::Response, Statistic::Mean, 1.2).unwrap();
        let answer = QueueDraft { target: Some(target), ..draft(QueueName::Mmc) }.answer().unwrap();
        let found = answer.target.unwrap();
        assert!(found.met && found.servers_needed == answer.servers);
        assert_eq!(answer.queue, format!("M/M/{}", answer.servers));
        assert!(found.largest_rate.unwrap() >= 3.0);
        assert!(answer.steady_state.mean_response <= 1.2);
    }
}
