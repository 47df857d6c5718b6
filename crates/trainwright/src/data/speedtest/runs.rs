//! The plan of a speed test and its readings.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use trainwright_records::bucket::{Bucket, Limited, LocalBucket, Object};
use trainwright_records::pictures::PixelLimit;
use trainwright_records::{
    Limits, ReadRun, ReadSource, ReadSpeed, ReadTime, bucket_of, is_remote, list_pictures,
    prepare_for_speed,
};
use trainwright_study::Seed;

use super::{
    CacheState, PictureSource, SpeedConditions, SpeedRow, SpeedtestProgress, SpeedtestRequest,
};
use crate::Error;

/// Parts of the seed.
const ORDER_OF_FILES: u64 = 1;
const ORDER_OF_RUNS: u64 = 2;
const STARTS: u64 = 3;

/// Every combination for each source, repetition after repetition, each in an order of its own:
/// what changes slowly while the test runs (another program, a warming processor) then falls on
/// all combinations alike, and shows as an effect of the repetition.
pub(crate) fn plan(request: &SpeedtestRequest<'_>) -> Vec<(usize, ReadRun)> {
    let seed = Seed::new(request.seed);
    let mut runs = Vec::new();
    for repetition in 1..=request.repetitions.get() {
        let mut block = Vec::new();
        for &source in &request.sources {
            for &batch_size in &request.batch_sizes {
                for &batch_number in &request.batch_numbers {
                    for &threads in &request.threads {
                        let (start, max_pixels) = (0, request.max_pixels);
                        let run = ReadRun {
                            source,
                            batch_size,
                            batch_number,
                            threads,
                            start,
                            max_pixels,
                        };
                        block.push((repetition, run));
                    }
                }
            }
        }
        runs.extend(seed.derive(ORDER_OF_RUNS).derive(repetition as u64).shuffled(block));
    }
    for (number, (_, run)) in runs.iter_mut().enumerate() {
        run.start = (seed.derive(STARTS).derive(number as u64).value() >> 32) as usize;
    }
    runs
}

/// The readings as a CSV text.
///
/// # Errors
/// The text cannot be written.
pub fn speedtest_csv(rows: &[SpeedRow], output: impl Write) -> Result<(), Error> {
    let failed = |error: csv::Error| Error::Request(format!("cannot write CSV: {error}"));
    let mut writer = csv::Writer::from_writer(output);
    rows.iter().try_for_each(|row| writer.serialize(row)).map_err(failed)?;
    writer.flush().map_err(|error| failed(error.into()))
}

/// Makes all readings.
pub(super) fn read_all(
    request: &SpeedtestRequest<'_>,
    progress: &mut dyn FnMut(SpeedtestProgress),
) -> Result<(SpeedConditions, Vec<SpeedRow>), Error> {
    let runs = plan(request);
    let files = files(request)?;
    let temporary = tempfile::tempdir()
        .map_err(|source| Error::Folder { path: std::env::temp_dir(), source })?;
    let records = match request.records {
        Some(folder) => folder,
        None if is_remote(request.pictures) => {
            return Err(Error::Request(format!(
                "{} is in an object store: name a folder of prepared shards there with --records, \
                 so that both are read from the same place",
                request.pictures.display()
            )));
        }
        None => {
            let most = runs.iter().map(|(_, run)| run.images()).max().unwrap_or(0);
            let chosen = &files[..most.min(files.len())];
            progress(SpeedtestProgress::Preparing(chosen.len()));
            let (size, limit) = (request.size.get(), request.max_pixels);
            prepare_for_speed(&LocalBucket, chosen, size, limit, temporary.path())?;
            temporary.path()
        }
    };
    let speed = open(request, records)?;
    if request.cache == CacheState::Warm && !is_remote(request.pictures) {
        progress(SpeedtestProgress::Warming);
    }
    warm_up_where_asked(request, &speed)?;
    let rows = make(request, &speed, &runs, progress)?;
    Ok((conditions(request, &speed), rows))
}

/// The pictures in the order of the test.
fn files(request: &SpeedtestRequest<'_>) -> Result<Vec<Object>, Error> {
    let files = list_pictures(&*bucket_of(request.pictures)?, request.pictures)?;
    Ok(Seed::new(request.seed).derive(ORDER_OF_FILES).shuffled(files))
}

/// Opens pictures and records to be read.
pub(crate) fn open(request: &SpeedtestRequest<'_>, records: &Path) -> Result<ReadSpeed, Error> {
    if request.records.is_some() {
        check_same_place(request.pictures, records)?;
    }
    let bucket = with_limits(bucket_of(request.pictures)?, request.limits);
    Ok(ReadSpeed::new(bucket, files(request)?, records, request.size)?)
}

/// Fills the cache, where the test is of a warm one.
pub(crate) fn warm_up_where_asked(
    request: &SpeedtestRequest<'_>,
    speed: &ReadSpeed,
) -> Result<(), Error> {
    if request.cache == CacheState::Warm && !is_remote(request.pictures) {
        warm_up(speed, request.max_pixels)?;
    }
    Ok(())
}

/// What the readings were made under.
pub(crate) fn conditions(request: &SpeedtestRequest<'_>, speed: &ReadSpeed) -> SpeedConditions {
    let limits = request.limits;
    SpeedConditions {
        cache: request.cache,
        latency_s: limits.latency.as_secs_f64(),
        bandwidth_bytes_per_s: limits.bandwidth.map(|bandwidth| bandwidth.bytes_per_s()),
        size: request.size.get(),
        files: speed.files().len(),
        shards: speed.shards().len(),
        seed: request.seed,
    }
}

/// Makes one reading.
pub(crate) fn read(
    request: &SpeedtestRequest<'_>,
    speed: &ReadSpeed,
    run: &ReadRun,
) -> Result<ReadTime, Error> {
    if request.cache == CacheState::Cold {
        speed.make_cold(run)?;
    }
    Ok(speed.time(run)?)
}

/// A reading as a row; it was so many before it.
pub(crate) fn row(
    number: usize,
    (repetition, run): &(usize, ReadRun),
    time: &ReadTime,
) -> SpeedRow {
    SpeedRow {
        run: number + 1,
        source: source_of(run.source),
        batch_size: run.batch_size.get(),
        batch_number: run.batch_number.get(),
        threads: run.threads.get(),
        repetition: *repetition,
        images: time.images,
        bytes: time.bytes,
        seconds: time.seconds,
        images_per_s: time.images as f64 / time.seconds,
        megabytes_per_s: time.bytes as f64 / 1e6 / time.seconds,
    }
}

/// Reads everything once without limits, and one picture of each kind through the whole path.
fn warm_up(speed: &ReadSpeed, max_pixels: PixelLimit) -> Result<(), Error> {
    let mut bytes = Vec::new();
    for object in speed.files().iter().chain(speed.shards()) {
        LocalBucket.read(&object.address, &mut bytes)?;
    }
    let one = NonZeroUsize::MIN;
    for source in ReadSource::ALL {
        speed.time(&ReadRun {
            source,
            batch_size: one,
            batch_number: one,
            threads: one,
            start: 0,
            max_pixels,
        })?;
    }
    Ok(())
}

fn make(
    request: &SpeedtestRequest<'_>,
    speed: &ReadSpeed,
    runs: &[(usize, ReadRun)],
    progress: &mut dyn FnMut(SpeedtestProgress),
) -> Result<Vec<SpeedRow>, Error> {
    let mut rows = Vec::with_capacity(runs.len());
    for (number, planned) in runs.iter().enumerate() {
        progress(SpeedtestProgress::Reading(number, runs.len()));
        rows.push(row(number, planned, &read(request, speed, &planned.1)?));
    }
    progress(SpeedtestProgress::Reading(runs.len(), runs.len()));
    Ok(rows)
}

fn source_of(source: ReadSource) -> PictureSource {
    match source {
        ReadSource::Files => PictureSource::Files,
        ReadSource::Records => PictureSource::Records,
    }
}

fn with_limits(inner: Arc<dyn Bucket>, limits: Limits) -> Arc<dyn Bucket> {
    if limits.any() { Arc::new(Limited::new(inner, limits)) } else { inner }
}

/// One bucket serves both folders.
fn check_same_place(pictures: &Path, records: &Path) -> Result<(), Error> {
    let place = |address: &Path| {
        let text = address.to_string_lossy().into_owned();
        is_remote(address).then(|| text.split('/').take(3).collect::<Vec<_>>().join("/"))
    };
    if place(pictures) == place(records) {
        return Ok(());
    }
    Err(Error::Request(format!(
        "{} and {} are in different places, so that the comparison would be one of places; copy \
         one of them",
        pictures.display(),
        records.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_folders_must_be_in_one_place() {
        let same = |a: &str, b: &str| check_same_place(Path::new(a), Path::new(b));
        assert!(same("photos", "/data/shards").is_ok());
        assert!(same("s3://b/photos", "s3://b/deep/shards").is_ok());
        for (a, b) in
            [("photos", "s3://b/shards"), ("s3://b/x", "s3://c/x"), ("s3://b/x", "gs://b/x")]
        {
            let words = same(a, b).unwrap_err().to_string();
            assert!(words.starts_with(&format!("{a} and {b} are in different places")), "{words}");
        }
    }

    #[test]
    fn readings_are_a_table_with_a_name_over_each_column() {
        let row = SpeedRow {
            run: 1,
            source: PictureSource::Records,
            batch_size: 2,
            batch_number: 3,
            threads: 4,
            repetition: 5,
            images: 6,
            bytes: 7,
            seconds: 0.5,
            images_per_s: 12.0,
            megabytes_per_s: 0.25,
        };
        let mut bytes = Vec::new();
        speedtest_csv(&[row], &mut bytes).unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "run,source,batch_size,batch_number,threads,repetition,images,bytes,seconds,\
             images_per_s,megabytes_per_s\n1,records,2,3,4,5,6,7,0.5,12.0,0.25\n"
        );
    }
}
