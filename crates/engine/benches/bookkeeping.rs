//! What a trial costs beyond starting its process: `true` by the engine against `true` alone.
//!
//! Both kinds take turns, so that other load on the machine hits both; medians and quartiles are
//! printed in microseconds. The processor time of the runner itself is what load disturbs least.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use trainwright_engine::{Engine, EngineEvent, LocalEngine, LocalPlace, TrialOrder, TrialStart};
use trainwright_probe::TreeSampler;
use trainwright_study::{Configuration, Level, PlannedTrial, Study};

const ROUNDS: u32 = 1000;

const STUDY: &str = r#"
schema = 1
[study]
name = "bookkeeping"
[factors.x]
levels = [1, 2]
[design]
type = "full"
[run]
command = ["true", "{x}"]
[metrics.time]
from = "wall"
unit = "s"
objective = "minimize"
"#;

fn main() {
    // In memory where there is such a folder: ext4 looks long for an inode after many files were
    // deleted, as those of the last run were.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.expect("a temporary folder");
    let file = folder.path().join("study.toml");
    fs::write(&file, STUDY).expect("the study is written");
    let study = Arc::new(Study::load(&file).expect("the study reads"));
    let place = LocalPlace {
        trials: folder.path().join("trials"),
        program: "trainwright".into(),
        slots: 1,
    };
    let mut engine = LocalEngine::new(place).expect("an engine starts");
    let (mut alone, mut wall, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    let (mut alone_cpu, mut whole_cpu) = (Vec::new(), Vec::new());
    for number in 1..=ROUNDS {
        let (begun, cpu) = (Instant::now(), processor_s());
        let mut command = Command::new("true");
        command.arg("1").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().expect("`true` runs");
        alone.push(begun.elapsed().as_secs_f64());
        alone_cpu.push(processor_s() - cpu);

        let order = TrialOrder {
            study: study.clone(),
            trial: PlannedTrial {
                number,
                row: Some(1),
                replicate: 1,
                configuration: Configuration::new(vec![("x".to_owned(), Level::Integer(1))]),
                seed: 1,
                block: None,
                whole_plot: None,
            },
            slots: 1,
            start: TrialStart::Anew,
            variables: Default::default(),
        };
        let (begun, cpu) = (Instant::now(), processor_s());
        engine.submit(order).expect("the slot is free");
        loop {
            let event = engine.next_event(Duration::from_secs(10)).expect("`true` ends");
            if let EngineEvent::Ended { record, .. } = event {
                whole.push(begun.elapsed().as_secs_f64());
                whole_cpu.push(processor_s() - cpu);
                wall.push(record.usage.expect("`true` runs").wall_s);
                break;
            }
        }
    }
    let beyond = whole.iter().zip(&wall).map(|(whole, wall)| whole - wall).collect();
    print("`true` alone", alone);
    print("trial, whole", whole);
    print("trial, process (wall)", wall);
    print("trial, bookkeeping", beyond);
    print("`true` alone, runner CPU", alone_cpu);
    print("trial, runner CPU", whole_cpu);
    print("one telemetry sample", samples());
}

/// Times of telemetry samples, which trials of 0.2 s and more have.
fn samples() -> Vec<f64> {
    let mut sampler = TreeSampler::new(std::process::id());
    let mut sample = |number: u32| {
        let begun = Instant::now();
        sampler.sample(f64::from(number)).expect("/proc reads");
        begun.elapsed().as_secs_f64()
    };
    (1..=200).map(&mut sample).collect()
}

/// Processor time of this process so far, its children's apart.
fn processor_s() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process can ask for its own usage");
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 * 1e-6
}

fn print(name: &str, mut seconds: Vec<f64>) {
    seconds.sort_by(f64::total_cmp);
    let at = |share: f64| seconds[(share * (seconds.len() - 1) as f64) as usize] * 1e6;
    println!("{name:24} median {:6.0}  quartiles {:6.0} {:6.0}", at(0.5), at(0.25), at(0.75));
}
