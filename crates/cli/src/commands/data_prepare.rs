//! `trainwright data prepare`, `verify` and `inspect`.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::num::NonZero;
use std::time::{Duration, Instant};

use serde_json::json;
use trainwright::Error;
use trainwright_records::pictures::{Framing, PixelLimit};
use trainwright_records::prepare::{
    OnCorrupt, PartShares, PrepareOptions, PrepareProgress, Prepared, Storage,
};
use trainwright_records::{FileVerdict, Inspection};

use crate::arguments::{InspectArguments, PrepareArguments, VerifyArguments};
use crate::output::{print, print_json, tell};

/// Files that are named in the summary; `dataset.json` lists them all.
const MOST_PASSED_OVER: usize = 5;

pub(crate) fn prepare(arguments: &PrepareArguments) -> anyhow::Result<u8> {
    let options = options(arguments)?;
    let mut progress = Counting::new();
    let prepared =
        trainwright::prepare_data(&arguments.source, &arguments.out, &options, &mut |at| {
            progress.hear(at)
        })?;
    for shard in &prepared.remade {
        tell(&format!("made again, because it was changed since it was written: {shard}"));
    }
    for item in &prepared.corrupt {
        tell(&format!("left out: {item}"));
    }
    if arguments.json {
        let mut result = serde_json::to_value(&prepared)?;
        result["out"] = json!(arguments.out);
        result["remade"] = json!(prepared.remade);
        result["seconds"] = json!(progress.begun.elapsed().as_secs_f64());
        print_json("data-prepare", &result)?;
    } else {
        print(&summary(&prepared, arguments, progress.begun.elapsed()))?;
    }
    Ok(0)
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

fn summary(prepared: &Prepared, arguments: &PrepareArguments, spent: Duration) -> String {
    let shards: usize = prepared.parts.iter().map(|part| part.shards.len()).sum();
    let mut text = format!(
        "{} records in {shards} shards, {:.1} MB, in {} ({:.1} s)\n",
        prepared.records,
        prepared.bytes as f64 / 1e6,
        arguments.out.display(),
        spent.as_secs_f64()
    );
    let mut line = |line: String| text.push_str(&(line + "\n"));
    for part in prepared.parts.iter().filter(|part| !part.name.is_empty()) {
        let records: u64 = part.shards.iter().map(|shard| shard.records).sum();
        line(format!("  {}: {records} records", part.name));
    }
    if !prepared.classes.is_empty() {
        line(format!("{} classes, named in classes.txt", prepared.classes.len()));
    }
    if !prepared.corrupt.is_empty() {
        line(format!("{} corrupt pictures left out", prepared.corrupt.len()));
    }
    if !prepared.passed_over.is_empty() {
        line(format!("{} files passed over, being no picture files:", prepared.passed_over.len()));
        for name in prepared.passed_over.iter().take(MOST_PASSED_OVER) {
            line(format!("  {}", name.escape_debug()));
        }
        if prepared.passed_over.len() > MOST_PASSED_OVER {
            line("  ... (all are in dataset.json)".to_owned());
        }
    }
    text
}

pub(crate) fn verify(arguments: &VerifyArguments) -> anyhow::Result<u8> {
    let verdicts = trainwright::verify_data(&arguments.files)?;
    let damaged = verdicts.iter().filter(|verdict| !verdict.damages.is_empty()).count();
    if arguments.json {
        print_json("data-verify", &json!({ "damaged_files": damaged, "files": verdicts }))?;
    } else {
        print(&verdicts.iter().map(shown_verdict).collect::<String>())?;
    }
    Ok(u8::from(damaged > 0))
}

fn shown_verdict(verdict: &FileVerdict) -> String {
    let mut text = format!("{}: {} records", verdict.path.display(), verdict.records);
    if verdict.damages.is_empty() {
        text.push_str(", sound\n");
        return text;
    }
    text.push_str(" sound, DAMAGED\n");
    for damage in &verdict.damages {
        writeln!(text, "  {}", damage.message).expect("writing to memory cannot fail");
    }
    text
}

pub(crate) fn inspect(arguments: &InspectArguments) -> anyhow::Result<u8> {
    let inspections = trainwright::inspect_data(&arguments.files, arguments.show)?;
    if arguments.json {
        print_json("data-inspect", &json!({ "files": inspections }))?;
    } else {
        print(&inspections.iter().map(shown_inspection).collect::<String>())?;
    }
    Ok(0)
}

fn shown_inspection(file: &Inspection) -> String {
    let mut text = format!("{}: {} records", file.path.display(), file.records);
    let mut put = |part: String| text.push_str(&part);
    if let (Some(smallest), Some(largest)) = (file.smallest, file.largest) {
        put(format!(" of {smallest} to {largest} bytes, {} in all", file.bytes));
    }
    if file.compression != "none" {
        put(format!(", {}", file.compression));
    }
    put("\n".to_owned());
    if file.other_records > 0 {
        put(format!("  {} records are no tf.train.Example\n", file.other_records));
    }
    for (name, feature) in &file.features {
        let values = match (feature.fewest_values, feature.most_values) {
            (1, 1) => "1 value".to_owned(),
            (fewest, most) if fewest == most => format!("{most} values"),
            (fewest, most) => format!("{fewest} to {most} values"),
        };
        let (kind, examples, bytes) = (&feature.kind, feature.examples, feature.bytes);
        put(format!("  {name}: {kind}, {values}, in {examples} examples, {bytes} bytes\n"));
    }
    for (number, example) in file.first.iter().enumerate() {
        let values: Vec<_> =
            example.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        put(format!("  example {number}: {}\n", values.join("; ")));
    }
    text
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
