//! Classes of jobs, the most urgent first: M/G/1, or M/M/c where all classes need the same service.

use serde::Serialize;

use crate::error::QueueingError;
use crate::limits::{class_rate, count, positive, scv, stable};
use crate::models::mmc::Mmc;
use crate::steady_state::SteadyState;

/// One class of jobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriorityClass {
    /// Jobs of the class that arrive in a unit of time, as a Poisson process.
    pub arrival_rate: f64,
    /// Jobs of the class that one busy server ends in a unit of time.
    pub service_rate: f64,
    /// Variance of the class's service times over their squared mean.
    pub scv_service: f64,
}

/// What happens when an urgent job meets a server that is busy with a less urgent one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    /// It waits until a server is free.
    NonPreemptive,
    /// It takes the server; the other job goes on later where it stopped.
    PreemptiveResume,
}

/// Means of one class of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClassMeans {
    /// Jobs of the class that arrive in a unit of time.
    pub arrival_rate: f64,
    /// Jobs of the class that one busy server ends in a unit of time.
    pub service_rate: f64,
    /// Fraction of the servers that the class keeps busy.
    pub utilisation: f64,
    /// Jobs of the class that wait or are in service.
    pub mean_jobs: f64,
    /// Jobs of the class that wait.
    pub mean_queue: f64,
    /// Time that a job of the class spends in the system without being served.
    pub mean_wait: f64,
    /// Time from a job's arrival to its end.
    pub mean_response: f64,
}

/// A stable queue with classes of jobs, first come first served within each.
///
/// One server takes any service times (Cobham, "Priority Assignment in Waiting Line Problems",
/// Operations Research 2, 1954; preemptive: Gross, Shortle, Thompson and Harris, "Fundamentals of
/// Queueing Theory", 4th edition, section 3.4). Several servers have a closed form where all
/// classes have the same exponential service.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorityQueue {
    classes: Vec<PriorityClass>,
    servers: u32,
    discipline: Discipline,
}

impl PriorityQueue {
    /// A queue of these classes, the most urgent first.
    ///
    /// # Errors
    /// No class, a number out of range, classes that several servers have no closed form for, or
    /// arrivals that the servers cannot keep up with.
    pub fn new(
        classes: Vec<PriorityClass>,
        servers: u32,
        discipline: Discipline,
    ) -> Result<Self, QueueingError> {
        check_classes(&classes, servers)?;
        let first = &classes[0];
        let alike = |class: &PriorityClass| {
            class.scv_service == 1.0 && class.service_rate == first.service_rate
        };
        if servers > 1 && !classes.iter().all(alike) {
            return Err(QueueingError::UnequalClasses { servers });
        }
        Ok(Self { classes, servers, discipline })
    }

    /// Means of each class, the most urgent first.
    pub fn classes(&self) -> Vec<ClassMeans> {
        let waits = match (self.servers, self.discipline) {
            (1, Discipline::NonPreemptive) => self.waits_at_one_server(),
            (1, Discipline::PreemptiveResume) => self.preempted_waits_at_one_server(),
            (_, Discipline::NonPreemptive) => self.waits_at_many(),
            (_, Discipline::PreemptiveResume) => self.preempted_waits_at_many(),
        };
        let servers = f64::from(self.servers);
        let means = |(class, mean_wait): (&PriorityClass, f64)| {
            let &PriorityClass { arrival_rate, service_rate, .. } = class;
            let mean_response = mean_wait + 1.0 / service_rate;
            ClassMeans {
                arrival_rate,
                service_rate,
                utilisation: arrival_rate / service_rate / servers,
                mean_jobs: arrival_rate * mean_response,
                mean_queue: arrival_rate * mean_wait,
                mean_wait,
                mean_response,
            }
        };
        self.classes.iter().zip(waits).map(means).collect()
    }

    /// Averages over all classes.
    pub fn steady_state(&self) -> SteadyState {
        let classes = self.classes();
        let sum = |value: fn(&ClassMeans) -> f64| classes.iter().map(value).sum::<f64>();
        let utilisation = sum(|class| class.utilisation);
        let throughput = sum(|class| class.arrival_rate);
        let (mean_jobs, mean_queue) = (sum(|class| class.mean_jobs), sum(|class| class.mean_queue));
        let (p0, p_wait) = match self.servers {
            1 => (1.0 - utilisation, utilisation),
            _ => {
                let state = self.up_to(self.classes.len()).steady_state();
                (state.p0.unwrap_or_default(), state.p_wait.unwrap_or_default())
            }
        };
        let interrupted = self.discipline == Discipline::PreemptiveResume;
        SteadyState {
            utilisation,
            p0: Some(p0),
            // Whether an interrupted job ever waits depends on who comes later.
            p_wait: (!interrupted).then_some(p_wait),
            p_block: 0.0,
            throughput,
            mean_jobs,
            mean_queue,
            mean_wait: mean_queue / throughput,
            mean_response: mean_jobs / throughput,
        }
    }

    /// Work that the first `number` classes bring in a unit of time.
    fn load(&self, number: usize) -> f64 {
        self.classes[..number].iter().map(|class| class.arrival_rate / class.service_rate).sum()
    }

    /// Mean work left in service of the first `number` classes: half of rate times second moment.
    fn residual(&self, number: usize) -> f64 {
        let of = |class: &PriorityClass| {
            let mean = 1.0 / class.service_rate;
            0.5 * class.arrival_rate * mean * mean * (1.0 + class.scv_service)
        };
        self.classes[..number].iter().map(of).sum()
    }

    /// The residual work of all classes over what the more urgent ones leave of the server.
    fn waits_at_one_server(&self) -> Vec<f64> {
        let residual = self.residual(self.classes.len());
        let wait = |class| residual / ((1.0 - self.load(class)) * (1.0 - self.load(class + 1)));
        (0..self.classes.len()).map(wait).collect()
    }

    /// Less urgent classes do not exist for a class that interrupts them; its own service is
    /// stretched by the more urgent ones.
    fn preempted_waits_at_one_server(&self) -> Vec<f64> {
        let wait = |(index, class): (usize, &PriorityClass)| {
            let free = 1.0 - self.load(index);
            let before_start = self.residual(index + 1) / (free * (1.0 - self.load(index + 1)));
            before_start + self.load(index) / (free * class.service_rate)
        };
        self.classes.iter().enumerate().map(wait).collect()
    }

    /// The M/M/c queue of the first `number` classes.
    fn up_to(&self, number: usize) -> Mmc {
        let arrivals = self.classes[..number].iter().map(|class| class.arrival_rate).sum();
        Mmc::new(arrivals, self.classes[0].service_rate, self.servers)
            .expect("a part of a stable load is stable")
    }

    /// Cobham's formula for several servers: the wait of class i is W0 / ((1 - s(i-1)) (1 - s(i))),
    /// where s(i) is the load of the classes up to i for each server, and W0 the probability of
    /// waiting over the rate of all servers.
    fn waits_at_many(&self) -> Vec<f64> {
        let full = f64::from(self.servers);
        let p_wait = self.up_to(self.classes.len()).wait_tail(0.0);
        let service_rate = self.classes[0].service_rate;
        let wait = |class: usize| {
            p_wait * full
                / (service_rate * (full - self.load(class)) * (full - self.load(class + 1)))
        };
        (0..self.classes.len()).map(wait).collect()
    }

    /// The first i classes together are an M/M/c queue that the others do not touch, because
    /// what is left of exponential service is exponential again; class i is what it adds.
    fn preempted_waits_at_many(&self) -> Vec<f64> {
        let mut before = 0.0;
        let wait = |(index, class): (usize, &PriorityClass)| {
            let queue = self.up_to(index + 1).steady_state().mean_queue;
            let added = queue - before;
            before = queue;
            added / class.arrival_rate
        };
        self.classes.iter().enumerate().map(wait).collect()
    }
}

/// Refuses classes with numbers out of range, or more work than the servers can do.
pub(crate) fn check_classes(classes: &[PriorityClass], servers: u32) -> Result<(), QueueingError> {
    if classes.is_empty() {
        return Err(QueueingError::TooFew { what: "a queue with classes", needed: 1, found: 0 });
    }
    count("servers", servers)?;
    for (number, class) in (1..).zip(classes) {
        class_rate(number, class.arrival_rate)?;
        positive("service rate", class.service_rate)?;
        scv("variation of service times (scv)", class.scv_service)?;
    }
    let arrivals: f64 = classes.iter().map(|class| class.arrival_rate).sum();
    let work: f64 = classes.iter().map(|class| class.arrival_rate / class.service_rate).sum();
    stable(arrivals, arrivals / work, servers)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Mg1;

    fn class(arrival_rate: f64, service_rate: f64, scv_service: f64) -> PriorityClass {
        PriorityClass { arrival_rate, service_rate, scv_service }
    }

    fn queue(classes: &[PriorityClass], servers: u32, discipline: Discipline) -> PriorityQueue {
        PriorityQueue::new(classes.to_vec(), servers, discipline).unwrap()
    }

    const BOTH: [Discipline; 2] = [Discipline::NonPreemptive, Discipline::PreemptiveResume];

    /// Two classes of exponential service at one server, by hand: loads 0.25 and 0.25.
    #[test]
    fn two_classes_equal_the_formulas_by_hand() {
        let classes = [class(0.5, 2.0, 1.0), class(0.25, 1.0, 1.0)];
        // Residual work 0.5 / 4 + 0.25 = 0.375.
        let plain = queue(&classes, 1, Discipline::NonPreemptive).classes();
        assert!((plain[0].mean_wait - 0.375 / 0.75).abs() < 1e-14);
        assert!((plain[1].mean_wait - 0.375 / (0.75 * 0.5)).abs() < 1e-14);
        // Alone in its eyes, the urgent class is M/M/1: 1 / (2 - 0.5).
        let hurried = queue(&classes, 1, Discipline::PreemptiveResume).classes();
        assert!((hurried[0].mean_response - 1.0 / 1.5).abs() < 1e-14);
        let expected = 1.0 / 0.75 + 0.375 / (0.75 * 0.5);
        assert!((hurried[1].mean_response - expected).abs() < 1e-14);
    }

    proptest! {
        #[test]
        fn classes_only_share_out_the_same_waiting(
            rates in proptest::collection::vec(0.01f64..1.0, 1..6), servers in 1u32..6,
        ) {
            let all: f64 = rates.iter().sum();
            let service = 1.2 * all / f64::from(servers);
            let classes: Vec<_> = rates.iter().map(|&rate| class(rate, service, 1.0)).collect();
            let plain = Mmc::new(all, service, servers).unwrap().steady_state();
            for discipline in BOTH {
                let found = queue(&classes, servers, discipline);
                let state = found.steady_state();
                // Kleinrock's conservation law: order does not change how many wait.
                prop_assert!((state.mean_queue / plain.mean_queue - 1.0).abs() < 1e-10);
                prop_assert!((state.mean_jobs / plain.mean_jobs - 1.0).abs() < 1e-10);
                prop_assert!((state.p0.unwrap() / plain.p0.unwrap() - 1.0).abs() < 1e-9);
                prop_assert!(found.classes().is_sorted_by(|a, b| a.mean_wait <= b.mean_wait * (1.0 + 1e-9)));
            }
        }

        #[test]
        fn one_class_is_a_plain_queue(load in 0.01f64..0.98, scv in 0f64..5.0) {
            let plain = Mg1::new(load, 1.0, scv).unwrap().steady_state();
            for discipline in BOTH {
                let found = queue(&[class(load, 1.0, scv)], 1, discipline).steady_state();
                prop_assert!((found.mean_wait / plain.mean_wait - 1.0).abs() < 1e-11);
                prop_assert!((found.mean_jobs / plain.mean_jobs - 1.0).abs() < 1e-11);
            }
        }

        #[test]
        fn one_server_agrees_with_the_formula_for_many(
            rates in proptest::collection::vec(0.01f64..1.0, 1..6),
        ) {
            let service = 1.3 * rates.iter().sum::<f64>();
            let classes: Vec<_> = rates.iter().map(|&rate| class(rate, service, 1.0)).collect();
            for discipline in BOTH {
                let one = queue(&classes, 1, discipline);
                let (a, b) = match discipline {
                    Discipline::NonPreemptive => (one.waits_at_one_server(), one.waits_at_many()),
                    Discipline::PreemptiveResume => {
                        (one.preempted_waits_at_one_server(), one.preempted_waits_at_many())
                    }
                };
                for (a, b) in a.iter().zip(b) {
                    prop_assert!((a - b).abs() <= 1e-9 * a + 1e-12, "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn faulty_classes_are_named() {
        let plain = Discipline::NonPreemptive;
        let new = |classes: &[PriorityClass], servers| {
            PriorityQueue::new(classes.to_vec(), servers, plain)
        };
        let error = new(&[class(0.1, 1.0, 1.0), class(-0.2, 1.0, 1.0)], 1).unwrap_err();
        assert!(error.to_string().starts_with("class 2 has an arrival rate of -0.2"), "{error}");
        assert!(new(&[], 1).is_err());
        assert!(new(&[class(0.6, 1.0, 1.0), class(0.6, 1.0, 1.0)], 1).is_err());
        let unequal = new(&[class(0.6, 1.0, 1.0), class(0.6, 2.0, 1.0)], 2).unwrap_err();
        assert!(matches!(unequal, QueueingError::UnequalClasses { servers: 2 }));
        assert!(new(&[class(0.6, 1.0, 2.0)], 2).is_err());
    }
}
