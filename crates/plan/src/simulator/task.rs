//! One task, and the key that orders tasks ready at the same moment.

/// What a task does. Joins take no time and wait for no device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Forward,
    Backward,
    /// A message to the next operator.
    MoveForward,
    /// Its gradients back.
    MoveBackward,
    /// Gradients of copies to each other.
    Sum,
    Update,
    /// New weights to the other copies.
    HandOut,
    /// All gradients of a shard are there.
    Gathered,
    /// All sums of a shard are done.
    Summed,
    /// All updates of a shard are done.
    Updated,
    /// The whole backward pass is done.
    AllBackward,
}

/// A task in the arena. `pos`, `end` are those of the schedule that was last taken; the others
/// change while simulating.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub(super) duration: u64,
    pub(super) end: u64,
    /// Latest end of what it waited for so far.
    pub(super) ready: u64,
    /// Key below the moment: see [`key`].
    pub(super) key: u64,
    /// Place in the order of serving.
    pub(super) pos: u32,
    /// The simulation that `ready` and `waits` belong to.
    pub(super) stamp: u32,
    pub(super) waits: u32,
    /// Operator, group or, for a message, the task that it goes to.
    pub(super) owner: u32,
    pub(super) resource: u32,
    /// Part or shard.
    pub(super) part: u32,
    pub(super) kind: Kind,
}

/// A place that no task of a schedule has.
pub(super) const NOWHERE: u32 = u32::MAX;

impl Task {
    pub(super) const EMPTY: Self = Self {
        duration: 0,
        end: 0,
        ready: 0,
        key: 0,
        pos: NOWHERE,
        stamp: 0,
        waits: 0,
        owner: 0,
        resource: 0,
        part: 0,
        kind: Kind::Forward,
    };
}

/// Bits of the parts in a key.
const LOW: u32 = 28;

/// What orders tasks that are ready at the same moment: kind, then operator, edge or group, then
/// part. It follows from the plan alone, not from the order in which tasks were made.
pub(super) fn key(kind: Kind, owner: u32, low: u64) -> u64 {
    debug_assert!(owner < 1 << 17 && low < 1 << LOW);
    (kind as u64) << (17 + LOW) | u64::from(owner) << LOW | low
}

/// Two parts of a message in a key.
pub(super) fn two_parts(first: u16, second: u16) -> u64 {
    u64::from(first) << 14 | u64::from(second)
}

/// Bits of a task's place in an entry of the queue.
const PLACE: u32 = 24;

/// The most tasks.
pub(super) const MOST_TASKS: usize = 1 << PLACE;

/// An entry of the queue: moment, key, place in the arena; smaller ones are served first.
pub(super) fn entry(ready: u64, key: u64, place: u32) -> u128 {
    u128::from(ready) << 72 | u128::from(key) << PLACE | u128::from(place)
}

pub(super) fn ready_of(entry: u128) -> u64 {
    (entry >> 72) as u64
}

pub(super) fn place_of(entry: u128) -> usize {
    (entry as u32 & (MOST_TASKS as u32 - 1)) as usize
}
