//! A process that joins a group as a rank and adds up numbers with the others, step by step.
//!
//! rank ADDRESS RANK SIZE SECRET-FILE [STEPS [PATIENCE-MS [elastic]]]
//!
//! Rank 0 listens at ADDRESS (port 0: any) and prints where; the others call it there. Every rank
//! prints a line for each event, and ends with status 3 where the group comes apart. With `elastic`
//! it goes on with the survivors instead.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use trainwright_comm::{
    Algorithm, CommError, Coordinator, Group, JoinOptions, Order, Secret, join,
};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, rank, size, secret, rest @ ..] = words.as_slice() else {
        return Err("give ADDRESS RANK SIZE SECRET-FILE [STEPS [PATIENCE-MS [elastic]]]".into());
    };
    let (rank, size): (usize, usize) = (rank.parse()?, size.parse()?);
    let steps = rest.first().map_or(Ok(100), |text| text.parse())?;
    let patience = Duration::from_millis(rest.get(1).map_or(Ok(10_000), |text| text.parse())?);
    let elastic = rest.get(2).is_some_and(|word| word == "elastic");
    let mut options = JoinOptions::new(Secret::from_file(Path::new(secret))?);
    (options.patience, options.heartbeat) = (patience, patience / 10);
    let group = if rank == 0 {
        let coordinator = Coordinator::listen(address, options)?;
        println!("listening {}", coordinator.address());
        coordinator.gather(size)?
    } else {
        join(address, Some(rank), options)?
    };
    println!("joined {} {}", group.rank(), group.size());
    match add_up(group, steps, elastic) {
        Ok(()) => {
            println!("done");
            Ok(ExitCode::SUCCESS)
        }
        Err(fault) => {
            println!("error {fault}");
            Ok(ExitCode::from(3))
        }
    }
}

fn add_up(mut group: Group, steps: usize, elastic: bool) -> Result<(), CommError> {
    let mut step = 0;
    while step < steps {
        let mut values = vec![(step + group.rank()) as f32; 50_000];
        match group.all_reduce(&mut values, Algorithm::Sharded, Order::Fixed) {
            Ok(()) => {
                let size = group.size();
                let expected = (step * size + size * (size - 1) / 2) as f32;
                assert!(values.iter().all(|value| *value == expected), "a wrong sum");
                println!("step {step}");
                step += 1;
                // A stand-in for the work of a step.
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(_) if elastic && group.check().is_err() => {
                group = group.regroup()?;
                // Ranks may have come apart one step from each other: the furthest decides.
                let furthest = group.all_gather_equal(&[step as f32])?;
                step = furthest.into_iter().fold(0.0, f32::max) as usize;
                println!("regrouped {} {}", group.rank(), group.size());
            }
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}
