//! What a server did with its time.

use std::time::Duration;

use crate::lines::{Line, Message};
use crate::servers::staleness::Staleness;

/// What a server did with its time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerAccount {
    /// How long pushes waited at the server before it turned to them.
    pub queue: Duration,
    /// How long it took to apply them.
    pub update: Duration,
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

    /// Tells the account.
    pub(super) fn put(&self, reply: &mut Message) {
        let sum = |at: usize| self.moved.iter().map(|own| own.1[at]).sum();
        let nanos = |time: Duration| time.as_nanos() as u64;
        reply.numbers =
            [nanos(self.queue), nanos(self.update), self.dropped, sum(0), sum(1), sum(2)];
        for (staleness, count) in self.staleness.counts() {
            for number in [staleness, count] {
                reply.rows.extend([number as u32, (number >> 32) as u32]);
            }
        }
    }
}

impl ServerAccount {
    /// Reads what a server told.
    pub(in crate::servers) fn read(message: &Message) -> Self {
        let [queue, update, dropped, sent, received, messages] = message.numbers;
        let number = |words: &[u32]| u64::from(words[0]) | u64::from(words[1]) << 32;
        let counts = message.rows.chunks_exact(4);
        Self {
            queue: Duration::from_nanos(queue),
            update: Duration::from_nanos(update),
            dropped,
            staleness: counts.map(|words| (number(words), number(&words[2..]))).collect(),
            sent,
            received,
            messages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_arrives_as_it_was_told() {
        let mut running = Running { dropped: 3, ..Running::default() };
        running.queue = Duration::from_nanos(17);
        running.staleness.add(0);
        running.staleness.add(5 << 33);
        let (mut here, mut there) = Line::pair(0, 4);
        here.send(&crate::Words::default()).unwrap();
        there.receive(&mut Message::default(), 1000).unwrap();
        running.moved(&here);
        running.moved(&here);
        let mut told = Message::default();
        running.put(&mut told);
        let account = ServerAccount::read(&told);
        assert_eq!((account.queue, account.dropped), (Duration::from_nanos(17), 3));
        assert_eq!(account.staleness, running.staleness);
        assert_eq!((account.sent, account.messages), (80, 1));
    }
}
