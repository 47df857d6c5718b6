//! What leader, workers and servers say to each other.
//!
//! Whoever asks gets one answer, so that two ends never both wait to send.

use super::dealer::Share;
use super::log::{Applied, AppliedPush};
use crate::lines::Message;

/// Kinds of messages.
pub(super) mod kind {
    /// Worker to server: numbers, of a version at least.
    pub(crate) const PULL: u32 = 1;
    /// Worker to server: gradients, and numbers in return where wanted.
    pub(crate) const PUSH: u32 = 2;
    /// Server: numbers.
    pub(crate) const VALUES: u32 = 3;
    /// Leader to server: a stretch begins.
    pub(crate) const BEGIN: u32 = 4;
    /// Leader to server: add up the gradients of a step, and update where nothing else is needed.
    pub(crate) const SUM: u32 = 5;
    /// Leader to server: update by the gradients that were added up.
    pub(crate) const UPDATE: u32 = 6;
    /// Leader to server: hand in everything.
    pub(crate) const STORE: u32 = 7;
    /// Leader to server: take over everything.
    pub(crate) const LOAD: u32 = 8;
    /// Leader to server: what was done with the time.
    pub(crate) const ACCOUNT: u32 = 9;
    /// Leader to server: what was applied since last asked.
    pub(crate) const LOG: u32 = 10;
    /// Server: done.
    pub(crate) const KEPT: u32 = 11;
    /// Leader to all: the job is over.
    pub(crate) const END: u32 = 12;
    /// Worker to leader: shares that are done; and a wish for more.
    pub(crate) const DONE: u32 = 13;
    /// Leader to worker: shares to compute.
    pub(crate) const LEASE: u32 = 14;
    /// Leader to worker: tell what was done with the time.
    pub(crate) const TELL: u32 = 15;
    /// Worker to leader: what was done with the time.
    pub(crate) const TOLD: u32 = 16;
    /// Worker to leader: it cannot go on.
    pub(crate) const FAILED: u32 = 17;
}

/// A wish for numbers beside a push or alone.
pub(super) mod flag {
    pub(crate) const PULL: u64 = 1;
    pub(crate) const ALL: u64 = 2;
}

/// Words of a share in a list.
const SHARE_WORDS: usize = 4;
/// Words of a finished share before what the worker says of it.
const DONE_WORDS: usize = 6;
/// Words of a push in the log.
const PUSH_WORDS: usize = 6;

/// A share to compute, as the worker hears of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leased {
    pub(crate) share: Share,
    pub(crate) parts: u32,
    pub(crate) words: Vec<u32>,
}

/// A share that is done, as the leader hears of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) share: Share,
    /// The version of all servers; none where they differed.
    pub(crate) version: Option<u64>,
    /// There are no gradients, because they would not be numbers.
    pub(crate) void: bool,
    pub(crate) words: Vec<u32>,
}

/// Adds a share to a lease.
pub(super) fn put_lease(rows: &mut Vec<u32>, share: Share, parts: u32, words: &[u32]) {
    put_u64(rows, share.step);
    rows.extend([share.part, parts]);
    rows.extend_from_slice(words);
}

/// The shares of a lease.
pub(crate) fn read_leases(message: &Message) -> Option<Vec<Leased>> {
    let (count, each) = (message.numbers[0], usize::try_from(message.numbers[1]).ok()?);
    let rows = exact(&message.rows, count, SHARE_WORDS.checked_add(each)?)?;
    let read = |words: &[u32]| Leased {
        share: Share { step: get_u64(words), part: words[2] },
        parts: words[3],
        words: words[SHARE_WORDS..].to_vec(),
    };
    Some(rows.map(read).collect())
}

/// Adds a finished share to a report.
pub(super) fn put_done(rows: &mut Vec<u32>, done: &Reported) {
    put_u64(rows, done.share.step);
    put_u64(rows, done.version.unwrap_or(u64::MAX));
    rows.extend([done.share.part, u32::from(done.void)]);
    rows.extend_from_slice(&done.words);
}

/// The finished shares of a report.
pub(crate) fn read_done(message: &Message) -> Option<Vec<Reported>> {
    let (count, each) = (message.numbers[0], usize::try_from(message.numbers[1]).ok()?);
    let rows = exact(&message.rows, count, DONE_WORDS.checked_add(each)?)?;
    let read = |words: &[u32]| Reported {
        share: Share { step: get_u64(words), part: words[4] },
        version: Some(get_u64(&words[2..])).filter(|version| *version != u64::MAX),
        void: words[5] != 0,
        words: words[DONE_WORDS..].to_vec(),
    };
    Some(rows.map(read).collect())
}

/// Adds a share that a step takes.
pub(super) fn put_take(rows: &mut Vec<u32>, share: Share, worker: u32) {
    put_u64(rows, share.step);
    rows.extend([share.part, worker]);
}

/// The shares that a step takes.
pub(crate) fn read_takes(message: &Message) -> Option<Vec<(Share, u32)>> {
    let takes = exact(&message.rows, message.numbers[0], SHARE_WORDS)?;
    let read = |words: &[u32]| (Share { step: get_u64(words), part: words[2] }, words[3]);
    Some(takes.map(read).collect())
}

/// Adds an update to the log.
pub(super) fn put_applied(rows: &mut Vec<u32>, applied: &Applied) {
    rows.push(applied.pushes.len() as u32);
    for push in &applied.pushes {
        put_u64(rows, push.share.step);
        put_u64(rows, push.pulled);
        rows.extend([push.share.part, push.worker]);
    }
}

/// The updates of a log.
pub(crate) fn read_log(mut rows: &[u32]) -> Option<Vec<Applied>> {
    let mut log = Vec::new();
    while let Some((count, rest)) = rows.split_first() {
        let length = (*count as usize).checked_mul(PUSH_WORDS)?;
        let pushes = rest.get(..length)?.chunks_exact(PUSH_WORDS).map(|words| AppliedPush {
            share: Share { step: get_u64(words), part: words[4] },
            pulled: get_u64(&words[2..]),
            worker: words[5],
        });
        log.push(Applied { pushes: pushes.collect() });
        rows = &rest[length..];
    }
    Some(log)
}

/// A text as words, the last filled up with zeros.
pub fn words_of_text(text: &str) -> Vec<u32> {
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    };
    text.as_bytes().chunks(4).map(word).collect()
}

/// The text of words; nothing where it is none.
pub fn text_of_words(words: &[u32]) -> Option<String> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    String::from_utf8(bytes).ok()
}

/// Rows that are exactly so many times so many words.
fn exact(rows: &[u32], count: u64, each: usize) -> Option<std::slice::ChunksExact<'_, u32>> {
    let whole = usize::try_from(count).ok()?.checked_mul(each)?;
    (whole == rows.len()).then(|| rows.chunks_exact(each))
}

fn put_u64(rows: &mut Vec<u32>, number: u64) {
    rows.extend([number as u32, (number >> 32) as u32]);
}

fn get_u64(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(numbers: [u64; 2], rows: Vec<u32>) -> Message {
        let [first, second] = numbers;
        Message { numbers: [first, second, 0, 0, 0, 0], rows, ..Message::default() }
    }

    proptest! {
        #[test]
        fn any_words_are_read_or_refused(
            numbers: [u64; 2], small: [u8; 2],
            rows in proptest::collection::vec(any::<u32>(), 0..40),
        ) {
            for numbers in [numbers, small.map(u64::from)] {
                let message = message(numbers, rows.clone());
                if let Some(leases) = read_leases(&message) {
                    prop_assert_eq!(leases.len() as u64, numbers[0]);
                    let mut again = Vec::new();
                    leases.iter().for_each(|own| put_lease(&mut again, own.share, own.parts, &own.words));
                    prop_assert_eq!(&again, &rows);
                }
                let _ = (read_done(&message), read_takes(&message), read_log(&rows));
            }
        }

        #[test]
        fn what_is_reported_arrives(step: u64, part: u32, version in 0..u64::MAX, void: bool, words: [u32; 3]) {
            let first = Reported { share: Share { step, part }, version: Some(version), void, words: words.to_vec() };
            let second = Reported { version: None, ..first.clone() };
            let mut rows = Vec::new();
            [&first, &second].into_iter().for_each(|own| put_done(&mut rows, own));
            prop_assert_eq!(read_done(&message([2, 3], rows)), Some(vec![first, second]));
        }

        #[test]
        fn a_log_arrives(pushes in proptest::collection::vec(any::<(u64, u64, u32, u32)>(), 0..5)) {
            let pushes = pushes.into_iter().map(|(step, pulled, part, worker)| AppliedPush {
                share: Share { step, part }, pulled, worker,
            });
            let applied = Applied { pushes: pushes.collect() };
            let mut rows = Vec::new();
            put_applied(&mut rows, &applied);
            put_applied(&mut rows, &applied);
            prop_assert_eq!(read_log(&rows), Some(vec![applied.clone(), applied]));
        }

        #[test]
        fn a_text_survives(text in "[a-zä{}:,\" ]{0,30}") {
            prop_assert_eq!(text_of_words(&words_of_text(&text)), Some(text));
        }
    }
}
