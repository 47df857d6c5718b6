//! The best row and the effects may point to different configurations, but never without a word.

use trainwright_report::{Colour, verdict};

use crate::simulated::Simulated;

const DIFFER: &str = "The best measured and the best by the effects differ";

/// A full design run once, one row of which looks cheaper than its levels make it.
fn with_lucky_row(row: u32) -> Simulated {
    let mut simulated = Simulated::designed("type = \"full\"", 1, 2);
    let of_row = simulated.trials.iter_mut().filter(|own| own.row == Some(row));
    let measured = of_row.flat_map(|own| &mut own.measurements);
    measured.filter(|own| own.metric == "cost").for_each(|own| own.value *= 0.4);
    simulated.analysed()
}

/// Every row of a full design in turn is lucky: where the effects do not follow it, both
/// configurations are named and run again; where they do, nothing is asked for.
#[test]
fn a_lucky_row_against_the_effects_is_told_and_confirmed() {
    let (mut differing, mut agreeing) = (0, 0);
    for row in 1..=32 {
        let simulated = with_lucky_row(row);
        let text = verdict(&simulated.input(), Colour::Never);
        let best = simulated.analysis.as_ref().unwrap().best.as_ref().unwrap();
        let predicted = best.predicted.as_ref().unwrap();
        let [measured, by_effects] =
            [&best.configuration, &predicted.configuration].map(ToString::to_string);
        assert_eq!(predicted.same, measured == by_effects, "row {row}");
        assert!(
            text.contains(&format!("combinations of the levels tried: {by_effects}")),
            "{text}"
        );
        let next = &text[text.find("\nNext\n").unwrap()..];
        if predicted.same {
            agreeing += 1;
            assert!(!text.contains(DIFFER), "{text}");
        } else {
            differing += 1;
            let next = next.split_whitespace().collect::<Vec<_>>().join(" ");
            let runs = format!("{DIFFER}: run {measured} and {by_effects} again, 3 times each");
            assert!(next.contains(&runs), "{next}");
        }
    }
    assert!(differing > 0 && agreeing > 0, "{differing} rows differ, {agreeing} agree");
}
