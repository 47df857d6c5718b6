//! All-gather: every rank gets what each of the others has.

use bytemuck::{must_cast_slice, must_cast_slice_mut};

use super::expect_length;
use crate::error::CommError;
use crate::group::Group;
use crate::pieces::Pieces;
use crate::transport::{Outgoing, Place};

impl Group {
    /// Gives every rank the pieces of all others: the second half of an all-reduce.
    ///
    /// # Errors
    /// Where a rank is lost, or the vector has another length than `pieces` says.
    pub fn all_gather(&mut self, values: &mut [f32], pieces: &Pieces) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        expect_length("pieces, one a rank", size, pieces.ranks())?;
        expect_length("numbers in the vector", pieces.length(), values.len())?;
        let mut cut: Vec<&mut [u8]> =
            pieces.split_mut(values).into_iter().map(must_cast_slice_mut).collect();
        let own = std::mem::take(&mut cut[rank]);
        self.gather_into(own, cut)
    }

    /// Gives every rank the bytes of all, in the order of ranks; they may differ in length, and
    /// none may be longer than `limit`.
    ///
    /// # Errors
    /// Where a rank is lost, or brings more bytes than the limit.
    pub fn all_gather_bytes(
        &mut self,
        own: &[u8],
        limit: usize,
    ) -> Result<Vec<Vec<u8>>, CommError> {
        let rank = self.rank();
        let mut lengths = vec![0_u64; self.size()];
        lengths[rank] = own.len() as u64;
        let mut places: Vec<&mut [u8]> = lengths.chunks_mut(1).map(must_cast_slice_mut).collect();
        let own_length = std::mem::take(&mut places[rank]);
        self.gather_into(own_length, places)?;
        if let Some((rank, bytes)) =
            lengths.iter().copied().enumerate().find(|(_, bytes)| *bytes > limit as u64)
        {
            return Err(CommError::TooLarge { rank, bytes, limit: limit as u64 });
        }
        let mut all: Vec<Vec<u8>> =
            lengths.iter().map(|length| vec![0; *length as usize]).collect();
        all[rank] = Vec::new();
        self.gather_into(own, all.iter_mut().map(Vec::as_mut_slice).collect())?;
        all[rank] = own.to_vec();
        Ok(all)
    }

    /// Sends `own` to all and fills the places of the others; the own place is not looked at, and
    /// what is empty is not sent.
    fn gather_into(&mut self, own: &[u8], all: Vec<&mut [u8]>) -> Result<(), CommError> {
        let (rank, tag) = (self.rank(), self.next_tag());
        let parts = [own];
        let sends: Vec<Outgoing<'_>> = (0..self.size())
            .filter(|to| *to != rank && !own.is_empty())
            .map(|to| Outgoing { to, parts: &parts })
            .collect();
        let others = all.into_iter().enumerate().filter(|(from, _)| *from != rank);
        let mut places: Vec<Place<'_>> = others
            .filter(|(_, into)| !into.is_empty())
            .map(|(from, into)| Place { from, into })
            .collect();
        self.transport.exchange(tag, &sends, &mut places)
    }

    /// Every rank's numbers, of the same count everywhere, one rank after the other.
    ///
    /// # Errors
    /// Where a rank is lost.
    pub fn all_gather_equal(&mut self, own: &[f32]) -> Result<Vec<f32>, CommError> {
        let (rank, size) = (self.rank(), self.size());
        let mut all = vec![0.0; own.len() * size];
        all[rank * own.len()..][..own.len()].copy_from_slice(own);
        let places = all.chunks_mut(own.len().max(1)).map(must_cast_slice_mut).collect();
        self.gather_into(must_cast_slice(own), places)?;
        Ok(all)
    }
}
