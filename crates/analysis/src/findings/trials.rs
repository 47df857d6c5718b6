//! What only a study knows: planned rows, lost trials, slots and the printed table.

use trainwright_design::{Construction, Design, DesignNote, Misprint};
use trainwright_study::{Level, Observation, Study, TrialState};

use super::{Finding, serious, warning};
use crate::wording::{brief, count, list};

/// Rows and trials named one by one; more are counted.
const NAMED: usize = 8;

/// Findings about the trials of a study.
pub(crate) fn findings(
    study: &Study,
    design: &Design,
    observations: &[Observation],
) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(missing_rows(design, observations));
    found.extend(outside_the_design(design, observations));
    found.extend(ended_as(observations, TrialState::Diverged, "diverged-trials", "diverged"));
    found.extend(ended_as(observations, TrialState::Failed, "failed-trials", "failed"));
    found.extend(outside_the_range(study, observations));
    found.extend(overlapping_timing(study, observations));
    found.extend(misprint(design));
    found
}

/// Trials that somebody left out, in their words.
pub(crate) fn excluded(trials: &[(u32, String)]) -> Option<Finding> {
    if trials.is_empty() {
        return None;
    }
    let named: Vec<String> = trials
        .iter()
        .take(NAMED)
        .map(|(number, reason)| format!("trial {number} ({reason})"))
        .collect();
    let more = match trials.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(warning(
        "excluded-trials",
        format!(
            "{} left out of everything here because somebody said so: {}{more}",
            if trials.len() == 1 {
                "1 trial is".to_owned()
            } else {
                format!("{} trials are", trials.len())
            },
            list(&named)
        ),
    ))
}

/// Whether every row of the design has the same number of finished trials, and at least one.
pub(crate) fn rows_equally_observed(design: &Design, finished: &[&Observation]) -> bool {
    let mut counts = vec![0usize; design.rows().len()];
    for observation in finished {
        match row_of(design, observation) {
            Some(row) => counts[row] += 1,
            None => return false,
        }
    }
    counts.first().is_some_and(|first| *first > 0 && counts.iter().all(|c| c == first))
}

/// Index of the row an observation belongs to: its own number, else an equal configuration.
fn row_of(design: &Design, observation: &Observation) -> Option<usize> {
    let rows = design.rows();
    match observation.row {
        Some(row) => (row as usize).checked_sub(1).filter(|index| *index < rows.len()),
        None => rows.iter().position(|c| c.same_as(&observation.configuration)),
    }
}

fn missing_rows(design: &Design, observations: &[Observation]) -> Option<Finding> {
    let mut seen = vec![false; design.rows().len()];
    let finished = observations.iter().filter(|o| o.state == TrialState::Finished);
    for index in finished.filter_map(|o| row_of(design, o)) {
        seen[index] = true;
    }
    let missing: Vec<String> = design
        .rows()
        .iter()
        .enumerate()
        .filter(|(index, _)| !seen[*index])
        .map(|(index, row)| format!("row {} ({row})", index + 1))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let text = format!(
        "{} of the {} planned rows {} no finished trial: {}; effects are then mixed, and the rows \
         that are missing may be the ones that matter",
        missing.len(),
        design.rows().len(),
        if missing.len() == 1 { "has" } else { "have" },
        shortened(&missing)
    );
    Some(serious("missing-cells", text))
}

fn outside_the_design(design: &Design, observations: &[Observation]) -> Option<Finding> {
    if design.kind() == Construction::Open {
        return None;
    }
    let strays: Vec<String> = observations
        .iter()
        .filter(|o| o.state == TrialState::Finished && row_of(design, o).is_none())
        .map(|o| format!("trial {} ({})", o.trial, o.configuration))
        .collect();
    if strays.is_empty() {
        return None;
    }
    let text = format!(
        "{} in the fit without being a row of the design: {}",
        count(strays.len(), "trial") + if strays.len() == 1 { " is" } else { " are" },
        shortened(&strays)
    );
    Some(warning("not-in-design", text))
}

fn ended_as(
    observations: &[Observation],
    state: TrialState,
    id: &'static str,
    word: &str,
) -> Option<Finding> {
    let lost: Vec<String> = observations
        .iter()
        .filter(|o| o.state == state)
        .map(|o| format!("trial {} ({})", o.trial, o.configuration))
        .collect();
    if lost.is_empty() {
        return None;
    }
    let text = format!(
        "{} {word} and {} left out of the fit: {}; levels that cause this look better than they are",
        count(lost.len(), "trial"),
        if lost.len() == 1 { "was" } else { "were" },
        shortened(&lost)
    );
    Some(warning(id, text))
}

/// Values that the study says cannot be.
fn outside_the_range(study: &Study, observations: &[Observation]) -> Option<Finding> {
    let finished = observations.iter().filter(|own| own.state == TrialState::Finished);
    let finished: Vec<&Observation> = finished.collect();
    let told = study.metrics.iter().filter_map(|metric| {
        let (low, high) = metric.range?;
        let outside = |own: &&Observation| {
            let value = own.values.get(&metric.name).filter(|value| !metric.in_range(**value))?;
            Some(format!("trial {} ({})", own.trial, brief(*value)))
        };
        let trials: Vec<String> = finished.iter().filter_map(outside).collect();
        let range = format!("{} to {}", brief(low), brief(high));
        let (name, trials) = (&metric.name, (!trials.is_empty()).then(|| shortened(&trials))?);
        Some(format!("values of {name} lie outside its range of {range}: {trials}"))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        return None;
    }
    let text = format!(
        "{}; the range or the values are wrong, and no interval ends at such a range",
        told.join("; ")
    );
    Some(warning("values-outside-range", text))
}

/// Times of trials that could share the machine, as it was when they ran.
fn overlapping_timing(study: &Study, observations: &[Observation]) -> Option<Finding> {
    let times: Vec<String> =
        study.metrics.iter().filter(|m| m.is_time()).map(|m| m.name.clone()).collect();
    let finished = observations.iter().filter(|own| own.state == TrialState::Finished);
    let slots = finished.filter_map(|own| own.slots).max()?;
    if slots < 2 || times.is_empty() {
        return None;
    }
    let text = format!(
        "{} was measured while up to {} trials shared the machine, so times include waiting for \
         each other; run with one slot to compare times",
        list(&times),
        slots
    );
    Some(warning("overlapping-timing", text))
}

/// Factors that count threads or workers.
const COUNTS: [&str; 6] = ["threads", "workers", "replicas", "cores", "processes", "executors"];

/// Levels that ask for more threads or workers than the machine has cores.
pub(crate) fn oversubscribed(study: &Study, cores: Option<u32>) -> Option<Finding> {
    let cores = cores?;
    let beyond: Vec<String> = study
        .factors
        .iter()
        .filter(|factor| COUNTS.iter().any(|name| factor.name.ends_with(name)))
        .filter_map(|factor| {
            let above = |level: &&Level| level.number().is_some_and(|n| n > f64::from(cores));
            let levels: Vec<String> =
                factor.levels.iter().filter(above).map(Level::to_string).collect();
            (!levels.is_empty()).then(|| format!("{} = {}", factor.name, list(&levels)))
        })
        .collect();
    if beyond.is_empty() {
        return None;
    }
    let text = format!(
        "the machine has {}, and {} asks for more: those trials shared cores, so they say nothing \
         about what more cores would do",
        count(cores as usize, "core"),
        list(&beyond)
    );
    Some(warning("oversubscribed", text))
}

/// Trials that ran another command than others of the same study.
pub(crate) fn command_changed(commands: &[Vec<u32>]) -> Option<Finding> {
    let [first @ .., last] = commands else { return None };
    if first.is_empty() {
        return None;
    }
    let earlier: Vec<u32> = first.iter().flatten().copied().collect();
    let text = format!(
        "the command changed while the study ran: {} of {} trials ran another one than the last \
         {} (trial {} was the first with the new one); what it changed is mixed with the effects",
        earlier.len(),
        earlier.len() + last.len(),
        last.len(),
        last.iter().min().copied().unwrap_or_default()
    );
    Some(warning("command-changed", text))
}

fn misprint(design: &Design) -> Option<Finding> {
    let note = design.notes().iter().find_map(|note| match note {
        DesignNote::Misprint(misprint) => Some(misprint),
        _ => None,
    })?;
    let name = |column: usize| &design.factors()[column - 1];
    let broken: Vec<String> = note
        .words
        .iter()
        .take(NAMED)
        .map(|w| {
            let word = design.name_effect(&w.word).unwrap_or_else(|| w.word.clone());
            let rows: Vec<String> = w.rows.iter().map(usize::to_string).collect();
            format!("all rows but {} keep {word} constant", list(&rows))
        })
        .collect();
    let sums = note.unbalanced.iter().map(|c| format!("{} sums to {:+}", name(c.column), c.sum));
    let evidence: Vec<String> = broken.into_iter().chain(sums).collect();
    let text = format!(
        "the table looks like a regular fraction with a wrong sign: {}; {}",
        list(&evidence),
        repair(note, design)
    );
    Some(serious("sign-table-misprint", text))
}

fn repair(misprint: &Misprint, design: &Design) -> String {
    let flips: Vec<String> = misprint
        .repairs
        .iter()
        .map(|f| {
            format!("{} must be {:+} in row {}", design.factors()[f.column - 1], f.sign, f.row)
        })
        .collect();
    if flips.is_empty() { "no single sign repairs it".to_owned() } else { flips.join(", or ") }
}

fn shortened(items: &[String]) -> String {
    if items.len() <= NAMED {
        return list(items);
    }
    format!("{}, and {} more", items[..NAMED].join(", "), items.len() - NAMED)
}
