//! A mapped file that may be shortened while it is read.
//!
//! Touching a page beyond the new end of a mapped file raises SIGBUS, which would end the program.
//! A handler puts pages of zeros there instead and notes that the file was lost; readers ask
//! [`MappedFile::check`] after they have used what they read. That costs nothing while nobody
//! shortens the file. Faults anywhere else go to whoever handled them before.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use memmap2::{Advice, Mmap};
use nix::libc;

use crate::error::RecordsError;

/// Bytes of a file as they lie in the system's cache.
pub struct MappedFile {
    map: Mmap,
    place: &'static Place,
}

/// Where a file is mapped, for the handler; a place is used again and never freed.
struct Place {
    start: AtomicUsize,
    end: AtomicUsize,
    lost: AtomicBool,
    next: AtomicPtr<Place>,
}

/// The first of all places.
static PLACES: AtomicPtr<Place> = AtomicPtr::new(ptr::null_mut());

/// Held while places are taken and given back, never by the handler.
static TAKING: Mutex<()> = Mutex::new(());

/// What was done about SIGBUS before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// The size of a page, which the handler must not ask for.
static PAGE: AtomicUsize = AtomicUsize::new(0);

impl MappedFile {
    /// Maps a file as long as it is now.
    pub(super) fn open(file: &File) -> io::Result<Self> {
        install()?;
        // SAFETY: the map is only read. Another process may shorten the file, which the handler
        // and `check` are for, or write into it, which checksums are for.
        let map = unsafe { Mmap::map(file) }?;
        // What is not in the system's cache yet comes there in large pieces, if the system can:
        // such pages cost a fraction of small ones each time they are mapped. Nothing depends on
        // it.
        let _ = map.advise(Advice::HugePage);
        let place = Place::take(map.as_ptr() as usize, map.len());
        Ok(Self { map, place })
    }

    /// Whether all that was read so far came from the file.
    ///
    /// # Errors
    /// The file was shortened, so that zeros stand in place of its end.
    pub(super) fn check(&self) -> Result<(), RecordsError> {
        if self.place.lost.load(Ordering::Acquire) {
            return Err(RecordsError::Shortened { before: self.map.len() as u64 });
        }
        Ok(())
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // Before the map goes, whose addresses may then be another's.
        self.place.start.store(0, Ordering::Release);
    }
}

impl Place {
    fn all() -> impl Iterator<Item = &'static Self> {
        let at = |place: &AtomicPtr<Self>| {
            // SAFETY: places are leaked boxes, so that a pointer to one holds for ever.
            unsafe { place.load(Ordering::Acquire).as_ref() }
        };
        std::iter::successors(at(&PLACES), move |place| at(&place.next))
    }

    /// A place for these addresses: one that is free, or a new one.
    fn take(start: usize, length: usize) -> &'static Self {
        let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let free = Self::all().find(|place| place.start.load(Ordering::Acquire) == 0);
        let place = free.unwrap_or_else(|| {
            let first = AtomicPtr::new(PLACES.load(Ordering::Acquire));
            let new = Box::leak(Box::new(Self {
                start: AtomicUsize::new(0),
                end: AtomicUsize::new(0),
                lost: AtomicBool::new(false),
                next: first,
            }));
            PLACES.store(new, Ordering::Release);
            new
        });
        place.lost.store(false, Ordering::Release);
        place.end.store(start + length, Ordering::Release);
        place.start.store(start, Ordering::Release);
        place
    }

    fn holds(&self, address: usize) -> bool {
        let start = self.start.load(Ordering::Acquire);
        start != 0 && start <= address && address < self.end.load(Ordering::Acquire)
    }
}

/// Handles SIGBUS from now on.
fn install() -> io::Result<()> {
    let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if BEFORE.get().is_some() {
        return Ok(());
    }
    // SAFETY: an all-zero sigaction is a valid one; both calls read and write what they are given,
    // and the handler does nothing but what a handler may.
    unsafe {
        PAGE.store(libc::sysconf(libc::_SC_PAGESIZE) as usize, Ordering::Release);
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGBUS, ptr::null(), &mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        let _ = BEFORE.set(before);
        let mut own: libc::sigaction = std::mem::zeroed();
        own.sa_sigaction = on_bus_error as *const () as usize;
        own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        if libc::sigaction(libc::SIGBUS, &own, ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Puts zeros in place of the lost end of a mapped file; calls nothing but `mmap`.
extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel gives the address of the fault to a handler of this kind.
    let address = unsafe { (*info).si_addr() } as usize;
    let Some(place) = Place::all().find(|place| place.holds(address)) else {
        return as_before(signal, info, context);
    };
    let page = PAGE.load(Ordering::Acquire);
    let from = address - address % page;
    let length = place.end.load(Ordering::Acquire) - from;
    place.lost.store(true, Ordering::Release);
    // SAFETY: the addresses belong to a map of ours that lives as long as it has a place, and
    // which `munmap` frees with what now lies there.
    let zeros = unsafe {
        let (read, fixed) =
            (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
        libc::mmap(from as *mut libc::c_void, length, read, fixed, -1, 0)
    };
    if zeros == libc::MAP_FAILED {
        as_before(signal, info, context);
    }
}

/// Leaves a fault to whoever handled it before.
fn as_before(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(before) = BEFORE.get() else { return };
    // SAFETY: the handler was installed by somebody for this signal, with these arguments; the
    // default action comes with the same fault, which happens again on return.
    unsafe {
        match before.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => {
                let mut default: libc::sigaction = std::mem::zeroed();
                default.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &default, ptr::null_mut());
            }
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
            }
            handler => {
                std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler)(signal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(bytes: usize) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; bytes]).unwrap();
        file
    }

    fn sum(map: &[u8]) -> u64 {
        map.iter().map(|&byte| u64::from(std::hint::black_box(byte))).sum()
    }

    #[test]
    fn a_file_that_is_shortened_is_told_and_not_the_end_of_the_program() {
        let own = file(300_000);
        let map = MappedFile::open(&own).unwrap();
        assert_eq!(sum(&map), 2_100_000);
        map.check().unwrap();
        own.set_len(8192).unwrap();
        assert_eq!(sum(&map), 7 * 8192);
        let error = map.check().unwrap_err().to_string();
        assert!(error.contains("300000 bytes long and was shortened"), "{error}");
    }

    #[test]
    fn other_files_and_later_ones_are_not_lost() {
        let (short, other) = (file(100_000), file(100_000));
        let (map, kept) = (MappedFile::open(&short).unwrap(), MappedFile::open(&other).unwrap());
        short.set_len(0).unwrap();
        assert_eq!((sum(&map), sum(&kept)), (0, 700_000));
        assert!(map.check().is_err() && kept.check().is_ok());
        drop(map);
        let again = MappedFile::open(&other).unwrap();
        assert_eq!(sum(&again), 700_000);
        again.check().unwrap();
    }

    #[test]
    fn many_threads_may_lose_many_files_at_once() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let own = file(50_000);
                        let map = MappedFile::open(&own).unwrap();
                        own.set_len(4096).unwrap();
                        assert_eq!(sum(&map), 7 * 4096);
                        assert!(map.check().is_err());
                    }
                });
            }
        });
    }
}
