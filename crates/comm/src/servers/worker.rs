//! A worker: it asks the leader for shares, and servers for numbers.

use std::time::Duration;

use super::dealer::Share;
use super::server::Waits;
use super::words::{Reported, flag, kind, put_done, read_leases, words_of_text};
use crate::error::{CommError, Loss};
use crate::lines::{Line, Message, Words};
use crate::transport::Traffic;

/// A worker's lines: one to the leader, one to each server.
#[derive(Debug)]
pub struct Worker {
    leader: Line,
    servers: Vec<Line>,
    /// The last answer of each server.
    answers: Vec<Message>,
    heard: Message,
    most: usize,
    waited: ServerWaits,
}

/// How long answers of servers took there, without their way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerWaits {
    /// Until a server turned to what was asked, and had done it.
    pub turn: Duration,
    /// Until a server had the version that was asked for: waiting for other workers.
    pub version: Duration,
}

/// What the leader wants of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Compute these shares, and report them by the next [`Worker::report`].
    Compute(Vec<Job>),
    /// Tell what was done with the time, by [`Worker::tell`].
    Tell,
    /// Go home.
    End,
}

/// A share to compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Which it is.
    pub share: Share,
    /// How many parts its step has.
    pub parts: usize,
    /// The version of the numbers to compute from, at least.
    pub version: u64,
    /// The number of its stretch: between two of them the leader has other things to do.
    pub stretch: u64,
    /// What the leader says of the step.
    pub words: Vec<u32>,
}

/// A share that was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Which it was.
    pub share: Share,
    /// The version that it was computed from; none where servers had different ones.
    pub version: Option<u64>,
    /// Nothing was pushed, because the gradients are no numbers.
    pub void: bool,
    /// What the leader hears of it.
    pub words: Vec<u32>,
}

/// Gradients for one server.
#[derive(Debug, Clone, Copy)]
pub struct Pushed<'a> {
    /// The rows that gradients are for; none for all of the server's.
    pub rows: &'a [u32],
    /// The gradients, and what else the server should hear.
    pub values: &'a [f32],
    /// The version of its numbers that they were computed from.
    pub version: u64,
}

impl Worker {
    /// A worker with its lines; messages have at most so many bytes.
    pub fn new(leader: Line, servers: Vec<Line>, most: usize) -> Self {
        let answers = servers.iter().map(|_| Message::default()).collect();
        let waited = ServerWaits::default();
        Self { leader, servers, answers, heard: Message::default(), most, waited }
    }

    /// How many servers there are.
    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    /// Reports what is done, each with as many words, and waits for the next order.
    ///
    /// # Errors
    /// Where the leader is lost.
    pub fn report(&mut self, done: &[Done]) -> Result<Order, CommError> {
        let mut rows = Vec::new();
        for own in done {
            let Done { share, version, void, words } = own.clone();
            put_done(&mut rows, &Reported { share, version, void, words });
        }
        let each = done.first().map_or(0, |own| own.words.len());
        let numbers = [done.len() as u64, each as u64, 0, 0, 0, 0];
        self.leader.send(&Words { kind: kind::DONE, numbers, rows: &rows, ..Words::default() })?;
        self.hear()
    }

    /// Tells what was done with the time, and waits for the next order.
    ///
    /// # Errors
    /// Where the leader is lost.
    pub fn tell(&mut self, account: &str) -> Result<Order, CommError> {
        let rows = words_of_text(account);
        self.leader.send(&Words { kind: kind::TOLD, rows: &rows, ..Words::default() })?;
        self.hear()
    }

    /// Tells the leader why this worker cannot go on, naming the rank that is lost if one is.
    pub fn fail(mut self, why: &str, lost: Option<usize>) {
        let numbers = [lost.map_or(u64::MAX, |rank| rank as u64), 0, 0, 0, 0, 0];
        let rows = words_of_text(why);
        let words = Words { kind: kind::FAILED, numbers, rows: &rows, ..Words::default() };
        // A leader that is gone needs no word.
        if self.leader.send(&words).is_ok() {
            let _ = self.leader.receive(&mut self.heard, self.most);
        }
    }

    fn hear(&mut self) -> Result<Order, CommError> {
        self.leader.receive(&mut self.heard, self.most)?;
        let nonsense = CommError::PeerLost { rank: self.leader.peer(), why: Loss::Nonsense };
        Ok(match self.heard.kind {
            kind::LEASE => {
                let leases = read_leases(&self.heard).ok_or(nonsense)?;
                let [_, _, version, stretch, ..] = self.heard.numbers;
                let job = |own: super::words::Leased| Job {
                    share: own.share,
                    parts: own.parts as usize,
                    version,
                    stretch,
                    words: own.words,
                };
                Order::Compute(leases.into_iter().map(job).collect())
            }
            kind::TELL => Order::Tell,
            kind::END => Order::End,
            _ => return Err(nonsense),
        })
    }

    /// Pulls numbers of a version at least from all servers: those at the rows of each, or all.
    ///
    /// # Errors
    /// Where a server is lost.
    pub fn pull(&mut self, version: u64, rows: Option<&[Vec<u32>]>) -> Result<(), CommError> {
        let numbers = [version, wish(rows), 0, 0, 0, 0];
        for (at, line) in self.servers.iter_mut().enumerate() {
            let next = rows.map_or(&[][..], |rows| &rows[at]);
            line.send(&Words { kind: kind::PULL, numbers, next, ..Words::default() })?;
        }
        self.hear_servers()
    }

    /// Pushes the gradients of a share to all servers; with `then`, pulls numbers after it, those
    /// at the rows of each server or all.
    ///
    /// # Errors
    /// Where a server is lost.
    pub fn push(
        &mut self,
        job: &Job,
        (rate, leaves): (f64, usize),
        pushed: &[Pushed<'_>],
        then: Option<Option<&[Vec<u32>]>>,
    ) -> Result<(), CommError> {
        let parts = u64::from(job.share.part) | (job.parts as u64) << 32;
        let wishes = then.map_or(0, wish);
        for (at, (line, own)) in self.servers.iter_mut().zip(pushed).enumerate() {
            let numbers =
                [job.share.step, parts, own.version, rate.to_bits(), leaves as u64, wishes];
            let next = then.flatten().map_or(&[][..], |rows| &rows[at]);
            let Pushed { rows, values, .. } = *own;
            line.send(&Words { kind: kind::PUSH, numbers, rows, values, next })?;
        }
        self.hear_servers()
    }

    /// The numbers that a server last gave, and their version.
    pub fn pulled(&self, server: usize) -> (u64, &[f32]) {
        let answer = &self.answers[server];
        (answer.numbers[0], &answer.values)
    }

    /// How long all answers of servers took there so far: of several servers the slowest.
    pub fn waited(&self) -> ServerWaits {
        self.waited
    }

    /// What was moved so far, on all lines.
    pub fn traffic(&self) -> Traffic {
        let mut all = Traffic::default();
        for line in self.servers.iter().chain([&self.leader]) {
            let own = line.traffic();
            all.sent += own.sent;
            all.received += own.received;
            all.messages += own.messages;
            all.waited += own.waited;
        }
        all
    }

    fn hear_servers(&mut self) -> Result<(), CommError> {
        for (line, answer) in self.servers.iter_mut().zip(&mut self.answers) {
            line.receive(answer, self.most)?;
            if answer.kind != kind::VALUES {
                return Err(CommError::PeerLost { rank: line.peer(), why: Loss::Nonsense });
            }
        }
        let most = |of: fn(Waits) -> Duration| {
            self.answers.iter().map(|answer| of(Waits::read(answer))).max().unwrap_or_default()
        };
        let (turn, version) = (most(|own| own.turn), most(|own| own.version));
        self.waited.turn = self.waited.turn.saturating_add(turn);
        self.waited.version = self.waited.version.saturating_add(version);
        Ok(())
    }
}

/// The flags of a pull.
fn wish(rows: Option<&[Vec<u32>]>) -> u64 {
    if rows.is_some() { flag::PULL } else { flag::PULL | flag::ALL }
}
