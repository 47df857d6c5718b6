//! Effects by size, and what each means in words.

use trainwright_analysis::{Analysis, Effect, Finding};
use trainwright_study::Study;

use crate::figure::{figure, to_spread};

/// Whether an effect can be told from noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The data are evidence of it.
    StandsOut,
    /// It could be noise.
    Noise,
    /// There is no evidence of it alone, but it may not be called noise: it is part of a product
    /// that stands out, or the equation misses terms.
    Unsettled,
    /// There is no measure of noise.
    Unknown,
}

/// Judges by the adjusted p-value, without replication by Lenth's simultaneous margin.
pub(crate) fn standing(analysis: &Analysis, effect: &Effect) -> Standing {
    match is_evident(analysis, effect) {
        Some(true) => Standing::StandsOut,
        Some(false) if why_unsettled(analysis, effect).is_some() => Standing::Unsettled,
        Some(false) => Standing::Noise,
        None => Standing::Unknown,
    }
}

/// Whether the data are evidence of an effect; absent without a measure of noise.
fn is_evident(analysis: &Analysis, effect: &Effect) -> Option<bool> {
    match (effect.p_adjusted.or(effect.p), &analysis.lenth) {
        (Some(p), _) => Some(p <= analysis.alpha),
        (None, Some(lenth)) => Some(lenth.active.contains(&effect.term)),
        (None, None) => None,
    }
}

/// Why an effect without evidence may not be called noise, if so.
pub(crate) fn why_unsettled(analysis: &Analysis, effect: &Effect) -> Option<String> {
    let misses = |check: &trainwright_analysis::Check| {
        check.name == "lack-of-fit" && check.holds == Some(false)
    };
    if analysis.checks.iter().any(misses) {
        return Some("not judged while the equation misses terms".to_owned());
    }
    let parts: Vec<&str> = effect.term.split(':').collect();
    let within = |term: &str| {
        let others: Vec<&str> = term.split(':').collect();
        others.len() > parts.len() && parts.iter().all(|part| others.contains(part))
    };
    let surely = |own: &&Effect| {
        (within(&own.term) || own.candidates.iter().any(|term| within(term)))
            && is_evident(analysis, own) == Some(true)
    };
    let product = analysis.effects.iter().find(surely)?;
    let verb = if product.candidates.is_empty() { "acts" } else { "may act" };
    Some(format!("{verb} through {}", product.told_as()))
}

/// The same for a term by name.
pub(crate) fn standing_of(analysis: &Analysis, term: &str) -> Standing {
    let effect = analysis.effects.iter().find(|effect| effect.term == term);
    effect.map_or(Standing::Unknown, |effect| standing(analysis, effect))
}

/// Effects with the largest share of the variation first; a term that stands under the name of
/// another, with which it is aliased, is left out.
pub(crate) fn ranked(analysis: &Analysis) -> Vec<&Effect> {
    let estimated = |effect: &&Effect| effect.effect.is_some() || effect.percent.is_some();
    let mut effects: Vec<&Effect> = analysis.effects.iter().filter(estimated).collect();
    let share = |effect: &Effect| effect.percent.unwrap_or(f64::NEG_INFINITY);
    effects.sort_by(|a, b| share(b).total_cmp(&share(a)));
    effects
}

/// Findings that no check says in the same words.
pub(crate) fn told_once(analysis: &Analysis) -> impl Iterator<Item = &Finding> {
    let of_check = |finding: &&Finding| analysis.checks.iter().any(|c| c.verdict == finding.text);
    analysis.findings.iter().filter(move |finding| !of_check(finding))
}

/// What an effect does to the response, in words.
pub(crate) fn in_words(study: &Study, analysis: &Analysis, effect: &Effect) -> String {
    if !effect.candidates.is_empty() {
        return format!(
            "changes {}, but these runs cannot tell which of them does{}",
            analysis.response,
            likeliest(analysis, &effect.candidates)
        );
    }
    let parts: Vec<&str> = effect.term.split(':').collect();
    let sentence = match parts.as_slice() {
        [factor] => main_in_words(study, analysis, effect, factor),
        [a, b] => pair_in_words(study, analysis, effect, a, b),
        _ => None,
    };
    sentence.unwrap_or_else(|| match parts.as_slice() {
        [_] => format!("changes {} between its levels", analysis.response),
        _ => format!("the effects of {} depend on each other", parts.join(", ")),
    })
}

/// Which of the effects that one term may be is the likeliest, where anything speaks for it.
fn likeliest(analysis: &Analysis, candidates: &[String]) -> String {
    let [first, second, ..] = candidates else { return String::new() };
    let size = |term: &String| term.split(':').count();
    let active = |term: &String| {
        let factors = term.split(':');
        factors.filter(|own| standing_of(analysis, own) == Standing::StandsOut).count()
    };
    if size(first) < size(second) {
        format!("; {first} is the likeliest, since single factors matter more often than products")
    } else if size(first) > 1 && active(first) > active(second) {
        format!("; {first} is the likeliest, since its factors matter by themselves too")
    } else {
        String::new()
    }
}

fn main_in_words(
    study: &Study,
    analysis: &Analysis,
    effect: &Effect,
    factor: &str,
) -> Option<String> {
    let size = effect.effect?;
    if let Some(turn) = &effect.turn {
        let spread = effect.ci_low.zip(effect.ci_high);
        let near =
            |value: f64| spread.map_or_else(|| figure(value), |(a, b)| to_spread(value, a, b));
        return Some(format!(
            "{} is {} at {}: {} on average, at least {} {} than at either end",
            analysis.response,
            turn.kind.word(),
            turn.level,
            near(turn.mean),
            near(turn.beyond_both_ends),
            turn.kind.compared()
        ));
    }
    let (low, high) =
        study.factor(factor).and_then(|own| own.low_and_high().or_else(|| own.ends()))?;
    let verb = if size < 0.0 { "lowers" } else { "raises" };
    let by = match (effect.ci_low, effect.ci_high) {
        (Some(from), Some(to)) => {
            let (near, far) = if size < 0.0 { (-to, -from) } else { (from, to) };
            let [size, near, far] = [size.abs(), near, far].map(|value| to_spread(value, from, to));
            format!("{size} ({near} to {far})")
        }
        _ => figure(size.abs()),
    };
    Some(format!("from {low} to {high} {verb} {} by {by}", analysis.response))
}

/// The effect of `a` at either level of `b`: in coded units it is the main effect less or plus the
/// interaction (Box, Hunter and Hunter, "Statistics for Experimenters", 2nd edition, chapter 5).
fn pair_in_words(
    study: &Study,
    analysis: &Analysis,
    effect: &Effect,
    a: &str,
    b: &str,
) -> Option<String> {
    study.factor(a)?.low_and_high()?;
    let (low, high) = study.factor(b)?.low_and_high()?;
    let main = analysis.effects.iter().find(|own| own.term == a)?.effect?;
    let pair = effect.effect?;
    let spread = effect.ci_low.zip(effect.ci_high).unwrap_or((0.0, 0.0));
    let signed = |value: f64| {
        let text = to_spread(value, spread.0, spread.1);
        if value > 0.0 { format!("+{text}") } else { text }
    };
    Some(format!(
        "{a} changes {} by {} at {b} = {low}, by {} at {b} = {high}",
        analysis.response,
        signed(main - pair),
        signed(main + pair)
    ))
}
