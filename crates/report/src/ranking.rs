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
/// another, with which it is aliased or whose power it is, is left out.
pub(crate) fn ranked(analysis: &Analysis) -> Vec<&Effect> {
    let estimated = |effect: &&Effect| {
        effect.part_of.is_none() && (effect.effect.is_some() || effect.percent.is_some())
    };
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
    let sentence = sentence.unwrap_or_else(|| match parts.as_slice() {
        [_] => format!("changes {} between its levels", analysis.response),
        _ => format!("the effects of {} depend on each other", parts.join(", ")),
    });
    sentence + &effect.taken_for_nothing()
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

#[cfg(test)]
mod tests {
    use trainwright_analysis::{Check, LenthSummary, Turn, TurnKind};
    use trainwright_study::Level;

    use super::*;
    use crate::tests::{SmallStudy, analysis, effect};

    fn with_interval(own: Effect, low: f64, high: f64) -> Effect {
        Effect { ci_low: Some(low), ci_high: Some(high), ..own }
    }

    #[test]
    fn the_adjusted_p_value_decides_and_the_limit_belongs_to_the_evidence() {
        let judged = |p: Option<f64>, adjusted: Option<f64>| {
            let own = Effect { p_adjusted: adjusted, ..effect("a", 1.0, p, 10.0) };
            standing_of(&analysis(vec![own]), "a")
        };
        assert_eq!(judged(Some(0.01), Some(0.05)), Standing::StandsOut);
        assert_eq!(judged(Some(0.01), Some(0.0501)), Standing::Noise);
        assert_eq!(judged(Some(0.01), None), Standing::StandsOut);
        assert_eq!(judged(None, None), Standing::Unknown);
        assert_eq!(standing_of(&analysis(vec![]), "z"), Standing::Unknown);
    }

    #[test]
    fn without_p_values_the_margin_of_lenth_decides() {
        let mut own = analysis(vec![effect("a", 1.0, None, 10.0), effect("b", 1.0, None, 10.0)]);
        own.lenth =
            Some(LenthSummary { pse: 1.0, me: 2.0, sme: 3.0, active: vec!["b".to_owned()] });
        assert_eq!(standing_of(&own, "a"), Standing::Noise);
        assert_eq!(standing_of(&own, "b"), Standing::StandsOut);
    }

    #[test]
    fn a_factor_of_a_product_that_stands_out_is_not_called_noise() {
        let own = analysis(vec![
            effect("a", 0.1, Some(0.9), 1.0),
            effect("b", 0.1, Some(0.9), 1.0),
            effect("c", 0.1, Some(0.9), 1.0),
            effect("b:a", 5.0, Some(0.001), 90.0),
        ]);
        assert_eq!(standing_of(&own, "a"), Standing::Unsettled);
        assert_eq!(why_unsettled(&own, &own.effects[0]).unwrap(), "acts through b:a");
        assert_eq!(standing_of(&own, "c"), Standing::Noise, "it is in no such product");
        let mut mixed = own.clone();
        mixed.effects[3].candidates = vec!["a:b".to_owned(), "c:d".to_owned()];
        assert_eq!(why_unsettled(&mixed, &mixed.effects[2]).unwrap(), "may act through a:b or c:d");
    }

    #[test]
    fn nothing_is_noise_while_the_equation_misses_terms() {
        let mut own = analysis(vec![effect("a", 0.1, Some(0.9), 1.0)]);
        let holds = |holds| Check {
            name: "lack-of-fit",
            statistic: None,
            p: None,
            holds,
            verdict: String::new(),
        };
        own.checks = vec![holds(Some(true))];
        assert_eq!(standing_of(&own, "a"), Standing::Noise);
        own.checks = vec![holds(Some(false))];
        assert_eq!(
            why_unsettled(&own, &own.effects[0]).unwrap(),
            "not judged while the equation misses terms"
        );
    }

    #[test]
    fn effects_are_ranked_by_share_and_those_without_any_figure_are_left_out() {
        let bare =
            |term: &str| Effect { effect: None, percent: None, ..effect(term, 0.0, None, 0.0) };
        let size_only = Effect { percent: None, ..effect("size", 2.0, None, 0.0) };
        let own = analysis(vec![
            size_only,
            effect("small", 1.0, None, 3.0),
            bare("none"),
            effect("large", 1.0, None, 60.0),
            effect("tied", 1.0, None, 3.0),
            Effect { part_of: Some("large".to_owned()), ..effect("I(large^2)", 1.0, None, 50.0) },
        ]);
        let names: Vec<&str> = ranked(&own).iter().map(|own| own.term.as_str()).collect();
        assert_eq!(names, ["large", "small", "tied", "size"]);
    }

    #[test]
    fn a_single_factor_is_told_between_its_levels_with_the_near_end_first() {
        let study = SmallStudy::with("", "").study;
        let told = |own: Effect| in_words(&study, &analysis(vec![]), &own);
        assert_eq!(
            told(with_interval(effect("a", 6.0, None, 1.0), 5.0, 7.0)),
            "from 1 to 2 raises y by 6.0 (5.0 to 7.0)"
        );
        // A fall between 7 and 5 is a fall by 5 to 7.
        assert_eq!(
            told(with_interval(effect("b", -6.0, None, 1.0), -7.0, -5.0)),
            "from 10 to 20 lowers y by 6.0 (5.0 to 7.0)"
        );
        assert_eq!(told(effect("a", -0.25, None, 1.0)), "from 1 to 2 lowers y by 0.2500");
        let mixed =
            Effect { taken_for_none: vec!["b:c".to_owned()], ..effect("a", -0.25, None, 1.0) };
        assert_eq!(
            told(mixed),
            "from 1 to 2 lowers y by 0.2500, if b:c does nothing (it is the same column in these runs)"
        );
        assert_eq!(told(effect("block", 1.0, None, 1.0)), "changes y between its levels");
        assert_eq!(
            told(effect("a:b:c", 1.0, None, 1.0)),
            "the effects of a, b, c depend on each other"
        );
    }

    #[test]
    fn a_pair_is_told_as_the_effect_of_one_at_either_level_of_the_other() {
        let study = SmallStudy::with("", "").study;
        // y = 10 at (1, 10), 12 at (2, 10), 10 at (1, 20) and 20 at (2, 20): a adds 2 at b = 10
        // and 10 at b = 20, so its mean effect is 6 and the interaction half of 10 - 2.
        let own = analysis(vec![effect("a", 6.0, None, 1.0)]);
        let pair = with_interval(effect("a:b", 4.0, None, 1.0), 3.0, 5.0);
        assert_eq!(
            in_words(&study, &own, &pair),
            "a changes y by +2.0 at b = 10, by +10.0 at b = 20"
        );
        let falling = with_interval(effect("a:b", 8.0, None, 1.0), 7.0, 9.0);
        assert_eq!(
            in_words(&study, &own, &falling),
            "a changes y by -2.0 at b = 10, by +14.0 at b = 20"
        );
        let alone = analysis(vec![]);
        assert_eq!(
            in_words(&study, &alone, &pair),
            "the effects of a, b depend on each other",
            "without the main effect there is nothing to add to"
        );
    }

    #[test]
    fn a_response_that_turns_is_told_at_its_turn() {
        let study = SmallStudy::with("", "").study;
        let turn = Turn {
            kind: TurnKind::Lowest,
            level: Level::Integer(2),
            mean: 3.25,
            beyond_both_ends: 1.5,
        };
        let own = Effect { turn: Some(turn), ..effect("a", 0.1, None, 1.0) };
        assert_eq!(
            in_words(&study, &analysis(vec![]), &own),
            "y is lowest at 2: 3.250 on average, at least 1.500 lower than at either end"
        );
    }

    #[test]
    fn of_effects_that_cannot_be_told_apart_the_simpler_or_the_better_founded_is_likelier() {
        let study = SmallStudy::with("", "").study;
        let own = analysis(vec![
            effect("a", 6.0, Some(0.001), 50.0),
            effect("b", 5.0, Some(0.001), 40.0),
        ]);
        let told = |candidates: [&str; 2]| {
            let candidates = candidates.map(ToOwned::to_owned).to_vec();
            in_words(&study, &own, &Effect { candidates, ..effect("x", 1.0, None, 1.0) })
        };
        let start = "changes y, but these runs cannot tell which of them does";
        assert_eq!(
            told(["c", "a:b"]),
            format!(
                "{start}; c is the likeliest, since single factors matter more often than products"
            )
        );
        assert_eq!(
            told(["a:b", "c:d"]),
            format!("{start}; a:b is the likeliest, since its factors matter by themselves too")
        );
        assert_eq!(told(["c:d", "e:f"]), start);
    }
}
