//! Why ranks could not join, or a group came apart.

use std::io;
use std::time::Duration;

/// Why ranks could not join, or a group came apart.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum CommError {
    #[error("rank {rank} is lost: {why}")]
    PeerLost { rank: usize, why: Loss },
    #[error(
        "rank {by} gave this rank up as lost; the group goes on without it, so end this process or start it again"
    )]
    GivenUp { by: usize },
    #[error(
        "rank {rank} is out of step: message {found} came where {expected} was due; every rank must call the same operations in the same order"
    )]
    OutOfStep { rank: usize, expected: String, found: String },
    #[error(
        "rank {rank} sent {found} bytes where {expected} were due; every rank must call the operation with vectors of the same length"
    )]
    WrongLength { rank: usize, expected: u64, found: u64 },
    #[error("{what}: got {found}, expected {expected}")]
    WrongShape { what: &'static str, expected: usize, found: usize },
    #[error("rank {rank} is not among the {size} ranks of the group")]
    NoSuchRank { rank: usize, size: usize },
    #[error("a message of {bytes} bytes from rank {rank} is larger than the limit of {limit}")]
    TooLarge { rank: usize, bytes: u64, limit: u64 },
    #[error("cannot {what} {address}: {source}")]
    Socket { what: &'static str, address: String, source: io::Error },
    #[error("the shared secret has {bytes} bytes; give it at least {least}")]
    WeakSecret { bytes: usize, least: usize },
    #[error("cannot read the shared secret from {path}: {source}")]
    SecretFile { path: std::path::PathBuf, source: io::Error },
    #[error("the system gives no random numbers: {0}")]
    NoRandomness(String),
    #[error("{address} is no rank of this program: {fault}")]
    Stranger { address: String, fault: String },
    #[error("refused by {address}: {refusal}")]
    Refused { address: String, refusal: Refusal },
    #[error("no answer from {address} within {} s; is rank 0 running there, and still waiting for ranks?", waited.as_secs_f64())]
    NoAnswer { address: String, waited: Duration },
    #[error("{} of {size} ranks did not join within {} s: {}{}", ranks.len(), waited.as_secs_f64(), list(ranks), told(refused))]
    Missing { ranks: Vec<usize>, size: usize, waited: Duration, refused: Vec<String> },
    #[error(
        "rank 0, where survivors would meet, is lost or has given this rank up: the group has ended"
    )]
    NoCoordinator,
    #[error("rank {rank} cannot go on: {why}")]
    Failed { rank: usize, why: String },
    #[error("this group cannot form again: {0}")]
    CannotRegroup(&'static str),
}

/// How a rank was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum Loss {
    #[error("its connection closed, so its process has ended")]
    Closed,
    #[error("nothing was heard of it for longer than the patience")]
    Silent,
    #[error("it left the group while others still needed it")]
    Left,
    #[error("it panicked")]
    Panicked,
    #[error("it sent bytes that are no message of this protocol")]
    Nonsense,
    #[error("it was at another operation than the others")]
    OutOfStep,
    #[error("it did not take part in an operation within the limit")]
    TimedOut,
    #[error("it could not be reached while the group formed")]
    Unreachable,
    #[error("it no longer hears rank 0, which lives")]
    CutOff,
}

impl Loss {
    const ALL: [Self; 9] = [
        Self::Closed,
        Self::Silent,
        Self::Left,
        Self::Panicked,
        Self::Nonsense,
        Self::OutOfStep,
        Self::TimedOut,
        Self::Unreachable,
        Self::CutOff,
    ];

    /// The number of this loss in an abort frame.
    pub(crate) fn code(self) -> u8 {
        Self::ALL.iter().position(|loss| *loss == self).expect("every loss is listed") as u8
    }

    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// Why a coordinator or a rank turned a connection away.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum Refusal {
    #[error("the joiner speaks version {joiner} of the protocol, the group version {group}")]
    Version { group: u16, joiner: u16 },
    #[error("the shared secrets differ")]
    Secret,
    #[error(
        "the group's job is `{group}`, the joiner's is `{joiner}`: start every rank with the same job on the same kind of processor"
    )]
    Fingerprint { group: String, joiner: String },
    #[error("all {size} ranks have joined already")]
    Full { size: usize },
    #[error("rank {rank} has joined already")]
    RankTaken { rank: usize },
    #[error("the group has {size} ranks, so there is no rank {rank}")]
    NoSuchRank { rank: usize, size: usize },
    #[error("the group is at number {now}; a member of group {joiner} cannot join it")]
    OldGroup { now: u32, joiner: u32 },
    #[error("rank {rank} was given up as lost")]
    GivenUp { rank: usize },
}

fn list(ranks: &[usize]) -> String {
    let shown: Vec<String> = ranks.iter().map(ToString::to_string).collect();
    format!("rank {}", shown.join(", "))
}

fn told(refused: &[String]) -> String {
    if refused.is_empty() {
        String::new()
    } else {
        format!("; turned away: {}", refused.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loss_survives_its_code() {
        for loss in Loss::ALL {
            assert_eq!(Loss::of_code(loss.code()), Some(loss));
        }
        assert_eq!(Loss::of_code(Loss::ALL.len() as u8), None);
    }

    #[test]
    fn missing_ranks_are_listed_with_those_turned_away() {
        let error = CommError::Missing {
            ranks: vec![2, 3],
            size: 4,
            waited: Duration::from_millis(1500),
            refused: vec!["1.2.3.4:5: the shared secrets differ".to_owned()],
        };
        assert_eq!(
            error.to_string(),
            "2 of 4 ranks did not join within 1.5 s: rank 2, 3; turned away: 1.2.3.4:5: the shared secrets differ"
        );
    }

    #[test]
    fn messages_name_the_rank_and_what_to_do() {
        for (error, words) in [
            (
                CommError::PeerLost { rank: 3, why: Loss::Silent },
                "rank 3 is lost: nothing was heard of it for longer than the patience",
            ),
            (
                CommError::WrongLength { rank: 1, expected: 8, found: 12 },
                "rank 1 sent 12 bytes where 8 were due; every rank must call the operation with vectors of the same length",
            ),
            (
                CommError::NoSuchRank { rank: 4, size: 4 },
                "rank 4 is not among the 4 ranks of the group",
            ),
            (
                CommError::TooLarge { rank: 0, bytes: 11, limit: 10 },
                "a message of 11 bytes from rank 0 is larger than the limit of 10",
            ),
            (
                CommError::Missing {
                    ranks: vec![1],
                    size: 2,
                    waited: Duration::from_secs(3),
                    refused: Vec::new(),
                },
                "1 of 2 ranks did not join within 3 s: rank 1",
            ),
            (
                CommError::Refused {
                    address: "a:1".to_owned(),
                    refusal: Refusal::RankTaken { rank: 2 },
                },
                "refused by a:1: rank 2 has joined already",
            ),
            (
                CommError::Refused {
                    address: "a:1".to_owned(),
                    refusal: Refusal::OldGroup { now: 4, joiner: 2 },
                },
                "refused by a:1: the group is at number 4; a member of group 2 cannot join it",
            ),
        ] {
            assert_eq!(error.to_string(), words);
        }
    }
}
