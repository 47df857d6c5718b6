//! Where a window lies that moves over the height and width of a picture.

use std::ops::Range;

/// A square window over pictures of `height x width` positions with zeros around them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) padding: usize,
}

impl Window {
    /// How many places it has from top to bottom.
    pub(crate) fn output_height(&self) -> usize {
        places(self.height, self)
    }

    /// How many places it has from left to right.
    pub(crate) fn output_width(&self) -> usize {
        places(self.width, self)
    }

    /// How many places it has.
    pub(crate) fn positions(&self) -> usize {
        self.output_height() * self.output_width()
    }

    /// Whether it fits into the padded picture and moves.
    pub(crate) fn fits(&self) -> bool {
        let padded = self.height.min(self.width).saturating_add(self.padding.saturating_mul(2));
        self.stride > 0 && self.kernel > 0 && self.kernel <= padded && self.padding < self.kernel
    }

    /// Rows of the window at a vertical place that lie on the picture, and the picture's row
    /// under the first of them.
    pub(crate) fn rows_at(&self, place: usize) -> (Range<usize>, usize) {
        taps(place, self.height, self)
    }

    /// As [`Self::rows_at`] for columns.
    pub(crate) fn columns_at(&self, place: usize) -> (Range<usize>, usize) {
        taps(place, self.width, self)
    }
}

fn places(size: usize, window: &Window) -> usize {
    (size + 2 * window.padding - window.kernel) / window.stride + 1
}

fn taps(place: usize, size: usize, window: &Window) -> (Range<usize>, usize) {
    let start = place * window.stride;
    let first = window.padding.saturating_sub(start);
    let end = window.kernel.min((size + window.padding).saturating_sub(start));
    (first..end.max(first), (start + first).saturating_sub(window.padding))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn taps_are_those_of_a_padded_picture(
            size in 1..12_usize, kernel in 1..5_usize, stride in 1..4_usize, padding in 0..3_usize,
        ) {
            let window = Window { height: size, width: size, kernel, stride, padding };
            prop_assume!(window.fits());
            for place in 0..window.output_height() {
                let on_picture: Vec<(usize, usize)> = (0..kernel)
                    .filter_map(|tap| {
                        let row = (place * stride + tap).checked_sub(padding)?;
                        (row < size).then_some((tap, row))
                    })
                    .collect();
                let (taps, first) = window.rows_at(place);
                let found: Vec<(usize, usize)> =
                    taps.enumerate().map(|(index, tap)| (tap, first + index)).collect();
                prop_assert_eq!(found, on_picture);
            }
        }
    }
}
