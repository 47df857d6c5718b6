//! What a rank of a split network counts as its memory is what it allocates.
//!
//! This binary is one of its own with one test, for the allocator counts whatever its threads do.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use serde_json::{Value, json};
use trainwright_study::JobSpec;
use trainwright_train::{Flow, TrainEvent, TrainOutcome, train};

/// The most threads that are told apart.
const THREADS: usize = 64;

/// Bytes that each thread has taken and not given back.
static LIVE: [AtomicI64; THREADS] = [const { AtomicI64::new(0) }; THREADS];

/// Threads so far.
static SEEN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: i64) {
    // A thread that ends has no number any more; what it frees then is little.
    let _ = NUMBER.try_with(|number| {
        if number.get() == usize::MAX {
            number.set(SEEN.fetch_add(1, Ordering::Relaxed));
        }
        LIVE[number.get() % THREADS].fetch_add(bytes, Ordering::Relaxed);
    });
}

// SAFETY: everything is left to the system's allocator; sizes are only counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps to the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

/// Bytes that the second of two ranks holds between two steps, and those that it counts.
fn held_and_counted(split: &Value, optimizer: &str) -> (f64, f64) {
    let job = json!({
        "network": "mlp:784-1024-1024-10", "data": "fashion-mnist-sample", "batch": 100,
        "optimizer": optimizer, "epochs": 1, "seed": 3, "strategy": "mirrored", "replicas": 2,
        "split": split,
    });
    let job: JobSpec = serde_json::from_value(job).expect("the other keys have defaults");
    let known = SEEN.load(Ordering::Relaxed);
    let mut held = 0;
    let outcome = train(&job, &mut |event| {
        if let TrainEvent::Step(_) = event {
            let ranks = known..SEEN.load(Ordering::Relaxed);
            held = ranks.map(|at| LIVE[at % THREADS].load(Ordering::Relaxed)).max().unwrap_or(0);
        }
        Flow::Continue
    });
    let TrainOutcome::Done(done) = outcome.expect("the job can be trained") else {
        panic!("it was not stopped")
    };
    (held as f64, done.ranks[1].memory_bytes.expect("a rank of a split counts") as f64)
}

#[test]
fn a_rank_counts_what_it_allocates() {
    let cuts = |words: &[(&str, &str)]| -> Vec<Value> {
        words.iter().map(|(name, cut)| json!({ "name": name, "cut": cut })).collect()
    };
    let tensor = cuts(&[("0", "outputs"), ("1", "inputs")]);
    let stages = json!({ "begins": ["0", "1"], "micro_batches": 4, "order": "gpipe" });
    for (split, optimizer) in [
        (json!({ "data": 2, "tensor": 1, "layers": [] }), "momentum"),
        (json!({ "data": 1, "tensor": 2, "layers": tensor }), "adam"),
        (json!({ "data": 1, "tensor": 1, "layers": [], "pipeline": stages }), "momentum"),
    ] {
        let (held, counted) = held_and_counted(&split, optimizer);
        let ratio = counted / held;
        assert!((0.93..1.07).contains(&ratio), "{split}: {counted} of {held} bytes");
    }
}
