//! What every engine keeps to. Each claim is checked on all of them by the same function.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::process::Command;
use std::time::{Duration, Instant};

use trainwright_engine::spark::{SparkEngine, SparkPlace};
use trainwright_engine::{
    Engine, EngineError, EngineEvent, RecordedTrial, ReplayEngine, Stop, TrialOrder, Which,
};
use trainwright_study::{Measurement, Outcome, TrialRecord};

use crate::cluster::Cluster;
use crate::lab::{ACC, HANGS, Lab};

/// A study whose trials wait on a pipe until [`let_go`], where an engine runs them at all.
fn waiting_lab() -> Lab {
    let script = "read x < pipe; echo \"::metric {\\\"acc\\\": 0.$TRAINWRIGHT_TRIAL}\"";
    let lab = Lab::new(script, "grace = \"1h\"", ACC);
    assert!(Command::new("mkfifo").arg(lab.path("pipe")).status().unwrap().success());
    lab
}

/// Ends the waits of all trials, those to come too.
fn let_go(lab: &Lab) -> std::fs::File {
    OpenOptions::new().read(true).write(true).open(lab.path("pipe")).unwrap()
}

fn local(lab: &Lab, slots: u32) -> Box<dyn Engine> {
    Box::new(lab.engine(slots))
}

/// Records of the trials 1 to 9: replicate 1 to 9 of the one configuration.
fn replay(_: &Lab, slots: u32) -> Box<dyn Engine> {
    let recorded = (1..=9).map(|number| RecordedTrial {
        configuration: Lab::trial(number).configuration,
        replicate: number,
        record: TrialRecord {
            outcome: Outcome::Finished,
            measurements: vec![Measurement {
                metric: "acc".to_owned(),
                value: f64::from(number) / 10.0,
                in_range: true,
            }],
            usage: None,
            series: Vec::new(),
            command: Vec::new(),
            environment: BTreeMap::new(),
            started_ms: 0,
            output_end: String::new(),
            cluster: Vec::new(),
        },
    });
    Box::new(ReplayEngine::new(recorded, slots))
}

/// An engine on the cluster that all tests share.
fn spark(lab: &Lab, slots: u32) -> Box<dyn Engine> {
    let driver = crate::executor::driver().expect("it is only asked for where there is Spark");
    let place = SparkPlace { trials: lab.path("trials"), slots };
    Box::new(SparkEngine::new(driver, place).unwrap())
}

/// All engines that can run here.
fn engines() -> Vec<Make> {
    let mut all = vec![local as Make, replay];
    if Cluster::is_possible() {
        all.push(spark);
    }
    all
}

fn order(lab: &Lab, number: u32, slots: u32) -> TrialOrder {
    let mut order = TrialOrder { slots, ..lab.order(number) };
    order.trial.replicate = number.max(1);
    order
}

/// Takes events until so many trials have ended.
#[track_caller]
fn take_ends(engine: &mut dyn Engine, ends: usize) -> Vec<EngineEvent> {
    let begun = Instant::now();
    let mut events = Vec::new();
    while events.iter().filter(|event: &&EngineEvent| event.is_end()).count() < ends {
        events.extend(engine.next_event(Duration::from_millis(50)));
        assert!(begun.elapsed() < HANGS, "{events:?}");
    }
    events
}

fn outcome_of(event: &EngineEvent) -> &Outcome {
    match event {
        EngineEvent::Ended { record, .. } => &record.outcome,
        other => panic!("{other:?} is no end"),
    }
}

type Make = fn(&Lab, u32) -> Box<dyn Engine>;

/// Runs a claim on every engine.
fn on_all(claim: fn(&Lab, Make)) {
    for make in engines() {
        claim(&waiting_lab(), make);
    }
}

#[test]
fn a_new_engine_is_idle_and_has_a_name() {
    on_all(|lab, make| {
        let mut engine = make(lab, 3);
        assert!(!engine.name().is_empty());
        assert_eq!((engine.slots(), engine.free_slots()), (3, 3));
        assert_eq!(engine.next_event(Duration::ZERO), None);
    });
}

#[test]
fn a_trial_starts_reports_and_ends_in_this_order() {
    on_all(|lab, make| {
        let mut engine = make(lab, 1);
        let _open = let_go(lab);
        engine.submit(order(lab, 1, 1)).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| feed(lab, 1));
            let events = take_ends(&mut *engine, 1);
            assert!(matches!(events[0], EngineEvent::Started { number: 1, .. }), "{events:?}");
            let between = &events[1..events.len() - 1];
            let progress = |event: &EngineEvent| matches!(event, EngineEvent::Progress { .. });
            assert!(between.iter().all(progress), "{events:?}");
            assert_eq!(outcome_of(events.last().unwrap()), &Outcome::Finished);
        });
        assert_eq!(engine.next_event(Duration::ZERO), None, "nothing after the end");
    });
}

/// Writes lines into the pipe for so many trials; they lie there when nobody reads.
fn feed(lab: &Lab, lines: usize) {
    use std::io::Write;
    let mut pipe = let_go(lab);
    pipe.write_all("\n".repeat(lines).as_bytes()).unwrap();
}

#[test]
fn slots_are_free_when_the_end_has_been_taken() {
    on_all(|lab, make| {
        let mut engine = make(lab, 2);
        let _open = let_go(lab);
        feed(lab, 2);
        engine.submit(order(lab, 1, 1)).unwrap();
        engine.submit(order(lab, 2, 1)).unwrap();
        assert_eq!(engine.free_slots(), 0);
        let full = engine.submit(order(lab, 3, 1)).unwrap_err();
        assert!(matches!(full, EngineError::NoFreeSlot { trial: 3, wanted: 1, free: 0 }));
        let mut ended = 0;
        while ended < 2 {
            assert_eq!(engine.free_slots(), ended);
            let event = engine.next_event(Duration::from_secs(1));
            ended += u32::from(event.is_some_and(|event| event.is_end()));
        }
        assert_eq!(engine.free_slots(), 2);
    });
}

#[test]
fn an_order_may_take_several_slots_but_no_more_than_there_are() {
    on_all(|lab, make| {
        let mut engine = make(lab, 3);
        let _open = let_go(lab);
        feed(lab, 2);
        for wanted in [0, 4] {
            let refused = engine.submit(order(lab, 1, wanted)).unwrap_err();
            let expected = matches!(
                refused,
                EngineError::ImpossibleSlots { trial: 1, slots: 3, wanted: asked } if asked == wanted
            );
            assert!(expected, "{refused}");
        }
        engine.submit(order(lab, 1, 2)).unwrap();
        assert_eq!(engine.free_slots(), 1);
        let full = engine.submit(order(lab, 2, 2)).unwrap_err();
        assert!(matches!(full, EngineError::NoFreeSlot { trial: 2, wanted: 2, free: 1 }));
        engine.submit(order(lab, 3, 1)).unwrap();
        assert_eq!(engine.free_slots(), 0);
        take_ends(&mut *engine, 2);
        assert_eq!(engine.free_slots(), 3);
        feed(lab, 1);
        engine.submit(order(lab, 2, 3)).unwrap();
        assert_eq!(engine.free_slots(), 0);
        take_ends(&mut *engine, 1);
    });
}

#[test]
fn a_number_is_under_way_once() {
    on_all(|lab, make| {
        let mut engine = make(lab, 2);
        let _open = let_go(lab);
        engine.submit(order(lab, 1, 1)).unwrap();
        let twice = engine.submit(order(lab, 1, 1)).unwrap_err();
        assert!(matches!(twice, EngineError::UnderWay { trial: 1 }), "{twice}");
        feed(lab, 2);
        take_ends(&mut *engine, 1);
        engine.submit(order(lab, 1, 1)).unwrap();
        take_ends(&mut *engine, 1);
    });
}

#[test]
fn one_trial_can_be_stopped_while_others_go_on() {
    on_all(|lab, make| {
        let mut engine = make(lab, 2);
        let _open = let_go(lab);
        engine.submit(order(lab, 1, 1)).unwrap();
        engine.submit(order(lab, 2, 1)).unwrap();
        engine.stop(Which::One(1), Stop::Now);
        let mut events = Vec::new();
        // A replayed trial is over before it can be stopped.
        while !events.iter().any(|event: &EngineEvent| event.is_end() && event.number() == 1) {
            events.extend(engine.next_event(Duration::from_millis(50)));
        }
        feed(lab, 1);
        let ended = events.iter().filter(|event| event.is_end()).count();
        events.extend(take_ends(&mut *engine, 2 - ended));
        for event in events.iter().filter(|event| event.is_end()) {
            let expected = match (engine.name(), event.number()) {
                ("local" | "spark", 1) => Outcome::Stopped,
                _ => Outcome::Finished,
            };
            assert_eq!(outcome_of(event), &expected, "{event:?}");
        }
        feed(lab, 1);
        engine.submit(order(lab, 3, 1)).unwrap();
        take_ends(&mut *engine, 1);
    });
}

#[test]
fn after_a_stop_of_all_nothing_new_is_taken() {
    for how in [Stop::Politely, Stop::Now] {
        for make in engines() {
            let lab = waiting_lab();
            let _open = let_go(&lab);
            let mut engine = make(&lab, 3);
            engine.submit(order(&lab, 1, 1)).unwrap();
            engine.submit(order(&lab, 2, 1)).unwrap();
            engine.stop(Which::All, how);
            let refused = engine.submit(order(&lab, 3, 1)).unwrap_err();
            assert!(matches!(refused, EngineError::Stopping { trial: 3 }), "{refused}");
            take_ends(&mut *engine, 2);
            assert!(engine.submit(order(&lab, 3, 1)).is_err(), "not even when all have ended");
            assert_eq!(engine.free_slots(), 3);
        }
    }
}

#[test]
fn stopping_a_trial_that_is_not_there_is_harmless() {
    on_all(|lab, make| {
        let mut engine = make(lab, 1);
        let _open = let_go(lab);
        engine.stop(Which::One(7), Stop::Now);
        engine.submit(order(lab, 1, 1)).unwrap();
        engine.stop(Which::One(7), Stop::Politely);
        feed(lab, 2);
        let events = take_ends(&mut *engine, 1);
        assert_eq!(outcome_of(events.last().unwrap()), &Outcome::Finished);
        engine.stop(Which::One(1), Stop::Now);
        engine.submit(order(lab, 2, 1)).unwrap();
        let events = take_ends(&mut *engine, 1);
        assert_eq!(outcome_of(events.last().unwrap()), &Outcome::Finished);
    });
}

#[test]
fn dropping_an_engine_ends_everything() {
    on_all(|lab, make| {
        let _open = let_go(lab);
        let mut engine = make(lab, 2);
        engine.submit(order(lab, 1, 1)).unwrap();
        engine.submit(order(lab, 2, 1)).unwrap();
        drop(engine);
        let shells = trainwright_probe::process_stats().unwrap().into_iter().filter(|process| {
            let folder = std::fs::read_link(format!("/proc/{}/cwd", process.pid));
            process.state != 'Z' && folder.is_ok_and(|folder| folder == lab.path(""))
        });
        assert_eq!(shells.count(), 0);
    });
}

#[test]
fn events_of_different_trials_are_never_mixed() {
    on_all(|lab, make| {
        let mut engine = make(lab, 4);
        let _open = let_go(lab);
        (1..=4).for_each(|number| engine.submit(order(lab, number, 1)).unwrap());
        feed(lab, 4);
        let events = take_ends(&mut *engine, 4);
        for number in 1..=4 {
            let own: Vec<&EngineEvent> =
                events.iter().filter(|event| event.number() == number).collect();
            let started = |event: &&&EngineEvent| matches!(event, EngineEvent::Started { .. });
            assert_eq!(own.iter().filter(started).count(), 1, "{own:?}");
            assert_eq!(own.iter().filter(|event| event.is_end()).count(), 1, "{own:?}");
            let EngineEvent::Ended { record, .. } = own.last().unwrap() else { panic!("{own:?}") };
            assert_eq!(record.measurements[0].value, f64::from(number) / 10.0);
        }
    });
}

#[test]
fn a_replay_without_a_record_fails_the_trial() {
    let lab = waiting_lab();
    let mut engine = replay(&lab, 1);
    engine.submit(order(&lab, 10, 1)).unwrap();
    let events = take_ends(&mut *engine, 1);
    let Outcome::Failed { reason } = outcome_of(&events[0]) else { panic!("{events:?}") };
    assert_eq!(reason, "nothing is recorded for replicate 10 of x=2");
}
