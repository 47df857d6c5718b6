use std::fs::{self, OpenOptions};
use std::process::Command;

use trainwright_engine::{Engine, EngineEvent};
use trainwright_study::{Outcome, TrialRecord};

use crate::lab::{ACC, Lab, end, take_until};

/// Runs a trial that waits on a pipe until `enough` has been told about its progress.
fn run_until(script: &str, mut enough: impl FnMut(&[(String, f64)]) -> bool) -> TrialRecord {
    let script = format!("{script}\nread x < pipe\necho '::metric {{\"acc\": 1}}'");
    let lab = Lab::new(&script, "", ACC);
    assert!(Command::new("mkfifo").arg(lab.path("pipe")).status().unwrap().success());
    let mut engine = lab.engine(1);
    engine.submit(lab.order(1)).unwrap();
    take_until(&mut engine, |event| match event {
        Some(EngineEvent::Progress { number: 1, latest, .. }) => enough(latest),
        _ => false,
    });
    drop(OpenOptions::new().write(true).open(lab.path("pipe")).unwrap());
    end(&mut engine).1
}

#[test]
fn progress_tells_the_latest_values() {
    let script = "echo '::metric {\"loss\": 3}'; echo '::metric {\"loss\": 2, \"step\": 5}'
                  echo '{\"acc\": 0.5}' >> $TRAINWRIGHT_METRICS";
    let mut told = Vec::new();
    let record = run_until(script, |latest| {
        told = latest.to_vec();
        told.len() == 3
    });
    let expected = [("acc", 0.5), ("loss", 2.0), ("step", 5.0)];
    assert_eq!(told, expected.map(|(key, value)| (key.to_owned(), value)));
    assert_eq!(record.outcome, Outcome::Finished);
}

#[test]
fn telemetry_is_sampled_while_a_trial_runs() {
    // Rates need two looks; every progress comes with one at the latest.
    let mut looks = 0;
    let record = run_until("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", |_| {
        looks += 1;
        looks == 2
    });
    for name in ["cpu.user", "cpu.system", "memory", "cpu.core0", "disk.read", "network.sent"] {
        let series = record.series.iter().find(|series| series.name == name);
        let series = series.unwrap_or_else(|| panic!("no {name} in {:?}", record.series));
        assert!(series.values.iter().all(|value| *value >= 0.0), "{series:?}");
        assert!(series.at.is_sorted() && series.at[0] >= 0.2, "{series:?}");
    }
    let usage = record.usage.unwrap();
    assert!(usage.wall_s >= 1.0 && usage.user_s > 0.0, "{usage:?}");
}

#[test]
fn memory_of_the_runner_is_not_that_of_the_trial() {
    let ballast = vec![1u8; 200 << 20];
    let record = run_until("true", |_| true);
    let peak = record.usage.unwrap().peak_memory_bytes.unwrap();
    assert!((100_000..50 << 20).contains(&peak), "{peak} with {} of ballast", ballast.len());
}

#[test]
fn metrics_come_from_files_in_the_working_folder_or_the_trials_own() {
    let metrics = "[metrics.acc]\nfrom = \"json\"\nfile = \"eval-{x}.json\"\npointer = \"/acc\"\n\
                   objective = \"maximize\"\n\
                   [metrics.loss]\nfrom = \"csv\"\nfile = \"log.csv\"\npick = \"min\"\n\
                   [metrics.time]\nfrom = \"wall\"\nunit = \"ms\"\n";
    let script = "echo '{\"acc\": 0.5}' > eval-2.json
                  printf 'epoch,loss\\n1,3\\n2,2\\n3,2.5\\n' > $TRAINWRIGHT_DIR/log.csv";
    let record = Lab::new(script, "", metrics).run();
    assert_eq!(record.outcome, Outcome::Finished);
    let values: Vec<f64> = record.measurements.iter().map(|m| m.value).collect();
    assert_eq!(values[..2], [0.5, 2.0]);
    assert_eq!(values[2], record.usage.unwrap().wall_s / 1e-3);
}

#[test]
fn tensorboard_scalars_of_earlier_runs_are_left_out() {
    let metric = "[metrics.acc]\nfrom = \"tensorboard\"\nfile = \"logs\"\ntag = \"acc\"\n\
                  objective = \"maximize\"";
    let lab = Lab::new("mkdir -p logs; cp new.bin logs/events.out.tfevents.2", "", metric);
    fs::create_dir(lab.path("logs")).unwrap();
    fs::write(lab.path("logs/events.out.tfevents.1"), events(&[(1, 0.9)])).unwrap();
    fs::write(lab.path("new.bin"), events(&[(10, 0.25), (20, 0.5)])).unwrap();
    let record = lab.run();
    assert_eq!(record.outcome, Outcome::Finished);
    assert_eq!(record.measurements[0].value, 0.5);
    assert_eq!(record.series[0].at, [10.0, 20.0]);
}

#[test]
fn a_tag_of_two_runs_is_not_guessed_at() {
    let metric = "[metrics.acc]\nfrom = \"tensorboard\"\nfile = \"logs\"\n\
                  objective = \"maximize\"";
    let script = "mkdir -p $TRAINWRIGHT_DIR/logs/train $TRAINWRIGHT_DIR/logs/test
                  cp a.bin $TRAINWRIGHT_DIR/logs/train/events.out.tfevents.1
                  cp a.bin $TRAINWRIGHT_DIR/logs/test/events.out.tfevents.1";
    let lab = Lab::new(script, "", metric);
    fs::write(lab.path("a.bin"), events(&[(1, 0.5)])).unwrap();
    let Outcome::Failed { reason } = lab.run().outcome else { panic!("a run was guessed") };
    let words = "tag `acc` is in more than one run: `test`, `train`; let `file` name the folder";
    assert!(reason.contains(words), "{reason}");
}

/// An event file with values of the tag `acc` at these steps below 128.
fn events(values: &[(u8, f32)]) -> Vec<u8> {
    let mut file = trainwright_records::RecordWriter::new(Vec::new());
    for (step, value) in values {
        // Event { step = 2, summary = 5 { value = 1 { tag = 1, simple_value = 2 } } }
        let mut summary = vec![0x0a, 3];
        summary.extend(b"acc");
        summary.push(0x15);
        summary.extend(value.to_le_bytes());
        let mut event = vec![0x10, *step, 0x2a, summary.len() as u8 + 2, 0x0a, summary.len() as u8];
        event.extend(summary);
        file.write(&event).unwrap();
    }
    file.into_inner()
}
