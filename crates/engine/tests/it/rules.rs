use std::fs;

use trainwright_engine::{EngineError, try_rules};

use crate::lab::Lab;

const METRICS: &str = "[metrics.acc]\nfrom = \"regex\"\n\
    match = 'epoch (?P<step>\\d+): acc (?P<value>\\S+)'\npick = \"max\"\n\
    objective = \"maximize\"\n\
    [metrics.loss]\n\
    [metrics.time]\nfrom = \"wall\"\nunit = \"s\"\n";

#[test]
fn rules_are_tried_on_one_log() {
    let lab = Lab::new("true", "", METRICS);
    let log = lab.path("old.log");
    fs::write(&log, "epoch 1: acc 0.9\nepoch 2: acc 0.8\nfinal loss 3\n").unwrap();
    let trials = try_rules(lab.study(), &log).unwrap();
    let [acc, loss] = &trials[..] else { panic!("{trials:?}") };
    assert_eq!((&*acc.metric, acc.picked, acc.found.len()), ("acc", Some(0.9), 2));
    assert!(acc.rule.contains("that match `epoch"), "{}", acc.rule);
    let second = &acc.found[1];
    assert_eq!((second.line, &*second.text), (2, "epoch 2: acc 0.8"));
    assert_eq!((second.value, second.step), (0.8, Some(2.0)));
    assert_eq!((loss.picked, loss.found.len()), (None, 0));
    assert_eq!((loss.near_misses[0].line, &*loss.near_misses[0].text), (3, "final loss 3"));
}

#[test]
fn rules_are_tried_on_the_folder_of_a_trial() {
    let script = "echo 'epoch 7: acc 0.5'; echo '{\"loss\": 2}' >> $TRAINWRIGHT_METRICS";
    let lab = Lab::new(script, "", METRICS);
    lab.run();
    let trials = try_rules(lab.study(), &lab.trial_folder(1)).unwrap();
    assert_eq!(trials.iter().map(|rule| rule.picked).collect::<Vec<_>>(), [Some(0.5), Some(2.0)]);
}

#[test]
fn a_log_that_is_not_there_is_named() {
    let lab = Lab::new("true", "", METRICS);
    let error = try_rules(lab.study(), &lab.path("no.log")).unwrap_err();
    assert!(matches!(error, EngineError::File { .. }) && error.to_string().contains("no.log"));
}
