//! The verb `machine`: what this machine is, and what it can do.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use trainwright_networks::square_product;
use trainwright_probe::{CapacityOptions, MachineDescription, describe_machine, measure};
use trainwright_records::{cache_folder, write_whole};
use trainwright_study::{Capacities, Machine};

use crate::Error;

/// Name of the file that keeps the capacities, in the cache folder.
const KEPT: &str = "capacities.json";

/// Side of the matrices whose product is measured: three of them fit in a second-level cache.
const SIDE: usize = 384;

/// This machine described, with its capacities where they were ever measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineReply {
    /// What it is.
    #[serde(flatten)]
    pub description: MachineDescription,
    /// What it can do; absent where that was not measured.
    pub capacities: Option<Capacities>,
    /// The file that keeps the capacities.
    pub kept_in: PathBuf,
    /// Why kept capacities are not shown.
    pub not_shown: Option<String>,
}

/// What to ask of the machine.
#[derive(Debug, Clone, Copy)]
pub struct MachineRequest<'a> {
    /// Folder whose disk is meant.
    pub folder: &'a Path,
    /// Whether to measure what the machine can do, and keep it.
    pub measure: bool,
}

/// Describes this machine; where it is asked, measures what it can do and keeps that for other
/// verbs. `tell` hears what is measured next.
///
/// # Errors
/// There is no cache folder, or a measurement or its file fails.
pub fn machine(
    request: &MachineRequest<'_>,
    tell: &mut dyn FnMut(&str),
) -> Result<MachineReply, Error> {
    let kept_in = cache_folder()?.join(KEPT);
    if request.measure {
        let found = measure(&CapacityOptions::usual(request.folder), &product, tell)?;
        keep(&kept_in, &found)?;
    }
    let description = describe_machine(request.folder);
    let (capacities, not_shown) = match read(&kept_in, &description.machine) {
        Ok(found) => (found, None),
        Err(reason) => (None, Some(reason)),
    };
    Ok(MachineReply { description, capacities, kept_in, not_shown })
}

/// What the machine can do, where it was ever measured; a file that does not read counts as none.
pub(crate) fn kept_capacities(machine: &Machine) -> Option<Capacities> {
    read(&cache_folder().ok()?.join(KEPT), machine).ok().flatten()
}

/// What the fastest interface to other machines carries in a second, where its driver tells.
pub(crate) fn link_bytes_per_s() -> Option<f64> {
    let interfaces = describe_machine(Path::new("/")).interfaces;
    let outside = interfaces.iter().filter(|own| own.name != "lo" && own.state == "up");
    let fastest = outside.filter_map(|own| own.megabits_per_s).max()?;
    Some(fastest as f64 * 1e6 / 8.0)
}

fn keep(path: &Path, found: &Capacities) -> Result<(), Error> {
    let failed = |source| Error::Folder { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let text = serde_json::to_string_pretty(found).expect("numbers with names become JSON");
    write_whole(path, |file| file.write_all(text.as_bytes())).map_err(failed)
}

/// The kept capacities, if they are this machine's; the reason where they are not.
fn read(path: &Path, machine: &Machine) -> Result<Option<Capacities>, String> {
    let Ok(text) = fs::read_to_string(path) else { return Ok(None) };
    let again = "`trainwright machine --measure` measures again";
    let found: Capacities = serde_json::from_str(&text)
        .map_err(|error| format!("{} does not read ({error}); {again}", path.display()))?;
    if found.are_of(machine) {
        return Ok(Some(found));
    }
    Err(format!(
        "{} holds the figures of {} ({}, {} cores), which is not this machine as it is now; {again}",
        path.display(),
        found.host,
        found.cpu,
        found.cores
    ))
}

/// One thread's work: the product that layers compute.
fn product() -> Box<dyn FnMut() -> f64> {
    let (left, right) = (vec![1.5f32; SIDE * SIDE], vec![0.5f32; SIDE * SIDE]);
    let mut output = vec![0.0f32; SIDE * SIDE];
    Box::new(move || {
        square_product(std::hint::black_box(&left), &right, &mut output, SIDE);
        std::hint::black_box(&output);
        2.0 * (SIDE * SIDE * SIDE) as f64
    })
}

#[cfg(test)]
mod tests {
    use trainwright_study::Repeated;

    use super::*;

    fn capacities(host: &str) -> Capacities {
        let figure = Repeated::of(&[1.0, 2.0]).unwrap();
        Capacities {
            measured_ms: 7,
            host: host.to_owned(),
            cpu: "c".into(),
            cores: 2,
            product_one_core_per_s: figure,
            product_all_cores_per_s: figure,
            copy_one_core_bytes_per_s: figure,
            copy_all_cores_bytes_per_s: figure,
            loopback_bytes_per_s: figure,
            round_trip_s: figure,
            disk: None,
        }
    }

    #[test]
    fn kept_figures_are_read_back_on_the_machine_that_they_are_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below").join(KEPT);
        let here = Machine { host: "here".into(), cpu: "c".into(), cores: 2, ..Machine::default() };
        assert_eq!(read(&path, &here), Ok(None));
        keep(&path, &capacities("here")).unwrap();
        assert_eq!(read(&path, &here), Ok(Some(capacities("here"))));
        keep(&path, &capacities("there")).unwrap();
        let other = read(&path, &here).unwrap_err();
        assert!(other.contains("the figures of there") && other.contains("--measure"), "{other}");
        fs::write(&path, "{").unwrap();
        assert!(read(&path, &here).unwrap_err().contains("does not read"));
    }

    #[test]
    fn the_work_of_a_product_is_what_it_computes() {
        // Two operations for each of the side's cubed products.
        assert_eq!(product()(), 2.0 * 384.0 * 384.0 * 384.0);
    }
}
