//! Cloud configurations: prices, limits, and what every method keeps to on tables of any kind.

use proptest::prelude::*;
use trainwright_search::cloud::{
    Candidate, Features, History, Limits, Machine, Method, Objective, PastRun, PastWorkload,
    Problem, Quantiles, Stop, Told, summary,
};

fn candidate(name: &str, vcpus: f64, nodes: u32) -> Candidate {
    Candidate { machine: Machine::plain(name, vcpus, 4.0 * vcpus, 0.05 * vcpus), nodes }
}

fn told(candidate: usize, elapsed_s: f64, completed: bool) -> Told {
    Told { candidate, elapsed_s: Some(elapsed_s), completed, metrics: Vec::new() }
}

/// Candidates of some sizes and numbers of nodes, none twice.
fn tables() -> impl Strategy<Value = Vec<Candidate>> {
    proptest::collection::btree_set((0_u32..4, 1_u32..5), 1..10).prop_map(|kinds| {
        let one = |(size, nodes): (u32, u32)| {
            candidate(&format!("m{size}.large"), f64::from(1 << size), nodes)
        };
        kinds.into_iter().map(one).collect()
    })
}

/// What runs of a workload give: times by place, some of which fail.
fn runs() -> impl Strategy<Value = Vec<(f64, bool)>> {
    proptest::collection::vec((1.0..1000.0_f64, proptest::bool::weighted(0.8)), 10)
}

fn history(candidates: usize) -> History {
    let run = |at: usize, work: usize| PastRun {
        elapsed_s: Some(100.0 / (1.0 + at as f64) + 10.0 * work as f64),
        completed: at + work != 1,
        metrics: vec![Some(at as f64 * 3.0 + work as f64), None],
    };
    let workload = |work: usize| PastWorkload {
        name: format!("w{work}"),
        group: format!("g{work}"),
        runs: (0..candidates).map(|at| Some(run(at, work))).collect(),
    };
    let metric_names = vec!["a".to_owned(), "b".to_owned()];
    History { metric_names, workloads: (0..4).map(workload).collect() }
}

#[test]
fn prices_processors_and_names_are_those_of_all_nodes() {
    let own = candidate("c4.xlarge", 4.0, 3);
    assert!((own.price_usd_per_hour() - 0.6).abs() < 1e-12);
    assert!((own.cost_usd(1800.0) - 0.3).abs() < 1e-12);
    assert_eq!((own.total_vcpus(), own.label().as_str()), (12.0, "3 x c4.xlarge"));
    assert_eq!(candidate("c4.xlarge", 4.0, 1).label(), "c4.xlarge");
}

#[test]
fn a_property_that_is_no_positive_number_is_named_with_its_machine() {
    type Change = fn(&mut Candidate);
    let cases: [(Change, &str); 5] = [
        (|own| own.machine.vcpus = -1.0, "vcpus of `b` is -1, where a number above 0 is needed"),
        (
            |own| own.machine.memory_gib = f64::NAN,
            "memory_gib of `b` is NaN, where a number above 0 is needed",
        ),
        (
            |own| own.machine.price_usd_per_hour = f64::INFINITY,
            "price_usd_per_hour of `b` is inf, where a number above 0 is needed",
        ),
        (|own| own.nodes = 0, "nodes of `b` is 0, where a number above 0 is needed"),
        (|own| own.machine.vm_type = "a".to_owned(), "the configuration `2 x a` is listed twice"),
    ];
    for (change, words) in cases {
        let mut all = vec![candidate("a", 2.0, 2), candidate("b", 2.0, 2)];
        change(&mut all[1]);
        let refused = Problem::new(all, Objective::Time, Limits::default()).unwrap_err();
        assert_eq!(refused.to_string(), words);
    }
}

#[test]
fn methods_that_learn_from_others_need_some() {
    let all = vec![candidate("a", 2.0, 1), candidate("b", 4.0, 1)];
    let problem = Problem::new(all, Objective::Time, Limits::default()).unwrap();
    for method in Method::ALL {
        let made = method.advisor(&problem, &History::default());
        assert_eq!(made.is_err(), method.needs_history(), "{}", method.name());
        if let Err(error) = made {
            let words = format!(
                "the method `{}` learns from other workloads, and there is no history",
                method.name()
            );
            assert_eq!(error.to_string(), words);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever runs give, no method names a candidate twice or fails to come to an end.
    #[test]
    fn every_method_tries_each_candidate_once_and_ends(table in tables(), runs in runs(), seed in 0_u64..99) {
        let history = history(table.len());
        for objective in [Objective::Time, Objective::Cost] {
            let limits = Limits { time_s: Some(500.0), cost_usd: None };
            let problem = Problem::new(table.clone(), objective, limits).unwrap();
            for method in Method::ALL {
                let advisor = method.advisor(&problem, &history).unwrap();
                let mut known: Vec<Told> = Vec::new();
                while let Some(next) = advisor.advise(&known, seed).next {
                    prop_assert!(next < table.len(), "{}", method.name());
                    prop_assert!(known.iter().all(|own| own.candidate != next), "{} twice", method.name());
                    let (time, completed) = runs[next];
                    let metrics = vec![Some(time), None];
                    known.push(Told { metrics, ..told(next, time, completed) });
                }
                prop_assert_eq!(known.len(), table.len(), "{}", method.name());
                let over = advisor.advise(&known, seed);
                prop_assert!(over.stop.is_some(), "{} has nothing left and goes on", method.name());
            }
        }
    }
}

proptest! {
    #[test]
    fn the_best_run_is_the_one_that_looking_at_all_finds(table in tables(), runs in runs(), most in 1.0..1000.0_f64) {
        let known: Vec<Told> =
            (0..table.len()).map(|at| told(at, runs[at].0, runs[at].1)).collect();
        for (objective, limits) in [
            (Objective::Time, Limits::default()),
            (Objective::Cost, Limits { time_s: Some(most), cost_usd: None }),
            (Objective::Time, Limits { time_s: Some(most), cost_usd: Some(most / 3600.0) }),
        ] {
            let problem = Problem::new(table.clone(), objective, limits).unwrap();
            let mut expected: Option<(usize, f64)> = None;
            for (at, own) in table.iter().enumerate() {
                let (time, completed) = runs[at];
                let cost = time / 3600.0 * own.machine.price_usd_per_hour * f64::from(own.nodes);
                // Limits are compared as times; a cost at the limit to the last bit may fall either way.
                let dear = limits.cost_usd.is_some_and(|most| cost > most * (1.0 + 1e-12));
                if !completed || dear || limits.time_s.is_some_and(|most| time > most) {
                    continue;
                }
                let value = if objective == Objective::Time { time } else { cost };
                if expected.is_none_or(|best| value < best.1) {
                    expected = Some((at, value));
                }
            }
            let found = problem.best(&known);
            prop_assert_eq!(found.map(|own| own.0), expected.map(|own| own.0));
        }
    }

    #[test]
    fn features_differ_and_span_the_unit_interval(table in tables()) {
        let features = Features::of(&table);
        for column in 0..features.names().len() {
            let values: Vec<f64> = (0..table.len()).map(|at| features.unit(at)[column]).collect();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert_eq!((least, most), (0.0, 1.0), "{}", features.names()[column]);
        }
    }

    /// A quantile lies between the values around its place, and what is missing lies beyond all.
    #[test]
    fn quantiles_lie_where_counting_says(values in proptest::collection::vec(0.0..9.0_f64, 1..30), missing in 0_usize..4) {
        let all: Vec<Option<f64>> =
            values.iter().map(|own| Some(*own)).chain(std::iter::repeat_n(None, missing)).collect();
        let count = all.len() as f64;
        let found = Quantiles::of(all);
        for (found, share) in [(found.median, 0.5), (found.p90, 0.9)] {
            let place = share * (count - 1.0);
            if place.ceil() as usize >= values.len() {
                // Between a value and one that was never reached, unless it falls on the value.
                prop_assert!(found.is_none() || place.fract() == 0.0);
                continue;
            }
            let found = found.unwrap();
            let below = values.iter().filter(|own| **own < found - 1e-12).count();
            let at_most = values.iter().filter(|own| **own <= found + 1e-12).count();
            prop_assert!(below as f64 <= place.ceil() && at_most as f64 >= place.floor() + 1.0 - 1e-12);
        }
    }
}

#[test]
fn reasons_to_stop_name_their_figures() {
    for (stop, words) in [
        (Stop::AllTried, "every candidate has run"),
        (Stop::RunsSpent { runs: 6 }, "the method takes 6 runs"),
        (
            Stop::LittleToGain { expected_gain: 0.031, threshold: 0.1 },
            "the next run is expected to gain 3.1 %, and 10.0 % would be worth it",
        ),
        (
            Stop::NoneBetter { chance: 0.049 },
            "no other candidate is likely to be better; the most promising one has a chance of 5 %",
        ),
        (
            Stop::NoneWithin { expected_ratio: 1.357, limit: 1.1 },
            "the most promising candidate is expected at 1.36 times the best, and 1.1 times would have been worth a run",
        ),
        (Stop::Misses { runs: 2 }, "2 promising runs in a row were no better"),
    ] {
        assert_eq!(stop.words(), words);
    }
    assert_eq!(summary(&[]), None);
}
