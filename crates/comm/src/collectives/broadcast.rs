//! Broadcast: one rank's numbers go to all.

use bytemuck::must_cast_slice_mut;

use crate::error::CommError;
use crate::group::Group;
use crate::transport::{Outgoing, Place};

impl Group {
    /// Gives every rank the numbers of rank `root`, along a binomial tree.
    ///
    /// # Errors
    /// Where a rank is lost, or there is no rank `root`.
    pub fn broadcast(&mut self, values: &mut [f32], root: usize) -> Result<(), CommError> {
        self.broadcast_filled(must_cast_slice_mut(values), root)
    }

    /// Gives every rank the bytes of rank `root`; the others pass in what they have, which is
    /// replaced. More than `limit` bytes are an error.
    ///
    /// # Errors
    /// Where a rank is lost, there is no rank `root`, or it has more bytes than the limit.
    pub fn broadcast_bytes(
        &mut self,
        bytes: &mut Vec<u8>,
        root: usize,
        limit: usize,
    ) -> Result<(), CommError> {
        let mut length = (bytes.len() as u64).to_le_bytes();
        self.broadcast_filled(&mut length, root)?;
        let length = u64::from_le_bytes(length);
        if length > limit as u64 {
            return Err(CommError::TooLarge { rank: root, bytes: length, limit: limit as u64 });
        }
        bytes.resize(length as usize, 0);
        self.broadcast_filled(bytes, root)
    }

    fn broadcast_filled(&mut self, bytes: &mut [u8], root: usize) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        if root >= size {
            return Err(CommError::NoSuchRank { rank: root, size });
        }
        let tag = self.next_tag();
        // Places in the tree are counted from the root. A place hears from the one that lacks its
        // lowest bit, and tells those that have one further bit below that.
        let place = (rank + size - root) % size;
        let lowest =
            if place == 0 { size.next_power_of_two() } else { 1 << place.trailing_zeros() };
        if place != 0 {
            let from = (place - lowest + root) % size;
            self.transport.exchange(tag, &[], &mut [Place { from, into: bytes }])?;
        }
        let mut distance = lowest / 2;
        while distance > 0 {
            if place + distance < size {
                let to = (place + distance + root) % size;
                self.transport.exchange(tag, &[Outgoing { to, parts: &[bytes] }], &mut [])?;
            }
            distance /= 2;
        }
        Ok(())
    }
}
