//! Tables of results from elsewhere: taken in whole, or refused with the line.

use std::collections::BTreeMap;
use std::fmt::Write;

use trainwright::{ExportTable, Imported, Results, UsageColumns, export_csv, import};
use trainwright_study::Study;

use crate::lab::{Lab, check_refusal};

const STUDY: &str = "schema = 1\n[study]\nname = \"i\"\n[factors.a]\nlevels = [1, 2]\n[factors.kind]\n\
    levels = [\"x y\", \"1,5\"]\n[design]\ntype = \"full\"\nreplications = 2\n[metrics.loss]\nunit = \"nats\"\n\
    [metrics.half]\nfrom = \"expr\"\nexpr = \"loss / 2\"\n[analysis]\nresponse = \"loss\"\n";

fn table(rows: &[(u32, &str, &str)]) -> String {
    let mut text = String::from("kind,loss,a\n");
    for (a, kind, loss) in rows {
        writeln!(text, "\"{kind}\",{loss},{a}").unwrap();
    }
    text
}

fn all(loss: impl Fn(usize) -> f64) -> String {
    let kinds = [(1, "x y"), (1, "1,5"), (2, "x y"), (2, "1,5")];
    let rows: Vec<(u32, &str, String)> =
        (0..8).map(|at| (kinds[at % 4].0, kinds[at % 4].1, loss(at).to_string())).collect();
    table(&rows.iter().map(|own| (own.0, own.1, own.2.as_str())).collect::<Vec<_>>())
}

fn taken(lab: &Lab, study: &Study, text: &str) -> Result<Imported, trainwright::Error> {
    let file = lab.file("results.csv", text);
    import(study, &file, &BTreeMap::new(), None)
}

#[test]
fn a_whole_table_fills_the_design_in_the_order_of_the_file() {
    let lab = Lab::new();
    let study = lab.study(STUDY);
    // Programs for tables begin their files with a mark, and pad names.
    let text = format!("\u{feff}{}", all(|at| at as f64 + 0.5).replacen("loss", " loss ", 1));
    let imported = taken(&lab, &study, &text).unwrap();
    assert_eq!(imported, Imported { kept: 8, ..Imported::default() });
    let results = Results::read(&study, None).unwrap();
    for trial in &results.trials {
        let of =
            |name: &str| trial.measurements.iter().find(|own| own.metric == name).unwrap().value;
        assert_eq!(of("half"), of("loss") / 2.0, "formulas are computed on reading");
        let first = if of("loss") < 4.0 { 1 } else { 2 };
        assert_eq!(trial.replicate, first, "{trial:?}");
    }
    check_refusal(taken(&lab, &study, &text), 2, &["`i`"]);
}

#[test]
fn what_is_missing_short_or_outside_is_told() {
    let lab = Lab::new();
    let study = lab.study(
        &STUDY
            .replace("levels = [1, 2]", "levels = [1, 2, 3]")
            .replace("\"full\"", "\"one-factor\"\nbaseline = { a = 1, kind = \"x y\" }"),
    );
    let rows = [(1, "x y", "1"), (1, "x y", "2"), (2, "x y", "3"), (3, "1,5", "4"), (1, "1,5", "")];
    let imported = taken(&lab, &study, &table(&rows)).unwrap();
    assert_eq!((imported.kept, imported.without_response.as_slice()), (4, &[6][..]));
    let outside: Vec<String> = imported.outside_design.iter().map(ToString::to_string).collect();
    assert_eq!(outside, ["a=3 kind=1,5"]);
    let short: Vec<(u32, u32)> =
        imported.short_rows.iter().map(|own| (own.results, own.planned)).collect();
    assert_eq!(short, [(1, 2)]);
    let missing: Vec<String> =
        imported.missing_rows.iter().map(|own| own.configuration.to_string()).collect();
    assert_eq!(missing.len(), 2, "{missing:?}");
    assert!(missing.contains(&"a=3 kind=x y".to_owned()), "{missing:?}");
}

#[test]
fn a_cell_that_does_not_read_is_named_with_its_line_and_nothing_is_kept() {
    let lab = Lab::new();
    let study = lab.study(STUDY);
    let good = (1, "x y", "1");
    for (rows, words) in [
        (vec![good, (7, "x y", "1")], vec!["line 3", "`7` is no level of `a`, which has 1, 2"]),
        (vec![good, (1, "z", "1")], vec!["line 3", "`z` is no level of `kind`"]),
        (vec![(1, "x y", "fast")], vec!["line 2", "`fast` is no finite number for `loss`"]),
        (vec![good, good, (1, "x y", "inf")], vec!["line 4", "`inf`"]),
        (vec![good, good, good], vec!["line 4", "more than the 2 results", "replications"]),
    ] {
        let words: Vec<&str> = [&["results.csv"][..], &words].concat();
        check_refusal(taken(&lab, &study, &table(&rows)), 2, &words);
    }
    check_refusal(taken(&lab, &study, "kind,loss,a\n"), 2, &["it has no rows"]);
    check_refusal(
        taken(&lab, &study, "kind,a\nx y,1\n"),
        2,
        &["no column for the metric `loss`", "--column loss=COLUMN"],
    );
    check_refusal(taken(&lab, &study, "kind,loss\nx y,1\n"), 2, &["no column for the factor `a`"]);
    check_refusal(taken(&lab, &study, "kind,loss,a\nx y,1\n"), 2, &["results.csv"]);
    // A table that was refused leaves the study as it was.
    assert_eq!(taken(&lab, &study, &all(|_| 1.0)).unwrap().kept, 8);
}

#[test]
fn columns_of_other_names_are_named_and_wrong_names_are_told() {
    let lab = Lab::new();
    let study = lab.study(STUDY);
    let file = lab.file("other.csv", all(|at| at as f64).replacen("kind,loss,a", "k,l,a", 1));
    let columns = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, column)| ((*name).to_owned(), (*column).to_owned())).collect()
    };
    let with = |pairs: &[(&str, &str)]| import(&study, &file, &columns(pairs), None);
    check_refusal(with(&[("z", "k")]), 2, &["`z` is no factor and no metric"]);
    check_refusal(with(&[("kind", "q")]), 2, &["there is no column `q`; there are k, l, a"]);
    assert_eq!(with(&[("kind", "k"), ("loss", "l")]).unwrap().kept, 8);
}

#[test]
fn what_was_exported_is_taken_in_again_with_the_same_values() {
    let lab = Lab::new();
    let study = lab.study(STUDY);
    // Numbers that only all their digits tell apart.
    taken(&lab, &study, &all(|at| 1.0 / 3.0 + at as f64 * 1e-15)).unwrap();
    let results = Results::read(&study, None).unwrap();
    let mut text = Vec::new();
    export_csv(&ExportTable::new(&study, &results, UsageColumns::LeftOut), &mut text).unwrap();
    let other = Lab::new();
    let copy = other.study(STUDY);
    taken(&other, &copy, &String::from_utf8(text).unwrap()).unwrap();
    let again = Results::read(&copy, None).unwrap();
    let values = |own: &Results| -> Vec<(String, Vec<u64>)> {
        let mut all = Vec::new();
        for trial in &own.trials {
            let values = trial.measurements.iter().map(|own| own.value.to_bits()).collect();
            all.push((trial.configuration.to_string(), values));
        }
        // Replicates are counted in the order of the file, which is that of the runs here.
        all.sort();
        all
    };
    assert_eq!(values(&results).len(), 8);
    assert_eq!(values(&results), values(&again));
}
