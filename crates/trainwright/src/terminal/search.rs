//! What a search has found, in words.

mod surface;

use std::fmt::Write as _;

use trainwright_report::figure;
use trainwright_report::terminal::{TextTable, visible};

use crate::RunEnd;
use crate::searching::ask_tell::{AskReply, TellReply};
use crate::searching::search_reply::{Found, SearchReply};

/// Factors and pairs that are shown; the rest matters little.
const SHOWN: usize = 8;
/// Shares below this are not worth a line.
const LEAST_SHARE: f64 = 0.005;

/// What a search has found: the best, why it ended, what is left to gain, what mattered.
pub fn search(reply: &SearchReply) -> String {
    let mut text =
        format!("Search of {} by {}: {} trials", reply.study, reply.method, reply.trials.total);
    for (state, count) in reply.trials.states.iter().filter(|(_, count)| *count > 0) {
        put(&mut text, format_args!(", {count} {state}"));
    }
    put(&mut text, format_args!("; they took {} s\n\n", figure(reply.seconds)));
    for sentence in search_sentences(reply) {
        put(&mut text, format_args!("{sentence}\n"));
    }
    front(&mut text, reply);
    importance(&mut text, reply);
    // Whoever has just watched the trials wants the answer; who asks later wants to know why.
    if reply.end.is_none() {
        text.push_str(&surface::slices(&reply.slices));
        text.extend(reply.contour.as_ref().map(surface::contour));
        text.push_str(&surface::trace(&reply.trace));
    }
    visible(&text)
}

/// The best, the next best, why the search stopped and what the next trial is worth.
pub(crate) fn search_sentences(reply: &SearchReply) -> Vec<String> {
    let mut all = vec![match &reply.best {
        Some(best) => format!("Best: {}", found(best)),
        None if reply.bounded => {
            "No trial has measured the objective within its bounds yet.".to_owned()
        }
        None => "No trial has measured the objective yet.".to_owned(),
    }];
    if let Some(second) = &reply.runner_up {
        let often = |own: &Found| own.replicates > 1;
        let told = match second.p {
            None if often(&second.found) && reply.best.as_ref().is_some_and(often) => {
                "no measurement of either varies, so that nothing is left to test".to_owned()
            }
            None => "one measurement does not tell them apart for sure".to_owned(),
            Some(p) if p <= reply.alpha => {
                format!("the difference is real (Welch's test, p = {})", figure(p))
            }
            Some(p) => format!("they cannot be told apart (Welch's test, p = {})", figure(p)),
        };
        all.push(format!("Next best: {}; {told}", found(&second.found)));
    }
    if !reply.at_edge.is_empty() {
        all.push(format!(
            "The best value of {} is at the edge of its range: a wider range may hold a better one.",
            reply.at_edge.join(", ")
        ));
    }
    all.extend(reply.stopped.as_ref().map(|stopped| format!("Stopped because {stopped}.")));
    all.extend(match reply.end {
        Some(RunEnd::BudgetSpent) => {
            Some("Stopped because the budget of the study's [budget] is spent.".to_owned())
        }
        Some(RunEnd::Interrupted) => {
            Some("Interrupted; the same command goes on where it stopped.".to_owned())
        }
        _ => None,
    });
    if let Some(next) = &reply.next {
        let worth = match next.gain {
            Some(gain) => format!("is expected to improve the best by {} %", figure(100.0 * gain)),
            None => "has a worth that cannot be put as a share of the best".to_owned(),
        };
        let which = if reply.own_model {
            "The next trial"
        } else {
            "By a Gaussian process, which this method does not go by, the most promising trial"
        };
        all.push(format!("{which} ({}) {worth}.", next.configuration));
    }
    all
}

fn front(text: &mut String, reply: &SearchReply) {
    if reply.front.is_empty() {
        return;
    }
    put(
        text,
        format_args!("\nNo configuration beats these in all of {}:\n", reply.objectives.join(", ")),
    );
    for own in &reply.front {
        put(text, format_args!("  {}\n", found(own)));
    }
    if let Some(share) = reply.hypervolume {
        put(
            text,
            format_args!(
                "Together they beat {} % of the box of all values measured.\n",
                figure(100.0 * share)
            ),
        );
    }
}

fn importance(text: &mut String, reply: &SearchReply) {
    let shown: Vec<_> =
        reply.importances.iter().filter(|own| own.share >= LEAST_SHARE).take(SHOWN).collect();
    if shown.is_empty() {
        return;
    }
    text.push_str("\nWhat caused the variation, by the fitted surface:\n");
    let mut table =
        TextTable::with_header(["factor", "share %", "from %", "to %"]).numbers_in(1..4);
    for own in shown {
        let percent = |share: f64| figure(100.0 * share);
        table.row(vec![
            own.factors.join(" with "),
            percent(own.share),
            percent(own.low),
            percent(own.high),
        ]);
    }
    text.push_str(&table.to_string());
}

fn found(own: &Found) -> String {
    let values: Vec<String> =
        own.values.iter().map(|(name, value)| format!("{name} {}", figure(*value))).collect();
    let times = match own.replicates {
        1 if own.confirmed => format!("1 confirming run, first trial {}", own.trial),
        count if own.confirmed => {
            format!("mean of {count} confirming runs, first trial {}", own.trial)
        }
        1 => format!("trial {}", own.trial),
        count => format!("mean of {count}, trial {} and on", own.trial),
    };
    format!("{} with {} ({times})", values.join(", "), own.configuration)
}

/// Trials to run elsewhere, one a line.
pub fn asked(reply: &AskReply) -> String {
    let mut text = String::new();
    for own in &reply.trials {
        put(
            &mut text,
            format_args!("trial {}: {} seed={}\n", own.trial, own.configuration, own.seed),
        );
    }
    if reply.trials.is_empty() && reply.wait {
        text.push_str("nothing to run before a trial under way has ended\n");
    }
    if let Some(stopped) = reply.stopped.as_ref().filter(|_| reply.trials.is_empty()) {
        put(&mut text, format_args!("nothing more to run: {stopped}\n"));
    }
    visible(&text)
}

/// What is known after a result was told.
pub fn told(reply: &TellReply) -> String {
    let mut text = format!("trial {} is kept as {}\n", reply.trial, reply.state);
    if let (Some(best), Some(value)) = (&reply.best, reply.best_value) {
        put(&mut text, format_args!("best by now: {} with {best}\n", figure(value)));
    }
    visible(&text)
}

fn put(text: &mut String, words: std::fmt::Arguments<'_>) {
    text.write_fmt(words).expect("writing to memory cannot fail");
}
