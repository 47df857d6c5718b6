//! Writes the report of a simulated study, to look at: `sample_report FILE.html`.

#[path = "../tests/it/simulated.rs"]
mod simulated;

use simulated::Simulated;
use trainwright_study::TrialState;

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: sample_report FILE.html");
        std::process::exit(2);
    };
    let simulated = Simulated::new(3, 120)
        .broken(9, TrialState::Failed, "the process ended with exit code 1")
        .broken(30, TrialState::Diverged, "metric `accuracy` was NaN at step 200");
    let text = trainwright_report::html(&simulated.input());
    if let Err(error) = std::fs::write(&path, text) {
        eprintln!("cannot write {path}: {error}");
        std::process::exit(3);
    }
}
