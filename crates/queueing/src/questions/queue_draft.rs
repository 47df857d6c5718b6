//! A question as a person asks it, and its whole answer.

use serde::Serialize;

use crate::error::QueueingError;
use crate::questions::capacity::{
    LargestRate, SmallestServiceRate, largest_rate, servers_needed, smallest_service_rate,
};
use crate::questions::target::{Statistic, Target};
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
    /// M/M/c//N.
    Finite,
}

/// A question about a queue, not yet checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueDraft {
    /// Which queue.
    pub name: QueueName,
    /// Jobs that arrive in a unit of time, or requests of each customer of a finite population;
    /// a target can choose the largest.
    pub arrival_rate: Option<f64>,
    /// Jobs that one busy server ends in a unit of time; a target can choose the smallest.
    pub service_rate: Option<f64>,
    /// Servers; a target can choose the fewest.
    pub servers: Option<u32>,
    /// Places, those in service included.
    pub capacity: Option<u32>,
    /// Customers in all.
    pub population: Option<u32>,
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
    /// What the queue is, apart from its rates and servers.
    #[serde(skip)]
    pub kind: QueueKind,
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
    /// The smallest service rate at which this number of servers keeps it; `None` where every
    /// rate that serves all arrivals does.
    pub smallest_service_rate: Option<f64>,
    /// What the target chose, because the question left it open.
    pub chosen: Option<Chosen>,
}

/// What a target chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// The fewest servers.
    Servers,
    /// The largest arrival rate.
    ArrivalRate,
    /// The smallest service rate.
    ServiceRate,
}

impl QueueName {
    fn word(self) -> &'static str {
        match self {
            Self::Mm1 => "mm1",
            Self::Mmc => "mmc",
            Self::Mmck => "mmck",
            Self::Mg1 => "mg1",
            Self::Ggc => "ggc",
            Self::Finite => "finite",
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
        let Setting { arrival_rate, service_rate, servers, chosen } = self.setting(kind)?;
        let queue = kind.queue(arrival_rate, service_rate, servers)?;
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
                servers_needed: servers_needed(kind, arrival_rate, service_rate, target)?,
                largest_rate: match largest_rate(kind, service_rate, servers, target)? {
                    LargestRate::Rate(rate) => Some(rate),
                    LargestRate::Every | LargestRate::EveryBelow(_) => None,
                },
                smallest_service_rate: self.smallest_rate(kind, arrival_rate, servers, target)?,
                chosen,
            }),
        };
        Ok(QueueAnswer {
            queue: self.title(servers),
            kind,
            arrival_rate,
            service_rate,
            servers,
            steady_state: queue.steady_state(),
            quantiles: queue.quantiles(),
            target,
        })
    }

    fn smallest_rate(
        &self,
        kind: QueueKind,
        arrival_rate: f64,
        servers: u32,
        target: &Target,
    ) -> Result<Option<f64>, QueueingError> {
        Ok(match smallest_service_rate(kind, arrival_rate, servers, target)? {
            SmallestServiceRate::Rate(rate) => Some(rate),
            SmallestServiceRate::Every | SmallestServiceRate::EveryAbove(_) => None,
        })
    }

    /// What the queue is, apart from its rates and servers.
    ///
    /// # Errors
    /// A number that is missing or foreign to the queue.
    pub fn kind(&self) -> Result<QueueKind, QueueingError> {
        let kind = self.name.word();
        let missing = |what| QueueingError::Missing { kind, what };
        let only = |given: bool, what, instead| match given {
            true => Err(QueueingError::NotOfThisKind { kind, what, instead }),
            false => Ok(()),
        };
        let has = |names: &[QueueName]| names.contains(&self.name);
        let (many, general) = ("ask `mmc` or `ggc` for several", "ask `mg1` or `ggc`");
        let several = self.servers.is_some_and(|servers| servers != 1);
        only(self.has_one_server() && several, "number of servers but 1", many)?;
        let limited = has(&[QueueName::Mmck]);
        only(!limited && self.capacity.is_some(), "capacity", "ask `mmck` for a limited queue")?;
        let finite = has(&[QueueName::Finite]);
        only(!finite && self.population.is_some(), "population", "ask `finite` for customers")?;
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
            QueueName::Finite => QueueKind::Finite {
                population: self.population.ok_or_else(|| missing("a population of customers"))?,
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

    fn has_one_server(&self) -> bool {
        matches!(self.name, QueueName::Mm1 | QueueName::Mg1)
    }

    /// Rates and servers as given, and what the target chooses of them.
    fn setting(&self, kind: QueueKind) -> Result<Setting, QueueingError> {
        let word = self.name.word();
        let missing = |what| QueueingError::Missing { kind: word, what };
        let servers = if self.has_one_server() { Some(1) } else { self.servers };
        let given = (self.arrival_rate, self.service_rate, servers, &self.target);
        let open = |chosen| Setting { arrival_rate: 0.0, service_rate: 0.0, servers: 0, chosen };
        Ok(match given {
            (Some(arrival_rate), Some(service_rate), Some(servers), _) => {
                Setting { arrival_rate, service_rate, servers, chosen: None }
            }
            (Some(arrival_rate), Some(service_rate), None, Some(target)) => Setting {
                arrival_rate,
                service_rate,
                servers: servers_needed(kind, arrival_rate, service_rate, target)?,
                ..open(Some(Chosen::Servers))
            },
            (None, Some(service_rate), Some(servers), Some(target)) => Setting {
                arrival_rate: match largest_rate(kind, service_rate, servers, target)? {
                    LargestRate::Rate(rate) => rate,
                    LargestRate::Every | LargestRate::EveryBelow(_) => {
                        return Err(missing("an arrival rate: every one keeps this target"));
                    }
                },
                service_rate,
                servers,
                ..open(Some(Chosen::ArrivalRate))
            },
            (Some(arrival_rate), None, Some(servers), Some(target)) => Setting {
                arrival_rate,
                service_rate: self
                    .smallest_rate(kind, arrival_rate, servers, target)?
                    .ok_or_else(|| missing("a service rate: every one keeps this target"))?,
                servers,
                ..open(Some(Chosen::ServiceRate))
            },
            (_, _, _, Some(_)) => {
                return Err(missing(
                    "two of arrival rate, service rate and servers; a target \
                    chooses one of them",
                ));
            }
            (None, _, _, None) => {
                return Err(missing("an arrival rate, or a target that chooses it"));
            }
            (_, None, _, None) => {
                return Err(missing("a service rate, or a target that chooses it"));
            }
            (_, _, None, None) => {
                return Err(missing("a number of servers, or a target that chooses them"));
            }
        })
    }

    fn title(&self, servers: u32) -> String {
        match (self.name, self.capacity) {
            (QueueName::Mm1, _) => "M/M/1".to_owned(),
            (QueueName::Mg1, _) => "M/G/1".to_owned(),
            (QueueName::Ggc, _) => format!("G/G/{servers}"),
            (QueueName::Finite, _) => {
                format!("M/M/{servers}//{}", self.population.unwrap_or_default())
            }
            (_, Some(capacity)) => format!("M/M/{servers}/{capacity}"),
            (_, None) => format!("M/M/{servers}"),
        }
    }
}

/// Rates and servers that a question is about.
struct Setting {
    arrival_rate: f64,
    service_rate: f64,
    servers: u32,
    chosen: Option<Chosen>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measure;

    fn draft(name: QueueName) -> QueueDraft {
        QueueDraft {
            name,
            arrival_rate: Some(3.0),
            service_rate: Some(1.0),
            servers: None,
            capacity: None,
            population: None,
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
        assert_eq!(found.chosen, Some(Chosen::Servers));
    }

    #[test]
    fn a_target_chooses_either_rate() {
        let target = Target::new(Measure::Response, Statistic::Mean, 0.5).ok();
        let mm1 = QueueDraft { target, service_rate: Some(10.0), ..draft(QueueName::Mm1) };
        let answer = QueueDraft { arrival_rate: None, ..mm1 }.answer().unwrap();
        assert!((answer.arrival_rate - 8.0).abs() < 1e-12);
        assert_eq!(answer.target.unwrap().chosen, Some(Chosen::ArrivalRate));
        let answer = QueueDraft { service_rate: None, ..mm1 }.answer().unwrap();
        assert!((answer.service_rate - 5.0).abs() < 1e-12);
        let two = "`mm1` needs two of arrival rate, service rate and servers; a target chooses one \
                   of them";
        refused(QueueDraft { arrival_rate: None, service_rate: None, ..mm1 }, two);
        let finite = QueueDraft { target, population: Some(9), ..draft(QueueName::Finite) };
        let answer = QueueDraft { service_rate: Some(4.0), ..finite }.answer().unwrap();
        assert_eq!(answer.queue, format!("M/M/{}//9", answer.servers));
        assert!(answer.steady_state.mean_response <= 0.5);
    }
}
