//! `trainwright train` and `trainwright job`.

mod live;

use std::env;
use std::path::PathBuf;

use anyhow::Context;
use trainwright::training::{
    CheckpointOptions, CheckpointStart, Flow, TrainEvent, TrainOptions, TrainOutcome, WorkRequest,
    Workers,
};
use trainwright::{
    ClusterReply, Error, GangOptions, JobChannels, Keeping, SparkRequest, Trained, launched_rank,
    terminal,
};
use trainwright_study::{Configuration, JobSpec, JobTemplate, Level};

use crate::arguments::{JobArguments, TrainArguments, WorkerArguments};
use crate::commands::training::damaged_checkpoints::tell_damaged;
use crate::interrupt::Interrupt;
use crate::output::{print, print_words, tell as say};
use crate::pages::{check_folder_of, now, write_file};
use live::Live;

pub(crate) fn train(arguments: &TrainArguments) -> anyhow::Result<u8> {
    let mut spec = job_spec(arguments)?;
    let mut planned = None;
    if let Some(path) = &arguments.plan {
        let keeping = match options(arguments).checkpoint {
            Some(_) => Keeping::Checkpoints,
            None => Keeping::Nothing,
        };
        let (job, step) = trainwright::planned_job(spec, path, keeping)?;
        (spec, planned) = (job, Some(step));
    }
    if let Some(request) = launched_worker(arguments) {
        trainwright::worker(&request)?;
        return Ok(0);
    }
    let interrupt = Interrupt::listen()?;
    let live = Live::new(arguments.json);
    if let Some(path) = &arguments.keeping.report {
        check_folder_of(path)?;
    }
    let mut heard = |event: &TrainEvent| {
        live.hear(event, || {
            // A reader that went away is found out by the next event; training needs no answer.
            let _ = tell(event, arguments.json);
        });
        match interrupt.wish() {
            trainwright::Wish::GoOn => Flow::Continue,
            _ => Flow::Stop,
        }
    };
    let (trained, cluster) = match arguments.cluster.spark()? {
        None => (trainwright::train(&spec, &options(arguments), &mut heard)?, None),
        Some(spark) => {
            let program = env::current_exe().context("cannot find this program's own file")?;
            let request = SparkRequest { spark, partitions: None, program: &program };
            let gang = GangOptions { min_workers: arguments.min_workers };
            let (trained, cluster) = trainwright::train_on_spark(
                &spec,
                &options(arguments),
                gang,
                &request,
                &mut heard,
                &|| interrupt.wish(),
                &mut |words| say(&words),
            )?;
            (trained, Some(cluster))
        }
    };
    drop(live);
    let trained = trained.with_plan(&spec, planned);
    let cluster = cluster.as_ref();
    if let Some(path) = &arguments.keeping.report
        && let Some(page) = trainwright::training_page(&spec, &trained, cluster, &now())
    {
        write_file(path, page)?;
    }
    end(&trained, cluster, arguments.json)
}

/// What a process joins that a launcher has started with the words of rank 0, as another rank.
fn launched_worker(arguments: &TrainArguments) -> Option<WorkRequest> {
    let Some(Workers::Joining { listen, secret }) = workers(arguments) else { return None };
    let rank = launched_rank().filter(|rank| *rank > 0);
    Some(WorkRequest {
        join: listen,
        secret,
        rank: Some(rank?),
        max_pixels: arguments.max_pixels,
        patience: arguments.meeting.patience,
    })
}

pub(crate) fn worker(arguments: &WorkerArguments) -> anyhow::Result<u8> {
    trainwright::worker(&WorkRequest {
        join: arguments.join.clone(),
        secret: arguments.secret_file.clone(),
        rank: arguments.rank,
        max_pixels: arguments.max_pixels,
        patience: arguments.patience,
    })?;
    Ok(0)
}

pub(crate) fn job(arguments: &JobArguments) -> anyhow::Result<u8> {
    let interrupt = Interrupt::listen()?;
    let path = |name: &str| env::var_os(name).map(PathBuf::from);
    let channels = JobChannels {
        metrics: path("TRAINWRIGHT_METRICS"),
        stop_file: path("TRAINWRIGHT_STOP_FILE"),
        folder: path("TRAINWRIGHT_DIR"),
        checkpoint: path("TRAINWRIGHT_CHECKPOINT"),
        trial: env::var("TRAINWRIGHT_TRIAL").ok(),
    };
    let trained =
        trainwright::job(&arguments.spec, &channels, &|| interrupt.wish(), &mut |event| {
            let _ = tell(event, false);
        })?;
    end(&trained, None, false)
}

/// Tells the end of a job that came to one, with what bound it and what a cluster did for it. A
/// diverged job is a result, not a failure; a stopped one has none.
fn end(trained: &Trained, cluster: Option<&ClusterReply>, json: bool) -> anyhow::Result<u8> {
    if let (TrainOutcome::Done(_), true) = (&trained.outcome, json) {
        print(&format!("{}\n", trained.json_line(cluster)))?;
    } else if let TrainOutcome::Done(_) = trained.outcome {
        print_words(&terminal::trained(trained))?;
    }
    if let Some(cluster) = cluster.filter(|_| !json) {
        print_words(&terminal::on_cluster(cluster))?;
    }
    Ok(match trained.outcome {
        TrainOutcome::Done(_) | TrainOutcome::Diverged(_) => 0,
        TrainOutcome::Stopped(_) => 130,
    })
}

fn tell(event: &TrainEvent, json: bool) -> anyhow::Result<()> {
    match event {
        TrainEvent::DamagedCheckpoint(damaged) => tell_damaged(damaged),
        // What bound the training is not known yet; `end` tells both.
        TrainEvent::Done(_) => return Ok(()),
        _ => {}
    }
    let line = match json {
        true => Some(serde_json::to_string(event)?),
        false => terminal::train_event(event),
    };
    line.map_or(Ok(()), |line| print(&format!("{line}\n")))
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
        trace: keeping.trace.clone(),
        max_pixels: arguments.max_pixels,
        workers: workers(arguments),
        patience: arguments.meeting.patience,
        record: keeping.record.clone(),
        replay: keeping.replay.clone(),
    }
}

/// Workers that join from elsewhere, where that is asked for.
fn workers(arguments: &TrainArguments) -> Option<Workers> {
    let (listen, secret) = (&arguments.meeting.listen, &arguments.meeting.secret_file);
    let (listen, secret) = (listen.clone()?, secret.clone()?);
    Some(Workers::Joining { listen, secret })
}

/// Keys of a job that are left to it unless they are given.
fn optional(arguments: &TrainArguments) -> Vec<(&'static str, Option<Level>)> {
    let text = |value: &str| Level::Text(value.to_owned());
    let (learning, sparse) = (&arguments.learning, &arguments.sparse);
    let spreading = &arguments.spreading;
    let number = |value: Option<f64>| value.map(Level::Number);
    let integer = |value: Option<i64>| value.map(Level::Integer);
    vec![
        ("micro_batch", integer(arguments.micro_batch)),
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
        ("scaling", spreading.scaling.as_deref().map(text)),
        ("all_reduce", spreading.all_reduce.as_deref().map(text)),
        ("compress", spreading.compress.as_deref().map(text)),
        ("overlap", spreading.overlap.then_some(Level::Truth(true))),
        ("elastic", spreading.elastic.then_some(Level::Truth(true))),
        ("sync_every", integer(spreading.sync_every)),
        ("outer_momentum", number(spreading.outer_momentum)),
        ("servers", integer(spreading.servers)),
        ("consistency", spreading.consistency.as_deref().map(text)),
        ("staleness", integer(spreading.staleness)),
        ("backup", integer(spreading.backup)),
    ]
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
    let given = optional(arguments).into_iter().filter_map(|(key, level)| Some((key, level?)));
    let pairs = fields.into_iter().chain(given).map(|(key, level)| (key.to_owned(), level));
    let pairs = pairs.collect();
    // All was asked for, as the factors of a trial are.
    let asked = Configuration::new(pairs);
    let job = JobTemplate::default().job(&asked, arguments.seed).map_err(|error| {
        let flag = error.key.trim_end_matches("_s").replace('_', "-");
        Error::Request(format!("--{flag}: {}", error.message))
    })?;
    let tensorboard = arguments.keeping.tensorboard.clone();
    Ok(JobSpec { data_dir: arguments.data_dir.clone(), tensorboard, ..job })
}
