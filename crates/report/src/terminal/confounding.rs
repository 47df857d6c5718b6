//! What a design cannot tell apart, in words.

use std::fmt::Write as _;

use trainwright_analysis::wording::count;
use trainwright_design::{Confounding, Design, EffectPair, TwoLevelFraction};

/// Pairs of effects that are printed; JSON has all.
const MOST_PAIRS: usize = 12;

/// Correlation from which a pair is printed.
const LEAST_CORRELATION: f64 = 0.05;

/// Aliases, correlated pairs of effects and blocks; nothing where everything can be told apart.
pub fn confounding_text(design: &Design, confounding: Option<&Confounding>) -> String {
    let mut text = match (design.fraction(), confounding) {
        (Some(fraction), _) => aliases(design, fraction),
        (None, _) if !design.partial_aliases().is_empty() => screening(design),
        (None, Some(confounding)) => pairs(confounding),
        (None, None) => String::new(),
    };
    text.push_str(&blocks(design));
    text
}

fn aliases(design: &Design, fraction: &TwoLevelFraction) -> String {
    let Some(resolution) = fraction.resolution() else { return String::new() };
    let factors = design.factors().len();
    let mut text = format!(
        "\nresolution {resolution}; {} of {} two-factor interactions are clear; what is confounded \
         with what:",
        fraction.clear_two_factor(),
        factors * (factors - 1) / 2
    );
    let short = |effect: &String| effect.trim_start_matches('-').chars().count() <= 2;
    let mut none = true;
    for (effect, others) in fraction.aliases().iter().filter(|(effect, _)| short(effect)) {
        let others: Vec<String> =
            others.iter().filter(|other| short(other)).map(|other| named(design, other)).collect();
        if !others.is_empty() {
            none = false;
            write!(text, "\n  {} = {}", named(design, effect), others.join(" = "))
                .expect("writing to memory cannot fail");
        }
    }
    if none {
        text.push_str("\n  no main effect or two-factor interaction with another of them");
    }
    text
}

fn screening(design: &Design) -> String {
    let mut text =
        "\nmain effects are independent of each other, but contain interactions:".to_owned();
    for (factor, letter) in design.factors().iter().zip(design.letters()) {
        let own = design.partial_aliases().iter().filter(|alias| alias.effect == letter);
        let shares: Vec<f64> = own.map(|alias| alias.share.abs()).collect();
        let most = shares.iter().copied().fold(0.0, f64::max);
        write!(
            text,
            "\n  {factor} contains parts of {} two-factor interactions, each at most {most:.2} of it",
            shares.len()
        )
        .expect("writing to memory cannot fail");
    }
    text
}

fn pairs(confounding: &Confounding) -> String {
    let Confounding { coefficients, estimable, constant, same, partial } = confounding;
    let partial: Vec<&EffectPair> =
        partial.iter().filter(|pair| pair.correlation.abs() >= LEAST_CORRELATION).collect();
    let what = "main effects, two-factor interactions and squares";
    if same.is_empty() && partial.is_empty() && constant.is_empty() {
        return format!("\nno confounding: {what} are independent of each other");
    }
    let mut text =
        format!("\n{estimable} of the {coefficients} coefficients of {what} can be fixed");
    let mut put = |line: String| {
        text.push_str("\n  ");
        text.push_str(&line);
    };
    if !constant.is_empty() {
        put(format!("never varied: {}", constant.join(", ")));
    }
    for pair in same.iter().take(MOST_PAIRS) {
        put(format!("{} = {}", pair.first, pair.second));
    }
    let left = MOST_PAIRS.saturating_sub(same.len());
    for EffectPair { first, second, correlation } in partial.iter().take(left) {
        put(format!("{first} and {second} are mixed: correlation {correlation:.2}"));
    }
    let more = (same.len() + partial.len()).saturating_sub(MOST_PAIRS);
    if more > 0 {
        let more = count(more, "further pair");
        put(format!("and {more}, none more than these (--json lists all)"));
    }
    text
}

fn blocks(design: &Design) -> String {
    let Some(blocks) = design.blocks() else { return String::new() };
    let confounded: Vec<String> =
        blocks.confounded().iter().map(|effect| named(design, effect)).collect();
    format!(
        "\n{} blocks a replicate; these effects cannot be told apart from them: {}",
        blocks.count(),
        confounded.join(", ")
    )
}

fn named(design: &Design, effect: &str) -> String {
    design.name_effect(effect).unwrap_or_else(|| effect.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(at: usize, correlation: f64) -> EffectPair {
        EffectPair { first: format!("a{at}"), second: format!("b{at}"), correlation }
    }

    fn of(same: Vec<EffectPair>, partial: Vec<EffectPair>) -> Confounding {
        Confounding { coefficients: 20, estimable: 15, constant: vec![], same, partial }
    }

    #[test]
    fn traces_of_correlation_are_not_told_as_confounding() {
        let trace = of(vec![], vec![pair(1, -0.049)]);
        assert!(pairs(&trace).starts_with("\nno confounding: "), "{}", pairs(&trace));
        let mixed = of(vec![], vec![pair(1, -0.05), pair(2, 0.01)]);
        assert_eq!(
            pairs(&mixed),
            "\n15 of the 20 coefficients of main effects, two-factor interactions and squares can be \
             fixed\n  a1 and b1 are mixed: correlation -0.05"
        );
    }

    #[test]
    fn a_factor_that_never_varied_is_named_first() {
        let own = Confounding { constant: vec!["lr".into(), "lr:n".into()], ..of(vec![], vec![]) };
        assert!(pairs(&own).ends_with("can be fixed\n  never varied: lr, lr:n"), "{}", pairs(&own));
    }

    #[test]
    fn pairs_beyond_the_limit_are_counted_with_the_inseparable_ones_first() {
        let same = |number: usize| (0..number).map(|at| pair(at, 1.0)).collect::<Vec<_>>();
        let partial = |number: usize| (0..number).map(|at| pair(at, 0.5)).collect::<Vec<_>>();
        let text = pairs(&of(same(10), partial(3)));
        assert_eq!(text.matches(" = ").count(), 10);
        assert_eq!(text.matches("are mixed").count(), MOST_PAIRS - 10);
        assert!(text.ends_with("\n  and 1 further pair, none more than these (--json lists all)"));
        let text = pairs(&of(same(15), partial(3)));
        assert_eq!((text.matches(" = ").count(), text.matches("are mixed").count()), (12, 0));
        assert!(text.contains("and 6 further pairs, "), "{text}");
        assert!(!pairs(&of(same(12), vec![])).contains("further"));
    }
}
