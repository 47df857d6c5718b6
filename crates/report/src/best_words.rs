//! What stands beside the best configuration measured: those like it, and the best predicted.

use trainwright_analysis::wording::count;
use trainwright_analysis::{Analysis, Best, PredictedBest};

use crate::figure::{figure, to_spread};

/// Configurations named one by one; more are counted.
const NAMED: usize = 3;

/// Sentences about the best, without the configuration itself.
pub(crate) fn beside_the_best(analysis: &Analysis, best: &Best) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(interval_method(best));
    lines.extend(alike(best));
    lines.extend(best.predicted.as_ref().map(|own| predicted(analysis, own)));
    lines
}

fn interval_method(best: &Best) -> Option<String> {
    let whose = match best.spread? {
        "own" => ", from its own spread, since the configurations may vary unequally (Welch)",
        "strata" => ", with the errors of whole plots and of trials within them",
        _ => "",
    };
    Some(format!("The interval allows for having chosen this configuration by its mean{whose}."))
}

fn alike(best: &Best) -> Option<String> {
    let by = match best.spread? {
        "own" => "Welch's comparisons with it",
        "strata" => "comparisons with it, by the errors of whole plots",
        _ => "Hsu's comparisons with the best",
    };
    if best.alike.is_empty() {
        return Some(format!("No other configuration that was run can be as good ({by})."));
    }
    let named: Vec<String> = best
        .alike
        .iter()
        .take(NAMED)
        .map(|own| format!("{} ({})", own.configuration, figure(own.mean)))
        .collect();
    let more = match best.alike.len().saturating_sub(NAMED) {
        0 => String::new(),
        left => format!(", and {left} more"),
    };
    Some(format!("These may be as good ({by}): {}{more}.", named.join(", ")))
}

fn predicted(analysis: &Analysis, own: &PredictedBest) -> String {
    let which = match (own.all_looked_at, own.combinations) {
        (true, Some(all)) => format!("over all {} of the levels tried", count(all, "combination")),
        _ => "near the best measured, by changing one factor at a time".to_owned(),
    };
    let run = match own.measured {
        _ if own.same => ", the best measured too".to_owned(),
        0 => ", not run yet".to_owned(),
        1 => ", run once".to_owned(),
        times => format!(", run {times} times"),
    };
    let value = match (own.low, own.high) {
        (Some(low), Some(high)) => {
            let [mean, from, to] = [own.mean, low, high].map(|value| to_spread(value, low, high));
            let level = figure(100.0 * (1.0 - analysis.alpha));
            format!("{mean} ({level} % prediction interval of a trial {from} to {to})")
        }
        _ => figure(own.mean),
    };
    let beyond = match own.beyond_prediction {
        0 => String::new(),
        left => format!(
            " {} cannot be predicted while terms are aliased.",
            count(left, "other combination")
        ),
    };
    let how = if own.shrunken {
        "with every effect shrunken by its noise, since being chosen flatters"
    } else {
        "from its own runs alone"
    };
    format!(
        "Best predicted {which}: {}{run}: {} {value}, {how}.{beyond}",
        own.configuration, analysis.response
    )
}

/// The confirming runs, where the effects and the best row point to different configurations.
pub(crate) fn confirming_runs(best: &Best) -> Option<String> {
    let own = best.predicted.as_ref().filter(|own| !own.same)?;
    let runs = best.n.max(own.measured).max(3);
    Some(format!(
        "The best measured and the best by the effects differ: run {} and {} again, {runs} times \
         each, before choosing",
        best.configuration, own.configuration
    ))
}

#[cfg(test)]
mod tests {
    use trainwright_analysis::Alike;
    use trainwright_study::Direction;

    use super::*;
    use crate::tests::{analysis, configuration};

    fn best() -> Best {
        Best {
            configuration: configuration(1, 10),
            mean: 10.0,
            ci_low: Some(9.0),
            ci_high: Some(11.0),
            n: 2,
            direction: Direction::Minimize,
            spread: Some("common"),
            alike: vec![],
            predicted: None,
        }
    }

    fn predicted_best() -> PredictedBest {
        PredictedBest {
            configuration: configuration(2, 20),
            mean: 8.0,
            shrunken: true,
            low: Some(7.0),
            high: Some(9.0),
            measured: 0,
            same: false,
            combinations: Some(4),
            all_looked_at: true,
            beyond_prediction: 0,
        }
    }

    #[test]
    fn without_a_measure_of_noise_nothing_is_said_of_intervals_or_rivals() {
        let own = Best { spread: None, ..best() };
        assert!(beside_the_best(&analysis(vec![]), &own).is_empty());
    }

    #[test]
    fn the_method_of_the_interval_is_that_of_its_spread() {
        let lines =
            |spread| beside_the_best(&analysis(vec![]), &Best { spread: Some(spread), ..best() });
        assert_eq!(
            lines("common"),
            [
                "The interval allows for having chosen this configuration by its mean.",
                "No other configuration that was run can be as good (Hsu's comparisons with the \
                 best).",
            ]
        );
        assert!(lines("own")[0].ends_with("since the configurations may vary unequally (Welch)."));
        assert!(lines("own")[1].contains("(Welch's comparisons with it)"));
        assert!(lines("strata")[0].ends_with("of whole plots and of trials within them."));
    }

    #[test]
    fn three_rivals_are_named_and_the_rest_counted() {
        let rival = |mean: f64| Alike { configuration: configuration(2, 10), mean, n: 2 };
        let told = |count: usize| {
            let rivals = (0..count).map(|at| rival(10.5 + at as f64)).collect();
            alike(&Best { alike: rivals, ..best() }).unwrap()
        };
        let start = "These may be as good (Hsu's comparisons with the best)";
        assert_eq!(
            told(3),
            format!("{start}: a=2 b=10 (10.50), a=2 b=10 (11.50), a=2 b=10 (12.50).")
        );
        assert!(told(5).ends_with("(12.50), and 2 more."), "{}", told(5));
    }

    #[test]
    fn the_best_predicted_says_whether_it_ran_and_how_sure_it_is() {
        let told = |own: PredictedBest| predicted(&analysis(vec![]), &own);
        assert_eq!(
            told(predicted_best()),
            "Best predicted over all 4 combinations of the levels tried: a=2 b=20, not run yet: y \
             8.0 (95 % prediction interval of a trial 7.0 to 9.0), with every effect shrunken by its \
             noise, since being chosen flatters."
        );
        let once = PredictedBest { measured: 1, low: None, ..predicted_best() };
        assert!(told(once).contains("a=2 b=20, run once: y 8, with every effect shrunken"));
        let alone = PredictedBest { shrunken: false, ..predicted_best() };
        assert!(told(alone).ends_with("7.0 to 9.0), from its own runs alone."));
        let same = PredictedBest { measured: 3, same: true, ..predicted_best() };
        assert!(told(same).contains("a=2 b=20, the best measured too: y"));
        let near = PredictedBest { all_looked_at: false, beyond_prediction: 1, ..predicted_best() };
        let near = told(near);
        assert!(near.starts_with("Best predicted near the best measured, by changing"), "{near}");
        assert!(
            near.ends_with(
                "flatters. 1 other combination cannot be predicted while terms are aliased."
            ),
            "{near}"
        );
    }

    #[test]
    fn both_bests_run_again_as_often_as_the_one_that_ran_more_and_at_least_three_times() {
        assert_eq!(confirming_runs(&best()), None);
        let same = PredictedBest { same: true, ..predicted_best() };
        assert_eq!(confirming_runs(&Best { predicted: Some(same), ..best() }), None);
        let other = Best { predicted: Some(predicted_best()), ..best() };
        assert_eq!(
            confirming_runs(&other).unwrap(),
            "The best measured and the best by the effects differ: run a=1 b=10 and a=2 b=20 again, \
             3 times each, before choosing"
        );
        let often = PredictedBest { measured: 7, ..predicted_best() };
        let often = Best { predicted: Some(often), ..best() };
        assert!(confirming_runs(&often).unwrap().contains("7 times each"));
    }
}
