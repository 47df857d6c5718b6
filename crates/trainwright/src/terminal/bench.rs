//! Timed commands in words.

use trainwright_analysis::wording::{bytes, percent, to_spread};
use trainwright_report::figure;
use trainwright_report::terminal::{Colour, Unit, visible};

use crate::{BenchReply, BenchResult};

/// What commands took, which one is better, and what to keep in mind.
pub fn bench(reply: &BenchReply, colour: Colour) -> String {
    let mut text = String::new();
    let mut put = |line: &str| {
        text.push_str(&visible(line));
        text.push('\n');
    };
    for (number, own) in (1..).zip(&reply.results) {
        put(&format!("{number}  {}", own.name));
        put(&value_line(reply, own));
        put(&use_line(own));
    }
    if let Some(start) = reply.shell_start_s {
        let shell = reply.shell.as_deref().unwrap_or_default();
        let time = Unit::Seconds.time(start);
        put(&format!("   The start of the shell `{shell}`, {time}, is taken off every time."));
    }
    let headed = |head: &str, lines: &[String]| match lines {
        [] => String::new(),
        lines => {
            let lines: Vec<String> =
                lines.iter().map(|own| format!("  {}\n", visible(own))).collect();
            format!("\n{}\n{}", colour.heading(head), lines.concat())
        }
    };
    text + &headed("Verdict", &reply.verdict) + &headed("Keep in mind", &reply.notes)
}

fn value_line(reply: &BenchReply, own: &BenchResult) -> String {
    let Some(mean) = own.mean else { return format!("   {}: no value", reply.metric) };
    let (scale, unit) = scale(reply, mean);
    let ends = own.ci_low.zip(own.ci_high);
    let shown = |value: f64| match ends {
        Some((low, high)) => to_spread(value * scale, low * scale, high * scale),
        None => figure(value * scale),
    };
    let interval = ends.map_or_else(String::new, |(low, high)| {
        format!(" (95 % interval {} to {})", shown(low.max(0.0)), shown(high))
    });
    let sd = own.sd.map_or_else(String::new, |sd| format!(", sd {}", figure(sd * scale)));
    let range = own
        .min
        .zip(own.max)
        .map_or_else(String::new, |(min, max)| format!(", {} to {}", shown(min), shown(max)));
    let median = own.median.map_or_else(String::new, |own| format!(", median {}", shown(own)));
    let runs = if own.runs == 1 { "1 run".to_owned() } else { format!("{} runs", own.runs) };
    format!("   {}  {} {unit}{interval}{sd}{median}{range} in {runs}", reply.metric, shown(mean))
}

fn use_line(own: &BenchResult) -> String {
    let time = |value: Option<f64>| value.map_or("-".to_owned(), |own| Unit::Seconds.time(own));
    let busy = own.user_s.zip(own.system_s).zip(own.wall_s);
    let share = match busy {
        Some(((user, system), wall)) if wall > 0.0 => {
            format!(", {} of a core", percent(100.0 * (user + system) / wall))
        }
        _ => String::new(),
    };
    let memory = match own.peak_memory_bytes {
        Some(most) => bytes(most),
        None => "too short to see".to_owned(),
    };
    format!("   user {}, system {}{share}, memory {memory}", time(own.user_s), time(own.system_s))
}

/// The unit that a value is shown in, and how many of it there are in one of its own.
fn scale(reply: &BenchReply, mean: f64) -> (f64, String) {
    match reply.metric.as_str() {
        "time" if mean < 1e-3 => (1e6, "us".to_owned()),
        "time" if mean < 1.0 => (1e3, "ms".to_owned()),
        _ => (1.0, reply.unit.clone().unwrap_or_default()),
    }
}
