use std::fs;
use std::time::{Duration, SystemTime};

use trainwright_engine::{EngineError, PastTrial, Reread, outputs, reread, trial_folder};
use trainwright_study::{Outcome, Study, TrialRecord};

use crate::lab::Lab;

const WRONG: &str = "[metrics.acc]\nfrom = \"regex\"\nmatch = 'accuracy: (?P<value>\\S+)'\n\
                     objective = \"maximize\"\n";

/// The lab's study with other metrics.
fn changed(lab: &Lab, metrics: &str) -> Study {
    let text = fs::read_to_string(lab.path("study.toml")).unwrap();
    let text = text.split("[metrics").next().unwrap().to_owned() + metrics;
    fs::write(lab.path("study.toml"), text).unwrap();
    Study::load(&lab.path("study.toml")).unwrap()
}

fn again(lab: &Lab, record: &TrialRecord, metrics: &str) -> Reread {
    let trial = Lab::trial(1);
    let usage = record.usage.as_ref().unwrap();
    let trials = lab.path("trials");
    let started_ms = record.started_ms;
    let past = PastTrial { trial: &trial, trials: &trials, started_ms, usage };
    reread(&changed(lab, metrics), past).unwrap()
}

#[test]
fn a_corrected_pattern_makes_a_failed_trial_finished() {
    let lab = Lab::new("echo 'acc=0.5 at 1'; echo 'acc=0.7 at 2'", "", WRONG);
    let record = lab.run();
    assert!(matches!(record.outcome, Outcome::Failed { .. }));
    let right = WRONG.replace("accuracy: (?P<value>\\S+)", "acc=(?P<value>\\S+) at (?P<step>.)");
    let found = again(&lab, &record, &right);
    assert_eq!((found.outcome, found.missing), (Outcome::Finished, vec![]));
    assert_eq!(found.measurements[0].value, 0.7);
    assert_eq!(found.curves[0].values, [0.5, 0.7]);
}

#[test]
fn a_pattern_that_still_finds_nothing_is_explained() {
    let lab = Lab::new("echo 'acc=0.5'", "", WRONG);
    let record = lab.run();
    let found = again(&lab, &record, &WRONG.replace("accuracy:", "precision:"));
    assert!(matches!(found.outcome, Outcome::Failed { .. }));
    assert_eq!((found.missing.len(), &*found.missing[0].metric), (1, "acc"));
    assert!(found.missing[0].explanation.contains("that match `precision: "));
}

#[test]
fn a_crash_stays_a_failure_whatever_the_rules() {
    let lab = Lab::new("echo 'acc=0.5'; exit 3", "", WRONG);
    let record = lab.run();
    let found = again(&lab, &record, &WRONG.replace("accuracy: ", "acc="));
    assert!(matches!(&found.outcome, Outcome::Failed { reason } if reason.contains("code 3")));
    assert_eq!(found.measurements[0].value, 0.5, "it can be seen all the same");
}

#[test]
fn a_file_that_a_later_trial_wrote_is_not_believed() {
    let json = "[metrics.acc]\nfrom = \"json\"\nfile = \"eval.json\"\npointer = \"/acc\"\n\
                objective = \"maximize\"\n";
    let lab = Lab::new("echo '{\"acc\": 0.5}' > eval.json", "", json);
    let record = lab.run();
    assert_eq!(again(&lab, &record, json).measurements[0].value, 0.5);
    let file = fs::File::options().write(true).open(lab.path("eval.json")).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    let found = again(&lab, &record, json);
    let [missing] = &found.missing[..] else { panic!("{found:?}") };
    assert!(missing.explanation.contains("written before or after the trial"), "{missing:?}");
    fs::write(lab.trial_folder(1).join("eval.json"), "{\"acc\": 0.25}").unwrap();
    assert_eq!(again(&lab, &record, json).measurements[0].value, 0.25, "nobody else writes there");
}

#[test]
fn outputs_are_found_by_number() {
    let lab = Lab::new("echo hello; echo '{}' >> $TRAINWRIGHT_METRICS", "", WRONG);
    let record = lab.run();
    let kept = outputs(&lab.path("trials"), 1).unwrap();
    assert_eq!(kept.folder, trial_folder(&lab.path("trials"), 1));
    assert_eq!(fs::read_to_string(kept.stdout).unwrap(), "hello\n");
    assert!(kept.stderr.is_file() && kept.metrics.is_file());
    assert_eq!(outputs(&lab.path("trials"), 2), None);
    let trial = Lab::trial(2);
    let usage = record.usage.unwrap();
    let trials = lab.path("trials");
    let past = PastTrial { trial: &trial, trials: &trials, started_ms: 0, usage: &usage };
    let gone = reread(lab.study(), past).unwrap_err();
    assert!(matches!(gone, EngineError::NoOutputs { trial: 2, .. }), "{gone}");
}
