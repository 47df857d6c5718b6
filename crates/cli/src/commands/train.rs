//! `trainwright train` and `trainwright job`.

mod live;

use std::env;
use std::path::PathBuf;

use trainwright::{Error, JobChannels};
use trainwright_study::{Configuration, JobSpec, JobTemplate, Level};
use trainwright_train::{
    CheckpointOptions, CheckpointStart, DivergedBy, Ended, Flow, TrainEvent, TrainOptions,
    TrainOutcome, train_with,
};

use crate::arguments::{JobArguments, TrainArguments};
use crate::commands::damaged_checkpoints::tell_damaged;
use crate::interrupt::Interrupt;
use crate::output::print;
use live::Live;

pub(crate) fn train(arguments: &TrainArguments) -> anyhow::Result<u8> {
    let spec = job_spec(arguments)?;
    let interrupt = Interrupt::listen()?;
    let live = Live::new(arguments.json);
    let outcome = train_with(&spec, &options(arguments), &mut |event| {
        live.hear(event, || {
            // A reader that went away is found out by the next event; training needs no answer.
            let _ = tell(event, arguments.json);
        });
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
        trial: env::var("TRAINWRIGHT_TRIAL").ok(),
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
    if let TrainEvent::DamagedCheckpoint(damaged) = event {
        tell_damaged(damaged);
    }
    if json {
        return print(&format!("{}\n", serde_json::to_string(event)?));
    }
    let line = match event {
        TrainEvent::Step(_) | TrainEvent::DamagedCheckpoint(_) => return Ok(()),
        TrainEvent::Epoch(epoch) => {
            let auc = epoch.test_auc.map(|auc| format!(", AUC {auc:.4}")).unwrap_or_default();
            let noise = epoch.noise_scale.map(|scale| format!("; noise scale {scale:.0}"));
            format!(
                "epoch {}: train loss {:.4}, accuracy {:.4}; test loss {:.4}, accuracy \
                 {:.4}{auc}; {:.2} s; rate {:.3e}, batch {}{}",
                epoch.epoch,
                epoch.train_loss,
                epoch.train_accuracy,
                epoch.test_loss,
                epoch.test_accuracy,
                epoch.seconds,
                epoch.lr,
                epoch.batch,
                noise.unwrap_or_default()
            )
        }
        TrainEvent::Done(done) => {
            let why = match done.ended {
                Ended::Epochs => String::new(),
                Ended::EarlyStopping => format!(" (stopped early after {} epochs)", done.epochs),
                Ended::TimeLimit => format!(" (time was up in epoch {})", done.epochs),
            };
            let waited = done
                .input_wait_share
                .map(|share| format!("; waited for pictures {:.1} % of the time", 100.0 * share));
            format!(
                "done: test accuracy {:.4} after {} steps in {:.2} s, {:.0} examples/s{}{why}",
                done.test_accuracy,
                done.steps,
                done.time_s,
                done.examples_per_s,
                waited.unwrap_or_default()
            )
        }
        TrainEvent::Diverged(at) => {
            let what = match at.by {
                DivergedBy::NotFinite => "is not finite",
                DivergedBy::Exploded => "has exploded",
            };
            format!("diverged: the loss {what} at step {} with learning rate {}", at.step, at.lr)
        }
        TrainEvent::Stopped(at) => format!("stopped after {} steps", at.steps),
    };
    print(&format!("{line}\n"))
}

/// What is kept beside the result.
fn options(arguments: &TrainArguments) -> TrainOptions {
    let keeping = &arguments.keeping;
    let start = if keeping.resume { CheckpointStart::Resume } else { CheckpointStart::Fresh };
    TrainOptions {
        checkpoint: keeping.checkpoint.as_ref().map(|folder| CheckpointOptions {
            folder: folder.clone(),
            every: keeping.checkpoint_every,
            start,
        }),
        export: keeping.export.clone(),
    }
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
    let (learning, sparse) = (&arguments.learning, &arguments.sparse);
    let number = |value: Option<f64>| value.map(Level::Number);
    let integer = |value: Option<i64>| value.map(Level::Integer);
    let optional = [
        ("schedule", Some(text(&learning.schedule))),
        ("warmup", number(learning.warmup)),
        ("reference_batch", integer(learning.reference_batch)),
        ("momentum", number(learning.momentum)),
        ("weight_decay", number(learning.weight_decay)),
        ("clip_norm", number(learning.clip_norm)),
        ("label_smoothing", number(learning.label_smoothing)),
        ("augment", learning.augment.as_deref().map(text)),
        ("weights", learning.weights.as_deref().map(text)),
        ("freeze", learning.freeze.as_deref().map(text)),
        ("size", integer(arguments.size)),
        ("early_stopping", integer(learning.early_stopping)),
        ("time_limit_s", number(learning.time_limit)),
        ("test_data", sparse.test_data.as_deref().map(text)),
        ("hash_bits", integer(sparse.hash_bits)),
        ("update", sparse.update.as_deref().map(text)),
        ("l1", number(sparse.l1)),
    ];
    let given = optional.into_iter().filter_map(|(key, level)| Some((key, level?)));
    let pairs = fields.into_iter().chain(given).map(|(key, level)| (key.to_owned(), level));
    let pairs = pairs.collect();
    let template = JobTemplate { fields: Configuration::new(pairs) };
    let job = template.job(&Configuration::default(), arguments.seed).map_err(|error| {
        let flag = error.key.trim_end_matches("_s").replace('_', "-");
        Error::Request(format!("--{flag}: {}", error.message))
    })?;
    let tensorboard = arguments.keeping.tensorboard.clone();
    Ok(JobSpec { data_dir: arguments.data_dir.clone(), tensorboard, ..job })
}
