//! One function a verb: calls the use case, prints what came back, gives the exit code.

mod analyze;
mod check;
mod compare;
mod correlate;
mod data;
mod data_prepare;
mod data_speedtest;
mod design;
mod export;
mod findings;
mod import;
mod load;
mod logs;
mod metrics;
mod network;
mod predict;
mod queue;
mod report;
mod run;
mod scaling;
mod stats;
mod status;
mod surface;
mod train;

use std::path::Path;

use clap::CommandFactory;
use trainwright::Error;
use trainwright_study::Study;

use crate::arguments::{
    Arguments, CompletionsArguments, DataVerb, InitArguments, MetricsVerb, StopArguments, Verb,
};
use crate::output::{print, show};

/// Runs a verb and gives the exit code.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<u8> {
    match arguments.verb {
        Verb::Init(arguments) => init(&arguments),
        Verb::Check(arguments) => check::check(&arguments),
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Status(arguments) => status::status(&arguments),
        Verb::Logs(arguments) => logs::logs(&arguments),
        Verb::Stop(arguments) => stop(&arguments),
        Verb::Export(arguments) => export::export(&arguments),
        Verb::Import(arguments) => import::import(&arguments),
        Verb::Analyze(arguments) => analyze::analyze(&arguments),
        Verb::Stats(arguments) => stats::stats(&arguments),
        Verb::Compare(arguments) => compare::compare(&arguments),
        Verb::Scaling(arguments) => scaling::scaling(&arguments),
        Verb::Overhead(arguments) => scaling::overhead(&arguments),
        Verb::Correlate(arguments) => correlate::correlate(&arguments),
        Verb::Surface(arguments) => surface::surface(&arguments),
        Verb::Findings(arguments) => findings::findings(&arguments),
        Verb::Design(arguments) => design::design(&arguments),
        Verb::Queue(verb) => queue::queue(&verb),
        Verb::Load(arguments) => load::load(&arguments),
        Verb::Report(arguments) => report::report(&arguments),
        Verb::Data(DataVerb::Fetch(arguments)) => data::fetch(&arguments),
        Verb::Data(DataVerb::Prepare(arguments)) => data_prepare::prepare(&arguments),
        Verb::Data(DataVerb::Verify(arguments)) => data_prepare::verify(&arguments),
        Verb::Data(DataVerb::Inspect(arguments)) => data_prepare::inspect(&arguments),
        Verb::Data(DataVerb::Speedtest(arguments)) => data_speedtest::speedtest(&arguments),
        Verb::Network(arguments) => network::network(&arguments),
        Verb::Train(arguments) => train::train(&arguments),
        Verb::Predict(arguments) => predict::predict(&arguments),
        Verb::Job(arguments) => train::job(&arguments),
        Verb::Metrics(MetricsVerb::Test(arguments)) => metrics::test(&arguments),
        Verb::Schema => schema(),
        Verb::Completions(arguments) => completions(&arguments),
    }
}

/// Reads and checks a study file.
fn load(path: &Path) -> Result<Study, Error> {
    Ok(Study::load(path)?)
}

fn init(arguments: &InitArguments) -> anyhow::Result<u8> {
    let reply = match &arguments.from {
        Some(table) => trainwright::init_from_csv(&arguments.path, table)?,
        None => trainwright::init(&arguments.path)?,
    };
    show("init", arguments.json, &reply, |reply| {
        let path = reply.study.display();
        format!("Wrote {path}. Next: trainwright check {path}\n")
    })?;
    Ok(0)
}

fn stop(arguments: &StopArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.common.study)?;
    let how = if arguments.now { trainwright::Wish::StopNow } else { trainwright::Wish::Stop };
    let reply = trainwright::stop(&study, arguments.common.store.as_deref(), how)?;
    show("stop", arguments.common.json, &reply, |reply| {
        format!("Asked process {} to stop `{}`.\n", reply.pid, reply.study)
    })?;
    Ok(0)
}

fn schema() -> anyhow::Result<u8> {
    let text = serde_json::to_string_pretty(&trainwright_study::study_schema())?;
    print(&format!("{text}\n"))?;
    Ok(0)
}

fn completions(arguments: &CompletionsArguments) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "trainwright", &mut script);
    print(&String::from_utf8(script)?)?;
    Ok(0)
}
