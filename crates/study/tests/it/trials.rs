//! Trials, their outcomes and what is kept of them.

use trainwright_study::{
    Configuration, Level, Outcome, PlannedTrial, Seed, TrialState, parse_duration, seconds_per,
};

fn planned() -> PlannedTrial {
    PlannedTrial {
        number: 3,
        row: Some(2),
        replicate: 1,
        configuration: Configuration::new(vec![("lr".to_owned(), Level::Number(0.1))]),
        seed: 9,
        block: None,
        whole_plot: None,
    }
}

#[test]
fn every_state_is_read_by_its_word() {
    for state in TrialState::ALL {
        assert_eq!(TrialState::from_word(state.word()), Some(state));
        assert_eq!(serde_json::to_value(state).unwrap(), state.word());
        assert_eq!(format!("{state:>10}").len(), 10);
    }
    assert_eq!(TrialState::from_word("done"), None);
    assert_eq!(TrialState::from_word("Finished"), None);
}

#[test]
fn an_outcome_leads_to_its_state_and_only_failures_have_a_reason() {
    let reason = || "why".to_owned();
    let cases = [
        (Outcome::Finished, TrialState::Finished, None),
        (Outcome::Stopped, TrialState::Stopped, None),
        (Outcome::Failed { reason: reason() }, TrialState::Failed, Some("why")),
        (Outcome::Diverged { reason: reason() }, TrialState::Diverged, Some("why")),
    ];
    for (outcome, state, why) in cases {
        assert_eq!((outcome.state(), outcome.reason()), (state, why));
        let json = serde_json::to_value(&outcome).unwrap();
        assert_eq!(json["outcome"], state.word());
        assert_eq!(serde_json::from_value::<Outcome>(json).unwrap(), outcome);
    }
}

#[test]
fn a_planned_trial_without_groups_says_nothing_of_them() {
    let json = serde_json::to_string(&planned()).unwrap();
    assert!(!json.contains("block") && !json.contains("whole_plot"), "{json}");
    assert_eq!(serde_json::from_str::<PlannedTrial>(&json).unwrap(), planned());
    let blocked = PlannedTrial { block: Some(2), ..planned() };
    let json = serde_json::to_string(&blocked).unwrap();
    assert_eq!(serde_json::from_str::<PlannedTrial>(&json).unwrap(), blocked);
}

#[test]
fn seeds_of_parts_differ_from_each_other_and_from_their_own() {
    let own = Seed::new(42);
    let mut all: Vec<u64> = (0..1000).map(|part| own.derive(part).value()).collect();
    all.push(own.value());
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 1001);
    assert_ne!(own.derive(1).derive(2), own.derive(2).derive(1));
}

#[test]
fn a_shuffle_loses_nothing() {
    let mut shuffled = Seed::new(1).shuffled((0..100).collect::<Vec<_>>());
    assert_ne!(shuffled, (0..100).collect::<Vec<_>>());
    shuffled.sort_unstable();
    assert_eq!(shuffled, (0..100).collect::<Vec<_>>());
    assert_eq!(Seed::new(1).shuffled(Vec::<u8>::new()), Vec::<u8>::new());
}

#[test]
fn a_unit_of_time_has_its_seconds_and_others_have_none() {
    assert_eq!(seconds_per("s"), Some(1.0));
    assert_eq!(seconds_per("h"), Some(3600.0));
    assert_eq!(seconds_per("USD"), None);
    assert_eq!(parse_duration("90s"), parse_duration("1.5m"));
}
