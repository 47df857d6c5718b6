//! A limit on the memory of decoded pictures over all threads.

use std::sync::{Condvar, Mutex};

use crate::pictures::{PictureFormat, PictureHeader};

/// Bytes of pixels in work at a time; with windows and buffers a run stays below 300 MB, unless one
/// picture alone needs more.
const LIMIT_BYTES: u64 = 160 << 20;

/// Hands out parts of the limit; whoever finds too little left waits.
pub(super) struct MemoryLimit {
    left: Mutex<u64>,
    freed: Condvar,
}

/// A part of the limit, given back when it is dropped.
pub(super) struct Share<'a> {
    limit: &'a MemoryLimit,
    bytes: u64,
}

impl MemoryLimit {
    pub(super) fn new() -> Self {
        Self { left: Mutex::new(LIMIT_BYTES), freed: Condvar::new() }
    }

    /// Waits until there is memory for a picture; one that needs more than all of it waits until it
    /// is the only one.
    pub(super) fn share(&self, header: &PictureHeader) -> Share<'_> {
        let bytes = needed(header).min(LIMIT_BYTES);
        let mut left = self.left.lock().expect("nobody panics while holding it");
        while *left < bytes {
            left = self.freed.wait(left).expect("nobody panics while holding it");
        }
        *left -= bytes;
        Share { limit: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.limit.left.lock().expect("nobody panics while holding it") += self.bytes;
        self.limit.freed.notify_all();
    }
}

/// Three bytes a pixel, and for progressive pictures their coefficients, two bytes a channel. PNG
/// is first decoded to as many channels as it has, four at most.
fn needed(header: &PictureHeader) -> u64 {
    let bytes = match (header.format, header.progressive) {
        (PictureFormat::Png, _) => 7,
        (PictureFormat::Jpeg, true) => 9,
        (PictureFormat::Jpeg, false) => 3,
    };
    header.pixels().saturating_mul(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(rows: usize, columns: usize) -> PictureHeader {
        let format = PictureFormat::Jpeg;
        PictureHeader { format, rows, columns, progressive: false, channels: 3 }
    }

    #[test]
    fn a_picture_that_needs_more_than_all_goes_alone() {
        let limit = MemoryLimit::new();
        for (rows, columns) in [(20_000, 20_000), (usize::MAX, usize::MAX)] {
            let share = limit.share(&header(rows, columns));
            assert_eq!(*limit.left.lock().unwrap(), 0);
            drop(share);
            assert_eq!(*limit.left.lock().unwrap(), LIMIT_BYTES);
        }
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let limit = MemoryLimit::new();
        std::thread::scope(|scope| {
            for side in [5_000, 10_000, 5_000, 10_000] {
                let limit = &limit;
                scope.spawn(move || drop(limit.share(&header(side, 10_000))));
            }
        });
        assert_eq!(*limit.left.lock().unwrap(), LIMIT_BYTES);
    }
}
