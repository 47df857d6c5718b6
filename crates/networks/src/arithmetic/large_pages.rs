//! Memory for large vectors that are read in no order.
//!
//! A processor remembers where a few thousand pages of memory lie; beyond that each access looks
//! it up first, which costs as much as the access. Large pages, where the system gives them, make
//! a few thousand enough.

/// Bytes from which large pages are asked for.
const LEAST: usize = 4 << 20;

/// An empty vector with room for that many values, in large pages where there are some to get.
pub(crate) fn room_for<T>(count: usize) -> Vec<T> {
    let mut values = Vec::with_capacity(count);
    ask(&mut values);
    values
}

/// That many zeros, of which no memory is in use before it is written to.
pub(crate) fn zeros(count: usize) -> Vec<f32> {
    let mut values = vec![0.0; count];
    ask(&mut values);
    values
}

/// Asks for large pages under a vector; a system that has none changes nothing.
fn ask<T>(values: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::mman::{MmapAdvise, madvise};
        use std::ptr::NonNull;

        const PAGE: usize = 4096;
        let bytes = values.capacity() * size_of::<T>();
        if bytes < LEAST {
            return;
        }
        let start = values.as_mut_ptr().cast::<u8>();
        let skipped = start.align_offset(PAGE);
        let length = (bytes - skipped) / PAGE * PAGE;
        let inside = NonNull::new(start.wrapping_add(skipped)).expect("memory has an address");
        // SAFETY: the range lies inside the vector's own memory, and this advice changes neither
        // what it holds nor how it may be used.
        let _ = unsafe { madvise(inside.cast(), length, MmapAdvise::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = values;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_vectors_hold_what_is_put_into_them() {
        for count in [0, 1, 1000, LEAST / 4 - 1, LEAST / 4, LEAST + 7] {
            assert!(zeros(count).iter().all(|&value| value == 0.0));
            let mut values = room_for(count);
            values.extend(0..count);
            assert!(values.len() == count && values.iter().enumerate().all(|(at, &it)| at == it));
        }
    }
}
