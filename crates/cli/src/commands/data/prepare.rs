//! `trainwright data prepare`, `verify` and `inspect`.

use std::env;
use std::io::IsTerminal;
use std::num::NonZero;
use std::time::{Duration, Instant};

use anyhow::Context;
use trainwright::records::{
    Framing, OnCorrupt, PartShares, PixelLimit, PrepareOptions, PrepareProgress, Storage,
};
use trainwright::{ClusterReply, Error, PrepareReply, SparkRequest, terminal};
use trainwright_study::SparkSpec;

use crate::arguments::{InspectArguments, PrepareArguments, VerifyArguments};
use crate::interrupt::Interrupt;
use crate::output::{show, tell};
use crate::pages::{check_folder_of, now, write_file};

pub(crate) fn prepare(arguments: &PrepareArguments) -> anyhow::Result<u8> {
    let options = options(arguments)?;
    if let Some(path) = &arguments.report {
        check_folder_of(path)?;
    }
    if let Some(spark) = arguments.cluster.spark()? {
        return prepare_on_spark(arguments, &options, spark);
    }
    let mut progress = Counting::new();
    let reply =
        trainwright::prepare_data(&arguments.source, &arguments.out, &options, &mut |at| {
            progress.hear(at)
        })?;
    tell_oddities(&reply);
    write_page(arguments, &reply, None)?;
    show("data-prepare", arguments.json, &reply, terminal::prepared)?;
    Ok(0)
}

fn prepare_on_spark(
    arguments: &PrepareArguments,
    options: &PrepareOptions,
    spark: SparkSpec,
) -> anyhow::Result<u8> {
    let program = env::current_exe().context("cannot find this program's own file")?;
    let partitions = arguments.partitions.map(NonZero::get);
    let request = SparkRequest { spark, partitions, program: &program };
    let (interrupt, mut progress) = (Interrupt::listen()?, Counting::new());
    let reply = trainwright::prepare_on_spark(
        &arguments.source,
        &arguments.out,
        options,
        &request,
        &|| interrupt.wish(),
        &mut |at| progress.hear(at),
        &mut |words| tell(&words),
    )?;
    let Some(reply) = reply else { return Ok(130) };
    tell_oddities(&reply.reply);
    write_page(arguments, &reply.reply, Some(&reply.cluster))?;
    show("data-prepare", arguments.json, &reply, |own| {
        terminal::prepared(&own.reply) + &terminal::on_cluster(&own.cluster)
    })?;
    Ok(0)
}

fn write_page(
    arguments: &PrepareArguments,
    reply: &PrepareReply,
    cluster: Option<&ClusterReply>,
) -> Result<(), Error> {
    let Some(path) = &arguments.report else { return Ok(()) };
    write_file(path, trainwright::preparation_page(&arguments.source, reply, cluster, &now()))
}

/// Tells what was made again or left out.
fn tell_oddities(reply: &PrepareReply) {
    for shard in &reply.remade {
        tell(&format!("made again, because it was changed since it was written: {shard}"));
    }
    for item in &reply.prepared.corrupt {
        tell(&format!("left out: {item}"));
    }
}

fn options(arguments: &PrepareArguments) -> Result<PrepareOptions, Error> {
    let split = match arguments.split.as_deref() {
        Some(&[train, validation, test]) => Some(PartShares::new([train, validation, test])?),
        Some(shares) => {
            let message =
                format!("--split needs three shares, such as 0.8,0.1,0.1, not {shares:?}");
            return Err(Error::Request(message));
        }
        None => None,
    };
    let processors = || std::thread::available_parallelism().map_or(1, NonZero::get);
    Ok(PrepareOptions {
        size: arguments.size,
        framing: if arguments.fit { Framing::Fit } else { Framing::Crop },
        storage: if arguments.pixels { Storage::Pixels } else { Storage::Jpeg(arguments.quality) },
        shards: arguments.shards,
        seed: arguments.seed,
        split,
        threads: arguments.threads.unwrap_or_else(processors),
        corrupt: if arguments.skip_corrupt { OnCorrupt::Skip } else { OnCorrupt::Refuse },
        max_pixels: arguments.max_pixels.map_or_else(PixelLimit::from_environment, Ok)?,
    })
}

pub(crate) fn verify(arguments: &VerifyArguments) -> anyhow::Result<u8> {
    let reply = trainwright::verify_data(&arguments.files)?;
    show("data-verify", arguments.json, &reply, terminal::verified)?;
    Ok(u8::from(reply.damaged_files > 0))
}

pub(crate) fn inspect(arguments: &InspectArguments) -> anyhow::Result<u8> {
    let reply = trainwright::inspect_data(&arguments.files, arguments.show)?;
    show("data-inspect", arguments.json, &reply, terminal::inspected)?;
    Ok(0)
}

/// Says how far it is: twice a second on a terminal, every ten seconds elsewhere.
struct Counting {
    begun: Instant,
    last: Instant,
    done_before: Option<usize>,
}

impl Counting {
    fn new() -> Self {
        Self { begun: Instant::now(), last: Instant::now(), done_before: None }
    }

    fn hear(&mut self, at: PrepareProgress) {
        let before = *self.done_before.get_or_insert(at.done);
        let pause = if std::io::stderr().is_terminal() { 500 } else { 10_000 };
        let due = self.last.elapsed() >= Duration::from_millis(pause);
        if !due && at.done < at.total {
            return;
        }
        self.last = Instant::now();
        let speed = (at.done - before) as f64 / self.begun.elapsed().as_secs_f64();
        let corrupt =
            if at.corrupt > 0 { format!(", {} corrupt", at.corrupt) } else { String::new() };
        tell(&format!("{} of {} items{corrupt}, {speed:.0} a second", at.done, at.total));
    }
}
