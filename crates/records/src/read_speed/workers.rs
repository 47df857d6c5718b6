//! The timed part: threads that take batch after batch until all are read.
//!
//! Memory and decoders are made before the clock starts. Nothing but reading happens while it
//! runs.

use std::hint::black_box;
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{ReadRun, around};
use crate::error::RecordsError;
use crate::files::bucket::{Bucket, Object};
use crate::messages::example_view::ExampleView;
use crate::pictures::{Decoder, Framing, Picture, PixelLimit, Scaler};
use crate::pipeline::picture_of;
use crate::shards::compression::unpacked_records;
use crate::shards::framing::{FRAME_BYTES, RecordReader};

/// Bytes read, and how long it took.
type Measured = Result<(u64, Duration), RecordsError>;

/// What one thread works with.
struct Worker {
    decoder: Decoder,
    scaler: Scaler,
    decoded: Picture,
    square: Picture,
    encoded: Vec<u8>,
    batch: Vec<u8>,
    bytes: u64,
}

impl Worker {
    fn new(limit: PixelLimit) -> Result<Self, RecordsError> {
        Ok(Self {
            decoder: Decoder::new(limit)?,
            scaler: Scaler::new(),
            decoded: Picture::default(),
            square: Picture::default(),
            encoded: Vec::new(),
            batch: Vec::new(),
            bytes: 0,
        })
    }
}

/// Reads picture files, each thread a batch of them at a time.
pub(super) fn read_files(
    bucket: &dyn Bucket,
    files: &[Object],
    size: usize,
    run: &ReadRun,
) -> Measured {
    let chosen: Vec<&Object> = around(files, run.start).take(run.images()).collect();
    let batches: Vec<&[&Object]> = chosen.chunks(run.batch_size.get()).collect();
    let next = AtomicUsize::new(0);
    timed(run, |worker| {
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            worker.batch.clear();
            for file in *batch {
                bucket.read(&file.address, &mut worker.encoded)?;
                worker.bytes += worker.encoded.len() as u64;
                let decoded = worker.decoder.decode(&worker.encoded, &mut worker.decoded);
                decoded.map_err(|error| error.in_file(&file.address))?;
                worker.scaler.square(&worker.decoded, size, Framing::Crop, &mut worker.square);
                worker.batch.extend_from_slice(&worker.square.pixels);
            }
            black_box(&worker.batch);
        }
        Ok(())
    })
}

/// Reads records: the threads take batches of payloads in turn from one stream and decode them
/// side by side.
pub(super) fn read_records(bucket: &dyn Bucket, shards: &[Object], run: &ReadRun) -> Measured {
    let order: Vec<&Object> = around(shards, run.start).take(shards.len()).collect();
    let stream = RecordStream { bucket, shards: &order, next_shard: 0, open: None, empty: 0 };
    let stream = Mutex::new((stream, run.batch_number.get()));
    timed(run, |worker| {
        let mut payloads = vec![Vec::new(); run.batch_size.get()];
        loop {
            {
                let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                let (stream, left) = &mut *stream;
                if *left == 0 {
                    return Ok(());
                }
                *left -= 1;
                payloads.iter_mut().try_for_each(|payload| stream.next(payload))?;
            }
            worker.batch.clear();
            for payload in &payloads {
                worker.bytes += (payload.len() + FRAME_BYTES) as u64;
                let example = ExampleView::new(payload);
                picture_of(&example, &mut worker.decoder, worker.decoded.room())?;
                worker.batch.extend_from_slice(&worker.decoded.pixels);
            }
            black_box(&worker.batch);
        }
    })
}

/// The records of shards, one shard after another, again and again.
struct RecordStream<'a> {
    bucket: &'a dyn Bucket,
    shards: &'a [&'a Object],
    next_shard: usize,
    open: Option<(PathBuf, RecordReader<Box<dyn Read + Send>>)>,
    /// Shards that ended since the last record.
    empty: usize,
}

impl RecordStream<'_> {
    fn next(&mut self, payload: &mut Vec<u8>) -> Result<(), RecordsError> {
        loop {
            if let Some((address, reader)) = &mut self.open {
                let record = reader.next_record().map_err(|error| error.in_file(&*address))?;
                if let Some(record) = record {
                    payload.clear();
                    payload.extend_from_slice(record);
                    self.empty = 0;
                    return Ok(());
                }
                self.empty += 1;
            }
            let address = &self.shards[self.next_shard % self.shards.len()].address;
            if self.empty > self.shards.len() {
                return Err(RecordsError::NoExamples.in_file(address));
            }
            let stream = self.bucket.open(address)?;
            let unpacked = unpacked_records(stream);
            let (stream, _) = unpacked.map_err(|e| RecordsError::from(e).in_file(address))?;
            self.open = Some((address.clone(), RecordReader::new(stream)));
            self.next_shard += 1;
        }
    }
}

/// Runs the work on every thread of a run and takes the time until the last has ended.
fn timed(run: &ReadRun, work: impl Fn(&mut Worker) -> Result<(), RecordsError> + Sync) -> Measured {
    let workers =
        (0..run.threads.get()).map(|_| Worker::new(run.max_pixels)).collect::<Result<Vec<_>, _>>();
    let mut workers = workers?;
    let start;
    let results: Vec<Result<(), RecordsError>> = match &mut workers[..] {
        // A thread of its own would only add the time of starting it.
        [only] => {
            start = Instant::now();
            vec![work(only)]
        }
        many => {
            start = Instant::now();
            thread::scope(|scope| {
                let threads: Vec<_> =
                    many.iter_mut().map(|worker| scope.spawn(|| work(worker))).collect();
                threads.into_iter().map(|it| it.join().expect("readers do not panic")).collect()
            })
        }
    };
    let elapsed = start.elapsed();
    results.into_iter().collect::<Result<(), _>>()?;
    Ok((workers.iter().map(|worker| worker.bytes).sum(), elapsed))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::num::NonZeroUsize;
    use std::path::Path;

    use super::*;
    use crate::files::bucket::LocalBucket;
    use crate::read_speed::ReadSource;
    use crate::shards::compression::Compression;
    use crate::shards::writer::{IndexFile, ShardWriter};

    fn shard(folder: &Path, name: &str, compression: Compression, payloads: &[&[u8]]) -> Object {
        let address = folder.join(name);
        let mut writer = ShardWriter::create(&address, compression, IndexFile::None).unwrap();
        payloads.iter().for_each(|payload| writer.write(payload).unwrap());
        writer.finish().unwrap();
        let bytes = fs::metadata(&address).unwrap().len();
        Object { address, bytes }
    }

    fn stream<'a>(shards: &'a [&'a Object]) -> RecordStream<'a> {
        RecordStream { bucket: &LocalBucket, shards, next_shard: 0, open: None, empty: 0 }
    }

    fn run(threads: usize) -> ReadRun {
        ReadRun {
            source: ReadSource::Records,
            batch_size: NonZeroUsize::MIN,
            batch_number: NonZeroUsize::MIN,
            threads: NonZeroUsize::new(threads).unwrap(),
            start: 0,
            max_pixels: PixelLimit::default(),
        }
    }

    #[test]
    fn records_come_shard_after_shard_again_and_again_past_empty_ones() {
        let folder = tempfile::tempdir().unwrap();
        let first = shard(folder.path(), "a", Compression::None, &[b"1", b"22"]);
        let empty = shard(folder.path(), "b", Compression::None, &[]);
        let packed = shard(folder.path(), "c", Compression::Gzip, &[b"333"]);
        let last = shard(folder.path(), "d", Compression::None, &[b"4444"]);
        let shards = [&first, &packed, &empty, &last];
        let (mut stream, mut payload) = (stream(&shards), b"left from before".to_vec());
        let mut found = Vec::new();
        for _ in 0..9 {
            stream.next(&mut payload).unwrap();
            found.push(payload.len());
        }
        assert_eq!(found, [1, 2, 3, 4, 1, 2, 3, 4, 1]);
    }

    #[test]
    fn shards_without_any_record_are_told_and_not_searched_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let empty = ["a", "b"].map(|name| shard(folder.path(), name, Compression::None, &[]));
        let shards = [&empty[0], &empty[1]];
        let message = stream(&shards).next(&mut Vec::new()).unwrap_err().to_string();
        assert!(message.ends_with(": the data set has no examples"), "{message}");
    }

    #[test]
    fn a_damaged_record_is_told_with_its_shard() {
        let folder = tempfile::tempdir().unwrap();
        let object = shard(folder.path(), "a", Compression::None, &[b"one", b"two"]);
        let mut bytes = fs::read(&object.address).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&object.address, bytes).unwrap();
        let (shards, mut payload) = ([&object], Vec::new());
        let mut stream = stream(&shards);
        stream.next(&mut payload).unwrap();
        let message = stream.next(&mut payload).unwrap_err().to_string();
        let expected = format!("{}: record 1 (counting from 0)", object.address.display());
        assert!(message.starts_with(&expected), "{message}");
    }

    #[test]
    fn bytes_of_all_threads_are_added_up_and_any_error_is_told() {
        for threads in [1, 3] {
            let add = |worker: &mut Worker| {
                worker.bytes += 5;
                Ok(())
            };
            assert_eq!(timed(&run(threads), add).unwrap().0, 5 * threads as u64);
            let calls = AtomicUsize::new(0);
            let last_fails = |_: &mut Worker| match calls.fetch_add(1, Ordering::SeqCst) + 1 {
                call if call == threads => Err(RecordsError::NoExamples),
                _ => Ok(()),
            };
            let message = timed(&run(threads), last_fails).unwrap_err().to_string();
            assert_eq!(message, "the data set has no examples");
        }
    }
}
