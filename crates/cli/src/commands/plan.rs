//! `trainwright plan`.

use std::time::Duration;

use trainwright::plans::{Constraints, Pin, Training};
use trainwright::{Error, NetworkRequest, PlanRequest, Wish, terminal};

use crate::arguments::PlanArguments;
use crate::commands::training::dimensions;
use crate::interrupt::Interrupt;
use crate::output::{show, tell};
use crate::pages::{check_folder_of, now, write_file};

pub(crate) fn plan(arguments: &PlanArguments) -> anyhow::Result<u8> {
    let files = [&arguments.output, &arguments.trace, &arguments.report];
    for path in files.into_iter().flatten() {
        check_folder_of(path)?;
    }
    let request = request(arguments)?;
    let interrupt = Interrupt::listen()?;
    let stop = || interrupt.wish() != Wish::GoOn;
    let answer = trainwright::plan(&request, &stop, &mut tell)?;
    if let Some(path) = &arguments.output {
        write_file(path, answer.file.to_json())?;
    }
    if let Some(path) = &arguments.trace {
        write_file(path, &answer.trace)?;
    }
    if let Some(path) = &arguments.report {
        write_file(path, trainwright::plan_page(&answer, &now()))?;
    }
    show("plan", arguments.json, &answer.reply, terminal::plan)?;
    Ok(if stop() { 130 } else { 0 })
}

fn request(arguments: &PlanArguments) -> Result<PlanRequest, Error> {
    let memory_bytes = match arguments.memory {
        Some(gib) if gib > 0.0 && gib < 1e6 => Some((gib * (1_u64 << 30) as f64) as u64),
        Some(gib) => {
            return Err(Error::Request(format!("--memory {gib}: a device has some GiB above 0")));
        }
        None => None,
    };
    let time_limit = match &arguments.time_limit {
        Some(own) if own.seconds() > 0.0 && own.seconds() < 1e7 => {
            Some(Duration::from_secs_f64(own.seconds()))
        }
        Some(own) => {
            let seconds = own.seconds();
            return Err(Error::Request(format!("--time-limit {seconds} s: it must be above 0")));
        }
        None => None,
    };
    if arguments.measure && arguments.machine != "here" {
        let machine = &arguments.machine;
        return Err(Error::Request(format!(
            "--measure: only what is planned for this machine can be tried; use --machine here, not {machine}"
        )));
    }
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    Ok(PlanRequest {
        network: NetworkRequest {
            description: arguments.network.clone(),
            input: arguments.input.as_deref().map(dimensions).transpose()?,
            classes: arguments.classes,
        },
        machine: arguments.machine.clone(),
        batch: arguments.batch,
        examples: arguments.examples,
        training: Training {
            optimizer_slots: arguments.optimizer_slots,
            sums: arguments.sums.noun(),
            overlap: arguments.overlap(),
            sharding: arguments.sharding.noun(),
            recompute: arguments.recompute,
        },
        constraints: Constraints {
            pins: arguments.pin.iter().map(|text| pin(text)).collect::<Result<_, _>>()?,
            forbid: arguments.forbid.clone(),
            max_degree: arguments.max_degree,
        },
        memory_bytes,
        strategy: arguments.strategy.map(|own| own.noun()),
        seed: arguments.seed,
        proposals: arguments.proposals,
        time_limit,
        threads: arguments.threads.unwrap_or_else(cores).clamp(1, 256),
        measure_on: arguments.measure.then(|| arguments.data.clone()),
    })
}

/// A pin such as `fc6=0,1`.
fn pin(text: &str) -> Result<Pin, Error> {
    let unread = || Error::Request(format!("--pin {text}: pins look like fc6=0,1"));
    let (operator, devices) = text.split_once('=').ok_or_else(unread)?;
    let devices = devices.split(',').map(|device| device.trim().parse().ok());
    let devices = devices.collect::<Option<Vec<u16>>>().ok_or_else(unread)?;
    Ok(Pin { operator: operator.to_owned(), devices })
}
