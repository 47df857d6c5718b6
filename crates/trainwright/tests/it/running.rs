//! `run`, `stop` and `load`.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

use trainwright::{
    Accepted, Error, LoadArrivals, LoadEnd, LoadEvent, LoadReply, LoadRequest, Place, Results,
    RetryFailed, RunEnd, RunReply, RunRequest, Wish, load, stop,
};
use trainwright_study::{Study, TrialState};

use crate::lab::{Lab, SUMS, check_refusal, request};

#[test]
fn every_planned_trial_runs_once_and_is_kept() {
    let lab = Lab::new();
    let study = lab.study(SUMS);
    assert_eq!(lab.run(&study), (RunEnd::Complete, (1..=8).collect()));
    assert_eq!(lab.run(&study), (RunEnd::Complete, Vec::new()));
    let results = Results::read(&study, None).unwrap();
    assert_eq!(results.count(TrialState::Finished), 8);
    for observation in results.observations() {
        let level = |name: &str| observation.configuration.get(name).unwrap().number().unwrap();
        assert_eq!(observation.values["y"], level("a") + level("b"));
    }
}

#[test]
fn a_grown_study_runs_only_what_is_new() {
    let lab = Lab::new();
    lab.run(&lab.study(SUMS));
    let grown = lab.study(&SUMS.replace("replications = 2", "replications = 3"));
    let (end, ran) = lab.run(&grown);
    assert_eq!((end, ran.len()), (RunEnd::Complete, 4));
    let rewritten = lab.study(&SUMS.replace("levels = [1, 2]", "levels = [1, 3]"));
    let refused = lab.run_with(&rewritten, &request(), &|| Wish::GoOn);
    check_refusal(refused, 2, &["`sums` has changed since its trials ran"]);
}

#[test]
fn another_command_runs_only_when_it_is_accepted_by_name() {
    let lab = Lab::new();
    lab.run(&lab.study(SUMS));
    let text = SUMS.replace("replications = 2", "replications = 3").replace("told", "said");
    let study = lab.study(&text);
    check_refusal(lab.run_with(&study, &request(), &|| Wish::GoOn), 2, &["changed", "command"]);
    let accepting = RunRequest { accepted: Accepted { command: true }, ..request() };
    let (end, ran) = lab.run_with(&study, &accepting, &|| Wish::GoOn).unwrap();
    assert_eq!((end, ran.len()), (RunEnd::Complete, 4));
}

#[test]
fn an_interrupted_run_goes_on_where_it_was() {
    let lab = Lab::new();
    let study = lab.study(SUMS);
    let asked = Cell::new(0);
    let stop_soon = || {
        asked.set(asked.get() + 1);
        if asked.get() > 3 { Wish::StopNow } else { Wish::GoOn }
    };
    let (end, first) = lab.run_with(&study, &request(), &stop_soon).unwrap();
    assert_eq!(end, RunEnd::Interrupted);
    let finished = Results::read(&study, None).unwrap().count(TrialState::Finished);
    assert!(finished < 8 && finished <= first.len());
    assert_eq!(lab.run(&study).0, RunEnd::Complete);
    let trials = Results::read(&study, None).unwrap().trials;
    assert!(trials.iter().all(|trial| trial.state == TrialState::Finished));
}

#[test]
fn failed_trials_run_again_only_when_asked() {
    let lab = Lab::new();
    let study = lab.study(&SUMS.replace("echo told >&2", "test -e healed || test $1 = 1"));
    assert_eq!(lab.run(&study).1.len(), 8);
    let failed = |study: &Study| Results::read(study, None).unwrap().count(TrialState::Failed);
    assert_eq!(failed(&study), 4);
    lab.file("healed", "");
    assert_eq!(lab.run(&study).1.len(), 0);
    let again = RunRequest { retry_failed: RetryFailed::Yes, ..request() };
    assert_eq!(lab.run_with(&study, &again, &|| Wish::GoOn).unwrap().1.len(), 4);
    assert_eq!(failed(&study), 0);
}

#[test]
fn a_metric_that_is_never_told_stops_the_study_at_once() {
    let lab = Lab::new();
    let study = lab
        .study(&SUMS.replace("[metrics.y]\nfrom = \"stdout\"", "[metrics.z]\nfrom = \"stdout\""));
    let (end, ran) = lab.run(&study);
    assert_eq!((end, ran.len()), (RunEnd::NoMetric, 1));
}

#[test]
fn what_cannot_run_is_refused_before_anything_is_kept() {
    let lab = Lab::new();
    let command = SUMS.lines().find(|line| line.starts_with("command")).unwrap();
    let study = lab.study(&SUMS.replace(command, ""));
    check_refusal(lab.run_with(&study, &request(), &|| Wish::GoOn), 2, &["no command", "import"]);
    let study = lab.study(&SUMS.replace("[design]\ntype = \"full\"\nreplications = 2\n", ""));
    check_refusal(lab.run_with(&study, &request(), &|| Wish::GoOn), 2, &["no [design]"]);
    let study = lab.study(SUMS);
    let far = lab.path("not/there/store.db");
    let elsewhere = RunRequest { store: Some(&far), ..request() };
    let refused = lab.run_with(&study, &elsewhere, &|| Wish::GoOn);
    check_refusal(refused, 3, &["not/there", "is not there", "--store"]);
    assert!(!Place::of(&study, None).store.exists());
}

#[test]
fn the_reply_of_a_run_counts_and_analyses() {
    let lab = Lab::new();
    let (study, results) = lab.sums();
    let reply = RunReply::of(&study, &results, RunEnd::Complete, Some(PathBuf::from("r.html")));
    assert_eq!(reply.trials.count(TrialState::Finished), 8);
    assert!(reply.analysis.is_some(), "{:?}", reply.analysis_refused);
    let json = trainwright::to_json("run", &reply);
    assert!(json.starts_with("{\n  \"schema\": \"trainwright/run/1\""), "{json}");
}

#[test]
fn stopping_needs_a_runner() {
    let lab = Lab::new();
    let study = lab.study(SUMS);
    check_refusal(stop(&study, None, Wish::Stop), 3, &["no runner", "`sums`"]);
}

/// A load of four short jobs a fiftieth of a second apart.
fn four_jobs<'a>() -> LoadRequest<'a> {
    LoadRequest {
        store: None,
        arrivals: LoadArrivals::Deterministic { rate_per_s: 50.0 },
        jobs: Some(4),
        slots: Some(1),
        warmup_jobs: 0,
        max_time: None,
        set: &[],
        seed: Some(1),
        program: PathBuf::from("/bin/false"),
    }
}

fn put(lab: &Lab, request: &LoadRequest<'_>) -> Result<LoadReply, Error> {
    load(&lab.study(SUMS), request, &|| Wish::GoOn, &mut |_| {})
}

#[test]
fn every_job_of_a_load_arrives_on_time_and_leaves() {
    let lab = Lab::new();
    let reply = put(&lab, &four_jobs()).unwrap();
    assert_eq!((reply.end, reply.planned, reply.arrived), (LoadEnd::Complete, 4, 4));
    assert_eq!(reply.count(TrialState::Finished), 4);
    assert_eq!(reply.measured_jobs().len(), 4);
    for (job, place) in reply.jobs.iter().zip(1u32..) {
        assert_eq!(job.number, place);
        assert!((job.wait_s - (job.start_s - job.arrival_s)).abs() < 1e-9);
        assert!((job.response_s - job.wait_s - job.service_s).abs() < 1e-9);
    }
    assert!(reply.kept.exists());
    assert!(trainwright::load_page(&reply, "now").contains("<html"));
}

#[test]
fn the_next_load_is_kept_beside_the_first() {
    let lab = Lab::new();
    let first = put(&lab, &four_jobs()).unwrap().kept;
    let second = put(&lab, &four_jobs()).unwrap().kept;
    assert_ne!(first, second);
    assert!(first.exists() && second.exists());
}

#[test]
fn a_load_ends_when_its_time_is_up() {
    let lab = Lab::new();
    let slow = LoadRequest {
        arrivals: LoadArrivals::Deterministic { rate_per_s: 0.01 },
        max_time: Some(Duration::from_millis(50)),
        ..four_jobs()
    };
    let reply = put(&lab, &slow).unwrap();
    assert_eq!(reply.end, LoadEnd::TimeUp);
    assert!(reply.arrived < 4 && reply.not_summed.is_some());
}

#[test]
fn a_load_tells_when_it_begins_and_when_jobs_end() {
    let lab = Lab::new();
    let (mut begun, mut ended) = (0, 0);
    let study = lab.study(SUMS);
    load(&study, &four_jobs(), &|| Wish::GoOn, &mut |event| match event {
        LoadEvent::Begun { jobs, slots, .. } => begun += jobs * slots as usize,
        LoadEvent::Ended { .. } => ended += 1,
    })
    .unwrap();
    assert_eq!((begun, ended), (4, 4));
}

#[test]
fn a_load_that_makes_no_sense_is_refused() {
    let lab = Lab::new();
    let never = LoadArrivals::Poisson { rate_per_s: 0.0 };
    check_refusal(put(&lab, &LoadRequest { arrivals: never, ..four_jobs() }), 2, &["rate"]);
    let set = [("a".to_owned(), "7".to_owned())];
    check_refusal(put(&lab, &LoadRequest { set: &set, ..four_jobs() }), 2, &["a", "7"]);
    let set = [("c".to_owned(), "1".to_owned())];
    check_refusal(put(&lab, &LoadRequest { set: &set, ..four_jobs() }), 2, &["c"]);
}
