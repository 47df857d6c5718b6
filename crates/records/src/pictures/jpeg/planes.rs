//! The brightness and the two colours of a row of blocks.

use crate::pictures::Picture;

/// One channel of a row of blocks: 8 lines, 16 of the brightness beside halved colours.
#[derive(Default)]
pub(super) struct Plane {
    pixels: Vec<u8>,
    width: usize,
}

impl Plane {
    /// Makes room for lines of so many pixels, whole blocks of them.
    fn reshape(&mut self, lines: usize, width: usize) {
        self.width = width;
        self.pixels.resize(lines * width, 0);
    }

    #[inline(always)]
    fn line(&mut self, line: usize) -> &mut [u8] {
        &mut self.pixels[line * self.width..][..self.width]
    }

    /// The block that begins at a line and a column, around 0.
    #[inline(always)]
    pub(super) fn block(&self, line: usize, column: usize) -> [[i32; 8]; 8] {
        let mut block = [[0; 8]; 8];
        for (row, into) in block.iter_mut().enumerate() {
            let from = &self.pixels[(line + row) * self.width + column..][..8];
            for (into, &pixel) in into.iter_mut().zip(from) {
                *into = i32::from(pixel) - 128;
            }
        }
        block
    }
}

/// All channels of a row of blocks. Beyond the picture its last pixels go on.
#[derive(Default)]
pub(super) struct Planes {
    pub(super) brightness: Plane,
    pub(super) colors: [Plane; 2],
}

impl Planes {
    /// Takes 16 rows of red, green and blue.
    #[inline(always)]
    pub(super) fn fill(&mut self, picture: &Picture, top: usize) {
        let columns = picture.columns;
        let width = columns.next_multiple_of(16);
        self.brightness.reshape(16, width);
        self.colors.iter_mut().for_each(|it| it.reshape(8, width / 2));
        for line in 0..16 {
            let row = (top + line).min(picture.rows - 1);
            let from = &picture.pixels[3 * row * columns..][..3 * columns];
            let pixels = from.as_chunks::<3>().0;
            let into = self.brightness.line(line);
            for (into, pixel) in into.iter_mut().zip(pixels) {
                *into = brightness(pixel);
            }
            let last = into[columns - 1];
            into[columns..].fill(last);
            // Of four pixels the colour of the first is kept.
            if line % 2 == 0 {
                let [blue, red] = &mut self.colors;
                let (blue, red) = (blue.line(line / 2), red.line(line / 2));
                let beyond = std::iter::repeat(&pixels[columns - 1]);
                let pixels = pixels.iter().step_by(2).chain(beyond);
                for ((blue, red), pixel) in blue.iter_mut().zip(red).zip(pixels) {
                    [*blue, *red] = colors(pixel);
                }
            }
        }
    }

    /// Takes 8 rows of grey.
    #[inline(always)]
    pub(super) fn fill_grey(&mut self, picture: &Picture, top: usize) {
        let columns = picture.columns;
        self.brightness.reshape(8, columns.next_multiple_of(8));
        for line in 0..8 {
            let row = (top + line).min(picture.rows - 1);
            let from = &picture.pixels[row * columns..][..columns];
            let (into, beyond) = self.brightness.line(line).split_at_mut(columns);
            into.copy_from_slice(from);
            beyond.fill(from[columns - 1]);
        }
    }
}

#[inline(always)]
fn brightness(&[red, green, blue]: &[u8; 3]) -> u8 {
    let [red, green, blue] = [red, green, blue].map(u32::from);
    ((19_595 * red + 38_470 * green + 7_471 * blue + 0x7fff) >> 16) as u8
}

/// How much bluer and redder a pixel is than grey.
#[inline(always)]
fn colors(&[red, green, blue]: &[u8; 3]) -> [u8; 2] {
    let [red, green, blue] = [red, green, blue].map(i32::from);
    let middle = (128 << 16) + 0x7fff;
    let bluer = -11_059 * red - 21_709 * green + 32_768 * blue + middle;
    let redder = 32_768 * red - 27_439 * green - 5_329 * blue + middle;
    [bluer, redder].map(|it| (it >> 16) as u8)
}
