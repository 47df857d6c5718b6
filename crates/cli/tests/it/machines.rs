//! What the machine is and can do, and GPUs of a driver that a test makes itself.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::program::{End, Lab, shell_study};

#[test]
fn capacities_are_measured_once_and_shown_until_the_file_is_another_machines() {
    let lab = Lab::new();
    let before = lab.json(&["machine", "--json"]);
    assert_eq!(before["schema"], "trainwright/machine/1");
    assert!(before["cores"].as_u64().unwrap() >= 1, "{before:#}");
    assert_eq!(before["capacities"], Value::Null);
    let end = lab.expect(0, &["machine", "--measure", "--json"]);
    end.says(&["measuring products of matrices on one core", "measuring the disk in ."]);
    let measured: Value = serde_json::from_str(&end.stdout).unwrap();
    let median = |name: &str| measured["capacities"][name]["median"].as_f64().unwrap();
    assert!(median("product_one_core_per_s") > 1e8, "{measured:#}");
    assert!(median("copy_one_core_bytes_per_s") > 1e8, "{measured:#}");
    assert!(median("round_trip_s") > 0.0 && median("round_trip_s") < 1.0, "{measured:#}");
    assert_eq!(measured["kept_in"], lab.path("cache/capacities.json").to_str().unwrap());
    let after = lab.json(&["machine", "--json"]);
    assert_eq!(after["capacities"], measured["capacities"], "read back as it was");
    let text = lab.expect(0, &["machine"]).stdout;
    assert!(text.contains("GFLOP/s") && text.contains("loopback, round trip"), "{text}");
    let kept = lab.read("cache/capacities.json").replace("\"cores\": ", "\"cores\": 9");
    lab.write("cache/capacities.json", kept);
    let other = lab.expect(0, &["machine"]).stdout;
    assert!(other.contains("is not this machine as it is now"), "{other}");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let lab = Lab::new();
    let end = lab.expect(3, &["machine", "--measure", "--folder", "nowhere"]);
    end.says(&["cannot measure the disk in nowhere", "--folder"]);
}

/// The stand-in for a GPU driver; nothing without a C compiler.
fn stand_in(lab: &Lab) -> Option<PathBuf> {
    let library = lab.path("libstand_in.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../probe/tests/nvml_stand_in.c");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([library.as_os_str(), source.as_ref()])
        .status();
    let made = compiled.is_ok_and(|status| status.success());
    if !made {
        eprintln!("SKIPPED: no C compiler to make a stand-in for a GPU driver with");
    }
    made.then_some(library)
}

#[test]
fn trials_of_any_program_have_figures_of_the_gpus() {
    // The trial tells the stand-in that it computes, and goes on until it was looked at twice.
    let script = ": > libstand_in.so.looks; echo $$ 1048576 40 > libstand_in.so.processes\n\
                  until [ $(wc -c < libstand_in.so.looks) -ge 2 ]; do :; done";
    let lab = Lab::with_study(&shell_study("[1, 2]", script, ""));
    let Some(library) = stand_in(&lab) else { return };
    lab.write("libstand_in.so.processes", "");
    let run = |words: &[&str]| {
        let mut command = lab.command(words);
        command.env("TRAINWRIGHT_NVML", &library);
        let end = End::of(command);
        assert_eq!(end.code, Some(0), "{words:?} gave {end:#?}");
        end
    };
    let described: Value = serde_json::from_str(&run(&["machine", "--json"]).stdout).unwrap();
    assert_eq!(described["gpus"][0]["name"], "Stand-in 0");
    run(&["run", "study.toml", "--report", "report.html"]);
    let table = lab.json(&["export", "study.toml", "--format", "json", "--usage"]);
    let row = &table["rows"][0];
    assert_eq!(row["usage.gpu0_utilization_scope"], "tree", "{row:#}");
    assert_eq!(row["usage.gpu0_peak_memory_bytes"], 1_048_576, "{row:#}");
    let share = row["usage.gpu0_utilization_percent"].as_f64().unwrap();
    assert!(share > 0.0 && share <= 40.0, "{row:#}");
    assert!((row["usage.gpu0_power_w"].as_f64().unwrap() - 123.5).abs() < 1e-9, "{row:#}");
    // The second GPU tells of no processes.
    assert_eq!(row["usage.gpu1_utilization_scope"], "device", "{row:#}");
    assert_eq!(row["usage.gpu1_utilization_percent"], 5.0, "{row:#}");
    assert_eq!(row["usage.gpu1_power_w"], Value::Null, "{row:#}");
    let page = lab.read("report.html");
    assert!(page.contains("GPU 0 (%)") && page.contains("Power of the GPUs"));
}

#[test]
fn a_driver_that_cannot_be_used_costs_no_trial() {
    let lab = Lab::with_study(&shell_study("[1, 2]", "true", ""));
    let mut command = lab.command(&["run", "study.toml"]);
    command.env("TRAINWRIGHT_NVML", lab.path("none.so"));
    let end = End::of(command);
    assert_eq!(end.code, Some(0), "{end:#?}");
    let mut command = lab.command(&["machine"]);
    command.env("TRAINWRIGHT_NVML", lab.path("none.so"));
    let text = End::of(command).stdout;
    assert!(text.contains("none.so"), "{text}");
}
