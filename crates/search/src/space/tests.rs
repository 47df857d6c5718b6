use proptest::prelude::*;
use trainwright_study::Level;

use super::*;

fn study(lines: &str) -> Study {
    let text = format!("schema = 1\n[study]\nname = \"s\"\n{lines}\n[metrics.y]\n");
    Study::from_text(&text).unwrap()
}

const MIXED: &str = "[factors.lr]\nrange = { from = 0.001, to = 0.1 }\nscale = \"log\"\n\
    [factors.batch]\nlevels = [32, 64, 128]\nscale = \"log2\"\n\
    [factors.optimizer]\nlevels = [\"sgd\", \"adam\"]\n\
    [factors.momentum]\nrange = { from = 0.5, to = 0.99 }\nwhen = \"optimizer == 'sgd'\"\n\
    [[constraint]]\nexpr = \"lr * batch <= 6\"\n";

proptest! {
    #[test]
    fn points_become_configurations_and_come_back(
        point in proptest::collection::vec(0.0..1.0f64, 4),
    ) {
        let space = Space::of(&study(MIXED)).unwrap();
        if let Some(own) = space.candidate(&point) {
            let again = space.candidate(&space.point(&own.configuration).unwrap()).unwrap();
            prop_assert_eq!(&again, &own);
            let number = |name: &str| own.configuration.get(name).and_then(Level::number);
            prop_assert!(number("lr").unwrap() * number("batch").unwrap() <= 6.0);
            let sgd = own.configuration.get("optimizer") == Some(&Level::Text("sgd".into()));
            prop_assert_eq!(number("momentum").is_some(), sgd);
        }
    }
}

#[test]
fn few_configurations_are_listed_once_each_and_without_forbidden_ones() {
    let lines = "[factors.a]\nlevels = [1, 2, 3]\n[factors.b]\nrange = { from = 1, to = 4 }\n\
                 when = \"a > 1\"\n[[constraint]]\nexpr = \"a + b < 7\"\n";
    let space = Space::of(&study(lines)).unwrap();
    let listed: Vec<String> =
        space.listed().unwrap().iter().map(|own| own.configuration.to_string()).collect();
    assert_eq!(
        listed,
        ["a=1", "a=2 b=1", "a=3 b=1", "a=2 b=2", "a=3 b=2", "a=2 b=3", "a=3 b=3", "a=2 b=4"]
    );
    assert!(Space::of(&study(MIXED)).unwrap().listed().is_none());
}

#[test]
fn constraints_that_nothing_meets_are_refused() {
    let refused = |lines: &str| Space::of(&study(lines)).unwrap_err().to_string();
    let levels = "[factors.a]\nlevels = [1, 2]\n[[constraint]]\nexpr = \"a > 2\"\n";
    assert!(refused(levels).contains("no configuration meets the constraints"));
    let range = "[factors.a]\nrange = { from = 0.0, to = 1.0 }\n[[constraint]]\nexpr = \"a > 2\"\n";
    assert!(refused(range).contains("configurations by chance meets the constraints"));
    let broken = "[factors.a]\nlevels = [0, 1]\n[[constraint]]\nexpr = \"1 / a > 0\"\n";
    assert!(refused(broken).contains("division by zero"), "{}", refused(broken));
}

fn candidate(x: i64, features: &[f64]) -> Candidate {
    let configuration = Configuration::new(vec![("x".to_owned(), Level::Integer(x))]);
    Candidate { configuration, features: features.to_vec() }
}

#[test]
fn a_table_is_a_space_of_its_rows() {
    let rows =
        vec![candidate(1, &[2.0, 0.0]), candidate(2, &[4.0, 1.0]), candidate(3, &[8.0, 0.0])];
    let space = Space::of_candidates(rows, vec![Distance::Difference, Distance::Mismatch]).unwrap();
    let listed = space.listed().unwrap();
    assert_eq!(listed[1].features, [1.0 / 3.0, 1.0], "numbers are brought to the unit interval");
    for own in listed {
        let point = space.point(&own.configuration).unwrap();
        assert_eq!(space.candidate(&point).as_ref(), Some(own));
        assert_eq!(space.features(&own.configuration).as_ref(), Some(&own.features));
    }
    assert_eq!(space.features(&candidate(9, &[]).configuration), None);
}

#[test]
fn faulty_tables_are_refused() {
    let refused = |rows: Vec<Candidate>| {
        Space::of_candidates(rows, vec![Distance::Difference]).unwrap_err().to_string()
    };
    assert_eq!(refused(vec![]), "there are no candidates");
    assert_eq!(
        refused(vec![candidate(1, &[])]),
        "candidate x=1 has 0 features where others have 1"
    );
    assert_eq!(refused(vec![candidate(1, &[f64::NAN])]), "a feature of candidate x=1 is NaN");
    let twice = vec![candidate(1, &[1.0]), candidate(1, &[2.0])];
    assert_eq!(refused(twice), "candidate x=1 is there twice");
}

#[test]
fn chance_reaches_every_candidate_and_repeats_by_seed() {
    let space = Space::of(&study("[factors.a]\nlevels = [1, 2, 3]\n")).unwrap();
    let draw = |seed: u64| space.random(&mut Random::new(seed)).unwrap().configuration.to_string();
    let seen: BTreeSet<String> = (0..40).map(draw).collect();
    assert_eq!(seen.len(), 3);
    assert_eq!(draw(7), draw(7));
}
