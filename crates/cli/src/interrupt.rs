//! Signals: what the user wishes of a running study.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use trainwright::Wish;

/// Counts requests to stop: the first asks, a second one kills.
pub(crate) struct Interrupt {
    requests: Arc<AtomicUsize>,
    now: Arc<AtomicBool>,
}

impl Interrupt {
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let requests = Arc::new(AtomicUsize::new(0));
        let hangup = (!hangups_are_ignored()).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
            let requests = Arc::clone(&requests);
            // SAFETY: the action only adds to an atomic number, which a signal handler may do.
            unsafe {
                signal_hook::low_level::register(signal, move || {
                    requests.fetch_add(1, Ordering::SeqCst);
                })
            }
            .context("cannot listen to signals")?;
        }
        let now = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGQUIT, Arc::clone(&now))
            .context("cannot listen to signals")?;
        Ok(Self { requests, now })
    }

    pub(crate) fn wish(&self) -> Wish {
        match (self.now.load(Ordering::SeqCst), self.requests.load(Ordering::SeqCst)) {
            (false, 0) => Wish::GoOn,
            (false, 1) => Wish::Stop,
            _ => Wish::StopNow,
        }
    }
}

/// Whether the program was started by `nohup`, to outlive its terminal.
///
/// `/proc/self/status` lists ignored signals as a mask, proc(5).
fn hangups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}

/// A write past the file size limit should fail with a message instead of ending the program.
///
/// A handler is used because, unlike an ignored signal, it is not passed on to trials.
pub(crate) fn survive_file_size_limits() {
    // Without the handler the only loss is the message.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}
