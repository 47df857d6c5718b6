//! Where all threads put their vectors together, and each changes its own piece of all of them.
//!
//! Every thread lends its vector, by address, for the whole time of [`Pool::put_together`]. These
//! rules stand in for the borrow that the compiler no longer sees:
//!
//! 1. Nobody touches a vector before all threads have lent theirs. Until then a thread may take its
//!    vector back, under the lock, and return with an error.
//! 2. Pieces of different threads do not overlap, and all vectors have the same length; this is
//!    checked under the lock by the thread that comes last, and nobody touches anything if not.
//! 3. From then on each thread touches its own piece only, of every vector, and says when it is
//!    done, by value or panic. No thread returns before all are done.
//!
//! So a number is touched by one thread at a time, and only while its owner lends it out.

use std::ops::Range;

use super::watched::{Patience, Waited, Watched};
use crate::spin::Spin;
use crate::transport::Tag;

/// Vectors of all threads, while they are put together.
#[derive(Debug)]
pub(super) struct Pool(Watched<State>);

#[derive(Debug)]
struct State {
    /// What each thread has lent.
    loans: Vec<Option<Loan>>,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Gathering,
    /// So many threads are not done with their pieces.
    Working(usize),
    /// All are done, or the loans do not fit; so many have not yet gone.
    Leaving {
        still: usize,
    },
}

#[derive(Debug, Clone)]
struct Loan {
    tag: Tag,
    values: *mut f32,
    length: usize,
    piece: Range<usize>,
}

// SAFETY: the address is used by other threads as the rules above allow; f32 may be sent.
unsafe impl Send for Loan {}

/// What kept vectors from being put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    /// This thread did not come, or is gone.
    Waited { on: usize, waited: Waited },
    /// This thread has called with another tag, or another length.
    Unlike { rank: usize, tags: [Tag; 2], lengths: [usize; 2] },
}

impl Pool {
    pub(super) fn new(size: usize) -> Self {
        Self(Watched::new(State { loans: vec![None; size], phase: Phase::Gathering }))
    }

    /// Lends `values` and lets `work` change this thread's piece of the vectors of all.
    pub(super) fn put_together(
        &self,
        rank: usize,
        tag: Tag,
        values: &mut [f32],
        piece: Range<usize>,
        patience: Patience<'_>,
        work: &mut dyn FnMut(&mut [&mut [f32]]),
    ) -> Result<(), Apart> {
        let loan = Loan { tag, values: values.as_mut_ptr(), length: values.len(), piece };
        self.lend(rank, loan, patience)?;
        let _lent = Lent { pool: self, spin: patience.spin };
        let state = self.0.lock();
        if matches!(state.phase, Phase::Leaving { .. }) {
            return Err(state.unlike(rank));
        }
        drop(state);
        // SAFETY: the phase is `Working`: it was reached by rules 1 and 2, and does not end before
        // `_lent` says so, which is after `work`.
        unsafe { self.work_on_pieces(rank, work) };
        Ok(())
    }

    /// Ends every wait here, but for those of rule 3.
    pub(super) fn close(&self) {
        self.0.close();
    }

    /// Lends a vector, and waits until all have lent theirs.
    fn lend(&self, rank: usize, loan: Loan, patience: Patience<'_>) -> Result<(), Apart> {
        let gathering = |state: &State| state.phase == Phase::Gathering;
        let waited = self.0.wait(patience, gathering);
        let mut state = waited.map_err(|waited| self.missing(rank, waited))?;
        state.loans[rank] = Some(loan);
        if state.loans.iter().all(Option::is_some) {
            let size = state.loans.len();
            let fits = state.fit();
            let unlike = Phase::Leaving { still: size };
            state.phase = if fits { Phase::Working(size) } else { unlike };
        }
        self.0.tell(state);
        let begun = self.0.wait(patience, |state| state.phase != Phase::Gathering);
        let Err(waited) = begun.map(drop) else { return Ok(()) };
        let mut state = self.0.lock();
        // It may have begun between the wait and the lock: then it is too late to take back.
        if state.phase != Phase::Gathering {
            return Ok(());
        }
        state.loans[rank] = None;
        drop(state);
        Err(self.missing(rank, waited))
    }

    /// Which thread did not come.
    fn missing(&self, rank: usize, waited: Waited) -> Apart {
        let state = self.0.lock();
        let absent = |at: &usize| *at != rank && state.loans[*at].is_none();
        let on = (0..state.loans.len()).find(absent).unwrap_or(rank);
        Apart::Waited { on, waited }
    }

    /// Lets `work` change this thread's piece of every vector.
    ///
    /// # Safety
    /// The phase must be `Working` for as long as `work` runs.
    unsafe fn work_on_pieces(&self, rank: usize, work: &mut dyn FnMut(&mut [&mut [f32]])) {
        let loans: Vec<Loan> = self.0.lock().loans.iter().flatten().cloned().collect();
        let piece = loans[rank].piece.clone();
        let cut = |loan: &Loan| {
            // SAFETY: the piece lies within the vector, which `fit` has checked and its owner
            // lends out; no other thread touches this piece, and this one once.
            unsafe { std::slice::from_raw_parts_mut(loan.values.add(piece.start), piece.len()) }
        };
        let mut pieces: Vec<&mut [f32]> = loans.iter().map(cut).collect();
        work(&mut pieces);
    }
}

impl State {
    /// How another thread's loan differs from that of `rank`.
    fn unlike(&self, rank: usize) -> Apart {
        let of = |at: usize| self.loans[at].as_ref().expect("loans stay until all have gone");
        let differs = |at: &usize| of(*at).tag != of(rank).tag || of(*at).length != of(rank).length;
        let other = (0..self.loans.len()).find(differs).unwrap_or(rank);
        let [own, other_loan] = [of(rank), of(other)];
        Apart::Unlike {
            rank: other,
            tags: [own.tag, other_loan.tag],
            lengths: [own.length, other_loan.length],
        }
    }

    /// Rule 2.
    fn fit(&self) -> bool {
        let lent = || self.loans.iter().flatten();
        let Some(first) = lent().next() else { return false };
        let alike = lent().all(|loan| {
            loan.tag == first.tag
                && loan.length == first.length
                && loan.piece.start <= loan.piece.end
                && loan.piece.end <= loan.length
        });
        let mut filled: Vec<&Range<usize>> =
            lent().map(|loan| &loan.piece).filter(|piece| !piece.is_empty()).collect();
        filled.sort_by_key(|piece| piece.start);
        alike && filled.windows(2).all(|pair| pair[0].end <= pair[1].start)
    }
}

/// A vector that is lent out, from the moment when all are. When it goes, which is when the thread
/// is done or panics, it waits until all are done.
struct Lent<'a> {
    pool: &'a Pool,
    spin: &'a Spin,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.0.lock();
        if let Phase::Working(left) = state.phase {
            let over = Phase::Leaving { still: state.loans.len() };
            state.phase = if left == 1 { over } else { Phase::Working(left - 1) };
        }
        self.pool.0.tell(state);
        let over = |state: &State| matches!(state.phase, Phase::Leaving { .. });
        let mut state = self.pool.0.wait_regardless(self.spin, over);
        match state.phase {
            Phase::Leaving { still } if still > 1 => {
                state.phase = Phase::Leaving { still: still - 1 }
            }
            _ => {
                state.loans.fill(None);
                state.phase = Phase::Gathering;
            }
        }
        self.pool.0.tell(state);
    }
}
