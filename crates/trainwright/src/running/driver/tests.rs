use std::cell::Cell;
use std::collections::BTreeMap;

use trainwright_engine::{RecordedTrial, ReplayEngine};
use trainwright_search::FixedPlan;
use trainwright_study::{Configuration, Level, Outcome};

use super::*;

/// Writes down what it is told; allows `most` trials and tries failed ones `retries` times again.
struct Witness {
    log: Vec<String>,
    begun: u32,
    most: u32,
    retries: u32,
    halt_on_failure: bool,
}

impl Witness {
    fn new() -> Self {
        Self { log: Vec::new(), begun: 0, most: u32::MAX, retries: 0, halt_on_failure: false }
    }

    fn note(&mut self, what: String, trials: &[PlannedTrial]) {
        self.begun += trials.len() as u32;
        let numbers: Vec<String> = trials.iter().map(|trial| trial.number.to_string()).collect();
        self.log.push(format!("{what} begins [{}]", numbers.join(" ")));
    }
}

impl Keeper for Witness {
    fn allows_another(&self) -> bool {
        self.begun < self.most
    }

    fn begin(&mut self, trials: &[PlannedTrial]) -> Result<(), Error> {
        self.note("first".to_owned(), trials);
        Ok(())
    }

    fn hear(&mut self, _: u32, _: Duration, _: &[(String, f64)]) -> Result<(), Error> {
        Ok(())
    }

    fn after(&mut self, end: &TrialEnd<'_>) -> After {
        let failed = matches!(end.record.outcome, Outcome::Failed { .. });
        if failed && self.halt_on_failure {
            After::NoMore
        } else if failed && self.retries > 0 {
            self.retries -= 1;
            After::Again
        } else {
            After::Next
        }
    }

    fn end(&mut self, end: &TrialEnd<'_>, next: &[PlannedTrial]) -> Result<(), Error> {
        self.note(format!("{} ended", end.trial.number), next);
        Ok(())
    }

    fn announce(&mut self, end: &TrialEnd<'_>, after: After, _: &[PlannedTrial]) {
        let kept = self.log.last_mut().expect("it was kept before");
        assert!(kept.starts_with(&format!("{} ended", end.trial.number)), "kept last: {kept}");
        kept.push_str(&format!(", {after:?}"));
    }
}

fn study() -> Study {
    Study::from_text(
        "schema = 1\n[study]\nname = \"demo\"\n[factors.x]\nlevels = [1, 2, 3, 4]\n\
         [design]\ntype = \"full\"\n[run]\ncommand = [\"true\", \"{x}\"]\n[metrics.y]\n",
    )
    .unwrap()
}

fn trial(number: u32) -> PlannedTrial {
    let configuration = Configuration::new(vec![("x".into(), Level::Integer(number.into()))]);
    PlannedTrial {
        number,
        row: Some(number),
        replicate: 1,
        configuration,
        seed: 1,
        block: None,
        whole_plot: None,
    }
}

/// An engine that knows the trials in `known`; others fail.
fn engine(known: &[u32], slots: u32) -> ReplayEngine {
    let record = TrialRecord {
        outcome: Outcome::Finished,
        measurements: Vec::new(),
        usage: None,
        series: Vec::new(),
        command: Vec::new(),
        environment: BTreeMap::new(),
        started_ms: 0,
        output_end: String::new(),
        cluster: Vec::new(),
    };
    let recorded = known.iter().map(|&number| RecordedTrial {
        configuration: trial(number).configuration,
        replicate: 1,
        record: record.clone(),
    });
    ReplayEngine::new(recorded, slots)
}

fn drive(known: &[u32], slots: u32, witness: &mut Witness) -> DriveEnd {
    drive_until(known, slots, witness, &|| Wish::GoOn, None)
}

fn drive_until(
    known: &[u32],
    slots: u32,
    witness: &mut Witness,
    wish: &dyn Fn() -> Wish,
    max_time: Option<Duration>,
) -> DriveEnd {
    let mut engine = engine(known, slots);
    let mut plan = FixedPlan::new((1..=4).map(trial).collect());
    let mut driver = Driver::new(Arc::new(study()), &mut engine, wish, max_time);
    driver.drive(&mut plan, witness).unwrap()
}

#[test]
fn an_end_and_the_next_start_are_kept_together() {
    let mut witness = Witness::new();
    assert_eq!(drive(&[1, 2, 3, 4], 1, &mut witness), DriveEnd::Complete);
    assert_eq!(
        witness.log,
        [
            "first begins [1]",
            "1 ended begins [2], Next",
            "2 ended begins [3], Next",
            "3 ended begins [4], Next",
            "4 ended begins [], Next"
        ]
    );
}

#[test]
fn all_slots_are_filled_at_once() {
    let mut witness = Witness::new();
    assert_eq!(drive(&[1, 2, 3, 4], 3, &mut witness), DriveEnd::Complete);
    assert_eq!(witness.log[..2], ["first begins [1 2 3]", "1 ended begins [4], Next"]);
    assert_eq!(witness.log.len(), 5, "{:?}", witness.log);
}

#[test]
fn a_trial_that_deserves_it_runs_again_in_its_slot() {
    let mut witness = Witness { retries: 2, ..Witness::new() };
    assert_eq!(drive(&[1, 3, 4], 1, &mut witness), DriveEnd::Complete);
    let second: Vec<&String> = witness.log.iter().filter(|line| line.starts_with('2')).collect();
    assert_eq!(
        second,
        ["2 ended begins [2], Again", "2 ended begins [2], Again", "2 ended begins [3], Next"]
    );
}

#[test]
fn a_keeper_that_allows_no_more_lets_what_runs_end() {
    let mut witness = Witness { most: 3, ..Witness::new() };
    assert_eq!(drive(&[1, 2, 3, 4], 2, &mut witness), DriveEnd::Halted);
    assert_eq!(witness.begun, 3);
    assert_eq!(witness.log.len(), 4, "all three that began have ended: {:?}", witness.log);
}

#[test]
fn no_trial_begins_after_an_end_that_means_no_more() {
    let mut witness = Witness { halt_on_failure: true, ..Witness::new() };
    assert_eq!(drive(&[2, 3, 4], 2, &mut witness), DriveEnd::Halted);
    assert_eq!(witness.log[..2], ["first begins [1 2]", "1 ended begins [], NoMore"]);
    assert_eq!(witness.log.len(), 3, "{:?}", witness.log);
}

#[test]
fn the_user_has_the_last_word() {
    let looks = Cell::new(0);
    let wish = || {
        looks.set(looks.get() + 1);
        if looks.get() > 4 { Wish::Stop } else { Wish::GoOn }
    };
    let mut witness = Witness::new();
    let end = drive_until(&[1, 2, 3, 4], 1, &mut witness, &wish, None);
    assert_eq!(end, DriveEnd::Interrupted);
    assert!(witness.begun < 4, "{:?}", witness.log);
}

#[test]
fn nothing_begins_when_the_time_is_up() {
    let mut witness = Witness::new();
    let end = drive_until(&[1], 1, &mut witness, &|| Wish::GoOn, Some(Duration::ZERO));
    assert_eq!((end, witness.begun), (DriveEnd::TimeUp, 0));
}

#[test]
fn values_of_a_report_have_the_names_of_their_metrics() {
    let text = "schema = 1\n[study]\nname = \"s\"\n[factors.x]\nlevels = [1, 2]\n\
                [metrics.accuracy]\nkey = \"val_acc\"\nfrom = \"stdout\"\n[metrics.time]\nfrom = \"wall\"\n\
                unit = \"s\"\n[analysis]\nresponse = \"accuracy\"\n";
    let study = Study::from_text(text).unwrap();
    let values = vec![("val_acc".to_owned(), 0.5), ("time".to_owned(), 3.0)];
    let named = named_values(&study, &StepReport { step: 1.0, values });
    assert_eq!(named, [("accuracy".to_owned(), 0.5)], "the clock is not what a program says");
}
