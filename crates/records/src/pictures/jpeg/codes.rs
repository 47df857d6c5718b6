//! Huffman codes, and the bits of a file.

use std::array::from_fn;

/// Codes of symbols; a symbol is a count of zeros and the number of bits of the value behind them.
pub(super) struct Codes {
    lengths: &'static [u8; 16],
    values: &'static [u8],
    symbols: [Code; 256],
    /// Codes together with the bits of small values, by the count of zeros and the value plus 16.
    small: [Code; 512],
}

/// Up to 27 bits above their number, which has eight bits.
#[derive(Clone, Copy, Default)]
struct Code(u64);

impl Code {
    /// The code with the bits of a value behind it.
    #[inline(always)]
    fn with(self, value: u32, bits: u32) -> Self {
        let code = (self.0 >> 8) << bits | u64::from(value);
        Self(code << 8 | ((self.0 & 255) + u64::from(bits)))
    }
}

/// The symbol of sixteen zeros.
const ZEROS: usize = 0xf0;

impl Codes {
    /// `lengths` says how many codes have 1, 2 and more bits, `values` their symbols in order.
    pub(super) fn new(lengths: &'static [u8; 16], values: &'static [u8]) -> Self {
        let mut symbols = [Code::default(); 256];
        let (mut code, mut rest) = (0, values.iter());
        for (bits, &count) in (1..).zip(lengths) {
            for &symbol in rest.by_ref().take(count.into()) {
                symbols[usize::from(symbol)] = Code(code << 8 | bits);
                code += 1;
            }
            code <<= 1;
        }
        let small = from_fn(|at| {
            let (bits, value) = sized((at % 32) as i16 - 16);
            symbols[at / 32 * 16 + bits as usize].with(value, bits)
        });
        Self { lengths, values, symbols, small }
    }

    /// Appends the table of class and number to a file.
    pub(super) fn append(&self, class: u8, number: u8, out: &mut Vec<u8>) {
        let length = 19 + self.values.len() as u8;
        out.extend_from_slice(&[0xff, 0xc4, 0, length, class << 4 | number]);
        out.extend_from_slice(self.lengths);
        out.extend_from_slice(self.values);
    }
}

/// How many bits a value takes, and these.
#[inline(always)]
fn sized(value: i16) -> (u32, u32) {
    let value = i32::from(value);
    let bits = 32 - value.unsigned_abs().leading_zeros();
    (bits, (value + (value >> 31)) as u32 & ((1 << bits) - 1))
}

/// More than a block takes: 27 bits for each value, and a zero behind each byte.
const BLOCK_BYTES: usize = 512;

/// Bits on their way into a file.
pub(super) struct Bits<'a> {
    out: &'a mut Vec<u8>,
    bytes: [u8; 2 * BLOCK_BYTES],
    /// How many of these bytes there are.
    count: usize,
    /// The bits that are no bytes yet are the lowest.
    waiting: u64,
    /// How many of these there are; below 32 between blocks.
    bits: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, bytes: [0; 2 * BLOCK_BYTES], count: 0, waiting: 0, bits: 0 }
    }

    /// Puts down a block: its first value as the change from the `last` one, and the others.
    #[inline(always)]
    pub(super) fn block(
        &mut self,
        block: &[i16; 64],
        last: &mut i16,
        first: &Codes,
        others: &Codes,
    ) {
        if self.count > BLOCK_BYTES {
            self.out.extend_from_slice(&self.bytes[..self.count]);
            self.count = 0;
        }
        let (bits, value) = sized(block[0] - *last);
        *last = block[0];
        self.put(first.symbols[bits as usize].with(value, bits));
        let mut left = nonzero(block) & !1;
        let mut before = 0;
        while left != 0 {
            let at = left.trailing_zeros();
            left &= left - 1;
            let mut zeros = at - before - 1;
            before = at;
            while zeros > 15 {
                self.put(others.symbols[ZEROS]);
                zeros -= 16;
            }
            let value = block[at as usize % 64];
            let small = (i32::from(value) + 16) as u32;
            self.put(if small < 32 {
                others.small[(zeros * 32 + small) as usize % 512]
            } else {
                let (bits, value) = sized(value);
                others.symbols[(zeros * 16 + bits) as usize % 256].with(value, bits)
            });
        }
        if before != 63 {
            self.put(others.symbols[0]);
        }
    }

    #[inline(always)]
    fn put(&mut self, Code(code): Code) {
        self.waiting = self.waiting << (code & 255) | code >> 8;
        self.bits += (code & 255) as u32;
        if self.bits < 32 {
            return;
        }
        self.bits -= 32;
        let word = (self.waiting >> self.bits) as u32;
        let room = &mut self.bytes[self.count..][..8];
        if word & 0x8080_8080 & !word.wrapping_add(0x0101_0101) == 0 {
            room[..4].copy_from_slice(&word.to_be_bytes());
            self.count += 4;
        } else {
            self.count += stuffed(&word.to_be_bytes(), room);
        }
    }

    /// Fills the last byte with ones.
    pub(super) fn end(mut self) {
        self.out.extend_from_slice(&self.bytes[..self.count]);
        let bits = self.bits.next_multiple_of(8);
        self.waiting = (self.waiting << 7 | 0x7f) >> (self.bits + 7 - bits);
        let bytes = self.waiting.to_be_bytes();
        let mut room = [0; 16];
        let count = stuffed(&bytes[8 - bits as usize / 8..], &mut room);
        self.out.extend_from_slice(&room[..count]);
    }
}

/// Copies bytes with a zero behind each whose bits are all set, which else began a marker.
#[cold]
fn stuffed(bytes: &[u8], room: &mut [u8]) -> usize {
    let mut count = 0;
    for &byte in bytes {
        room[count] = byte;
        count += 1;
        if byte == 255 {
            room[count] = 0;
            count += 1;
        }
    }
    count
}

/// A bit for each value that is not 0.
#[inline(always)]
fn nonzero(block: &[i16; 64]) -> u64 {
    let there: [u8; 64] = from_fn(|at| u8::from(block[at] != 0));
    let mut found = 0;
    for (eight, bytes) in there.as_chunks::<8>().0.iter().enumerate() {
        // The product has the lowest bits of all eight bytes side by side at its top.
        let bits = u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        found |= bits << (8 * eight);
    }
    found
}
