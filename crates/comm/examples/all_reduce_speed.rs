//! How long an all-reduce takes, for bench/allreduce.
//!
//! all_reduce_speed copy RANKS BYTES:REPEATS[,...]
//! all_reduce_speed threads RANKS BYTES:REPEATS[,...] [ALGORITHM]
//! all_reduce_speed tcp ADDRESS RANK SIZE SECRET-FILE BYTES:REPEATS[,...] [ALGORITHM]
//!
//! The first rank prints, for each size, the milliseconds of one repetition: the time of all of
//! them between two barriers, divided. `copy` lets so many threads copy BYTES each at the same time.
//! ALGORITHM is naive, ring, fast-ring, tree or sharded (the default).

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::sync::Barrier;
use std::time::Instant;

use trainwright_comm::{
    Algorithm, CommError, Coordinator, Group, JoinOptions, Order, Secret, join,
};

/// Repetitions before those that count.
const WARM_UP: usize = 2;

/// Bytes of a vector, and how often it is added up.
type Loads = Vec<(usize, usize)>;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let times = match words.as_slice() {
        ["copy", ranks, loads] => copy(ranks.parse()?, &parse_loads(loads)?),
        ["threads", ranks, loads, rest @ ..] => {
            threads(ranks.parse()?, &parse_loads(loads)?, way(rest)?)
        }
        ["tcp", address, rank, size, secret, loads, rest @ ..] => {
            let group = meet(address, rank.parse()?, size.parse()?, secret)?;
            repeat(group, &parse_loads(loads)?, way(rest)?)?
        }
        _ => return Err("give copy, threads or tcp; see the head of this file".into()),
    };
    let shown: Vec<String> = times.iter().map(|time| format!("{time:.4}")).collect();
    println!("{}", shown.join(" "));
    Ok(())
}

fn parse_loads(text: &str) -> Result<Loads, Box<dyn Error>> {
    let load = |load: &str| {
        let (bytes, repeats) = load.split_once(':').ok_or("a load is BYTES:REPEATS")?;
        Ok((bytes.parse()?, repeats.parse()?))
    };
    text.split(',').map(load).collect()
}

fn way(words: &[&str]) -> Result<(Algorithm, Order), String> {
    match words {
        [] | ["sharded"] => Ok((Algorithm::Sharded, Order::Fixed)),
        ["naive"] => Ok((Algorithm::Naive, Order::Fixed)),
        ["ring"] => Ok((Algorithm::Ring, Order::Fixed)),
        ["fast-ring"] => Ok((Algorithm::Ring, Order::Fast)),
        ["tree"] => Ok((Algorithm::Tree, Order::Fixed)),
        other => Err(format!("there is no algorithm {other:?}")),
    }
}

/// Milliseconds in which threads copy so many bytes each.
fn copy(ranks: usize, loads: &Loads) -> Vec<f64> {
    let barrier = Barrier::new(ranks);
    let one = |bytes: usize, repeats: usize| {
        let (from, mut to) = (vec![1.0_f32; bytes / 4], vec![0.0_f32; bytes / 4]);
        let mut start = Instant::now();
        for round in 0..WARM_UP + repeats {
            if round == WARM_UP {
                barrier.wait();
                start = Instant::now();
            }
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
        }
        barrier.wait();
        start.elapsed().as_secs_f64() * 1e3 / repeats as f64
    };
    let all = || loads.iter().map(|(bytes, repeats)| one(*bytes, *repeats)).collect();
    std::thread::scope(|scope| {
        for _ in 1..ranks {
            scope.spawn(|| -> Vec<f64> { all() });
        }
        all()
    })
}

fn threads(ranks: usize, loads: &Loads, way: (Algorithm, Order)) -> Vec<f64> {
    std::thread::scope(|scope| {
        let start = |group| scope.spawn(move || repeat(group, loads, way));
        let ranks: Vec<_> = Group::threads(ranks).into_iter().map(start).collect();
        let mut times = ranks.into_iter().map(|rank| rank.join().expect("no rank panics"));
        times.next().expect("a first rank").expect("no rank is lost")
    })
}

fn meet(address: &str, rank: usize, size: usize, secret: &str) -> Result<Group, CommError> {
    let options = JoinOptions::new(Secret::from_file(Path::new(secret))?);
    if rank == 0 {
        Coordinator::listen(address, options)?.gather(size)
    } else {
        join(address, Some(rank), options)
    }
}

fn repeat(
    mut group: Group,
    loads: &Loads,
    (algorithm, order): (Algorithm, Order),
) -> Result<Vec<f64>, CommError> {
    let mut times = Vec::new();
    for (bytes, repeats) in loads {
        let mut values: Vec<f32> = (0..bytes / 4).map(|at| (at % 1000) as f32).collect();
        group.all_reduce(&mut values, algorithm, order)?;
        let right = |(at, sum): (usize, &f32)| *sum == ((at % 1000) * group.size()) as f32;
        assert!(values.iter().enumerate().all(right), "a wrong sum");
        // Sums of sums stay 0, and cost what others do.
        values.fill(0.0);
        for _ in 0..WARM_UP {
            group.all_reduce(&mut values, algorithm, order)?;
        }
        group.barrier()?;
        let start = Instant::now();
        for _ in 0..*repeats {
            group.all_reduce(&mut values, algorithm, order)?;
        }
        group.barrier()?;
        times.push(start.elapsed().as_secs_f64() * 1e3 / *repeats as f64);
    }
    Ok(times)
}
