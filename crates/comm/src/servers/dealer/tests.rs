use proptest::prelude::*;

use super::*;

fn dealer(rule: Consistency, workers: usize, count: u64) -> Dealer {
    let mut dealer = Dealer::new(rule, workers);
    dealer.begin(Steps { first: 10, count, alike: count });
    dealer
}

fn share(step: u64, part: u32) -> Share {
    Share { step, part }
}

/// Applies what is complete, and gives the steps with their shares.
fn apply_all(dealer: &mut Dealer) -> Vec<Complete> {
    let mut found = Vec::new();
    while let Some(complete) = dealer.next_complete() {
        found.push(complete);
        dealer.applied();
    }
    found
}

#[test]
fn sync_waits_for_a_share_of_every_worker() {
    let mut dealer = dealer(Consistency::Sync { backup: 0 }, 2, 2);
    assert_eq!(dealer.deal(1, 9, false), [share(10, 1)]);
    assert_eq!(dealer.deal(0, 9, false), [share(10, 0)]);
    assert!(dealer.done(1, share(10, 1), Some(10)));
    assert_eq!(dealer.deal(1, 9, false), [], "the step is not complete");
    assert!(dealer.done(0, share(10, 0), Some(10)));
    let takes = vec![(share(10, 0), 0), (share(10, 1), 1)];
    assert_eq!(apply_all(&mut dealer), [Complete { step: 10, takes }]);
    assert_eq!(dealer.deal(1, 9, false), [share(11, 1)]);
    assert!(!dealer.lose(0), "without backup every worker is needed");
}

#[test]
fn bounded_lets_a_worker_run_ahead_by_its_slack_and_no_further() {
    let mut dealer = dealer(Consistency::Bounded { slack: 2 }, 2, 9);
    for step in 10..13 {
        assert_eq!(dealer.deal(0, 9, false), [share(step, 0)]);
        assert!(dealer.done(0, share(step, 0), Some(10)));
    }
    assert_eq!(dealer.deal(0, 9, false), []);
    assert_eq!(dealer.deal(1, 9, false), [share(10, 1)]);
    dealer.done(1, share(10, 1), Some(10));
    assert_eq!(apply_all(&mut dealer).len(), 1);
    assert_eq!(dealer.deal(0, 9, false), [share(13, 0)]);
}

#[test]
fn what_a_lost_worker_had_is_dealt_out_again_and_its_late_word_dropped() {
    for rule in [Consistency::Async, Consistency::Bounded { slack: 1 }] {
        let mut dealer = dealer(rule, 2, 4);
        let lost = dealer.deal(0, 1, false)[0];
        assert!(dealer.lose(0));
        assert_eq!(dealer.deal(1, 1, false), [lost]);
        assert!(!dealer.done(0, lost, Some(10)), "{rule:?}: it was given up");
        assert!(dealer.done(1, lost, Some(10)));
        assert_eq!(dealer.dropped(), 1);
        assert!(!dealer.lose(1), "nobody is left");
    }
}

#[test]
fn backup_takes_the_first_and_drops_what_comes_late() {
    let mut dealer = dealer(Consistency::Sync { backup: 1 }, 3, 4);
    let slow = dealer.deal(0, 1, false)[0];
    for step in 10..13 {
        let shares: Vec<Share> = [1, 2].map(|worker| dealer.deal(worker, 1, false)[0]).to_vec();
        for (worker, share) in [1, 2].into_iter().zip(&shares) {
            assert!(dealer.done(worker, *share, Some(step)));
            assert_eq!(dealer.deal(worker, 1, false), [], "a worker computes once a version");
        }
        let found = apply_all(&mut dealer);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].step, step);
    }
    // Never a gradient of an old version.
    assert!(!dealer.done(0, slow, Some(10)));
    assert_eq!(dealer.dropped(), 1);
    // The last step has no further shares: they are computed twice.
    let last: Vec<Share> = [0, 1, 2].map(|worker| dealer.deal(worker, 1, false)[0]).to_vec();
    assert_eq!(last, [share(13, 0), share(13, 1), share(13, 0)]);
    assert!(dealer.lose(0), "one may die");
    assert!(dealer.done(2, share(13, 0), Some(13)));
    assert!(dealer.done(1, share(13, 1), Some(13)));
    apply_all(&mut dealer);
    assert!(dealer.is_over());
    assert!(!dealer.lose(1), "two may not");
}

#[test]
fn at_the_end_who_is_late_is_not_waited_for_and_others_are_for_a_while() {
    let mut dealer = dealer(Consistency::Sync { backup: 1 }, 3, 1);
    let shares: Vec<Share> = [0, 1, 2].map(|worker| dealer.deal(worker, 1, false)[0]).to_vec();
    assert_eq!(shares, [share(10, 0), share(10, 1), share(10, 0)], "the third helps at once");
    assert!(dealer.done(0, share(10, 0), Some(10)));
    assert_eq!(dealer.deal(0, 1, false), [], "worker 1 may be nearly done");
    assert_eq!(dealer.deal(0, 1, true), [share(10, 1)], "or stuck");
    assert!(dealer.done(0, share(10, 1), Some(10)));
    apply_all(&mut dealer);
    dealer.begin(Steps { first: 11, count: 1, alike: 1 });
    assert_eq!(dealer.deal(1, 1, false), [share(11, 0)]);
    assert_eq!(dealer.deal(0, 1, false), [share(11, 1)]);
    assert!(dealer.done(0, share(11, 1), Some(11)));
    assert_eq!(dealer.deal(0, 1, false), [share(11, 0)], "worker 1 was late before");
}

#[test]
fn a_share_of_servers_that_differ_is_no_gradient_of_any_version() {
    let mut dealer = dealer(Consistency::Sync { backup: 1 }, 2, 2);
    let dealt = dealer.deal(0, 1, false)[0];
    assert!(!dealer.done(0, dealt, None));
    assert_eq!(dealer.dropped(), 1);
}

#[test]
fn steps_of_another_size_do_not_stand_in() {
    let mut dealer = Dealer::new(Consistency::Sync { backup: 1 }, 2);
    dealer.begin(Steps { first: 0, count: 2, alike: 1 });
    assert_eq!(dealer.deal(0, 1, false), [share(0, 0)]);
    assert_eq!(dealer.deal(1, 1, false), [share(0, 0)], "a copy, not the smaller step");
    assert!(dealer.done(1, share(0, 0), Some(0)));
    apply_all(&mut dealer);
    assert_eq!(dealer.deal(1, 1, false), [share(1, 0)]);
}

/// What may happen to a worker next.
#[derive(Debug, Clone, Copy)]
enum Happens {
    Asks(usize),
    Finishes(usize),
    Dies(usize),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        8 => (0_usize..4).prop_map(Happens::Asks),
        8 => (0_usize..4).prop_map(Happens::Finishes),
        1 => (1_usize..4).prop_map(Happens::Dies),
    ]
}

fn rules() -> impl Strategy<Value = Consistency> {
    prop_oneof![
        Just(Consistency::Async),
        (0_u64..4).prop_map(|slack| Consistency::Bounded { slack }),
        (0_usize..3).prop_map(|backup| Consistency::Sync { backup }),
    ]
}

/// Workers with what they are at, and everything that was applied.
struct Play {
    dealer: Dealer,
    at: Vec<Vec<(Share, u64)>>,
    used: Vec<Share>,
    rule: Consistency,
    computed: u64,
}

impl Play {
    fn new(rule: Consistency, count: u64) -> Self {
        let at = vec![Vec::new(); 4];
        Self { dealer: dealer(rule, 4, count), at, used: Vec::new(), rule, computed: 0 }
    }

    fn ask(&mut self, worker: usize, waited: bool) {
        if !self.at[worker].is_empty() || !self.dealer.is_live(worker) {
            return;
        }
        let version = self.dealer.version();
        for share in self.dealer.deal(worker, 3, waited) {
            match self.rule {
                Consistency::Async => {}
                Consistency::Bounded { slack } => assert!(share.step <= version + slack),
                Consistency::Sync { backup: 0 } => assert_eq!(share.step, version),
                Consistency::Sync { .. } => {}
            }
            self.at[worker].push((share, version));
        }
    }

    fn finish(&mut self, worker: usize) {
        if self.at[worker].is_empty() || !self.dealer.is_live(worker) {
            return;
        }
        let (share, version) = self.at[worker].remove(0);
        self.computed += 1;
        let due = self.dealer.version();
        let counts = self.dealer.done(worker, share, Some(version));
        if let Consistency::Sync { .. } = self.rule {
            assert!(!counts || version == due, "a gradient of version {version} at {due}");
        }
        for complete in apply_all(&mut self.dealer) {
            self.used.extend(complete.takes.iter().map(|take| take.0));
        }
    }
}

proptest! {
    #[test]
    fn every_share_is_used_once_whatever_happens(
        rule in rules(), count in 1_u64..6,
        events in proptest::collection::vec(happens(), 0..80),
    ) {
        let mut play = Play::new(rule, count);
        let parts = play.dealer.parts() as u32;
        for event in events {
            match event {
                Happens::Asks(worker) => play.ask(worker, false),
                Happens::Finishes(worker) => play.finish(worker),
                Happens::Dies(worker) => {
                    let enough = play.dealer.live.iter().filter(|live| **live).count() - 1;
                    let least = match rule {
                        Consistency::Sync { backup } => 4 - backup,
                        _ => 1,
                    };
                    if play.dealer.is_live(worker) && enough >= least {
                        prop_assert!(play.dealer.lose(worker));
                        play.at[worker].clear();
                    }
                }
            }
        }
        // Whoever lives goes on until the end.
        for _ in 0..400 {
            (0..4).for_each(|worker| play.ask(worker, true));
            (0..4).for_each(|worker| play.finish(worker));
        }
        prop_assert!(play.dealer.is_over(), "{:?}", play.dealer);
        play.used.sort();
        let all: Vec<Share> = (10..10 + count)
            .flat_map(|step| (0..parts).map(move |part| Share { step, part })).collect();
        prop_assert_eq!(&play.used, &all);
        let left: u64 = play.at.iter().map(|own| own.len() as u64).sum();
        prop_assert!(play.computed <= all.len() as u64 + play.dealer.dropped() + left);
    }
}
