//! One pass after another over one part of the data path, timed, for `bench/datapath`.
//!
//! `datapath MODE FOLDER THREADS SECONDS` prints JSON with items, bytes, wall and processor
//! seconds of the fastest and the median pass. Modes: `files` (read, decode, cut, scale to 192,
//! batches of 32 in order), `means` (what `files` makes of each picture, untimed), `records`
//! (parse, decode, batches of 32), `scan` (frame and checksums, mapped), `stream` (the
//! same, buffered), `memcpy`, `write` (a shard of the records), `plain-write` (their bytes).

use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use trainwright_records::pictures::Framing;
use trainwright_records::pipeline::{
    FolderPart, Images, PictureUse, Pipeline, PipelineOptions, PixelKind,
};
use trainwright_records::sources::PictureFolder;
use trainwright_records::{
    Compression, IndexEntry, IndexFile, RecordReader, RecordSlices, RecordsError, ShardBytes,
    ShardWriter, open_shard, shard_paths,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, folder, threads, seconds] = &arguments[..] else {
        return Err("usage: datapath MODE FOLDER THREADS SECONDS".into());
    };
    let threads: usize = threads.parse()?;
    let seconds: f64 = seconds.parse()?;
    if mode == "means" {
        return print_means(&folder_pipeline(folder, threads)?);
    }
    let mut pass = passes(mode, folder, threads)?;
    pass()?;
    let (begun, mut times) = (Instant::now(), Vec::new());
    let (mut items, mut bytes) = (0, 0);
    while times.len() < 3 || begun.elapsed().as_secs_f64() < seconds {
        let (wall, processor) = (Instant::now(), processor_seconds()?);
        (items, bytes) = pass()?;
        times.push((wall.elapsed().as_secs_f64(), processor_seconds()? - processor));
    }
    let of = |pick: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = times.iter().map(pick).collect();
        all.sort_by(f64::total_cmp);
        (all[0], all[all.len() / 2])
    };
    // The clock of the processor ticks a hundred times a second: the mean over all passes is
    // finer than any single one.
    let processor = times.iter().map(|it| it.1).sum::<f64>() / times.len() as f64;
    let (best_wall, wall) = of(|it| it.0);
    println!(
        "{{\"items\": {items}, \"bytes\": {bytes}, \"passes\": {}, \"wall_s\": {wall}, \
         \"best_wall_s\": {best_wall}, \"cpu_s\": {processor}}}",
        times.len()
    );
    Ok(())
}

type Pass = Box<dyn FnMut() -> Result<(usize, usize), RecordsError>>;

fn passes(mode: &str, folder: &str, threads: usize) -> Result<Pass, Box<dyn Error>> {
    if mode == "files" {
        let pipeline = folder_pipeline(folder, threads)?;
        return Ok(Box::new(move || files(&pipeline)));
    }
    let shards = shard_paths(folder)?;
    let bytes: Vec<u8> = shards.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?.concat();
    let mut target = vec![0; bytes.len()];
    let out = tempfile::tempdir_in(folder)?;
    Ok(match mode {
        "records" => Box::new(move || records(&shards, threads)),
        "scan" => Box::new(move || scan(&shards)),
        "stream" => Box::new(move || stream(&shards)),
        "memcpy" => Box::new(move || {
            target.copy_from_slice(black_box(&bytes));
            black_box(&target);
            Ok((0, bytes.len()))
        }),
        "write" => {
            // Reading is not timed here, so the records are found beforehand.
            let records = RecordSlices::index(&bytes)?;
            let payload = |it: &IndexEntry| {
                let start = it.offset as usize;
                start + 12..start + it.bytes as usize - 4
            };
            let payloads: Vec<Range<usize>> = records.iter().map(payload).collect();
            Box::new(move || {
                let path = out.path().join("a.tfrecord");
                let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::Beside)?;
                for payload in &payloads {
                    writer.write(&bytes[payload.clone()])?;
                }
                let size = writer.finish()?;
                Ok((size.records as usize, size.bytes as usize))
            })
        }
        "plain-write" => Box::new(move || {
            let path = out.path().join("b");
            let mut file = File::create(&path)?;
            for piece in bytes.chunks(1 << 18) {
                file.write_all(piece)?;
            }
            file.sync_all()?;
            Ok((0, bytes.len()))
        }),
        other => return Err(format!("no mode `{other}`").into()),
    })
}

/// The pictures of a folder in the order of their names, cut and scaled to squares of 192.
fn folder_pipeline(folder: &str, threads: usize) -> Result<Pipeline, RecordsError> {
    let folder = Arc::new(PictureFolder::open(Path::new(folder))?);
    let items = (0..folder.items() as u32).collect();
    let part = FolderPart { folder, items, size: 192, framing: Framing::Crop };
    let options = PipelineOptions { threads, pixels: PixelKind::U8, ..PipelineOptions::default() };
    Pipeline::open_folder(part, options)
}

fn files(pipeline: &Pipeline) -> Result<(usize, usize), RecordsError> {
    let in_order: Vec<u32> = (0..pipeline.records() as u32).collect();
    let mut batches = pipeline.batches(&in_order, PictureUse::Judging)?;
    let mut items = 0;
    while let Some(batch) = batches.next() {
        let batch = batch?;
        items += black_box(&batch).labels.len();
        batches.recycle(batch);
    }
    Ok((items, items * 192 * 192 * 3))
}

/// The mean of each picture's pixels, which peers must agree with.
fn print_means(pipeline: &Pipeline) -> Result<(), Box<dyn Error>> {
    let in_order: Vec<u32> = (0..pipeline.records() as u32).collect();
    let mut means = Vec::new();
    for batch in pipeline.batches(&in_order, PictureUse::Judging)? {
        let Images::U8(pixels) = batch?.images else { return Err("pixels are not bytes".into()) };
        let mean = |it: &[u8]| it.iter().map(|&p| f64::from(p)).sum::<f64>() / it.len() as f64;
        means.extend(pixels.chunks(192 * 192 * 3).map(mean));
    }
    println!("{{\"means\": {means:?}}}");
    Ok(())
}

fn records(shards: &[PathBuf], threads: usize) -> Result<(usize, usize), RecordsError> {
    let options = PipelineOptions { threads, pixels: PixelKind::U8, ..PipelineOptions::default() };
    let pipeline = Pipeline::open(shards, options)?;
    let mut epoch = pipeline.epoch(0)?;
    let mut items = 0;
    while let Some(batch) = epoch.next() {
        let batch = batch?;
        items += black_box(&batch).labels.len();
        epoch.recycle(batch);
    }
    Ok((items, 0))
}

fn scan(shards: &[PathBuf]) -> Result<(usize, usize), RecordsError> {
    let (mut items, mut total) = (0, 0);
    for path in shards {
        let bytes = ShardBytes::open(path)?;
        for record in bytes.records() {
            items += 1;
            total += black_box(record?).len();
        }
    }
    Ok((items, total))
}

fn stream(shards: &[PathBuf]) -> Result<(usize, usize), RecordsError> {
    let (mut items, mut total) = (0, 0);
    for path in shards {
        let mut reader = RecordReader::new(open_shard(path)?.0);
        while let Some(record) = reader.next_record()? {
            items += 1;
            total += black_box(record).len();
        }
    }
    Ok((items, total))
}

/// User and system time of this process, proc_pid_stat(5), fields 14 and 15, in ticks of 10 ms.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let after = stat.rsplit(") ").next().ok_or("no fields in /proc/self/stat")?;
    let ticks = |field: usize| -> Result<f64, Box<dyn Error>> {
        Ok(after.split(' ').nth(field).ok_or("too few fields")?.parse()?)
    };
    Ok((ticks(11)? + ticks(12)?) / 100.0)
}
