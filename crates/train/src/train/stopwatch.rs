//! A clock that counts only while it is running.

use std::time::Instant;

/// Does the work and adds its time in seconds.
pub(crate) fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_added_to_the_time_and_its_result_handed_on() {
        let mut seconds = 5.0;
        assert_eq!(timed(&mut seconds, || 7), 7);
        let once = seconds;
        assert!((5.0..15.0).contains(&once), "{once}");
        let failed: Result<(), &str> = timed(&mut seconds, || Err("no"));
        assert_eq!(failed, Err("no"));
        assert!(seconds >= once);
    }
}
