//! One run of the user's command on a configuration.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Map, Value};
use trainwright_search::cloud::Candidate;

use super::search_file::OwnRun;
use crate::Error;

/// Runs a command line in which `{vm_type}` and `{nodes}` stand for a configuration.
///
/// Its wall time counts, or `elapsed_s` of its last line `::metric {...}`; other numbers there are
/// low-level metrics. A command that ends with another code than 0 has failed.
///
/// # Errors
/// The shell cannot be started, or the command names no machine type.
pub(crate) fn run_command(command: &str, candidate: &Candidate) -> Result<OwnRun, Error> {
    if !command.contains("{vm_type}") {
        let message = format!("the command `{command}` does not use {{vm_type}}");
        return Err(Error::Request(message));
    }
    let line = command
        .replace("{vm_type}", &candidate.machine.vm_type)
        .replace("{nodes}", &candidate.nodes.to_string());
    let began = Instant::now();
    let failed = |source| Error::Request(format!("cannot run `{line}`: {source}"));
    let mut child = Command::new("sh")
        .args(["-c", &line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut output = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut output).map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    let wall_s = began.elapsed().as_secs_f64();
    let mut metrics = last_metrics(&String::from_utf8_lossy(&output));
    let elapsed_s = metrics.remove("elapsed_s").unwrap_or(wall_s);
    Ok(OwnRun {
        vm_type: candidate.machine.vm_type.clone(),
        nodes: candidate.nodes,
        elapsed_s: Some(elapsed_s),
        completed: status.success(),
        metrics,
    })
}

fn last_metrics(output: &str) -> BTreeMap<String, f64> {
    let lines = output.lines().rev().filter_map(|line| line.trim().strip_prefix("::metric "));
    let parsed = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
    let last = lines.filter_map(parsed).next();
    last.into_iter().flatten().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect()
}

#[cfg(test)]
mod tests {
    use trainwright_search::cloud::Machine;

    use super::*;

    fn candidate() -> Candidate {
        Candidate { machine: Machine::plain("m.large", 2.0, 4.0, 0.1), nodes: 3 }
    }

    #[test]
    fn placeholders_are_filled_and_metrics_read() {
        let command =
            "echo '::metric {\"elapsed_s\": {nodes}00, \"cpu\": 7}'; test {vm_type} = m.large";
        let run = run_command(command, &candidate()).unwrap();
        assert_eq!((run.elapsed_s, run.completed), (Some(300.0), true));
        assert_eq!(run.metrics, BTreeMap::from([("cpu".to_owned(), 7.0)]));
    }

    #[test]
    fn a_failed_command_is_a_failed_run_with_its_time() {
        let run = run_command("exit 3 # {vm_type}", &candidate()).unwrap();
        assert!(!run.completed && run.elapsed_s.is_some_and(|own| own > 0.0));
    }

    #[test]
    fn a_command_must_name_the_machine() {
        let error = run_command("true", &candidate()).unwrap_err().to_string();
        assert_eq!(error, "the command `true` does not use {vm_type}");
    }
}
