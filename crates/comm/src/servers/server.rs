//! A server: it owns a piece of the vector, and changes it by what workers push.
//!
//! A thread for each worker answers it; what they share is under one lock. A worker that is lost,
//! or sends what is no message, ends its own thread and nothing else.

mod account;
mod books;
mod desk;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::words::{flag, kind, put_applied, read_takes};
use crate::error::{CommError, Loss};
use crate::lines::{Line, Message};
pub use account::ServerAccount;
pub(in crate::servers) use account::Waits;
use books::{Books, Came};
use desk::Desk;

/// The piece of a vector that a server holds, with all that changes it.
pub trait Owner: Send {
    /// Appends the numbers at these rows, or all of them.
    fn read(&self, rows: Option<&[u32]>, into: &mut Vec<f32>);

    /// Whether rows are within the piece, rising or not.
    fn has_rows(&self, rows: &[u32]) -> bool;

    /// Whether a push is one of this piece.
    fn admits(&self, push: &Push<'_>) -> bool;

    /// Adds up the gradients of a step, for [`Self::update`].
    fn sum(&mut self, gradients: &Gradients<'_>);

    /// Squares of the gradients that were added up, block by block.
    fn squares(&mut self) -> Vec<f64>;

    /// Changes the piece by the gradients that were added up; `norm` is that of all pieces, where
    /// it is known.
    fn update(&mut self, rate: f64, norm: Option<f64>);

    /// Appends all that a checkpoint needs.
    fn store(&mut self, into: &mut Vec<f32>);

    /// Takes over what [`Self::store`] gave; whether it could.
    fn load(&mut self, values: &[f32]) -> bool;
}

/// Gradients of a share.
#[derive(Debug, Clone, Copy)]
pub struct Push<'a> {
    /// Which of the parts of its step.
    pub part: usize,
    /// How many parts the step has.
    pub parts: usize,
    /// How many micro-batches.
    pub leaves: usize,
    /// The rows that gradients are for; none for all of them.
    pub rows: &'a [u32],
    /// The gradients, and what else the worker has to say.
    pub values: &'a [f32],
}

/// Gradients of a step, in the order of its shares.
#[derive(Debug)]
pub struct Gradients<'a> {
    /// How many micro-batches the step has.
    pub leaves: usize,
    /// One push a share.
    pub pushes: Vec<Push<'a>>,
}

/// A server with the piece that it owns.
pub struct Server<O> {
    shared: Arc<Shared<O>>,
}

struct Shared<O> {
    books: Mutex<Books<O>>,
    changed: Condvar,
    desk: Desk,
}

impl<O: Owner + 'static> Server<O> {
    /// A server of a piece.
    pub fn new(owner: O) -> Self {
        let books = Mutex::new(Books::new(owner));
        Self { shared: Arc::new(Shared { books, changed: Condvar::new(), desk: Desk::open() }) }
    }

    /// Serves workers until the leader ends the job; messages have at most so many bytes.
    ///
    /// # Errors
    /// Where the leader is lost. Workers may come and go.
    pub fn serve(self, mut leader: Line, workers: Vec<Line>, most: usize) -> Result<(), CommError> {
        for (worker, line) in (0..).zip(workers) {
            let shared = self.shared.clone();
            let attend = move || shared.attend(worker, line, most);
            let name = "comm server".to_owned();
            let started = thread::Builder::new().name(name).spawn(attend);
            started.map_err(|source| CommError::Socket {
                what: "start a thread for",
                address: format!("worker {worker}"),
                source,
            })?;
        }
        let obeyed = self.shared.obey(&mut leader, most);
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        obeyed
    }
}

#[cfg(feature = "fuzzing")]
impl<O: Owner> Server<O> {
    /// Hears one message of a worker or of the leader, without a line; whether there is an answer.
    pub(crate) fn hears(&self, message: &mut Message, of_leader: bool) -> bool {
        let mut reply = Message::default();
        if of_leader {
            let followed = self.shared.follow(message, &mut reply);
            let _ = ServerAccount::read(&reply);
            return followed.is_some();
        }
        // A version that never comes is waited for, as long as the worker lives.
        let at_least = if message.kind == kind::PULL { message.numbers[0] } else { 0 };
        let comes = at_least <= self.shared.lock().version;
        let at_work = self.shared.desk.work();
        let answered = comes && self.shared.answer(0, message, &mut reply).is_some();
        drop(at_work);
        answered
    }
}

impl<O: Owner> Shared<O> {
    fn lock(&self) -> MutexGuard<'_, Books<O>> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a worker until one of both ends.
    fn attend(&self, worker: u32, mut line: Line, most: usize) {
        let (mut message, mut reply) = (Message::default(), Message::default());
        // Whatever went wrong, this worker is gone: the leader deals out anew what it had.
        loop {
            let mut at_work = None;
            let mut comes = || at_work = Some(self.desk.work());
            if line.receive_telling(&mut message, most, &mut comes).is_err() {
                break;
            }
            let answered = self.answer(worker, &mut message, &mut reply);
            if answered.is_none() || line.send(&reply.words()).is_err() {
                break;
            }
            self.lock().account.moved(&line);
        }
        self.lock().account.moved(&line);
    }

    /// The answer to a worker's message; none where there is none.
    fn answer(&self, worker: u32, message: &mut Message, reply: &mut Message) -> Option<()> {
        reply.kind = kind::VALUES;
        reply.values.clear();
        let (came, mut books) = (Instant::now(), self.lock());
        let (at_least, wish) = match message.kind {
            kind::PULL => (message.numbers[0], message.numbers[1] | flag::PULL),
            kind::PUSH => {
                books.account.queue += came.elapsed();
                let wish = message.numbers[5];
                let push = Came { worker, message };
                reply.numbers[1] = u64::from(books.take_in(push)?);
                self.changed.notify_all();
                (0, wish)
            }
            _ => return None,
        };
        let turn = came.elapsed();
        let (held, version) = self.wait_for_version(books, at_least);
        books = held;
        if books.ended {
            return None;
        }
        reply.numbers[0] = books.version;
        let looked = Instant::now();
        if wish & flag::PULL != 0 {
            let rows = (wish & flag::ALL == 0).then_some(&message.next[..]);
            if !rows.is_none_or(|rows| books.owner.has_rows(rows)) {
                return None;
            }
            books.owner.read(rows, &mut reply.values);
        }
        Waits { turn: turn + looked.elapsed(), version }.put(reply);
        Some(())
    }

    /// Waits until there is a version; the time that it took.
    fn wait_for_version<'a>(
        &self,
        mut books: MutexGuard<'a, Books<O>>,
        at_least: u64,
    ) -> (MutexGuard<'a, Books<O>>, Duration) {
        if books.version >= at_least || books.ended {
            return (books, Duration::ZERO);
        }
        let start = Instant::now();
        self.desk.rest();
        while books.version < at_least && !books.ended {
            books = self.changed.wait(books).unwrap_or_else(PoisonError::into_inner);
        }
        self.desk.go_on();
        (books, start.elapsed())
    }

    /// Follows the leader until the end of the job.
    fn obey(&self, leader: &mut Line, most: usize) -> Result<(), CommError> {
        let (mut message, mut reply) = (Message::default(), Message::default());
        loop {
            let mut at_work = None;
            leader.receive_telling(&mut message, most, &mut || at_work = Some(self.desk.work()))?;
            if message.kind == kind::END {
                return Ok(());
            }
            let done = self.follow(&mut message, &mut reply);
            let nonsense = CommError::PeerLost { rank: leader.peer(), why: Loss::Nonsense };
            done.ok_or(nonsense)?;
            leader.send(&reply.words())?;
        }
    }

    fn follow(&self, message: &mut Message, reply: &mut Message) -> Option<()> {
        *reply = Message { kind: kind::KEPT, ..Message::default() };
        let mut books = self.lock();
        match message.kind {
            kind::BEGIN => books.begin(message.numbers)?,
            kind::SUM => {
                let takes = read_takes(message)?;
                let start = Instant::now();
                books.sum(message.numbers[1], &takes)?;
                let [_, _, rate, only_sum, ..] = message.numbers;
                if only_sum == 0 {
                    books.update(f64::from_bits(rate), None);
                } else {
                    put_squares(&mut reply.rows, &books.owner.squares());
                }
                books.account.update += start.elapsed();
                self.changed.notify_all();
            }
            kind::UPDATE => {
                let start = Instant::now();
                let [rate, norm, ..] = message.numbers.map(f64::from_bits);
                books.update(rate, Some(norm));
                books.account.update += start.elapsed();
                self.changed.notify_all();
            }
            kind::STORE => books.owner.store(&mut reply.values),
            kind::LOAD => books.owner.load(&message.values).then_some(())?,
            kind::ACCOUNT => books.put_account(&self.desk, reply),
            kind::LOG => {
                let log = std::mem::take(&mut books.log);
                log.iter().for_each(|applied| put_applied(&mut reply.rows, applied));
            }
            _ => return None,
        }
        Some(())
    }
}

/// Adds numbers to rows, two words each.
fn put_squares(rows: &mut Vec<u32>, squares: &[f64]) {
    for square in squares {
        let bits = square.to_bits();
        rows.extend([bits as u32, (bits >> 32) as u32]);
    }
}

/// Reads what [`put_squares`] wrote.
pub(super) fn read_squares(rows: &[u32]) -> impl Iterator<Item = f64> + '_ {
    let square = |words: &[u32]| f64::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32);
    rows.chunks_exact(2).map(square)
}

impl<O> std::fmt::Debug for Server<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Server")
    }
}
