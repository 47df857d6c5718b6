//! A limit on the memory of decoded pictures over all threads.

use std::sync::{Condvar, Mutex};

use crate::error::RecordsError;
use crate::pictures::PictureHeader;

/// Bytes of pixels in work at a time; with windows and buffers a run stays below 300 MB.
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

    /// Waits until there is memory for a picture.
    pub(super) fn share(&self, header: &PictureHeader) -> Result<Share<'_>, RecordsError> {
        let bytes = needed(header);
        if bytes > LIMIT_BYTES {
            let PictureHeader { rows, columns, .. } = *header;
            return Err(RecordsError::PictureTooLarge { rows, columns, bytes, limit: LIMIT_BYTES });
        }
        let mut left = self.left.lock().expect("nobody panics while holding it");
        while *left < bytes {
            left = self.freed.wait(left).expect("nobody panics while holding it");
        }
        *left -= bytes;
        Ok(Share { limit: self, bytes })
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.limit.left.lock().expect("nobody panics while holding it") += self.bytes;
        self.limit.freed.notify_all();
    }
}

/// Three bytes a pixel, and for progressive pictures their coefficients, two bytes a channel.
/// PNG is first decoded as it is stored, at worst in four channels of sixteen bits.
fn needed(header: &PictureHeader) -> u64 {
    let pixels = header.rows as u64 * header.columns as u64;
    let bytes = match (header.format, header.progressive) {
        (crate::pictures::PictureFormat::Png, _) => 11,
        (_, true) => 9,
        (_, false) => 3,
    };
    pixels * bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::PictureFormat;

    #[test]
    fn a_picture_over_the_limit_is_refused_by_size() {
        let limit = MemoryLimit::new();
        let header = |rows| PictureHeader {
            format: PictureFormat::Jpeg,
            rows,
            columns: 10_000,
            progressive: true,
            channels: 3,
        };
        assert!(limit.share(&header(1_000)).is_ok());
        assert_eq!(
            limit.share(&header(2_000)).err().unwrap().to_string(),
            "the picture has 2000 x 10000 pixels and would need 180000000 bytes of memory, over \
             the limit of 167772160"
        );
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let limit = MemoryLimit::new();
        let header = PictureHeader {
            format: PictureFormat::Jpeg,
            rows: 5_000,
            columns: 10_000,
            progressive: false,
            channels: 3,
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| drop(limit.share(&header).unwrap()));
            }
        });
        assert_eq!(*limit.left.lock().unwrap(), LIMIT_BYTES);
    }
}
