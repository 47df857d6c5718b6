//! `trainwright data speedtest`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use comfy_table::Table;
use trainwright::{
    CacheState, Error, SpeedFit, SpeedModel, Speedtest, SpeedtestProgress, SpeedtestRequest,
};
use trainwright_records::pictures::PixelLimit;
use trainwright_records::{Limits, ReadSource};
use trainwright_report::figure;

use super::report::{now, write_page};
use crate::arguments::SpeedtestArguments;
use crate::output::{plain_table, print, print_json, tell};

pub(crate) fn speedtest(arguments: &SpeedtestArguments) -> anyhow::Result<u8> {
    let request = SpeedtestRequest {
        pictures: &arguments.source,
        records: arguments.records.as_deref(),
        sources: each_once(&arguments.format).into_iter().map(ReadSource::from).collect(),
        size: arguments.size,
        batch_sizes: each_once(&arguments.batch_size),
        batch_numbers: each_once(&arguments.batch_number),
        threads: each_once(&arguments.threads),
        repetitions: arguments.repetitions,
        cache: if arguments.cold { CacheState::Cold } else { CacheState::Warm },
        limits: Limits {
            latency: arguments.latency.unwrap_or_default(),
            bandwidth: arguments.bandwidth,
        },
        seed: arguments.seed,
        max_pixels: arguments
            .max_pixels
            .map_or_else(PixelLimit::from_environment, Ok)
            .map_err(Error::from)?,
    };
    let mut said = Instant::now();
    let test = trainwright::speedtest(&request, &mut |at| hear(at, &mut said))?;
    if let Some(path) = &arguments.output {
        let file = File::create(path);
        let file = file.map_err(|source| Error::Folder { path: path.clone(), source })?;
        trainwright::speedtest_csv(&test.rows, file)?;
    }
    if let Some(path) = &arguments.report {
        let title = arguments.source.display().to_string();
        write_page(path, &trainwright::speedtest_page(&test, &title, &now()))?;
    }
    if arguments.json {
        print_json("data-speedtest", &test)?;
    } else {
        print(&shown(&test))?;
    }
    Ok(0)
}

/// A level named twice is one level.
fn each_once<T: Ord + Copy>(levels: &[T]) -> Vec<T> {
    levels.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()
}

/// Says how far it is: twice a second on a terminal, every ten seconds elsewhere.
fn hear(at: SpeedtestProgress, said: &mut Instant) {
    match at {
        SpeedtestProgress::Preparing(pictures) => tell(&format!("preparing {pictures} pictures")),
        SpeedtestProgress::Warming => tell("reading everything once"),
        SpeedtestProgress::Reading(done, all) => {
            let pause = if std::io::stderr().is_terminal() { 500 } else { 10_000 };
            if said.elapsed() >= Duration::from_millis(pause) || done == all {
                *said = Instant::now();
                tell(&format!("{done} of {all} readings"));
            }
        }
    }
}

fn shown(test: &Speedtest) -> String {
    let mut text = test.verdict.join("\n");
    text += "\n\nMean speed (geometric, with 95 % interval)\n";
    text += &lines(&means(test));
    let linear = of_kind(test, SpeedModel::Linear);
    if !linear.is_empty() {
        text += "\nImages/s on each parameter alone (square: p of a quadratic term)\n";
        text += &lines(&simple(test, &linear));
    }
    let joint = of_kind(test, SpeedModel::JointQuadratic);
    if !joint.is_empty() {
        text += "\nImages/s on all parameters\n";
        text += &lines(&together(test));
    }
    text
}

fn lines(table: &Table) -> String {
    let rows = table.lines().map(|line| format!("{}\n", line.trim_end()));
    rows.collect()
}

fn of_kind(test: &Speedtest, model: SpeedModel) -> Vec<&SpeedFit> {
    test.fits.iter().filter(|fit| fit.model == model).collect()
}

fn means(test: &Speedtest) -> Table {
    let mut table = plain_table();
    table.set_header([
        "source",
        "batch size",
        "batches",
        "threads",
        "n",
        "images/s",
        "from",
        "to",
        "MB/s",
    ]);
    for own in &test.means {
        table.add_row([
            own.source.name().to_owned(),
            own.batch_size.to_string(),
            own.batch_number.to_string(),
            own.threads.to_string(),
            own.n.to_string(),
            format!("{:.0}", own.images_per_s),
            own.ci_low.map_or_else(missing, |low| format!("{low:.0}")),
            own.ci_high.map_or_else(missing, |high| format!("{high:.0}")),
            figure(own.megabytes_per_s),
        ]);
    }
    table
}

fn simple(test: &Speedtest, fits: &[&SpeedFit]) -> Table {
    let mut table = plain_table();
    table.set_header([
        "source",
        "parameter",
        "slope",
        "from",
        "to",
        "r",
        "R2",
        "p",
        "adjusted p",
        "lack of fit p",
        "square",
    ]);
    for fit in fits {
        let slope = &fit.coefficients[1];
        let mut all = test.fits.iter();
        let bent = all.find(|own| {
            (own.source, own.model, own.parameter)
                == (fit.source, SpeedModel::Quadratic, fit.parameter)
        });
        table.add_row([
            fit.source.name().to_owned(),
            fit.parameter.unwrap_or_default().replace('_', " "),
            optional(slope.estimate),
            optional(slope.ci_low),
            optional(slope.ci_high),
            fit.r.map_or_else(missing, |r| format!("{r:.3}")),
            format!("{:.3}", fit.r2),
            p(fit.p),
            p(fit.p_adjusted),
            p(fit.lack_of_fit.as_ref().and_then(|own| own.p)),
            p(bent.and_then(|own| own.coefficients.get(2)?.p)),
        ]);
    }
    table
}

fn together(test: &Speedtest) -> Table {
    let mut table = plain_table();
    table.set_header([
        "source",
        "fit",
        "R2",
        "adjusted R2",
        "F",
        "p",
        "adjusted p",
        "lack of fit p",
    ]);
    for fit in &test.fits {
        let name = match fit.model {
            SpeedModel::JointLinear => "straight",
            SpeedModel::JointQuadratic => "with squares",
            SpeedModel::Linear | SpeedModel::Quadratic => continue,
        };
        table.add_row([
            fit.source.name().to_owned(),
            name.to_owned(),
            format!("{:.3}", fit.r2),
            fit.adj_r2.map_or_else(missing, |own| format!("{own:.3}")),
            optional(fit.f),
            p(fit.p),
            p(fit.p_adjusted),
            p(fit.lack_of_fit.as_ref().and_then(|own| own.p)),
        ]);
    }
    table
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(missing, figure)
}

fn p(value: Option<f64>) -> String {
    value.map_or_else(missing, |p| if p < 0.001 { format!("{p:.0e}") } else { format!("{p:.3}") })
}

fn missing() -> String {
    "-".to_owned()
}
