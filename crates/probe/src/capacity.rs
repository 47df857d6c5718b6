//! What the machine can do: products of matrices, copies, the loopback interface, the disk.
//!
//! Every figure is measured several times in short slots, so that its spread shows how busy the
//! machine was. One file a resource; `rate.rs` runs work on threads and takes the time.

mod disk;
mod loopback;
mod rate;

use std::path::Path;
use std::time::{Duration, SystemTime};

use trainwright_study::{Capacities, Repeated};

use crate::{ProbeError, machine};
use rate::rate_per_s;

/// How long and where to measure.
#[derive(Debug, Clone, Copy)]
pub struct CapacityOptions<'a> {
    /// Time of one measurement of processor, memory and network.
    pub slot: Duration,
    /// Measurements of each figure.
    pub repetitions: u32,
    /// Folder whose disk is measured; no disk without.
    pub folder: Option<&'a Path>,
    /// Bytes written and read in it in one measurement.
    pub disk_bytes: usize,
}

impl<'a> CapacityOptions<'a> {
    /// A few seconds in all, with the disk under a folder.
    pub fn usual(folder: &'a Path) -> Self {
        let slot = Duration::from_millis(120);
        Self { slot, repetitions: 5, folder: Some(folder), disk_bytes: 48 << 20 }
    }
}

/// Makes the work of one thread: each call multiplies matrices once and gives the operations.
///
/// The caller brings it, so that what is measured is the product that it trains with.
pub type Product<'a> = &'a (dyn Fn() -> Box<dyn FnMut() -> f64> + Sync);

/// Bytes that one call copies: more than caches hold.
const COPIED: usize = 16 << 20;

/// Measures what the machine can do; `tell` hears what is measured next.
///
/// # Errors
/// The loopback interface or the disk cannot be used.
pub fn measure(
    options: &CapacityOptions<'_>,
    product: Product<'_>,
    tell: &mut dyn FnMut(&str),
) -> Result<Capacities, ProbeError> {
    let described = machine(Path::new("/"));
    let cores = described.cores.max(1) as usize;
    let mut rates = |what: &str, threads: usize, work: Product<'_>| {
        tell(&format!("{what} on {}", if threads == 1 { "one core" } else { "all cores" }));
        repeated(options, || Ok(rate_per_s(threads, options.slot, work)))
    };
    let product_one_core_per_s = rates("products of matrices", 1, product)?;
    let product_all_cores_per_s = rates("products of matrices", cores, product)?;
    let copy_one_core_bytes_per_s = rates("copies in memory", 1, &copying)?;
    let copy_all_cores_bytes_per_s = rates("copies in memory", cores, &copying)?;
    tell("bytes and round trips over loopback");
    let loopback_bytes_per_s = repeated(options, || loopback::bytes_per_s(options.slot))?;
    let round_trip_s = repeated(options, || loopback::round_trip_s(options.slot))?;
    let disk = match options.folder {
        Some(folder) => {
            tell(&format!("the disk in {}", folder.display()));
            let (bytes, repetitions) = (options.disk_bytes, options.repetitions.min(3));
            Some(disk::capacity(folder, bytes, repetitions)?)
        }
        None => None,
    };
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(Capacities {
        measured_ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        host: described.host,
        cpu: described.cpu,
        cores: described.cores,
        product_one_core_per_s,
        product_all_cores_per_s,
        copy_one_core_bytes_per_s,
        copy_all_cores_bytes_per_s,
        loopback_bytes_per_s,
        round_trip_s,
        disk,
    })
}

fn repeated(
    options: &CapacityOptions<'_>,
    mut one: impl FnMut() -> Result<f64, ProbeError>,
) -> Result<Repeated, ProbeError> {
    let values = (0..options.repetitions.max(1)).map(|_| one()).collect::<Result<Vec<_>, _>>()?;
    Ok(Repeated::of(&values).expect("there is at least one measurement, and times are not zero"))
}

/// Copies between two pieces of memory of a thread's own.
fn copying() -> Box<dyn FnMut() -> f64> {
    let (mut from, mut to) = (vec![1u8; COPIED], vec![2u8; COPIED]);
    Box::new(move || {
        to.copy_from_slice(std::hint::black_box(&from));
        std::mem::swap(&mut from, &mut to);
        COPIED as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_measured_as_often_as_asked_and_is_of_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let options = CapacityOptions {
            slot: Duration::from_millis(2),
            repetitions: 2,
            folder: Some(folder.path()),
            disk_bytes: 1 << 20,
        };
        // A slow work of known size: a hundred operations a call.
        let product = || -> Box<dyn FnMut() -> f64> {
            Box::new(|| (0..100).map(std::hint::black_box).map(|_: i32| 1.0).sum())
        };
        let mut told = Vec::new();
        let own = measure(&options, &product, &mut |what| told.push(what.to_owned())).unwrap();
        assert!(own.are_of(&machine(folder.path())));
        let disk = own.disk.clone().unwrap();
        for figure in [
            own.product_one_core_per_s,
            own.product_all_cores_per_s,
            own.copy_one_core_bytes_per_s,
            own.copy_all_cores_bytes_per_s,
            own.loopback_bytes_per_s,
            own.round_trip_s,
            disk.write_bytes_per_s,
            disk.read_bytes_per_s,
        ] {
            assert_eq!(figure.repetitions, 2);
            assert!(figure.low > 0.0 && figure.low <= figure.high, "{figure:?}");
        }
        assert!(own.round_trip_s.high < 1.0, "{own:?}");
        assert_eq!(told.len(), 6, "{told:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file is taken away");
    }

    #[test]
    fn without_a_folder_no_disk_is_measured_and_a_bad_one_is_named() {
        let slot = Duration::from_millis(1);
        let options = CapacityOptions { slot, repetitions: 1, folder: None, disk_bytes: 1 };
        let product = || -> Box<dyn FnMut() -> f64> { Box::new(|| 1.0) };
        assert_eq!(measure(&options, &product, &mut |_| {}).unwrap().disk, None);
        let nowhere = Path::new("/nowhere/at/all");
        let options = CapacityOptions { folder: Some(nowhere), ..options };
        let error = measure(&options, &product, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("/nowhere/at/all") && error.contains("--folder"), "{error}");
    }
}
