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

impl Kind {
    const ALL: [Self; 11] = [
        Self::Forward,
        Self::Backward,
        Self::MoveForward,
        Self::MoveBackward,
        Self::Sum,
        Self::Update,
        Self::HandOut,
        Self::Gathered,
        Self::Summed,
        Self::Updated,
        Self::AllBackward,
    ];
}

/// A task in the arena. It does not change while simulating, and is small: a simulation looks at
/// one after another all over the arena.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    /// Nanoseconds; for a join its kind.
    pub(super) duration: u64,
    /// Device or link; for a join its group.
    pub(super) resource: u32,
    /// For a part of an operator how many messages it waits for, for a message the task that it
    /// goes to, else the shard.
    pub(super) relation: u32,
}

impl Task {
    pub(super) const EMPTY: Self = Self { duration: 0, resource: 0, relation: 0 };

    pub(super) fn join(kind: Kind, group: u32, shard: u32) -> Self {
        Self { duration: kind as u64, resource: group, relation: shard }
    }

    /// What a join is.
    pub(super) fn join_kind(&self) -> Kind {
        Kind::ALL[self.duration as usize]
    }
}

/// Bits of the parts in a key.
const LOW: u32 = 28;

/// Bits of operator, edge or group in a key.
const OWNER: u32 = 17;

/// What orders tasks that are ready at the same moment: kind, then operator, edge or group, then
/// part. It follows from the plan alone, not from the order in which tasks were made.
pub(super) fn key(kind: Kind, owner: u32, low: u64) -> u64 {
    debug_assert!(owner < 1 << OWNER && low < 1 << LOW);
    (kind as u64) << (OWNER + LOW) | u64::from(owner) << LOW | low
}

/// What the task of a key does.
pub(super) fn kind_of(key: u64) -> Kind {
    Kind::ALL[(key >> (OWNER + LOW)) as usize & 15]
}

/// Its operator, edge or group.
pub(super) fn owner_of(key: u64) -> usize {
    (key >> LOW) as usize & ((1 << OWNER) - 1)
}

/// Its part, two parts, or place among the tasks of its group.
pub(super) fn low_of(key: u64) -> usize {
    key as usize & ((1 << LOW) - 1)
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

pub(super) fn key_of(entry: u128) -> u64 {
    (entry >> PLACE) as u64 & ((1 << 48) - 1)
}

pub(super) fn place_of(entry: u128) -> u32 {
    entry as u32 & (MOST_TASKS as u32 - 1)
}
