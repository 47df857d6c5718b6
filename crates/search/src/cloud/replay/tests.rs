use super::super::advisor::{Advice, Advisor};
use super::super::candidate::{Candidate, Machine};
use super::super::history::{History, PastRun};
use super::super::method::Method;
use super::super::problem::{Limits, Objective};
use super::*;

/// Three sizes of three families; the middle family has the most memory.
pub(crate) fn problem(objective: Objective) -> Problem {
    let mut candidates = Vec::new();
    for (family, memory, price) in [("c4", 2.0, 0.05), ("r4", 8.0, 0.066), ("m4", 4.0, 0.05)] {
        for (size, vcpus) in [("large", 2.0), ("xlarge", 4.0), ("2xlarge", 8.0)] {
            let name = format!("{family}.{size}");
            let machine = Machine::plain(&name, vcpus, memory * vcpus, price * vcpus);
            candidates.push(Candidate { machine, nodes: 1 });
        }
    }
    Problem::new(candidates, objective, Limits::default()).unwrap()
}

/// A workload that scales with a power of the processors and needs so much memory; one that
/// needs 40 GiB fails on the smallest machines.
fn workload(name: &str, power: f64, memory_gib: f64) -> PastWorkload {
    let run = |own: &Candidate| {
        let short = own.machine.memory_gib < memory_gib;
        let time = 1000.0 * own.total_vcpus().powf(-power) * if short { 3.0 } else { 1.0 };
        let completed = own.machine.memory_gib * 8.0 >= memory_gib;
        let metrics = vec![Some(if short { 90.0 } else { 5.0 }), Some(100.0 * power)];
        Some(PastRun { elapsed_s: Some(time), completed, metrics })
    };
    let runs = problem(Objective::Time).candidates().iter().map(run).collect();
    PastWorkload { name: name.to_owned(), group: name.to_owned(), runs }
}

pub(crate) fn history() -> History {
    let mut workloads = Vec::new();
    for (at, memory) in [1.0, 10.0, 20.0, 40.0].into_iter().enumerate() {
        for (number, power) in [0.2, 0.5, 0.9].into_iter().enumerate() {
            workloads.push(workload(&format!("w{at}{number}"), power, memory));
        }
    }
    let metric_names = vec!["cpu_iowait_pct".to_owned(), "cpu_user_pct".to_owned()];
    History { metric_names, workloads }
}

struct Fixed(Vec<usize>, usize);

impl Advisor for Fixed {
    fn advise(&self, told: &[Told], _seed: u64) -> Advice {
        let stop = (told.len() >= self.1).then_some(Stop::RunsSpent { runs: self.1 });
        Advice { next: self.0.get(told.len()).copied(), stop, ..Advice::default() }
    }
}

#[test]
fn measures_are_those_of_a_replay_done_by_hand() {
    let problem = problem(Objective::Time);
    let mut own = workload("w", 1.0, 1.0);
    // 500, 250, 125 for each family; a failure that took 50.
    own.runs[3] = Some(PastRun { elapsed_s: Some(50.0), completed: false, metrics: vec![] });
    let found = replay(&problem, &own, &Fixed(vec![0, 3, 1, 4, 2, 5], 3), 1).unwrap();
    assert_eq!((found.optimum, found.best, found.ratio), (125.0, Some(250.0), Some(2.0)));
    assert_eq!((found.stopped_after, found.n_to_5pct, found.tried.len()), (3, Some(5), 5));
    assert!((found.search_cost - 800.0 / 125.0).abs() < 1e-12);
    assert_eq!(found.tried[1].objective, Some(50.0));
    assert!(!found.tried[1].completed);
}

/// Foretells 250 of everything.
struct Flat;

impl Advisor for Flat {
    fn advise(&self, told: &[Told], _seed: u64) -> Advice {
        let left = told.len()..9;
        let outlook = left.map(|candidate| Outlook {
            candidate,
            expected: 250.0,
            low: None,
            high: None,
            chance_accepted: None,
        });
        let stop = (told.len() >= 3).then_some(Stop::RunsSpent { runs: 3 });
        let next = (told.len() < 9).then_some(told.len());
        Advice { next, stop, outlook: outlook.collect(), ..Advice::default() }
    }
}

#[test]
fn the_error_of_what_was_foretold_counts_what_had_not_run_and_ended_well() {
    let problem = problem(Objective::Time);
    let mut own = workload("w", 1.0, 1.0);
    own.runs[8] = Some(PastRun { elapsed_s: Some(1.0), completed: false, metrics: vec![] });
    let found = replay(&problem, &own, &Flat, 1).unwrap();
    // Left are 500, 250, 125, 500, 250: wrong by 0.5, 0, 1, 0.5 and 0.
    assert!((found.prediction_error.unwrap() - 0.4).abs() < 1e-12);
    let silent = replay(&problem, &own, &Fixed(vec![0, 1, 2], 3), 1).unwrap();
    assert_eq!(silent.prediction_error, None);
    let all = summary(&[found, silent]).unwrap();
    assert!((all.prediction_error.median.unwrap() - 0.4).abs() < 1e-12);
}

#[test]
fn a_failure_of_unknown_length_is_counted_and_not_guessed() {
    let problem = problem(Objective::Time);
    let mut own = workload("w", 1.0, 1.0);
    own.runs[0] = Some(PastRun { elapsed_s: None, completed: false, metrics: vec![] });
    let found = replay(&problem, &own, &Fixed(vec![0, 2], 2), 1).unwrap();
    assert_eq!((found.unknown_spends, found.search_cost), (1, 1.0));
    assert_eq!(found.tried[0].objective, None);
}

#[test]
fn without_a_good_run_there_is_no_optimum() {
    let problem = problem(Objective::Time);
    let mut own = workload("w", 1.0, 1.0);
    own.runs.iter_mut().flatten().for_each(|run| run.completed = false);
    assert_eq!(replay(&problem, &own, &Fixed(vec![0, 1], 2), 1), None);
}

/// What every method keeps to.
#[test]
fn every_method_tries_each_candidate_once_and_repeats_itself() {
    let history = history();
    for objective in [Objective::Time, Objective::Cost] {
        let problem = problem(objective);
        for method in Method::ALL {
            for tested in &history.workloads[8..11] {
                let advisor =
                    method.advisor(&problem, &history.without_group(&tested.group)).unwrap();
                let record = Record { problem: &problem, workload: tested };
                let mut told: Vec<Told> = Vec::new();
                let mut stopped = None;
                loop {
                    let advice = advisor.advise(&told, 3);
                    assert_eq!(advice, advisor.advise(&told, 3), "{method:?}");
                    if advice.stop.is_some() && stopped.is_none() {
                        stopped = Some(told.len());
                        assert!(problem.best(&told).is_some(), "{method:?} stopped for nothing");
                    }
                    let Some(next) = advice.next else { break };
                    assert!(told.iter().all(|own| own.candidate != next), "{method:?} repeats");
                    told.push(record.run(next));
                }
                assert_eq!(told.len(), 9, "{method:?}");
                assert!(stopped.is_some(), "{method:?}");
            }
        }
    }
}

#[test]
fn our_method_needs_few_runs_and_a_false_history_costs_little() {
    let runs = |history: &History, own: &History| -> f64 {
        let problem = problem(Objective::Cost);
        let all = history.workloads.iter().map(|tested| {
            let advisor =
                Method::Default.advisor(&problem, &own.without_group(&tested.group)).unwrap();
            let found = replay(&problem, tested, advisor.as_ref(), 1).unwrap();
            assert!(found.ratio.unwrap() < 1.3, "{found:?}");
            found.n_to_5pct.unwrap() as f64
        });
        all.sum::<f64>() / history.workloads.len() as f64
    };
    let history = history();
    let with = runs(&history, &history);
    let without = runs(&history, &History::default());
    let mut shuffled = history.clone();
    for (seed, own) in shuffled.workloads.iter_mut().enumerate() {
        Random::new(seed as u64).shuffle(&mut own.runs);
    }
    let misled = runs(&history, &shuffled);
    assert!(with <= 3.5 && with <= without + 0.25, "{with} {without}");
    assert!(misled <= 1.2 * without + 0.25, "{misled} {without}");
}

#[test]
fn methods_that_learn_from_others_say_so() {
    let problem = problem(Objective::Time);
    for method in Method::ALL.into_iter().filter(|own| own.needs_history()) {
        let error = method.advisor(&problem, &History::default()).err().unwrap().to_string();
        assert!(error.contains(method.name()) && error.contains("no history"), "{error}");
    }
}
