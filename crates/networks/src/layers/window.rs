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

    #[test]
    fn a_window_fits_that_moves_and_is_neither_too_large_nor_nothing_but_padding() {
        let window =
            |kernel, stride, padding| Window { height: 5, width: 3, kernel, stride, padding };
        assert!(window(3, 1, 0).fits() && window(5, 9, 1).fits());
        assert!(!window(4, 1, 0).fits(), "the smaller side counts");
        assert!(!window(0, 1, 0).fits() && !window(1, 0, 0).fits());
        assert!(!window(2, 1, 2).fits(), "a place would see nothing but zeros");
        assert!(!window(usize::MAX, 1, usize::MAX).fits());
    }

    #[test]
    fn places_are_counted_as_pytorch_does() {
        // From the formula of torch.nn.Conv2d: floor((size + 2 padding - kernel) / stride) + 1.
        let window = Window { height: 224, width: 7, kernel: 3, stride: 2, padding: 1 };
        assert_eq!((window.output_height(), window.output_width()), (112, 4));
        assert_eq!(window.positions(), 448);
        let whole = Window { height: 7, width: 7, kernel: 7, stride: 1, padding: 0 };
        assert_eq!(whole.positions(), 1);
    }
}
