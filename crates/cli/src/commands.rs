//! One function a verb: calls the use case, prints what came back, gives the exit code.

mod bench;
mod cloud;
mod data;
mod design;
mod doctor;
mod engine;
mod machine;
mod man;
mod plan;
mod queue;
mod serve;
mod studies;
mod tables;
mod training;

use std::path::Path;

use clap::CommandFactory;
use trainwright::Error;
use trainwright_study::Study;

use crate::arguments::{Arguments, CompletionsArguments, DataVerb, MetricsVerb, Verb};
use crate::output::print;

/// Runs a verb and gives the exit code.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<u8> {
    match arguments.verb {
        Verb::Init(arguments) => studies::init(&arguments),
        Verb::Check(arguments) => studies::check(&arguments),
        Verb::Run(arguments) => studies::run(&arguments),
        Verb::Search(arguments) => studies::search(&arguments),
        Verb::Ask(arguments) => studies::ask(&arguments),
        Verb::Tell(arguments) => studies::tell(&arguments),
        Verb::Status(arguments) => studies::status(&arguments),
        Verb::Logs(arguments) => studies::logs(&arguments),
        Verb::Stop(arguments) => studies::stop(&arguments),
        Verb::Export(arguments) => studies::export(&arguments),
        Verb::Import(arguments) => studies::import(&arguments),
        Verb::Analyze(arguments) => studies::analyze(&arguments),
        Verb::Stats(arguments) => tables::stats(&arguments),
        Verb::Compare(arguments) => tables::compare(&arguments),
        Verb::Scaling(arguments) => tables::scaling(&arguments),
        Verb::Overhead(arguments) => tables::overhead(&arguments),
        Verb::Correlate(arguments) => tables::correlate(&arguments),
        Verb::Surface(arguments) => tables::surface(&arguments),
        Verb::Findings(arguments) => tables::findings(&arguments),
        Verb::Design(arguments) => design::design(&arguments),
        Verb::Queue(verb) => queue::queue(&verb),
        Verb::Load(arguments) => studies::load(&arguments),
        Verb::Bench(arguments) => bench::bench(&arguments),
        Verb::Cloud(verb) => cloud::cloud(&verb),
        Verb::Report(arguments) => studies::report(&arguments),
        Verb::Serve(arguments) => serve::serve(&arguments),
        Verb::Exclude(arguments) => serve::exclude(&arguments),
        Verb::Data(DataVerb::Fetch(arguments)) => data::fetch(&arguments),
        Verb::Data(DataVerb::Prepare(arguments)) => data::prepare(&arguments),
        Verb::Data(DataVerb::Verify(arguments)) => data::verify(&arguments),
        Verb::Data(DataVerb::Inspect(arguments)) => data::inspect(&arguments),
        Verb::Data(DataVerb::Speedtest(arguments)) => data::speedtest(&arguments),
        Verb::Engine(verb) => engine::engine(&verb),
        Verb::Executor => engine::executor(),
        Verb::Network(arguments) => training::network(&arguments),
        Verb::Train(arguments) => training::train(&arguments),
        Verb::Predict(arguments) => training::predict(&arguments),
        Verb::Worker(arguments) => training::worker(&arguments),
        Verb::Plan(arguments) => plan::plan(&arguments),
        Verb::Machine(arguments) => machine::machine(&arguments),
        Verb::Job(arguments) => training::job(&arguments),
        Verb::Metrics(MetricsVerb::Test(arguments)) => training::metrics_test(&arguments),
        Verb::Doctor(arguments) => doctor::doctor(&arguments),
        Verb::Man(arguments) => man::man(&arguments),
        Verb::Schema => schema(),
        Verb::Completions(arguments) => completions(&arguments),
    }
}

/// Reads and checks a study file.
fn load(path: &Path) -> Result<Study, Error> {
    Ok(Study::load(path)?)
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
