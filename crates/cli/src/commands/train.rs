//! `trainwright train` and `trainwright job`.

use std::env;
use std::path::PathBuf;

use trainwright::{Error, JobChannels};
use trainwright_study::{Configuration, JobSpec, JobTemplate, Level};
use trainwright_train::{Flow, TrainEvent, TrainOutcome};

use crate::arguments::{JobArguments, TrainArguments};
use crate::interrupt::Interrupt;
use crate::output::print;

pub(crate) fn train(arguments: &TrainArguments) -> anyhow::Result<u8> {
    let spec = job_spec(arguments)?;
    let interrupt = Interrupt::listen()?;
    let outcome = trainwright_train::train(&spec, &mut |event| {
        // A reader that went away is found out by the next event; training needs no answer.
        let _ = tell(event, arguments.json);
        match interrupt.wish() {
            trainwright::Wish::GoOn => Flow::Continue,
            _ => Flow::Stop,
        }
    });
    end(&outcome.map_err(Error::from)?)
}

pub(crate) fn job(arguments: &JobArguments) -> anyhow::Result<u8> {
    let interrupt = Interrupt::listen()?;
    let path = |name: &str| env::var_os(name).map(PathBuf::from);
    let channels = JobChannels {
        metrics: path("TRAINWRIGHT_METRICS"),
        stop_file: path("TRAINWRIGHT_STOP_FILE"),
    };
    let outcome =
        trainwright::job(&arguments.spec, &channels, &|| interrupt.wish(), &mut |event| {
            let _ = tell(event, false);
        })?;
    end(&outcome)
}

/// A diverged job is a result, not a failure; a stopped one has none.
fn end(outcome: &TrainOutcome) -> anyhow::Result<u8> {
    Ok(match outcome {
        TrainOutcome::Done(_) | TrainOutcome::Diverged(_) => 0,
        TrainOutcome::Stopped(_) => 130,
    })
}

fn tell(event: &TrainEvent, json: bool) -> anyhow::Result<()> {
    if json {
        return print(&format!("{}\n", serde_json::to_string(event)?));
    }
    let line = match event {
        TrainEvent::Step(_) => return Ok(()),
        TrainEvent::Epoch(epoch) => format!(
            "epoch {}: train loss {:.4}, accuracy {:.4}; test loss {:.4}, accuracy {:.4}; {:.2} s",
            epoch.epoch,
            epoch.train_loss,
            epoch.train_accuracy,
            epoch.test_loss,
            epoch.test_accuracy,
            epoch.seconds
        ),
        TrainEvent::Done(done) => format!(
            "done: test accuracy {:.4} after {} steps in {:.2} s, {:.0} examples/s",
            done.test_accuracy, done.steps, done.time_s, done.examples_per_s
        ),
        TrainEvent::Diverged(at) => format!(
            "diverged: the loss is not finite at step {} with learning rate {}",
            at.step, at.lr
        ),
        TrainEvent::Stopped(at) => format!("stopped after {} steps", at.steps),
    };
    print(&format!("{line}\n"))
}

fn job_spec(arguments: &TrainArguments) -> Result<JobSpec, Error> {
    let text = |value: &str| Level::Text(value.to_owned());
    let fields = [
        ("network", text(&arguments.network)),
        ("data", text(&arguments.data)),
        ("hidden_layers", Level::Integer(arguments.hidden_layers)),
        ("neurons", Level::Integer(arguments.neurons)),
        ("lr", Level::Number(arguments.lr)),
        ("batch", Level::Integer(arguments.batch)),
        ("epochs", Level::Integer(arguments.epochs)),
        ("optimizer", text(&arguments.optimizer)),
        ("strategy", text(&arguments.strategy)),
        ("replicas", Level::Integer(arguments.replicas)),
        ("workers", Level::Integer(arguments.workers)),
        ("threads", Level::Integer(arguments.threads)),
    ];
    let pairs = fields.map(|(key, level)| (key.to_owned(), level)).to_vec();
    let template = JobTemplate { fields: Configuration::new(pairs) };
    let job = template.job(&Configuration::default(), arguments.seed).map_err(|error| {
        Error::Request(format!("--{}: {}", error.key.replace('_', "-"), error.message))
    })?;
    Ok(JobSpec { data_dir: arguments.data_dir.clone(), ..job })
}
