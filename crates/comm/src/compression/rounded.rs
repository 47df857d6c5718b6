//! All-reduce in which numbers travel in two bytes.

use bytemuck::{cast_slice, must_cast_slice, must_cast_slice_mut};

use crate::compression::two_bytes::{of_bf16, of_f16, to_bf16, to_f16};
use crate::error::CommError;
use crate::group::Group;
use crate::leaves::{Completion, LeafTree};
use crate::pieces::Pieces;
use crate::transport::{Outgoing, Place, Source};

/// How numbers are rounded for the way: to the nearest, to the even one of two that are as near.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// 11 significant bits, within a factor of 2^30 below the largest number of the vectors, to
    /// which they are scaled; smaller ones lose bits.
    F16,
    /// 8 significant bits, of the range of f32.
    Bf16,
}

/// Where the largest of the numbers that are sent is put by the scale of [`Rounding::F16`]: what
/// can be written in 16 bits ends at 65504.
const F16_LARGEST: f32 = 32_768.0;

impl Group {
    /// Replaces every rank's vector by the sum over the ranks, with half of the bytes of
    /// [`Group::all_reduce`]. Sums are made in f32, in the fixed order; what ranks send is rounded,
    /// and so is the sum. All ranks get the same bits.
    ///
    /// # Errors
    /// Where a rank is lost or calls with another length.
    pub fn all_reduce_rounded(
        &mut self,
        values: &mut [f32],
        rounding: Rounding,
    ) -> Result<(), CommError> {
        if self.size() == 1 {
            return Ok(());
        }
        let scale = match rounding {
            Rounding::F16 => self.common_scale(values)?,
            Rounding::Bf16 => 1.0,
        };
        let pieces = Pieces::new(values.len(), self.size(), Pieces::ALIGN);
        let mut sent = vec![0_u16; values.len()];
        rounding.write(values, scale, &mut sent);
        self.sum_of_rounded(&sent, &mut values[pieces.range(self.rank())], &pieces, rounding)?;
        let own = pieces.range(self.rank());
        rounding.write(&values[own.clone()], 1.0, &mut sent[own]);
        self.gather_rounded(&mut sent, &pieces)?;
        rounding.read(&sent, values);
        values.iter_mut().for_each(|value| *value /= scale);
        Ok(())
    }

    /// A power of two that brings the largest number of all ranks, and the sum, within what f16 can
    /// write.
    fn common_scale(&mut self, values: &[f32]) -> Result<f32, CommError> {
        let largest = |values: &[f32]| values.iter().fold(0.0_f32, |most, it| most.max(it.abs()));
        let most = largest(&self.all_gather_equal(&[largest(values)])?);
        // In f64, for the sum of numbers that f32 can write may be one that it cannot.
        let reached = f64::from(most) * self.size() as f64;
        // Nothing but zeros, or a number that is none: no scale helps.
        if reached == 0.0 || !reached.is_finite() {
            return Ok(1.0);
        }
        let exponent = (f64::from(F16_LARGEST) / reached).log2().floor();
        Ok(2_f32.powf(exponent.clamp(-126.0, 126.0) as f32))
    }

    /// Leaves the sum of the own piece of what all have rounded.
    fn sum_of_rounded(
        &mut self,
        sent: &[u16],
        own: &mut [f32],
        pieces: &Pieces,
        rounding: Rounding,
    ) -> Result<(), CommError> {
        let (rank, size, tag) = (self.rank(), self.size(), self.next_tag());
        let parts: Vec<[&[u8]; 1]> =
            (0..size).map(|to| [must_cast_slice(&sent[pieces.range(to)])]).collect();
        let sends: Vec<Outgoing<'_>> = (0..size)
            .filter(|to| *to != rank && !pieces.range(*to).is_empty())
            .map(|to| Outgoing { to, parts: &parts[to] })
            .collect();
        let sources: Vec<Source> = (0..size)
            .filter(|from| *from != rank && !own.is_empty())
            .map(|from| Source { from, parts: 1 })
            .collect();
        let leaves: Vec<_> = (0..size).map(|leaf| leaf..leaf + 1).collect();
        let completion = Completion::new(LeafTree::new(size), &leaves);
        let mine = &sent[pieces.range(rank)];
        let bytes = size_of_val(mine);
        let mut wide: Vec<Vec<f32>> = vec![Vec::new(); size];
        self.transport.combine(tag, &sends, &sources, bytes, &mut |offset, others| {
            let start = offset / size_of::<u16>();
            let length = others[0].len() / size_of::<u16>();
            let mut others = others.iter();
            for (from, wide) in wide.iter_mut().enumerate() {
                wide.resize(length, 0.0);
                let narrow = if from == rank {
                    &mine[start..start + length]
                } else {
                    cast_slice(others.next().expect("a part of every other rank"))
                };
                rounding.read(narrow, wide);
            }
            let wide: Vec<&[f32]> = wide.iter().map(Vec::as_slice).collect();
            completion.sum(&wide, &mut own[start..start + length]);
        })
    }

    fn gather_rounded(&mut self, all: &mut [u16], pieces: &Pieces) -> Result<(), CommError> {
        let (rank, tag) = (self.rank(), self.next_tag());
        let mut cut = pieces.split_mut(all);
        let own = std::mem::take(&mut cut[rank]);
        let own: [&[u8]; 1] = [must_cast_slice(own)];
        let sends: Vec<Outgoing<'_>> = (0..self.size())
            .filter(|to| *to != rank && !own[0].is_empty())
            .map(|to| Outgoing { to, parts: &own })
            .collect();
        let mut places: Vec<Place<'_>> = cut
            .into_iter()
            .enumerate()
            .filter(|(from, piece)| *from != rank && !piece.is_empty())
            .map(|(from, piece)| Place { from, into: must_cast_slice_mut(piece) })
            .collect();
        self.transport.exchange(tag, &sends, &mut places)
    }
}

impl Rounding {
    /// Rounds numbers, scaled.
    fn write(self, values: &[f32], scale: f32, into: &mut [u16]) {
        let mut scaled = [0.0; 1024];
        for (values, into) in values.chunks(scaled.len()).zip(into.chunks_mut(1024)) {
            let scaled = &mut scaled[..values.len()];
            scaled.iter_mut().zip(values).for_each(|(scaled, value)| *scaled = value * scale);
            match self {
                Self::F16 => to_f16(scaled, into),
                Self::Bf16 => to_bf16(scaled, into),
            }
        }
    }

    fn read(self, from: &[u16], into: &mut [f32]) {
        match self {
            Self::F16 => of_f16(from, into),
            Self::Bf16 => of_bf16(from, into),
        }
    }
}
