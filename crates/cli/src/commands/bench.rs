//! `trainwright bench`.

use std::env;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::Context;
use trainwright::{
    BenchCommand, BenchEnd, BenchEvent, BenchFailures, BenchMetric, BenchParameter, BenchReply,
    BenchRequest, BenchRuns, BenchShell, BenchText, Error, terminal,
};

use crate::arguments::BenchArguments;
use crate::interrupt::Interrupt;
use crate::output::{show, stdout_colour};
use crate::pages::{check_folder_of, write_file};

/// How often the line of progress changes.
const OFTEN: Duration = Duration::from_millis(200);

pub(crate) fn bench(arguments: &BenchArguments) -> anyhow::Result<u8> {
    let request = request(arguments)?;
    let exports = [&arguments.export_json, &arguments.export_csv, &arguments.export_markdown];
    for path in exports.into_iter().flatten() {
        check_folder_of(path)?;
    }
    let interrupt = Interrupt::listen()?;
    let mut line = Line::new();
    let reply = trainwright::bench(&request, &|| interrupt.wish(), &mut |event| line.hear(&event));
    line.clear();
    let reply = reply?;
    let forms: [fn(&BenchReply) -> String; 3] =
        [trainwright::hyperfine_json, trainwright::bench_csv, trainwright::bench_markdown];
    for (path, form) in exports.into_iter().zip(forms) {
        if let Some(path) = path {
            write_file(path, form(&reply))?;
        }
    }
    show("bench", arguments.json, &reply, |reply| terminal::bench(reply, stdout_colour()))?;
    Ok(match reply.end {
        BenchEnd::Interrupted => 130,
        _ if reply.results.iter().any(|own| own.failed > 0) => 1,
        BenchEnd::Complete | BenchEnd::TimeUp => 0,
    })
}

fn request(arguments: &BenchArguments) -> anyhow::Result<BenchRequest> {
    let objective = arguments.objective.map(Into::into);
    let metric = arguments.metric.as_deref().map(BenchMetric::parse).transpose()?;
    let metric = metric.map(|own| BenchMetric { unit: arguments.unit.clone(), objective, ..own });
    Ok(BenchRequest {
        commands: commands(arguments)?,
        parameters: parameters(arguments)?,
        shell: shell(arguments),
        warmup: arguments.warmup,
        prepare: arguments.prepare.clone(),
        setup: arguments.setup.clone(),
        cleanup: arguments.cleanup.clone(),
        runs: match arguments.runs {
            Some(runs) => BenchRuns::Exactly(runs),
            None => BenchRuns::Between {
                least: arguments.min_runs.min(arguments.max_runs.unwrap_or(u32::MAX)),
                most: arguments.max_runs.unwrap_or(u32::MAX),
            },
        },
        max_time: max_time(arguments)?,
        failures: match arguments.ignore_failure {
            true => BenchFailures::Ignore,
            false => BenchFailures::Stop,
        },
        metric,
        baseline: arguments.baseline,
        alpha: arguments.alpha,
        seed: arguments.seed,
        program: env::current_exe().context("cannot find this program's own file")?,
    })
}

/// Commands that are texts, or lists of words between `--`.
fn commands(arguments: &BenchArguments) -> Result<Vec<BenchCommand>, Error> {
    let lines = arguments.commands.iter().cloned().map(BenchText::Line);
    let lists = arguments.words.split(|word| word == "--").map(<[String]>::to_vec);
    let texts: Vec<BenchText> = match arguments.words.is_empty() {
        true => lines.collect(),
        false => lists.filter(|words| !words.is_empty()).map(BenchText::Words).collect(),
    };
    if arguments.command_name.len() > texts.len() {
        return Err(Error::Request(format!(
            "there are {} names and {} commands",
            arguments.command_name.len(),
            texts.len()
        )));
    }
    let names = arguments.command_name.iter().cloned().map(Some).chain(std::iter::repeat(None));
    Ok(texts.into_iter().zip(names).map(|(text, name)| BenchCommand { text, name }).collect())
}

fn parameters(arguments: &BenchArguments) -> Result<Vec<BenchParameter>, Error> {
    let lists = arguments.parameter_list.chunks_exact(2).map(|pair| {
        let values = pair[1].split(',').map(str::to_owned).collect();
        Ok(BenchParameter { name: pair[0].clone(), values })
    });
    let scan = arguments.parameter_scan.as_deref().map(|own| {
        BenchParameter::scan(&own[0], &own[1], &own[2], arguments.parameter_step_size.as_deref())
    });
    lists.chain(scan).collect()
}

fn shell(arguments: &BenchArguments) -> BenchShell {
    match arguments.shell.as_str() {
        _ if arguments.no_shell => BenchShell::None,
        "none" => BenchShell::None,
        "default" => BenchShell::default(),
        words => BenchShell::Program(words.split_whitespace().map(str::to_owned).collect()),
    }
}

fn max_time(arguments: &BenchArguments) -> Result<Option<Duration>, Error> {
    let Some(span) = &arguments.max_time else { return Ok(None) };
    match Duration::try_from_secs_f64(span.seconds()) {
        Ok(time) if !time.is_zero() => Ok(Some(time)),
        _ => Err(Error::Request("--max-time must be a positive time, such as 2m".to_owned())),
    }
}

/// One line of progress on a terminal, nothing elsewhere.
struct Line {
    bar: Option<indicatif::ProgressBar>,
    round: u32,
    last: Instant,
}

impl Line {
    fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(indicatif::ProgressBar::new_spinner);
        Self { bar, round: 0, last: Instant::now() }
    }

    fn hear(&mut self, event: &BenchEvent<'_>) {
        let Some(bar) = &self.bar else { return };
        match event {
            BenchEvent::Round { number, .. } => self.round = *number,
            BenchEvent::Ran { command, value } if self.last.elapsed() >= OFTEN => {
                self.last = Instant::now();
                let round = match self.round {
                    0 => "warm-up".to_owned(),
                    round => format!("round {round}"),
                };
                let value = value.map(terminal::figure).unwrap_or_default();
                bar.set_message(terminal::visible(&format!("{round}  {command}  {value}")));
                bar.tick();
            }
            BenchEvent::Ran { .. } => {}
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
