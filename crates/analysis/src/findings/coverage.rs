//! What the data lack: cells, repeats, balance.

use super::{Evidence, Finding, serious, warning};
use crate::model::balance::{missing_cells, one_a_source};
use crate::model::problem::Order;
use crate::wording::{count, list};

pub(super) fn findings(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    // A study knows its design and names missing rows itself.
    if evidence.problem.order == Order::Row {
        found.extend(inferred_missing_cells(evidence));
    }
    found.extend(unbalanced(evidence));
    found.extend(no_replication(evidence));
    found
}

fn inferred_missing_cells(evidence: &Evidence<'_>) -> Option<Finding> {
    let variables = one_a_source(&evidence.problem.variables);
    let missing = missing_cells(&variables)?;
    let cell = |codes: &Vec<usize>| {
        let pairs = variables.iter().zip(codes);
        let levels: Vec<String> =
            pairs.map(|(v, &code)| format!("{}={}", v.name, v.levels[code])).collect();
        format!("({})", levels.join(" "))
    };
    let cells: Vec<String> = missing.cells.iter().map(cell).collect();
    let pattern = if missing.words.is_empty() {
        format!("all {} combinations of levels", missing.expected)
    } else {
        format!("the {} combinations that keep {} constant", missing.expected, list(&missing.words))
    };
    let text = format!(
        "the data look like {pattern}, but {} without observations: {}; effects are then mixed, \
         and the cells that are missing may be the ones that matter",
        count(missing.cells.len(), "cell") + if missing.cells.len() == 1 { " is" } else { " are" },
        list(&cells)
    );
    Some(serious("missing-cells", text))
}

fn unbalanced(evidence: &Evidence<'_>) -> Option<Finding> {
    let check = evidence.fails("balance")?;
    Some(warning("unbalanced", check.verdict.clone()))
}

fn no_replication(evidence: &Evidence<'_>) -> Option<Finding> {
    let problem = evidence.problem;
    let factors = problem.variables.iter().all(|v| v.is_factor() || v.is_block() || v.is_power());
    if problem.configurations() < problem.y.len() || problem.variables.is_empty() || !factors {
        return None;
    }
    let how = match evidence.lenth {
        Some(margins) if margins.active.is_empty() => {
            "by Lenth's method no effect stands out from the others".to_owned()
        }
        Some(margins) => {
            let verb = if margins.active.len() == 1 { "stands" } else { "stand" };
            format!("by Lenth's method {} {verb} out from the other effects", list(&margins.active))
        }
        None => "repeat at least some configurations".to_owned(),
    };
    let text = format!(
        "no configuration was run twice, so there is no estimate of pure error and lack of fit \
         cannot be seen; {how}"
    );
    Some(warning("no-replication", text))
}

#[cfg(test)]
mod tests {
    use crate::tests::{analysis, table, two_by_two};

    fn text(found: &crate::Analysis, id: &str) -> Option<String> {
        found.findings.iter().find(|own| own.id == id).map(|own| own.text.clone())
    }

    #[test]
    fn a_cell_without_observations_is_named() {
        let rows: Vec<[f64; 3]> = (0..12)
            .map(|run| {
                let (a, b) = [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0)][run % 3];
                [a, b, a + 2.0 * b + 0.1 * (run * 5 % 7) as f64]
            })
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 3]>::as_slice).collect();
        let found = analysis(&table("a,b,y", &rows), "y ~ a + b", None);
        let words = text(&found, "missing-cells").unwrap();
        assert!(words.contains("but 1 cell is without observations: (a=2 b=2)"), "{words}");
        assert!(words.starts_with("the data look like all 4 combinations of levels"), "{words}");
        assert!(text(&analysis(&two_by_two(), "y ~ a + b", None), "missing-cells").is_none());
    }

    #[test]
    fn runs_without_repeats_say_what_stands_out_nevertheless() {
        let mut rows = Vec::new();
        for run in 0..8 {
            let sign = |bit: usize| if run >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let (a, b, c) = (sign(0), sign(1), sign(2));
            rows.push([a, b, c, 10.0 * a + 0.5 * (b + c + a * b + a * c + b * c + a * b * c)]);
        }
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 4]>::as_slice).collect();
        let found = analysis(&table("a,b,c,y", &rows), "y ~ a * b * c", None);
        let words = text(&found, "no-replication").unwrap();
        assert!(
            words.ends_with("by Lenth's method a stands out from the other effects"),
            "{words}"
        );
        assert!(text(&analysis(&two_by_two(), "y ~ a", None), "no-replication").is_none());
    }
}
