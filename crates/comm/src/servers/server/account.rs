//! What a server did with its time.

use std::time::Duration;

use crate::lines::{Line, Message};
use crate::servers::staleness::Staleness;

/// What a server did with its time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerAccount {
    /// Time since it began to serve.
    pub wall: Duration,
    /// Time in which it waited for messages, on every line.
    pub idle: Duration,
    /// How long it took to apply gradients.
    pub update: Duration,
    /// How long pushes waited at the server before it turned to them, all together.
    pub queue: Duration,
    /// Pushes that were never applied.
    pub dropped: u64,
    /// How old the numbers were that applied gradients were computed from.
    pub staleness: Staleness,
    /// Bytes sent to workers.
    pub sent: u64,
    /// Bytes received from workers.
    pub received: u64,
    /// Messages sent to workers.
    pub messages: u64,
}

impl ServerAccount {
    /// Time in which it read, looked up and wrote numbers.
    pub fn communication(&self) -> Duration {
        self.wall.saturating_sub(self.idle).saturating_sub(self.update)
    }
}

/// How long an answer took at a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::servers) struct Waits {
    /// Waiting for the server's turn to it, and its work.
    pub(in crate::servers) turn: Duration,
    /// Waiting until there was the version that was asked for.
    pub(in crate::servers) version: Duration,
}

impl Waits {
    pub(super) fn put(self, reply: &mut Message) {
        [reply.numbers[2], reply.numbers[3]] = [nanos(self.turn), nanos(self.version)];
    }

    /// Reads what a server told with its answer.
    pub(in crate::servers) fn read(answer: &Message) -> Self {
        let [_, _, turn, version, ..] = answer.numbers;
        Self { turn: Duration::from_nanos(turn), version: Duration::from_nanos(version) }
    }
}

fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}

/// A server's account while it is kept: the lines tell what they moved in all.
#[derive(Debug, Default)]
pub(super) struct Running {
    pub(super) queue: Duration,
    pub(super) update: Duration,
    pub(super) dropped: u64,
    pub(super) staleness: Staleness,
    /// For each worker: bytes sent and received, messages.
    moved: Vec<(usize, [u64; 3])>,
}

impl Running {
    /// Notes what a line has moved so far.
    pub(super) fn moved(&mut self, line: &Line) {
        let traffic = line.traffic();
        let now = [traffic.sent, traffic.received, traffic.messages];
        match self.moved.iter_mut().find(|own| own.0 == line.peer()) {
            Some(own) => own.1 = now,
            None => self.moved.push((line.peer(), now)),
        }
    }

    /// Tells the account, with the time since the beginning and how much of it was idle.
    pub(super) fn put(&self, time: [Duration; 2], reply: &mut Message) {
        let sum = |at: usize| self.moved.iter().map(|own| own.1[at]).sum();
        reply.numbers =
            [nanos(self.queue), nanos(self.update), self.dropped, sum(0), sum(1), sum(2)];
        let words = |number: u64| [number as u32, (number >> 32) as u32];
        reply.next.extend(time.into_iter().flat_map(|own| words(nanos(own))));
        for (staleness, count) in self.staleness.counts() {
            reply.rows.extend([staleness, count].into_iter().flat_map(words));
        }
    }
}

impl ServerAccount {
    /// Reads what a server told; nothing where it is no account.
    pub(in crate::servers) fn read(message: &Message) -> Option<Self> {
        let [queue, update, dropped, sent, received, messages] = message.numbers;
        let number = |words: &[u32]| u64::from(words[0]) | u64::from(words[1]) << 32;
        let counts = message.rows.chunks_exact(4);
        let &[wall, wall_high, idle, idle_high] = &message.next[..] else { return None };
        let time = |words: [u32; 2]| Duration::from_nanos(number(&words));
        Some(Self {
            wall: time([wall, wall_high]),
            idle: time([idle, idle_high]),
            queue: Duration::from_nanos(queue),
            update: Duration::from_nanos(update),
            dropped,
            staleness: counts.map(|words| (number(words), number(&words[2..]))).collect(),
            sent,
            received,
            messages,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_arrives_as_it_was_told() {
        let mut running = Running { dropped: 3, ..Running::default() };
        running.queue = Duration::from_nanos(17);
        running.update = Duration::from_secs(3);
        running.staleness.add(0);
        running.staleness.add(5 << 33);
        let (mut here, mut there) = Line::pair(0, 4);
        here.send(&crate::Words::default()).unwrap();
        there.receive(&mut Message::default(), 1000).unwrap();
        running.moved(&here);
        running.moved(&here);
        let mut told = Message::default();
        let (wall, idle) = (Duration::from_secs(9), Duration::from_secs(2));
        running.put([wall, idle], &mut told);
        let account = ServerAccount::read(&told).unwrap();
        assert_eq!((account.wall, account.idle), (wall, idle));
        assert_eq!(account.communication(), Duration::from_secs(4));
        told.next.pop();
        assert_eq!(ServerAccount::read(&told), None);
        assert_eq!((account.queue, account.dropped), (Duration::from_nanos(17), 3));
        assert_eq!(account.staleness, running.staleness);
        assert_eq!((account.sent, account.messages), (80, 1));
    }
}
