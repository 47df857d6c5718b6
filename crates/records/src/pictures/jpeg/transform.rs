//! From the pixels of a block to the whole numbers that are stored for it.

use std::array::from_fn;

/// The order in which the values of a block are stored, from the coarse to the fine.
const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
    13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59,
    52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

type Block = [[i32; 8]; 8];

/// Divides the values of a block, each by its own number, and rounds.
pub(super) struct Quantizer {
    divisors: [u8; 64],
    /// 2^15 over eight times the divisor, since the transform leaves everything eight times larger.
    factors: [i32; 64],
    /// What is added before, so that the product is rounded as the quotient would be.
    corrections: [i32; 64],
}

impl Quantizer {
    /// `base` holds the divisors at quality 50.
    pub(super) fn new(base: &[u8; 64], quality: u8) -> Self {
        let quality = u32::from(quality.clamp(1, 100));
        let percent = if quality < 50 { 5000 / quality } else { 200 - 2 * quality };
        let divisors = base.map(|it| ((u32::from(it) * percent + 50) / 100).clamp(1, 255) as u8);
        let both = divisors.map(|it| reciprocal(8 * i32::from(it)));
        Self { divisors, factors: both.map(|it| it.0), corrections: both.map(|it| it.1) }
    }

    /// The divisors as a file lists them.
    pub(super) fn in_zigzag(&self) -> impl Iterator<Item = u8> {
        ZIGZAG.iter().map(|&at| self.divisors[usize::from(at)])
    }
}

/// Factor and correction for a divisor.
fn reciprocal(divisor: i32) -> (i32, i32) {
    let (factor, rest) = ((1 << 15) / divisor, (1 << 15) % divisor);
    match rest {
        0 => (factor, divisor / 2),
        rest if rest <= divisor / 2 => (factor, divisor / 2 + 1),
        _ => (factor + 1, divisor / 2),
    }
}

/// What is stored for a block of pixels around 0, in the order of storage.
#[inline(always)]
pub(super) fn coefficients(pixels: &Block, quantizer: &Quantizer) -> [i16; 64] {
    let rows = transposed(&columns::<true>(&transposed(pixels)));
    let values = columns::<false>(&rows);
    let mut rounded = [0_i16; 64];
    for (at, into) in rounded.iter_mut().enumerate() {
        let value = values[at / 8][at % 8];
        let sign = value >> 31;
        let size = (value ^ sign) - sign;
        let quotient = ((size + quantizer.corrections[at]) * quantizer.factors[at]) >> 15;
        *into = ((quotient ^ sign) - sign) as i16;
    }
    ZIGZAG.map(|at| rounded[usize::from(at)])
}

#[inline(always)]
fn transposed(block: &Block) -> Block {
    from_fn(|row| from_fn(|column| block[column][row]))
}

/// The cosine transform of each column, by Loeffler, Ligtenberg and Moschytz (1989) with factors of
/// 13 bits, as libjpeg's exact one (`jfdctint.c`). The first pass keeps two more bits.
#[inline(always)]
fn columns<const FIRST: bool>(block: &Block) -> Block {
    let shift = if FIRST { 11 } else { 15 };
    let half = 1 << (shift - 1);
    let coarse = |it: i32| if FIRST { it << 2 } else { (it + 2) >> 2 };
    let mut out = [[0; 8]; 8];
    for x in 0..8 {
        let sum = |a: usize, b: usize| block[a][x] + block[b][x];
        let gap = |a: usize, b: usize| block[a][x] - block[b][x];
        let (outer, inner) = (sum(0, 7) + sum(3, 4), sum(1, 6) + sum(2, 5));
        out[0][x] = coarse(outer + inner);
        out[4][x] = coarse(outer - inner);

        let (outer, inner) = (sum(0, 7) - sum(3, 4), sum(1, 6) - sum(2, 5));
        let both = (inner + outer) * 4_433 + half;
        out[2][x] = (both + outer * 6_270) >> shift;
        out[6][x] = (both - inner * 15_137) >> shift;

        let [a, b, c, d] = [gap(3, 4), gap(2, 5), gap(1, 6), gap(0, 7)];
        let all = (a + b + c + d) * 9_633 + half;
        let (ad, bc) = ((a + d) * -7_373, (b + c) * -20_995);
        let (ac, bd) = ((a + c) * -16_069 + all, (b + d) * -3_196 + all);
        out[7][x] = (a * 2_446 + ad + ac) >> shift;
        out[5][x] = (b * 16_819 + bc + bd) >> shift;
        out[3][x] = (c * 25_172 + bc + ac) >> shift;
        out[1][x] = (d * 12_299 + ad + bd) >> shift;
    }
    out
}
