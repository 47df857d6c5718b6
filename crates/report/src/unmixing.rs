//! The runs that tell aliased effects apart.

use trainwright_analysis::Analysis;
use trainwright_analysis::wording::count;
use trainwright_design::{Reversal, TwoLevelFraction};

use crate::input::ReportInput;
use crate::ranking::{Standing, standing};

/// The foldover that tells the aliased effects which stand out from each other.
pub(crate) fn unmixing(input: &ReportInput<'_>, analysis: &Analysis) -> Option<String> {
    let mixed: Vec<&[String]> = analysis
        .effects
        .iter()
        .filter(|own| !own.candidates.is_empty())
        .filter(|own| standing(analysis, own) != Standing::Noise)
        .map(|own| own.candidates.as_slice())
        .collect();
    let first = mixed.first()?;
    let fraction = input.design.fraction()?;
    let what = first.join(" from ");
    let runs = fraction.rows().len() * input.study.design.replications as usize;
    let word = |effect: &String| -> Option<String> {
        let letters: Vec<char> = input.design.letters().collect();
        let factors = input.design.factors();
        let mut places: Vec<usize> = effect
            .split(':')
            .map(|name| factors.iter().position(|own| own == name))
            .collect::<Option<_>>()?;
        places.sort_unstable();
        Some(places.into_iter().map(|at| letters[at]).collect())
    };
    let words: Vec<Vec<String>> = mixed
        .iter()
        .map(|set| set.iter().map(word).collect::<Option<_>>())
        .collect::<Option<_>>()?;
    let each = (0..input.design.factors().len()).map(Reversal::Factor);
    let reversal = std::iter::once(Reversal::EveryFactor)
        .chain(each)
        .find(|&own| words.iter().all(|set| tells_apart(fraction, own, set)));
    let added = input.study.design.additions.foldover.is_none();
    Some(match reversal.filter(|_| added) {
        Some(reversal) => {
            let value = match reversal {
                Reversal::EveryFactor => "true".to_owned(),
                Reversal::Factor(at) => format!("\"{}\"", input.design.factors()[at]),
            };
            format!(
                "Tell {what}: `foldover = {value}` under `[design]` adds {} with signs reversed; \
                 then `trainwright run {}`",
                count(runs, "trial"),
                input.study.source.path.display()
            )
        }
        None => {
            let all =
                (1usize << input.design.factors().len()) * input.study.design.replications as usize;
            format!(
                "Tell {what}: `type = \"full\"` under `[design]` runs all combinations, {} in all",
                count(all, "trial")
            )
        }
    })
}

/// Whether no two of the effects are one in the fraction with its foldover.
fn tells_apart(fraction: &TwoLevelFraction, reversal: Reversal, set: &[String]) -> bool {
    let Ok(folded) = fraction.folded(reversal) else { return false };
    set.iter().all(|effect| {
        let aliases = folded.aliases_of(effect).unwrap_or_default();
        aliases.iter().all(|own| !set.iter().any(|other| own.trim_start_matches('-') == other))
    })
}
