//! Pushes and updates without lines: an owner that writes down what it is told.

use proptest::prelude::*;

use super::*;

/// Writes down the gradients of each sum, and each update.
#[derive(Default)]
struct Told {
    sums: Vec<Vec<f32>>,
    updates: Vec<(f64, Option<f64>)>,
}

impl Owner for Told {
    fn read(&self, _: Option<&[u32]>, _: &mut Vec<f32>) {}

    fn has_rows(&self, _: &[u32]) -> bool {
        true
    }

    fn admits(&self, push: &Push<'_>) -> bool {
        push.values.len() == 1
    }

    fn sum(&mut self, gradients: &Gradients<'_>) {
        self.sums.push(gradients.pushes.iter().map(|push| push.values[0]).collect());
    }

    fn squares(&mut self) -> Vec<f64> {
        Vec::new()
    }

    fn update(&mut self, rate: f64, norm: Option<f64>) {
        self.updates.push((rate, norm));
    }

    fn store(&mut self, _: &mut Vec<f32>) {}

    fn load(&mut self, _: &[f32]) -> bool {
        true
    }
}

const AT_ONCE: u64 = 0;
const BY_VERSION: u64 = 1;
const BY_STEP: u64 = 2;

fn books(applies: u64, first: u64) -> Books<Told> {
    let mut books = Books::new(Told::default());
    books.begin([first, applies, 1, 0, 0, 0]).unwrap();
    books
}

/// A push of one of two parts, whose gradient is `value`.
fn message(step: u64, part: u64, pulled: u64, value: f32) -> Message {
    let numbers = [step, part | 2 << 32, pulled, 0.5_f64.to_bits(), 1, 0];
    Message { numbers, values: vec![value], ..Message::default() }
}

fn push(books: &mut Books<Told>, worker: u32, mut message: Message) -> Option<bool> {
    books.take_in(Came { worker, message: &mut message })
}

fn share(step: u64, part: u32) -> Share {
    Share { step, part }
}

#[test]
fn at_once_each_step_is_applied_once_and_its_age_is_counted() {
    let mut books = books(AT_ONCE, 10);
    assert_eq!(push(&mut books, 0, message(10, 0, 10, 1.0)), Some(true));
    assert_eq!(push(&mut books, 1, message(12, 0, 10, 2.0)), Some(true));
    assert_eq!(push(&mut books, 0, message(10, 0, 11, 3.0)), Some(false), "again");
    assert_eq!(push(&mut books, 0, message(9, 0, 10, 4.0)), Some(false), "of an older stretch");
    assert_eq!(books.owner.sums, [[1.0], [2.0]]);
    assert_eq!(books.owner.updates, [(0.5, None), (0.5, None)]);
    assert_eq!((books.version, books.account.dropped), (12, 2));
    assert_eq!(books.account.staleness.counts().collect::<Vec<_>>(), [(0, 1), (1, 1)]);
    let logged = &books.log[1].pushes[0];
    assert_eq!(*logged, AppliedPush { share: share(12, 0), pulled: 10, worker: 1 });
}

#[test]
fn shares_are_added_in_the_order_that_the_leader_names() {
    let mut books = books(BY_VERSION, 0);
    for (worker, part) in [(2, 0), (0, 1), (1, 0)] {
        let value = worker as f32;
        assert_eq!(push(&mut books, worker, message(0, part, 0, value)), Some(true));
    }
    assert!(books.owner.sums.is_empty(), "nothing before the leader's word");
    books.sum(2, &[(share(0, 0), 1), (share(0, 1), 0)]).unwrap();
    books.update(0.25, Some(3.0));
    assert_eq!(books.owner.sums, [[1.0, 0.0]]);
    assert_eq!(books.owner.updates, [(0.25, Some(3.0))]);
    // The share that another worker computed too belongs to an older version by now.
    assert_eq!((books.account.dropped, books.held.len()), (1, 0));
    assert_eq!(push(&mut books, 2, message(1, 0, 0, 9.0)), Some(false), "an older version");
    assert_eq!(books.log.len(), 1);
}

#[test]
fn a_share_that_is_not_there_is_missed() {
    let mut books = books(BY_VERSION, 0);
    push(&mut books, 0, message(0, 0, 0, 1.0)).unwrap();
    assert_eq!(books.sum(2, &[(share(0, 0), 1)]), None, "of another worker");
    assert_eq!(books.sum(2, &[(share(0, 1), 0)]), None, "of another part");
    assert!(books.owner.sums.is_empty());
}

#[test]
fn workers_ahead_are_held_until_their_step_is_due() {
    let mut books = books(BY_STEP, 0);
    for step in 0..3 {
        assert_eq!(push(&mut books, 0, message(step, 0, 0, step as f32)), Some(true));
    }
    for step in 0..2 {
        books.sum(1, &[(share(step, 0), 0)]).unwrap();
        books.update(0.5, None);
    }
    assert_eq!(books.owner.sums, [[0.0], [1.0]]);
    assert_eq!((books.held.len(), books.account.dropped), (1, 0), "the third waits");
    assert_eq!(push(&mut books, 1, message(1, 1, 1, 9.0)), Some(false), "its step is over");
    assert_eq!(books.account.staleness.counts().collect::<Vec<_>>(), [(0, 1), (1, 1)]);
}

#[test]
fn a_new_stretch_forgets_what_was_held_or_added_up_and_counts_it() {
    let mut books = books(BY_STEP, 7);
    push(&mut books, 0, message(7, 0, 7, 1.0)).unwrap();
    push(&mut books, 1, message(8, 0, 7, 2.0)).unwrap();
    // The leader goes back to a checkpoint between the sum and the update.
    books.sum(1, &[(share(7, 0), 0)]).unwrap();
    books.begin([3, AT_ONCE, 1, 0, 0, 0]).unwrap();
    assert_eq!((books.version, books.account.dropped), (3, 1));
    push(&mut books, 0, message(3, 0, 3, 5.0)).unwrap();
    assert_eq!(books.log.last().unwrap().pushes.len(), 1, "of the new stretch alone");
    assert_eq!(books.account.staleness.largest(), Some(0));
    assert_eq!(books.begin([0, 9, 0, 0, 0, 0]), None, "there is no such rule");
}

#[test]
fn what_is_no_push_is_refused_and_counts_as_nothing() {
    let mut books = books(AT_ONCE, 0);
    let good = message(0, 0, 0, 1.0);
    let with = |at: usize, number: u64| {
        let mut message = good.clone();
        message.numbers[at] = number;
        message
    };
    for (message, why) in [
        (with(1, 2 | 2 << 32), "a third of two parts"),
        (with(1, 0), "a part of none"),
        (with(2, 1), "computed from a version that is yet to come"),
        (with(4, 0), "of no micro-batch"),
        (with(4, 1 << 33), "of too many micro-batches"),
        (Message { values: vec![1.0, 2.0], ..good.clone() }, "the owner does not know it"),
    ] {
        assert_eq!(push(&mut books, 0, message), None, "{why}");
    }
    assert_eq!((books.version, books.account.dropped), (0, 0));
    assert_eq!(push(&mut books, 0, good), Some(true));
}

proptest! {
    /// Every push is applied, held or dropped; no step twice.
    #[test]
    fn no_push_is_lost_from_the_books(
        steps in proptest::collection::vec((0_u64..12, 0_u32..3), 1..40), applies in 0_u64..3,
    ) {
        let mut books = books(applies, 2);
        for (step, worker) in &steps {
            let pulled = books.version;
            prop_assert!(push(&mut books, *worker, message(*step, 0, pulled, 1.0)).is_some());
            let due = share(books.version, 0);
            if applies != AT_ONCE && books.sum(1, &[(due, *worker)]).is_some() {
                books.update(0.5, None);
            }
        }
        let applied: usize = books.log.iter().map(|own| own.pushes.len()).sum();
        let dropped = books.account.dropped as usize;
        prop_assert_eq!(applied + dropped + books.held.len(), steps.len());
        prop_assert_eq!(books.version, 2 + books.owner.updates.len() as u64);
        prop_assert_eq!(books.account.staleness.total(), applied as u64);
        let mut seen: Vec<u64> = books.log.iter().map(|own| own.pushes[0].share.step).collect();
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(seen.len(), applied, "a step was applied twice");
    }
}
