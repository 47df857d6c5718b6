//! Orders of rank 0 to the others, as bytes.
//!
//! An order has a head of fixed length, and a stretch of several steps a second message with all
//! but the first: most orders are one message.

use crate::learners::learner::Look;
use crate::train::stretch::PlannedStep;

/// What rank 0 has the others do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Order {
    /// Take over parameters, state and the optimiser's memory from rank 0.
    TakeOver,
    /// Make these steps, beginning at a place of the epoch's order.
    Stretch { epoch: u32, at: u64, steps: Vec<PlannedStep> },
    /// Hand in what the optimiser remembers.
    HandIn,
    /// Tell what was done with the time.
    Account,
    /// Go home.
    End,
}

/// Words of a step, and of what comes before the first one.
const STEP_WORDS: usize = 4;
const FIRST_WORDS: usize = 4;

const WORD: usize = size_of::<u64>();

/// Bytes of an order's head.
pub(super) const HEAD_BYTES: usize = (FIRST_WORDS + STEP_WORDS) * WORD;

/// Most steps of a stretch.
const MOST_STEPS: u64 = 1 << 20;

impl Order {
    /// The head, and what follows it.
    pub(super) fn to_bytes(&self) -> ([u8; HEAD_BYTES], Vec<u8>) {
        let mut words = [0; FIRST_WORDS + STEP_WORDS];
        let mut more = Vec::new();
        match self {
            Self::TakeOver => words[0] = 1,
            Self::Stretch { epoch, at, steps } => {
                words[..FIRST_WORDS].copy_from_slice(&[
                    2,
                    (*epoch).into(),
                    *at,
                    steps.len() as u64,
                ]);
                let mut steps = steps.iter().map(step_to_words);
                words[FIRST_WORDS..].copy_from_slice(&steps.next().unwrap_or_default());
                more = steps.flatten().flat_map(u64::to_le_bytes).collect();
            }
            Self::HandIn => words[0] = 3,
            Self::Account => words[0] = 4,
            Self::End => words[0] = 5,
        }
        let mut head = [0; HEAD_BYTES];
        for (bytes, word) in head.chunks_exact_mut(WORD).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        (head, more)
    }

    /// How many bytes follow a head.
    pub(super) fn more_bytes(head: &[u8; HEAD_BYTES]) -> Option<usize> {
        let words = words_of(head);
        match (words[0], words[3]) {
            (2, steps @ 1..=MOST_STEPS) => Some((steps as usize - 1) * STEP_WORDS * WORD),
            (2, _) => None,
            _ => Some(0),
        }
    }

    /// The order of a head and what followed it; none where this version knows no such order.
    pub(super) fn from_bytes(head: &[u8; HEAD_BYTES], more: &[u8]) -> Option<Self> {
        let words = words_of(head);
        Some(match words[0] {
            1 => Self::TakeOver,
            2 => {
                let steps = [&words[FIRST_WORDS..], &words_of(more)].concat();
                let steps: Option<Vec<PlannedStep>> =
                    steps.chunks_exact(STEP_WORDS).map(step_from_words).collect();
                Self::Stretch { epoch: words[1].try_into().ok()?, at: words[2], steps: steps? }
            }
            3 => Self::HandIn,
            4 => Self::Account,
            5 => Self::End,
            _ => return None,
        })
    }
}

fn step_to_words(own: &PlannedStep) -> [u64; STEP_WORDS] {
    let look = u64::from(own.look == Look::AtNoise);
    [own.step, own.examples as u64, own.rate.to_bits(), look]
}

fn step_from_words(words: &[u64]) -> Option<PlannedStep> {
    let &[step, examples, rate, look] = words else { return None };
    let look = if look == 1 { Look::AtNoise } else { Look::No };
    Some(PlannedStep {
        step,
        examples: examples.try_into().ok()?,
        rate: f64::from_bits(rate),
        look,
    })
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    bytes.chunks_exact(WORD).map(word).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stretches_arrive_to_the_bit(
            epoch: u32, at: u64,
            steps in proptest::collection::vec((any::<u64>(), 0_usize..1 << 40, any::<f64>(), any::<bool>()), 1..20),
        ) {
            let steps: Vec<PlannedStep> = steps.into_iter().map(|(step, examples, rate, noise)| {
                let look = if noise { Look::AtNoise } else { Look::No };
                PlannedStep { step, examples, rate, look }
            }).collect();
            let order = Order::Stretch { epoch, at, steps: steps.clone() };
            let (head, more) = order.to_bytes();
            prop_assert_eq!(Order::more_bytes(&head), Some(more.len()));
            let Some(Order::Stretch { steps: found, .. }) = Order::from_bytes(&head, &more) else {
                panic!("it is a stretch");
            };
            prop_assert_eq!(found.len(), steps.len());
            for (found, own) in found.iter().zip(&steps) {
                prop_assert_eq!(found.rate.to_bits(), own.rate.to_bits());
                prop_assert_eq!((found.step, found.examples, found.look), (own.step, own.examples, own.look));
            }
        }

        #[test]
        fn any_bytes_are_an_order_or_none(head: [u8; 32], first in 0_u8..9, more in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut whole = [0; HEAD_BYTES];
            whole[..32].copy_from_slice(&head);
            whole[..WORD].copy_from_slice(&u64::from(first).to_le_bytes());
            if let Some(order) = Order::from_bytes(&whole, &more) {
                prop_assert!((1..=5).contains(&first), "{order:?}");
            }
            let _ = Order::more_bytes(&whole);
        }
    }

    fn stretch(looks: &[Look]) -> Order {
        let steps = looks.iter().zip(7..).map(|(&look, step)| PlannedStep {
            step,
            examples: 128,
            rate: 0.1 / step as f64,
            look,
        });
        Order::Stretch { epoch: 7, at: u64::MAX, steps: steps.collect() }
    }

    #[test]
    fn orders_arrive_as_they_were_given() {
        let long = stretch(&[Look::No, Look::AtNoise, Look::No]);
        let orders = [Order::TakeOver, stretch(&[Look::AtNoise]), long, Order::HandIn];
        for order in orders.into_iter().chain([Order::Account, Order::End]) {
            let (head, more) = order.to_bytes();
            assert_eq!(Order::more_bytes(&head), Some(more.len()));
            assert_eq!(Order::from_bytes(&head, &more), Some(order));
        }
        assert!(stretch(&[Look::No]).to_bytes().1.is_empty(), "one step is one message");
    }

    #[test]
    fn unknown_orders_and_endless_stretches_are_refused() {
        assert_eq!(Order::from_bytes(&[9; HEAD_BYTES], &[]), None);
        let (mut head, _) = stretch(&[Look::No]).to_bytes();
        head[3 * WORD..4 * WORD].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(Order::more_bytes(&head), None);
        head[3 * WORD..4 * WORD].copy_from_slice(&0_u64.to_le_bytes());
        assert_eq!(Order::more_bytes(&head), None);
    }
}
