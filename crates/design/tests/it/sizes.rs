//! Whatever number a study file holds, a design is built within the limits or refused.

use proptest::prelude::*;
use trainwright_design::{Design, MOST_ROWS};

use crate::studies::study;

/// Small numbers, numbers about the limits, and the largest that a study file can hold.
fn any_number() -> impl Strategy<Value = u32> {
    prop_oneof![
        0u32..40,
        (0u32..32).prop_map(|power| 1 << power),
        (0u32..4).prop_map(|less| u32::MAX - less),
        Just(MOST_ROWS as u32 + 1),
        any::<u32>(),
    ]
}

fn factors(count: usize, levels: &str) -> String {
    (0..count).map(|place| format!("[factors.f{place}]\nlevels = {levels}\n")).collect()
}

fn any_design() -> impl Strategy<Value = String> {
    let kinds = [
        "type = \"full\"\ncenter_points = N",
        "type = \"full\"\nblocks = N",
        "type = \"full\"\nblocks = 2\ncenter_points = N",
        "type = \"full\"\nreplications = N",
        "type = \"one-factor\"\nreplications = N",
        "type = \"fractional\"\nruns = N",
        "type = \"fractional\"\nruns = 8\nresolution = N",
        "type = \"fractional\"\nruns = 8\ncenter_points = N",
        "type = \"plackett-burman\"\nruns = N",
        "type = \"plackett-burman\"\ncenter_points = N\nfoldover = true",
        "type = \"central-composite\"\ncenter_points = N",
        "type = \"central-composite\"\ncenter_points = [N, N]\nalpha = \"orthogonal\"",
        "type = \"box-behnken\"\ncenter_points = N",
        "type = \"latin-hypercube\"\nruns = N\nspread = \"plain\"",
        "type = \"sobol\"\nruns = N",
        "type = \"d-optimal\"\nruns = N\nmodel = \"main\"\nstarts = 1",
        "type = \"d-optimal\"\nruns = 8\nmodel = \"main\"\nstarts = N",
        "type = \"mixed\"\nruns = N",
    ];
    (prop::sample::select(kinds.to_vec()), any_number()).prop_filter_map(
        "a number that is allowed, but slow in a test",
        |(kind, number)| {
            // Starts up to the limit are allowed to take minutes.
            let slow = kind.contains("starts = N") && (40..1 << 24).contains(&number);
            let slow = slow || (kind.contains("runs = N") && (257..=1_000_000).contains(&number));
            // The study itself refuses 0 replications and 0 starts.
            let refused =
                number == 0 && (kind.contains("replications") || kind.contains("starts = N"));
            (!slow && !refused).then(|| kind.replace('N', &number.to_string()))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_number_gives_a_design_within_the_limits_or_a_refusal(
        design in any_design(), count in 1usize..8,
    ) {
        let study = study(&factors(count, "[10.0, 20.0]"), &design, "");
        match Design::of(&study) {
            Ok(built) => prop_assert!(built.rows().len() <= MOST_ROWS),
            Err(refused) => {
                prop_assert!(!refused.to_string().is_empty());
                prop_assert!(!refused.key().is_empty());
            }
        }
    }
}

#[test]
fn many_factors_are_refused_before_their_rows_are_made() {
    let many = factors(8_000, "[0, 1]");
    for kind in ["full", "one-factor", "d-optimal\"\nruns = \"8"] {
        let text = format!("type = \"{kind}\"").replace("= \"8\"", "= 8");
        let error = Design::of(&study(&many, &text, "")).unwrap_err();
        assert_eq!(error.key(), ["factors"], "{error}");
    }
}

#[test]
fn a_product_of_many_factors_is_refused_before_its_parts_are_made() {
    let names: Vec<String> = (0..40).map(|place| format!("f{}", place % 12)).collect();
    let design = format!("type = \"d-optimal\"\nruns = 8\nmodel = \"{}\"", names.join("*"));
    let error = Design::of(&study(&factors(12, "[0, 1]"), &design, "")).unwrap_err();
    assert!(error.to_string().contains("1099511627775 products"), "{error}");
    assert_eq!(error.key(), ["design", "model"]);
}
