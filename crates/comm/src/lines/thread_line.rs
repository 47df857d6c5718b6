//! A line between two threads: a queue each way.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::Wire;
use super::message::{Message, Words};
use crate::error::{CommError, Loss};

/// One end of a line between two threads. An end that is dropped is lost to the other.
pub(super) struct ThreadLine {
    peer: usize,
    goes: Sender<Message>,
    comes: Receiver<Message>,
}

impl ThreadLine {
    pub(super) fn pair(first: usize, second: usize) -> (Self, Self) {
        let ((to_second, at_second), (to_first, at_first)) = (channel(), channel());
        let near = Self { peer: second, goes: to_second, comes: at_first };
        let far = Self { peer: first, goes: to_first, comes: at_second };
        (near, far)
    }

    fn lost(&self) -> CommError {
        CommError::PeerLost { rank: self.peer, why: Loss::Left }
    }
}

impl Wire for ThreadLine {
    fn send(&mut self, words: &Words<'_>) -> Result<(), CommError> {
        let mut message = Message::default();
        message.copy_from(words);
        self.goes.send(message).map_err(|_| self.lost())
    }

    fn receive(
        &mut self,
        into: &mut Message,
        most: usize,
        comes: &mut dyn FnMut(),
    ) -> Result<(), CommError> {
        let message = self.comes.recv().map_err(|_| self.lost())?;
        comes();
        let bytes = message.words().bytes_of_parts() as u64;
        if bytes > most as u64 {
            return Err(CommError::TooLarge { rank: self.peer, bytes, limit: most as u64 });
        }
        *into = message;
        Ok(())
    }

    /// A thread that is gone is noticed by the next message.
    fn check(&self) -> Result<(), CommError> {
        Ok(())
    }
}
