//! Barrier: no rank goes on before all have come.

use crate::error::CommError;
use crate::group::Group;
use crate::transport::{Outgoing, Place};

impl Group {
    /// Waits until every rank has come here.
    ///
    /// By dissemination (Hensgen, Finkel and Manber, 1988): in round k a rank tells the one 2^k
    /// after it, so that after about log2 N rounds it has heard of all.
    ///
    /// # Errors
    /// Where a rank is lost.
    pub fn barrier(&mut self) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        let mut distance = 1;
        while distance < size {
            let tag = self.next_tag();
            let sends = [Outgoing { to: (rank + distance) % size, parts: &[&[]] }];
            let from = (rank + size - distance) % size;
            self.transport.exchange(tag, &sends, &mut [Place { from, into: &mut [] }])?;
            distance *= 2;
        }
        Ok(())
    }
}
