//! Designs of whole studies, as a study file asks for them.

use trainwright_design::{Construction, Design, DesignError, DesignNote};
use trainwright_study::Study;

/// A study of these factors and this design; `rest` holds constraints.
pub(crate) fn study(factors: &str, design: &str, rest: &str) -> Study {
    let text = format!(
        "schema = 1\n[study]\nname = \"test\"\nseed = 7\n{factors}\n[design]\n{design}\n\
         [metrics.time]\nfrom = \"wall\"\nunit = \"s\"\nobjective = \"minimize\"\n{rest}\n"
    );
    Study::from_text(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

pub(crate) const SIX: &str = "[factors.nodes]\nlevels = [1, 4]\n[factors.executors]\nlevels = [1, 4]\n\
    [factors.cores]\nlevels = [1, 4]\n[factors.epochs]\nlevels = [1, 3]\n\
    [factors.lr]\nlevels = [0.01, 0.001]\n[factors.batch]\nlevels = [64, 256]\n";

const THREE: &str = "[factors.lr]\nlevels = [0.1, 0.2]\n[factors.batch]\nlevels = [32, 64, 128]\n\
    [factors.optimizer]\nlevels = [\"sgd\", \"adam\"]\n";

const CONDITIONAL: &str = "[factors.momentum]\nlevels = [0.0, 0.9]\n\
    when = \"optimizer == 'sgd'\"\n[factors.optimizer]\nlevels = [\"sgd\", \"adam\"]\n";

fn lines(design: &Design) -> Vec<String> {
    design.rows().iter().map(ToString::to_string).collect()
}

fn notes(design: &Design) -> Vec<String> {
    design.notes().iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check_error(study: &Study, key: &[&str], message: &str, help: &str) {
    let error = Design::of(study).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(error.key(), key);
    assert_eq!(error.help().as_deref().unwrap_or(""), help);
}

#[test]
fn a_fraction_codes_the_lower_level_as_minus() {
    let design = Design::of(&study(SIX, "type = \"fractional\"\nruns = 32", "")).unwrap();
    assert_eq!(design.kind(), Construction::Fractional);
    assert_eq!(design.rows().len(), 32);
    assert_eq!(design.coded().unwrap()[10], [-1, 1, -1, 1, -1, -1]);
    assert_eq!(
        design.row(11).unwrap().to_string(),
        "nodes=1 executors=4 cores=1 epochs=3 lr=0.001 batch=64"
    );
    assert_eq!(design.name_effect("-AEF").unwrap(), "-nodes:lr:batch");
    assert_eq!(design.name_effect("AZ"), None);
    assert!(design.notes().is_empty());
    assert_eq!(design.coded().unwrap(), design.fraction().unwrap().rows());
}

#[test]
fn generators_may_name_factors() {
    let asked = "type = \"fractional\"\ngenerators = [\"batch = nodes*executors*cores*epochs*lr\"]\n\
                 runs = 32\nresolution = 6";
    let design = Design::of(&study(SIX, asked, "")).unwrap();
    assert_eq!(design.fraction().unwrap().generators(), ["F=ABCDE"]);
}

#[test]
fn a_fraction_of_everything_says_so() {
    let design = Design::of(&study(SIX, "type = \"fractional\"\nruns = 64", "")).unwrap();
    assert_eq!(design.notes(), [DesignNote::WholeFactorial]);
}

#[test]
fn a_fraction_that_cannot_be_is_explained() {
    let six = |design: &str| study(SIX, &format!("type = \"fractional\"\n{design}"), "");
    check_error(
        &six("runs = 16\nresolution = 5"),
        &["design", "resolution"],
        "resolution 5 is asked for, but 16 runs reach only 4",
        "use `runs = 32`, or accept `resolution = 4`",
    );
    check_error(
        &six("generators = [\"F=AB\"]\nresolution = 4"),
        &["design", "resolution"],
        "resolution 4 is asked for, but 32 runs reach only 3",
        "use `runs = 32`, or accept `resolution = 3`",
    );
    check_error(
        &six("runs = 20"),
        &["design", "runs"],
        "20 runs are not a power of two, as a regular two-level fraction needs",
        "use 16 or 32",
    );
    check_error(
        &six("runs = 16\ngenerators = [\"F=ABC\"]"),
        &["design", "runs"],
        "the generators give 32 runs where 16 are asked for",
        "write `runs = 32`, or leave either runs or generators out",
    );
    check_error(
        &six("generators = [\"E=ABC\", \"F=ABQ\"]"),
        &["design", "generators", "1"],
        "generator `F=ABQ` names `Q`, which is neither a factor nor the letter of one",
        "factors are A (nodes), B (executors), C (cores), D (epochs), E (lr), F (batch)",
    );
    check_error(
        &study(THREE, "type = \"fractional\"\nruns = 4", ""),
        &["factors", "batch", "levels"],
        "factor `batch` has 3 levels where a two-level design needs 2",
        "give the factor two levels, or use type = \"full\"",
    );
    check_error(
        &study(CONDITIONAL, "type = \"fractional\"\nruns = 4", ""),
        &["factors", "momentum", "when"],
        "factor `momentum` is conditional, but a fractional design sets every factor in every row",
        "use type = \"full\", which leaves a factor out where its condition fails",
    );
    check_error(
        &study(
            SIX,
            "type = \"fractional\"\nruns = 32",
            "[[constraint]]\nexpr = \"nodes * executors < 16\"",
        ),
        &["constraint", "0", "expr"],
        "row 4 (nodes=4 executors=4 cores=1 epochs=1 lr=0.001 batch=64) violates constraint \
         `nodes * executors < 16`",
        "change the levels or the constraint; type = \"full\" drops forbidden rows by itself",
    );
}

#[test]
fn forbidden_combinations_are_dropped_and_listed() {
    let constraint = "[[constraint]]\nexpr = \"lr * batch < 12\"";
    let design = Design::of(&study(THREE, "type = \"full\"", constraint)).unwrap();
    assert_eq!(design.rows().len(), 6);
    assert_eq!(
        notes(&design),
        ["6 rows dropped by constraint `lr * batch < 12`", "no row runs `batch` at 128"]
    );
    let DesignNote::Dropped { configurations, .. } = &design.notes()[0] else { panic!() };
    assert_eq!(configurations[0].to_string(), "lr=0.2 batch=64 optimizer=sgd");
    check_error(
        &study(THREE, "type = \"full\"", "[[constraint]]\nexpr = \"lr > 1\""),
        &["constraint", "0", "expr"],
        "no combination of levels satisfies the constraints; `lr > 1` drops the last",
        "",
    );
}

#[test]
fn a_factor_is_absent_where_its_condition_fails() {
    let design = Design::of(&study(CONDITIONAL, "type = \"full\"", "")).unwrap();
    assert_eq!(
        lines(&design),
        ["momentum=0 optimizer=sgd", "momentum=0.9 optimizer=sgd", "optimizer=adam"]
    );
    assert_eq!(
        notes(&design),
        ["1 combination merged with another that differs in absent factors only"]
    );
    assert_eq!(design.coded(), None);
}

#[test]
fn a_constraint_on_an_absent_factor_does_not_apply() {
    let constraint = "[[constraint]]\nexpr = \"momentum > 0.5\"";
    let design = Design::of(&study(CONDITIONAL, "type = \"full\"", constraint)).unwrap();
    assert_eq!(lines(&design), ["momentum=0.9 optimizer=sgd", "optimizer=adam"]);
}

#[test]
fn an_expression_without_a_value_is_told_with_the_configuration() {
    check_error(
        &study(THREE, "type = \"full\"", "[[constraint]]\nexpr = \"1 / (batch - 64) < 1\""),
        &["constraint", "0", "expr"],
        "constraint has no value for lr=0.1 batch=64 optimizer=sgd: division by zero in \
         `1 / (batch - 64) < 1`",
        "",
    );
}

#[test]
fn one_factor_at_a_time_starts_from_the_baseline() {
    let asked = "type = \"one-factor\"\nbaseline = { batch = 64 }";
    let design = Design::of(&study(THREE, asked, "")).unwrap();
    assert_eq!(
        lines(&design),
        [
            "lr=0.1 batch=64 optimizer=sgd",
            "lr=0.2 batch=64 optimizer=sgd",
            "lr=0.1 batch=32 optimizer=sgd",
            "lr=0.1 batch=128 optimizer=sgd",
            "lr=0.1 batch=64 optimizer=adam",
        ]
    );
    check_error(
        &study(THREE, asked, "[[constraint]]\nexpr = \"batch != 64\""),
        &["design", "baseline"],
        "the baseline lr=0.1 batch=64 optimizer=sgd violates constraint `batch != 64`",
        "",
    );
}

#[test]
fn one_factor_at_a_time_tells_what_it_cannot_vary() {
    let asked = "type = \"one-factor\"\nbaseline = { optimizer = \"adam\" }";
    let design = Design::of(&study(CONDITIONAL, asked, "")).unwrap();
    assert_eq!(lines(&design), ["optimizer=adam", "momentum=0 optimizer=sgd"]);
    assert!(notes(&design).contains(&"no row runs `momentum` at 0.9".to_owned()));
}

#[test]
fn a_table_keeps_its_rows_and_notes_repeats() {
    let asked = "type = \"table\"\nrows = [[0.1, 32, \"sgd\"], [0.2, 64, \"adam\"], \
                 [0.1, 32, \"sgd\"], [0.1, 128, \"sgd\"]]";
    let design = Design::of(&study(THREE, asked, "")).unwrap();
    assert_eq!(design.rows().len(), 4);
    assert_eq!(notes(&design), ["row 3 repeats row 1"]);
    let fault = Design::of(&study(THREE, asked, "[[constraint]]\nexpr = \"batch < 128\""));
    assert!(matches!(fault.unwrap_err(), DesignError::RowViolates { row: 4, .. }));
}

#[test]
fn a_coded_table_with_a_wrong_sign_is_noted() {
    let right = Design::of(&study(SIX, "type = \"fractional\"\nruns = 32", "")).unwrap();
    let mut signs = right.coded().unwrap().to_vec();
    signs[10][3] = -1;
    let asked = format!("type = \"table\"\ncoded = true\nrows = {signs:?}");
    let design = Design::of(&study(SIX, &asked, "")).unwrap();
    let [DesignNote::Misprint(misprint)] = design.notes() else { panic!("{:?}", design.notes()) };
    assert_eq!((misprint.repairs[0].row, misprint.repairs[0].column), (11, 4));
}

#[test]
fn designs_too_large_are_refused_before_they_are_built() {
    let levels: Vec<u32> = (0..1000).collect();
    let many: String =
        ["a", "b", "c"].map(|name| format!("[factors.{name}]\nlevels = {levels:?}\n")).concat();
    check_error(
        &study(&many, "type = \"full\"", ""),
        &["factors"],
        "the factors have 1000000000 combinations, more than 1000000",
        "remove levels, or use a fractional design",
    );
    check_error(
        &study(SIX, "type = \"full\"\nreplications = 100000", ""),
        &["design", "replications"],
        "64 rows with 100000 replications make 6400000 trials, more than 1000000",
        "use at most 15625 replications",
    );
}

#[test]
fn a_design_is_plain_json() {
    let design = Design::of(&study(CONDITIONAL, "type = \"full\"", "")).unwrap();
    assert_eq!(
        serde_json::to_string(&design).unwrap(),
        "{\"kind\":\"full\",\"factors\":[\"momentum\",\"optimizer\"],\"rows\":[{\"momentum\":0.0,\
         \"optimizer\":\"sgd\"},{\"momentum\":0.9,\"optimizer\":\"sgd\"},{\"optimizer\":\"adam\"}],\
         \"notes\":[{\"note\":\"merged\",\"combinations\":1}]}"
    );
}
