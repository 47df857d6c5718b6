//! Commands in rounds: what is measured, compared and refused. Values are printed, never timed.

use trainwright::{
    BenchCommand, BenchEnd, BenchEvent, BenchFailures, BenchMetric, BenchParameter, BenchReply,
    BenchRequest, BenchRuns, BenchShell, BenchText, Error, Wish, bench,
};
use trainwright_study::Direction;

use crate::lab::check_refusal;

fn command(words: &[&str]) -> BenchCommand {
    let text = match words {
        [line] => BenchText::Line((*line).to_owned()),
        words => BenchText::Words(words.iter().map(|own| (*own).to_owned()).collect()),
    };
    BenchCommand { text, name: None }
}

/// A program that prints a number.
fn printing(number: &str) -> BenchCommand {
    command(&["printf", "rate %s per s\\n", number])
}

fn request(commands: Vec<BenchCommand>) -> BenchRequest {
    let metric = BenchMetric::parse("rate=rate (?<value>[0-9.]+) per s").unwrap();
    BenchRequest {
        commands,
        parameters: Vec::new(),
        shell: BenchShell::None,
        warmup: 0,
        prepare: Vec::new(),
        setup: None,
        cleanup: None,
        runs: BenchRuns::Exactly(3),
        max_time: None,
        failures: BenchFailures::Stop,
        metric: Some(BenchMetric { objective: Some(Direction::Maximize), ..metric }),
        baseline: 1,
        alpha: 0.05,
        seed: 4,
        program: "/bin/false".into(),
    }
}

fn run(request: &BenchRequest) -> Result<BenchReply, Error> {
    bench(request, &|| Wish::GoOn, &mut |_| ())
}

#[test]
fn a_metric_is_read_of_every_run_and_commands_are_compared_by_it() {
    let reply = run(&request(vec![printing("5"), printing("10")])).unwrap();
    assert_eq!((reply.end, reply.rounds, reply.metric.as_str()), (BenchEnd::Complete, 3, "rate"));
    let means: Vec<Option<f64>> = reply.results.iter().map(|own| own.mean).collect();
    assert_eq!(means, [Some(5.0), Some(10.0)]);
    assert_eq!(reply.results[1].values, [10.0; 3]);
    assert_eq!(reply.results[1].exit_codes, [Some(0); 3]);
    assert_eq!((reply.results[0].min, reply.results[0].max), (Some(5.0), Some(5.0)));
    let comparison = reply.comparison.unwrap();
    assert_eq!(comparison.levels.len(), 1);
    assert!(reply.shell.is_none() && reply.shell_start_s.is_none(), "no shell ran");
}

#[test]
fn no_shell_runs_words_however_few_they_are() {
    let alone = BenchCommand { text: BenchText::Words(vec!["true".to_owned()]), name: None };
    let through_shell = BenchRequest {
        shell: BenchShell::default(),
        metric: None,
        ..request(vec![alone, command(&["sleep", "0"])])
    };
    let reply = run(&through_shell).unwrap();
    assert!(reply.shell.is_none() && reply.shell_start_s.is_none(), "{:?}", reply.shell);
}

#[test]
fn a_difference_has_the_unit_of_what_is_compared() {
    let metric = BenchMetric::parse("rate=rate (?<value>[0-9.-]+) per s").unwrap();
    let metric = Some(BenchMetric { unit: Some("MB/s".to_owned()), ..metric });
    let wanted = BenchRequest { metric, ..request(vec![printing("-5"), printing("10")]) };
    let verdict = run(&wanted).unwrap().verdict;
    assert!(verdict[0].contains(": +15 MB/s against command "), "{verdict:?}");
}

#[test]
fn every_round_runs_every_command_once_and_warmups_count_for_nothing() {
    let mut request = request(vec![printing("1"), printing("2"), printing("3")]);
    (request.warmup, request.runs) = (1, BenchRuns::Exactly(2));
    let (mut rounds, mut ran) = (Vec::new(), Vec::new());
    let reply = bench(&request, &|| Wish::GoOn, &mut |event| match event {
        BenchEvent::Round { number, .. } => rounds.push(number),
        BenchEvent::Ran { command, value } => ran.push((command.to_owned(), value)),
    });
    assert_eq!(rounds, [0, 1, 2]);
    assert_eq!(ran.len(), 9);
    for round in ran.chunks(3) {
        let mut names: Vec<&str> = round.iter().map(|own| own.0.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 3, "{round:?}");
    }
    assert!(
        ran[..3].iter().all(|own| own.1.is_none()) && ran[3..].iter().all(|own| own.1.is_some())
    );
    assert_eq!(reply.unwrap().results[0].runs, 2);
}

#[test]
fn parameters_are_filled_in_and_stand_beside_their_results() {
    let mut request = request(vec![printing("{n}")]);
    request.runs = BenchRuns::Exactly(1);
    request.parameters = vec![BenchParameter::scan("n", "1", "3", None).unwrap()];
    let reply = run(&request).unwrap();
    let found: Vec<(String, Option<f64>)> =
        reply.results.iter().map(|own| (own.parameters[0].1.clone(), own.mean)).collect();
    let expected = [("1", 1.0), ("2", 2.0), ("3", 3.0)].map(|(n, mean)| (n.to_owned(), Some(mean)));
    assert_eq!(found, expected);
    assert!(reply.results.iter().all(|own| own.sd.is_none()), "one run has no spread");
}

#[test]
fn a_command_that_fails_ends_everything_or_is_counted() {
    let mut request = request(vec![printing("5"), command(&["false"])]);
    let told = run(&request).unwrap_err().to_string();
    assert!(told.contains("false"), "{told}");
    request.failures = BenchFailures::Ignore;
    let reply = run(&request).unwrap();
    assert_eq!((reply.results[0].failed, reply.results[1].failed), (0, 3));
    assert_eq!((reply.results[1].mean, reply.results[1].exit_codes[0]), (None, Some(1)));
    assert!(reply.comparison.is_none(), "there is nothing to compare");
}

#[test]
fn a_wish_to_stop_ends_the_rounds_with_what_was_measured() {
    let request = BenchRequest { runs: BenchRuns::Exactly(1000), ..request(vec![printing("5")]) };
    let runs = std::cell::Cell::new(0);
    let wish = || if runs.get() >= 2 { Wish::Stop } else { Wish::GoOn };
    let reply = bench(&request, &wish, &mut |event| {
        if matches!(event, BenchEvent::Ran { .. }) {
            runs.set(runs.get() + 1);
        }
    });
    let reply = reply.unwrap();
    assert_eq!(reply.end, BenchEnd::Interrupted);
    assert!((2..1000).contains(&reply.results[0].runs), "{}", reply.results[0].runs);
}

#[test]
fn requests_that_make_no_sense_are_refused_before_anything_runs() {
    let good = || request(vec![command(&["/nowhere/at/all"])]);
    let refused = |request: BenchRequest, words: &str| check_refusal(run(&request), 2, &[words]);
    refused(BenchRequest { commands: Vec::new(), ..good() }, "there is no command to time");
    refused(BenchRequest { baseline: 2, ..good() }, "the baseline is command 2, but there are 1");
    refused(BenchRequest { baseline: 0, ..good() }, "the baseline is command 0");
    refused(BenchRequest { alpha: 1.0, ..good() }, "alpha must lie between 0 and 1");
    refused(BenchRequest { commands: vec![command(&[""])], ..good() }, "a command is empty");
    refused(
        BenchRequest { commands: vec![command(&["a 'b"])], ..good() },
        "a quotation mark of `a 'b` is not closed",
    );
    let two = vec!["x".to_owned(), "y".to_owned()];
    refused(
        BenchRequest { prepare: two, ..good() },
        "give --prepare once for all commands, or once for each",
    );
    let none = BenchParameter { name: "n".to_owned(), values: Vec::new() };
    refused(BenchRequest { parameters: vec![none], ..good() }, "`n` has no values");
}
