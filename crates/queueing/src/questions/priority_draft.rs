//! A question about a queue with classes as a person asks it, and its whole answer.

use serde::Serialize;

use crate::bisection::last_where;
use crate::error::QueueingError;
use crate::limits::{MOST_PLACES, least_servers};
use crate::models::priority::{
    ClassMeans, Discipline, PriorityClass, PriorityQueue, check_classes,
};
use crate::questions::capacity::fewest;
use crate::questions::target::{Statistic, Target};
use crate::steady_state::SteadyState;

/// A question about a queue with classes, not yet checked.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorityDraft {
    /// Arrival rate of each class, the most urgent first.
    pub arrival_rates: Vec<f64>,
    /// Service rate of each class, or one for all.
    pub service_rates: Vec<f64>,
    /// Variation of each class's service times, or one for all; exponential where empty.
    pub scv_service: Vec<f64>,
    /// Servers; 1 where a target does not choose them.
    pub servers: Option<u32>,
    /// Whether urgent jobs interrupt others.
    pub discipline: Discipline,
    /// A time that a class should keep within.
    pub target: Option<ClassTarget>,
}

/// A time that one class should keep within.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassTarget {
    /// The class, from 1; the least urgent where `None`.
    pub class: Option<usize>,
    /// The limit of its mean wait or response.
    pub target: Target,
}

/// All that is known about a queue with classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PriorityAnswer {
    /// The queue's name, such as `M/G/1 with 2 classes`.
    pub queue: String,
    /// Whether urgent jobs interrupt others.
    pub discipline: Discipline,
    /// Jobs of all classes that arrive in a unit of time.
    pub arrival_rate: f64,
    /// Servers.
    pub servers: u32,
    /// Averages over all classes.
    #[serde(flatten)]
    pub steady_state: SteadyState,
    /// Means of each class, the most urgent first.
    pub classes: Vec<ClassMeans>,
    /// What a target needs.
    pub target: Option<ClassTargetAnswer>,
}

/// What a target of one class needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassTargetAnswer {
    /// The class, from 1.
    pub class: usize,
    /// The figure that is limited, such as `mean response`.
    pub figure: String,
    /// The limit.
    pub limit: f64,
    /// Whether this queue keeps it.
    pub met: bool,
    /// The fewest servers that keep it; `None` where several servers have no closed form.
    pub servers_needed: Option<u32>,
    /// The largest factor by which all arrival rates may grow.
    pub arrival_factor: f64,
    /// The largest factor by which all service times may grow.
    pub service_time_factor: f64,
}

impl PriorityDraft {
    /// The classes with their own numbers.
    ///
    /// # Errors
    /// A list that is neither one number nor one for each class.
    pub fn classes(&self) -> Result<Vec<PriorityClass>, QueueingError> {
        let number = self.arrival_rates.len();
        let of = |values: &[f64], what, index: usize| match values.len() {
            1 => Ok(values[0]),
            found if found == number => Ok(values[index]),
            found => Err(QueueingError::PerClass { what, found, classes: number }),
        };
        let scvs = if self.scv_service.is_empty() { &[1.0][..] } else { &self.scv_service };
        let class = |(index, &arrival_rate): (usize, &f64)| {
            Ok(PriorityClass {
                arrival_rate,
                service_rate: of(&self.service_rates, "service", index)?,
                scv_service: of(scvs, "scv-service", index)?,
            })
        };
        self.arrival_rates.iter().enumerate().map(class).collect()
    }

    /// Checks the question and answers it.
    ///
    /// # Errors
    /// A number that is missing or out of range; classes without a closed form; arrivals that the
    /// servers cannot keep up with; a target that cannot be kept.
    pub fn answer(&self) -> Result<PriorityAnswer, QueueingError> {
        let classes = self.classes()?;
        let asked = match &self.target {
            Some(target) => Some(Asked::of(target, classes.len())?),
            None => None,
        };
        let needed =
            asked.as_ref().map(|asked| self.servers_needed(&classes, asked)).transpose()?;
        let servers = self.servers.or(needed.flatten()).unwrap_or(1);
        let queue = PriorityQueue::new(classes.clone(), servers, self.discipline)?;
        let target = match &asked {
            None => None,
            Some(asked) => Some(ClassTargetAnswer {
                class: asked.class,
                figure: asked.target.to_string(),
                limit: asked.target.limit(),
                met: asked.is_met(&queue),
                servers_needed: needed.flatten(),
                arrival_factor: self.largest_factor(&classes, servers, asked, Scale::Arrivals)?,
                service_time_factor: self.largest_factor(&classes, servers, asked, Scale::Times)?,
            }),
        };
        let kind = if classes.iter().all(|class| class.scv_service == 1.0) { "M" } else { "G" };
        let plural = if classes.len() == 1 { "class" } else { "classes" };
        Ok(PriorityAnswer {
            queue: format!("M/{kind}/{servers} with {} {plural}", classes.len()),
            discipline: self.discipline,
            arrival_rate: self.arrival_rates.iter().sum(),
            servers,
            steady_state: queue.steady_state(),
            classes: queue.classes(),
            target,
        })
    }

    /// The fewest servers that keep a target; nothing where only one server has a closed form,
    /// unless that one keeps it.
    fn servers_needed(
        &self,
        classes: &[PriorityClass],
        asked: &Asked,
    ) -> Result<Option<u32>, QueueingError> {
        let class = &classes[asked.class - 1];
        asked.target.floor(class.service_rate)?;
        let arrivals: f64 = classes.iter().map(|class| class.arrival_rate).sum();
        let work: f64 = classes.iter().map(|class| class.arrival_rate / class.service_rate).sum();
        let Some(least) = least_servers(arrivals, arrivals / work) else { return Ok(None) };
        check_classes(classes, least)?;
        let met = |servers| {
            let queue = PriorityQueue::new(classes.to_vec(), servers, self.discipline)?;
            Ok(asked.is_met(&queue))
        };
        match fewest(met, least, MOST_PLACES) {
            Err(QueueingError::UnequalClasses { .. }) => Ok(None),
            other => other,
        }
    }

    fn largest_factor(
        &self,
        classes: &[PriorityClass],
        servers: u32,
        asked: &Asked,
        scale: Scale,
    ) -> Result<f64, QueueingError> {
        let work: f64 = classes.iter().map(|class| class.arrival_rate / class.service_rate).sum();
        let scaled = |factor: f64| {
            let own = |class: &PriorityClass| match scale {
                Scale::Arrivals => {
                    PriorityClass { arrival_rate: class.arrival_rate * factor, ..*class }
                }
                Scale::Times => {
                    PriorityClass { service_rate: class.service_rate / factor, ..*class }
                }
            };
            PriorityQueue::new(classes.iter().map(own).collect(), servers, self.discipline)
        };
        // Factors from nearly nothing to the one that fills the servers.
        let low = 1e-9;
        if !asked.is_met(&scaled(low)?) {
            let floor = asked.target.floor(classes[asked.class - 1].service_rate)?;
            return Err(asked.target.unreachable(floor));
        }
        let kept = |factor| scaled(factor).is_ok_and(|queue| asked.is_met(&queue));
        Ok(last_where(kept, low, f64::from(servers) / work))
    }
}

/// What grows when a target is asked backwards.
#[derive(Clone, Copy)]
enum Scale {
    Arrivals,
    Times,
}

/// A checked target of a class.
struct Asked {
    class: usize,
    target: Target,
}

impl Asked {
    fn of(asked: &ClassTarget, classes: usize) -> Result<Self, QueueingError> {
        let class = asked.class.unwrap_or(classes);
        if class == 0 || class > classes {
            return Err(QueueingError::NoSuchClass { class, classes });
        }
        if asked.target.statistic() != Statistic::Mean {
            return Err(QueueingError::NoQuantiles { queue: "a queue with classes" });
        }
        Ok(Self { class, target: asked.target })
    }

    fn is_met(&self, queue: &PriorityQueue) -> bool {
        let means = &queue.classes()[self.class - 1];
        self.target.mean_is_met(means.mean_wait, means.mean_response)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::questions::target::Measure;

    fn draft(arrival_rates: Vec<f64>, limit: f64, class: Option<usize>) -> PriorityDraft {
        let target = Target::new(Measure::Response, Statistic::Mean, limit).unwrap();
        PriorityDraft {
            arrival_rates,
            service_rates: vec![1.0],
            scv_service: Vec::new(),
            servers: None,
            discipline: Discipline::NonPreemptive,
            target: Some(ClassTarget { class, target }),
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |draft: PriorityDraft| draft.answer().unwrap_err().to_string();
        let three = vec![0.1, 0.2, 0.3];
        let short =
            PriorityDraft { service_rates: vec![1.0, 2.0], ..draft(three.clone(), 9.0, None) };
        assert!(refused(short).starts_with("service lists 2 values for 3 classes"));
        assert!(refused(draft(three.clone(), 9.0, Some(4))).starts_with("there is no class 4"));
        assert!(refused(draft(three, 0.9, None)).contains("cannot be reached"));
    }

    #[test]
    fn general_service_has_no_answer_in_servers() {
        let general = PriorityDraft { scv_service: vec![3.0], ..draft(vec![0.3, 0.4], 2.0, None) };
        let target = general.answer().unwrap().target.unwrap();
        assert_eq!((target.met, target.servers_needed), (false, None));
        assert!(target.arrival_factor < 1.0 && target.service_time_factor < 1.0);
    }

    proptest! {
        #[test]
        fn answers_are_the_last_that_keep_the_target(
            rates in proptest::collection::vec(0.05f64..2.0, 1..4), limit in 1.05f64..4.0,
            preemptive in any::<bool>(),
        ) {
            let discipline =
                if preemptive { Discipline::PreemptiveResume } else { Discipline::NonPreemptive };
            let draft = PriorityDraft { discipline, ..draft(rates, limit, None) };
            let answer = draft.answer().unwrap();
            let target = answer.target.unwrap();
            prop_assert!(target.met && target.servers_needed == Some(answer.servers));
            if answer.servers > 1 {
                let fewer = PriorityDraft { servers: Some(answer.servers - 1), ..draft.clone() };
                prop_assert!(!fewer.answer().is_ok_and(|answer| answer.target.unwrap().met));
            }
            for (factor, held) in [(0.999_999, true), (1.000_001, false)] {
                let grown = PriorityDraft {
                    arrival_rates: draft.arrival_rates.iter()
                        .map(|rate| rate * target.arrival_factor * factor).collect(),
                    servers: Some(answer.servers),
                    ..draft.clone()
                };
                let found = grown.answer().is_ok_and(|answer| answer.target.unwrap().met);
                prop_assert_eq!(found, held);
            }
        }
    }
}
