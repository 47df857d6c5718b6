//! What binds a training, told at its end and on its page.

use serde_json::Value;

use crate::program::Lab;

/// The last line of a training as JSON.
#[track_caller]
fn last_line(lab: &Lab, words: &str) -> Value {
    let words: Vec<&str> = words.split(' ').collect();
    let end = lab.expect(0, &[&["train", "--json"], words.as_slice()].concat());
    serde_json::from_str(end.stdout.lines().last().unwrap()).unwrap()
}

#[test]
fn the_last_line_says_what_binds_with_most_of_the_time_accounted_for() {
    let lab = Lab::new();
    for strategy in ["one-device", "mirrored --replicas 2", "multi-worker --workers 2"] {
        // Steps of ten milliseconds, so that a busy machine rarely takes the core between two looks
        // at the clock.
        let job = "--neurons 512 --hidden-layers 2 --batch 256 --epochs 2";
        let done = last_line(&lab, &format!("{job} --strategy {strategy}"));
        assert_eq!(done["event"], "done");
        let found = &done["bottleneck"];
        assert!(found["covered"].as_f64().unwrap() > 0.75, "{strategy}: {found:#}");
        assert!(!found["idealised"].as_array().unwrap().is_empty(), "{strategy}: {found:#}");
        assert!(found["step_s"].as_f64().unwrap() > 0.0, "{strategy}: {found:#}");
        // Between threads there is no network to blame.
        let network = found.to_string().contains("network-");
        assert!(!network || strategy.starts_with("multi-worker"), "{strategy}: {found:#}");
    }
}

#[test]
fn one_device_waits_for_no_other() {
    let done = last_line(&Lab::new(), "--neurons 256 --batch 128 --epochs 2");
    let found = &done["bottleneck"];
    // A busy machine may take the cores, and then little else is sure.
    let resource = found["resource"].as_str().unwrap_or("none");
    assert!(["processor", "shared-cores", "none"].contains(&resource), "{found:#}");
    let idealised = found["idealised"].as_array().unwrap();
    let gain = |name: &str| {
        let own = idealised.iter().find(|own| own["resource"] == name);
        own.map_or(0.0, |own| own["shrinks_by"].as_f64().unwrap())
    };
    assert!(gain("processor") + gain("shared-cores") > gain("exchange"), "{found:#}");
    assert!(gain("stragglers") < 0.01 && gain("server") < 0.01, "{found:#}");
}

#[test]
fn a_training_has_a_page_with_its_ranks_and_some_steps() {
    let lab = Lab::new();
    let words = "train --strategy mirrored --replicas 2 --neurons 32 --report page.html";
    let end = lab.expect(0, &words.split(' ').collect::<Vec<_>>());
    assert!(end.stdout.contains("\nwhat binds: "), "{end:#?}");
    let page = lab.read("page.html");
    assert!(page.contains("id=\"rank-times\"") && page.contains("id=\"rank-timeline\""));
    assert!(page.contains("Steps 181 to 188"), "the last steps are shown");
    let missing = "train --report nowhere/page.html";
    lab.expect(3, &missing.split(' ').collect::<Vec<_>>()).says(&["nowhere/page.html"]);
}
