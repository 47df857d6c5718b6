//! A clock that counts only while it is running.

use std::time::Instant;

/// Does the work and adds its time in seconds.
pub(crate) fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}
