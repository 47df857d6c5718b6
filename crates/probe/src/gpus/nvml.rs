//! The driver's management library (NVML), found when the program runs: no GPU, no library, no
//! figures.
//!
//! Functions and structures are those of NVIDIA's "NVML API reference guide". Nothing is linked;
//! `TRAINWRIGHT_NVML` names another library.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use nix::libc;
use trainwright_study::GpuScope;

use super::{GpuDescription, GpuReading};
use crate::ProbeError;

/// The library that comes with the driver.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// The environment variable that names another one.
pub(crate) const VARIABLE: &str = "TRAINWRIGHT_NVML";

/// `NVML_SUCCESS`.
const SUCCESS: c_int = 0;
/// `NVML_ERROR_NOT_FOUND`: no process did anything.
const NOT_FOUND: c_int = 6;
/// `NVML_ERROR_INSUFFICIENT_SIZE`: the count now says how many entries there are.
const INSUFFICIENT_SIZE: c_int = 7;
/// `NVML_DEVICE_NAME_V2_BUFFER_SIZE`.
const NAME_SIZE: usize = 96;
/// `NVML_VALUE_NOT_AVAILABLE` of a process' memory.
const NOT_AVAILABLE: u64 = u64::MAX;
/// Entries of a list of processes; a GPU has few.
const MOST_PROCESSES: usize = 4096;

type Device = *mut c_void;

#[repr(C)]
#[derive(Default, Clone, Copy)]
struct Memory {
    total: u64,
    free: u64,
    used: u64,
}

#[repr(C)]
#[derive(Default, Clone, Copy)]
struct Utilization {
    gpu: c_uint,
    memory: c_uint,
}

/// `nvmlProcessInfo_t` of the functions `_v2` and `_v3`.
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct ProcessMemory {
    pid: c_uint,
    used: u64,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

/// `nvmlProcessUtilizationSample_t`.
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct ProcessShare {
    pid: c_uint,
    time: u64,
    compute: c_uint,
    memory: c_uint,
    encoder: c_uint,
    decoder: c_uint,
}

/// The functions that are called; those that an old driver lacks are absent.
#[derive(Debug)]
struct Functions {
    handle: unsafe extern "C" fn(c_uint, *mut Device) -> c_int,
    name: Option<unsafe extern "C" fn(Device, *mut c_char, c_uint) -> c_int>,
    memory: Option<unsafe extern "C" fn(Device, *mut Memory) -> c_int>,
    utilization: Option<unsafe extern "C" fn(Device, *mut Utilization) -> c_int>,
    power: Option<unsafe extern "C" fn(Device, *mut c_uint) -> c_int>,
    processes: Option<unsafe extern "C" fn(Device, *mut c_uint, *mut ProcessMemory) -> c_int>,
    shares: Option<unsafe extern "C" fn(Device, *mut ProcessShare, *mut c_uint, u64) -> c_int>,
}

/// The opened library, which stays open until the program ends.
#[derive(Debug)]
pub(crate) struct Nvml {
    functions: Functions,
    /// Handles of the GPUs, as numbers so that threads may share them; NVML allows that.
    handles: Vec<usize>,
    described: Vec<GpuDescription>,
}

/// The library of this machine, opened once; the reason where it cannot be.
pub(crate) fn driver() -> Result<&'static Nvml, &'static ProbeError> {
    static DRIVER: OnceLock<Result<Nvml, ProbeError>> = OnceLock::new();
    let open = || {
        let named = std::env::var_os(VARIABLE).filter(|name| !name.is_empty());
        Nvml::open(named.as_deref().unwrap_or(OsStr::new(LIBRARY)))
    };
    DRIVER.get_or_init(open).as_ref()
}

impl Functions {
    /// Finds what a library offers beside the handles of its devices.
    ///
    /// # Safety
    /// `loaded` is an open library of the driver, `handle` its nvmlDeviceGetHandleByIndex_v2.
    unsafe fn of(loaded: *mut c_void, handle: *mut c_void) -> Self {
        let any = |names: [&CStr; 2]| names.into_iter().find_map(|name| symbol(loaded, name));
        // SAFETY: these are the signatures that the reference guide gives for the names.
        unsafe {
            Self {
                handle: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(c_uint, *mut Device) -> c_int,
                >(handle),
                name: symbol(loaded, c"nvmlDeviceGetName").map(|own| std::mem::transmute(own)),
                memory: symbol(loaded, c"nvmlDeviceGetMemoryInfo")
                    .map(|own| std::mem::transmute(own)),
                utilization: symbol(loaded, c"nvmlDeviceGetUtilizationRates")
                    .map(|own| std::mem::transmute(own)),
                power: symbol(loaded, c"nvmlDeviceGetPowerUsage")
                    .map(|own| std::mem::transmute(own)),
                processes: any([
                    c"nvmlDeviceGetComputeRunningProcesses_v3",
                    c"nvmlDeviceGetComputeRunningProcesses_v2",
                ])
                .map(|own| std::mem::transmute(own)),
                shares: symbol(loaded, c"nvmlDeviceGetProcessUtilization")
                    .map(|own| std::mem::transmute(own)),
            }
        }
    }
}

impl Nvml {
    /// Opens a library and counts its GPUs.
    pub(crate) fn open(library: &OsStr) -> Result<Self, ProbeError> {
        let failed = |reason: String| ProbeError::NoGpuLibrary {
            library: Path::new(library).to_owned(),
            reason,
        };
        let name = CString::new(library.as_bytes())
            .map_err(|_| failed("its name holds a zero byte".to_owned()))?;
        // SAFETY: the name ends with a zero; a library may run code when it is loaded, which is
        // what whoever names one asks for.
        let loaded = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if loaded.is_null() {
            return Err(failed(dl_error()));
        }
        let needed = |name: &CStr| {
            symbol(loaded, name)
                .ok_or_else(|| failed(format!("it lacks {}", name.to_string_lossy())))
        };
        let (init, count) = (needed(c"nvmlInit_v2")?, needed(c"nvmlDeviceGetCount_v2")?);
        let handle = needed(c"nvmlDeviceGetHandleByIndex_v2")?;
        // SAFETY: these are the signatures that the reference guide gives for the names.
        let (init, count, functions) = unsafe {
            (
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(init),
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_uint) -> c_int>(
                    count,
                ),
                Functions::of(loaded, handle),
            )
        };
        let mut devices = 0;
        // SAFETY: the library is loaded, and the pointer is valid for the call.
        let (begun, counted) = unsafe { (init(), count(&mut devices)) };
        for (function, code) in [("nvmlInit_v2", begun), ("nvmlDeviceGetCount_v2", counted)] {
            if code != SUCCESS {
                return Err(failed(format!("{function} gave {code}")));
            }
        }
        let mut own = Self { functions, handles: Vec::new(), described: Vec::new() };
        for device in 0..devices {
            let mut handle: Device = std::ptr::null_mut();
            // SAFETY: the pointer is valid for the call.
            let code = unsafe { (own.functions.handle)(device, &mut handle) };
            if code != SUCCESS {
                return Err(failed(format!("nvmlDeviceGetHandleByIndex_v2 gave {code}")));
            }
            own.handles.push(handle as usize);
            own.described.push(own.describe(device));
        }
        Ok(own)
    }

    /// Number of GPUs.
    pub(crate) fn devices(&self) -> u32 {
        u32::try_from(self.handles.len()).unwrap_or(u32::MAX)
    }

    /// All GPUs.
    pub(crate) fn described(&self) -> &[GpuDescription] {
        &self.described
    }

    fn describe(&self, device: u32) -> GpuDescription {
        let handle = self.handle(device);
        let mut text = [0 as c_char; NAME_SIZE];
        let name = self.functions.name.and_then(|call| {
            // SAFETY: the buffer is valid for the call and has the length that is given.
            let code = unsafe { call(handle, text.as_mut_ptr(), NAME_SIZE as c_uint) };
            text[NAME_SIZE - 1] = 0;
            // SAFETY: the last byte of the buffer is zero.
            let name = unsafe { CStr::from_ptr(text.as_ptr()) };
            (code == SUCCESS).then(|| name.to_string_lossy().into_owned())
        });
        let memory_bytes = self.memory(handle).map(|memory| memory.total);
        GpuDescription { device, name: name.unwrap_or_default(), memory_bytes }
    }

    /// What a GPU does now, for anybody and for these processes; `sampled` is when the driver last
    /// looked at what processes compute.
    pub(crate) fn read(&self, device: u32, tree: &BTreeSet<u32>, sampled: &mut u64) -> GpuReading {
        let handle = self.handle(device);
        let mut rates = Utilization::default();
        let mut milliwatts: c_uint = 0;
        // SAFETY: the pointers are valid for the calls.
        let (rated, powered) = unsafe {
            (
                self.functions.utilization.map(|call| call(handle, &mut rates)),
                self.functions.power.map(|call| call(handle, &mut milliwatts)),
            )
        };
        let (scope, tree_memory_bytes) = self.tree_memory(handle, tree);
        let tree_utilization_percent = match scope {
            GpuScope::Tree => self.tree_share(handle, tree, sampled),
            GpuScope::Device => None,
        };
        GpuReading {
            utilization_percent: (rated == Some(SUCCESS)).then_some(f64::from(rates.gpu)),
            tree_utilization_percent,
            memory_bytes: self.memory(handle).map(|memory| memory.used),
            tree_memory_bytes,
            power_w: (powered == Some(SUCCESS)).then_some(f64::from(milliwatts) / 1000.0),
        }
    }

    /// Memory of the tree, and whether the driver's process numbers are ours: in a container it
    /// tells those of the host.
    fn tree_memory(&self, handle: Device, tree: &BTreeSet<u32>) -> (GpuScope, Option<u64>) {
        let Some(call) = self.functions.processes else { return (GpuScope::Device, None) };
        // SAFETY: `listed` gives a buffer of as many entries as it says.
        let processes = listed(|count, entries| unsafe { call(handle, count, entries) });
        let Some(processes) = processes else { return (GpuScope::Device, None) };
        let ours = |own: &&ProcessMemory| tree.contains(&own.pid);
        let known = |pid: c_uint| Path::new(&format!("/proc/{pid}")).exists();
        if !processes.is_empty() && !processes.iter().any(|own| known(own.pid)) {
            return (GpuScope::Device, None);
        }
        if processes.iter().filter(ours).any(|own| own.used == NOT_AVAILABLE) {
            return (GpuScope::Tree, None);
        }
        (GpuScope::Tree, Some(processes.iter().filter(ours).map(|own| own.used).sum()))
    }

    /// Share of the time in which the GPU computed for the tree, in percent.
    fn tree_share(&self, handle: Device, tree: &BTreeSet<u32>, sampled: &mut u64) -> Option<f64> {
        let call = self.functions.shares?;
        let since = *sampled;
        // SAFETY: `listed` gives a buffer of as many entries as it says.
        let shares = listed(|count, entries| unsafe { call(handle, entries, count, since) })?;
        *sampled = shares.iter().map(|own: &ProcessShare| own.time).fold(since, u64::max);
        let ours = shares.iter().filter(|own| tree.contains(&own.pid));
        Some(ours.map(|own| f64::from(own.compute)).sum::<f64>().min(100.0))
    }

    fn memory(&self, handle: Device) -> Option<Memory> {
        let mut memory = Memory::default();
        // SAFETY: the pointer is valid for the call.
        let code = unsafe { self.functions.memory?(handle, &mut memory) };
        (code == SUCCESS).then_some(memory)
    }

    fn handle(&self, device: u32) -> Device {
        self.handles[device as usize] as Device
    }
}

/// A list that the library fills: asked with as much room as it says that it needs.
fn listed<T: Copy + Default>(mut call: impl FnMut(*mut c_uint, *mut T) -> c_int) -> Option<Vec<T>> {
    let mut room: c_uint = 16;
    // It may grow between two calls.
    for _ in 0..4 {
        let mut entries = vec![T::default(); room as usize];
        let mut count = room;
        match call(&mut count, entries.as_mut_ptr()) {
            SUCCESS => {
                entries.truncate(count as usize);
                return Some(entries);
            }
            NOT_FOUND => return Some(Vec::new()),
            INSUFFICIENT_SIZE if (count as usize) < MOST_PROCESSES => room = count.max(room) + 16,
            _ => return None,
        }
    }
    None
}

fn symbol(library: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the library is open and the name ends with a zero.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// Why the last attempt to open a library failed.
fn dl_error() -> String {
    // SAFETY: the text, if any, lives until the next call on this thread.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "no reason is given".to_owned();
    }
    // SAFETY: it is a text that ends with a zero.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::process::Command;

    use tempfile::TempDir;

    use super::*;

    /// The stand-in library, compiled in a folder of its own; nothing without a C compiler.
    fn stand_in() -> Option<(TempDir, PathBuf)> {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libstand_in.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nvml_stand_in.c");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([library.as_os_str(), OsStr::new(source)])
            .status();
        if !compiled.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: no C compiler to make a stand-in for a GPU driver with");
            return None;
        }
        Some((folder, library))
    }

    fn processes(library: &Path, lines: &str) {
        fs::write(format!("{}.processes", library.display()), lines).unwrap();
    }

    #[test]
    fn gpus_are_described_and_read_for_the_tree_where_the_driver_tells() {
        let Some((_folder, library)) = stand_in() else { return };
        let driver = Nvml::open(library.as_os_str()).unwrap();
        let names: Vec<&str> = driver.described().iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["Stand-in 0", "Stand-in 1"]);
        assert_eq!(driver.described()[0].memory_bytes, Some(8 << 30));
        let own = std::process::id();
        processes(&library, &format!("{own} 1000 40\n1 500 20\n"));
        let (tree, mut sampled) = (BTreeSet::from([own]), 0);
        let first = driver.read(0, &tree, &mut sampled);
        assert_eq!((first.utilization_percent, first.power_w), (Some(70.0), Some(123.5)));
        assert_eq!(first.memory_bytes, Some(3 << 30));
        assert_eq!(
            (first.tree_utilization_percent, first.tree_memory_bytes),
            (Some(40.0), Some(1000))
        );
        assert_eq!(sampled, 1);
        // A driver that tells of no processes tells of the device alone.
        let second = driver.read(1, &tree, &mut sampled);
        assert_eq!((second.utilization_percent, second.power_w), (Some(5.0), None));
        assert_eq!((second.tree_utilization_percent, second.tree_memory_bytes), (None, None));
    }

    #[test]
    fn numbers_of_another_namespace_are_not_taken_for_other_programs() {
        let Some((_folder, library)) = stand_in() else { return };
        let driver = Nvml::open(library.as_os_str()).unwrap();
        let tree = BTreeSet::from([std::process::id()]);
        // Above the kernel's largest process number.
        processes(&library, "4194999 1000 40\n");
        assert_eq!(driver.read(0, &tree, &mut 0).tree_memory_bytes, None);
        processes(&library, "1 1000 40\n");
        assert_eq!(driver.read(0, &tree, &mut 0).tree_memory_bytes, Some(0));
        processes(&library, "");
        let idle = driver.read(0, &tree, &mut 0);
        assert_eq!((idle.tree_memory_bytes, idle.tree_utilization_percent), (Some(0), Some(0.0)));
        // More processes than there was room for at first, and one whose memory is not told.
        let many: String = (0..40).map(|_| format!("{} 10 1\n", std::process::id())).collect();
        processes(&library, &many);
        let crowd = driver.read(0, &tree, &mut 0);
        assert_eq!(
            (crowd.tree_memory_bytes, crowd.tree_utilization_percent),
            (Some(400), Some(40.0))
        );
        processes(&library, &format!("{} {} 1\n", std::process::id(), u64::MAX));
        assert_eq!(driver.read(0, &tree, &mut 0).tree_memory_bytes, None);
    }

    #[test]
    fn a_library_that_is_none_or_does_not_start_is_named() {
        let missing = Nvml::open(OsStr::new("/nowhere/libnone.so")).unwrap_err().to_string();
        assert!(missing.contains("/nowhere/libnone.so"), "{missing}");
        let Some((_folder, library)) = stand_in() else { return };
        fs::write(format!("{}.fails", library.display()), "").unwrap();
        let failed = Nvml::open(library.as_os_str()).unwrap_err().to_string();
        assert!(failed.contains("nvmlInit_v2 gave 9"), "{failed}");
    }
}
