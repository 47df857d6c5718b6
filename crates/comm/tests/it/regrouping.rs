//! Survivors that meet again.

use std::thread;
use std::time::Duration;

use trainwright_comm::{Algorithm, CommError, Group, JoinOptions, Order};

use crate::lab::{on_each, options, sockets};

fn quick() -> JoinOptions {
    JoinOptions {
        heartbeat: Duration::from_millis(20),
        patience: Duration::from_millis(400),
        ..options()
    }
}

/// Adds up 1 over the group until it comes apart, then with the survivors; the sum there.
fn survive(mut group: Group) -> Result<f32, CommError> {
    while group.barrier().is_ok() {}
    let mut group = group.regroup()?;
    let mut sum = [1.0];
    group.all_reduce(&mut sum, Algorithm::Sharded, Order::Fixed)?;
    Ok(sum[0])
}

#[test]
fn two_ranks_lost_at_once_are_two_fewer() {
    let mut groups = sockets(5, &quick());
    let lost = groups.split_off(3);
    let survivors: Vec<_> =
        groups.into_iter().map(|group| thread::spawn(move || survive(group))).collect();
    drop(lost);
    for survivor in survivors {
        assert_eq!(survivor.join().unwrap().unwrap(), 3.0);
    }
}

#[test]
fn a_group_survives_loss_after_loss_down_to_rank_0() {
    let sizes = on_each(sockets(4, &quick()), |group| {
        let mut sizes = Vec::new();
        // Each time the last rank goes; a group of threads stands in for one that is used up.
        while group.rank() + 1 < group.size() {
            while group.barrier().is_ok() {}
            let old = std::mem::replace(group, Group::threads(1).remove(0));
            *group = old.regroup().unwrap();
            sizes.push(group.size());
        }
        sizes
    });
    assert_eq!(sizes, [vec![3, 2, 1], vec![3, 2], vec![3], vec![]]);
}

#[test]
fn a_whole_group_and_a_group_of_threads_do_not_form_again() {
    let mut groups = sockets(2, &quick());
    let whole = groups.remove(0).regroup().unwrap_err();
    assert_eq!(whole.to_string(), "this group cannot form again: no rank is lost");
    let threads = Group::threads(2).remove(0).regroup().unwrap_err();
    assert_eq!(threads.to_string(), "this group cannot form again: its ranks are threads");
}
