//! Inflated variances, and whether only the units cause them.

use trainwright_stats::Fit;

use super::{Evidence, Finding, info, warning};
use crate::fit::fitted::Fitted;
use crate::fit::overlap::inflation;
use crate::model::model_matrix::Coding;
use crate::wording::{brief, list};

/// Inflation above which coefficients in raw units are hard to read.
const INFLATED: f64 = 5.0;

/// Inflation up to which columns count as nearly orthogonal.
const NEARLY_ORTHOGONAL: f64 = 1.5;

/// Inflation that everybody calls collinearity; from 10 on many do.
const CALLED_COLLINEAR: f64 = 20.0;

pub(super) fn findings(evidence: &Evidence<'_>) -> Vec<Finding> {
    let fitted = evidence.fitted;
    let by_term = inflation(evidence.problem, fitted);
    let worst = by_term.iter().flatten().fold(1.0f64, |most, own| most.max(*own));
    if worst > INFLATED {
        let named = by_term.iter().zip(&evidence.problem.term_names);
        let names: Vec<String> = named
            .filter(|(own, _)| own.is_some_and(|own| own > INFLATED))
            .map(|(_, name)| name.clone())
            .collect();
        let text = format!(
            "{} move together in these data (variance inflation up to {}), so their separate \
             coefficients are uncertain",
            list(&names),
            brief(worst)
        );
        return vec![warning("collinearity", text)];
    }
    let problem = evidence.problem;
    // Columns of texts have no units: what they inflate lies in the choice of their contrasts.
    let has_units = |column: usize| match fitted.term_of_column(column) {
        0 => false,
        term => problem.terms[term - 1].iter().any(|&v| problem.variables[v].is_numeric()),
    };
    let (own, coded) = (largest_of(&fitted.fit, has_units), largest(&fitted.coded_fit));
    if own <= INFLATED || problem.coding == Coding::Coded {
        return vec![];
    }
    let inflated = inflated(fitted, problem.alpha, has_units);
    let instead = if coded <= NEARLY_ORTHOGONAL {
        format!("with levels coded -1 and +1 it is at most {}", brief(coded))
    } else {
        format!("taken term by term, whatever the units, it is at most {}", brief(worst))
    };
    let text = format!(
        "variance inflation up to {} (in {inflated}) comes from products of uncoded units, not from \
         the data: {instead}",
        brief(own)
    );
    vec![info(ONLY_CODING, text)]
}

/// A study is fitted in coded units; says what whoever fits it in natural units would see.
///
/// `raw` is the study's problem fitted in natural units.
pub(crate) fn in_natural_units(raw: &Fitted, alpha: f64) -> Option<Finding> {
    let (natural, coded) = (largest(&raw.fit), largest(&raw.coded_fit));
    if natural <= CALLED_COLLINEAR || coded > NEARLY_ORTHOGONAL {
        return None;
    }
    let text = format!(
        "in natural units the variance inflation would be up to {} (in {}), which looks like \
         collinearity but comes from the units alone: coded -1 and +1, as here, it is at most {}",
        brief(natural),
        inflated(raw, alpha, |_| true),
        brief(coded)
    );
    Some(info(ONLY_CODING, text))
}

const ONLY_CODING: &str = "collinearity-is-coding";

fn largest(fit: &Fit) -> f64 {
    largest_of(fit, |_| true)
}

/// The largest inflation of some columns.
fn largest_of(fit: &Fit, counts: impl Fn(usize) -> bool) -> f64 {
    let own = fit.coefficients.iter().enumerate().filter(|(column, _)| counts(*column));
    own.filter_map(|(_, found)| found.as_ref()?.vif).fold(0.0, f64::max)
}

fn inflated(fitted: &Fitted, alpha: f64, counts: impl Fn(usize) -> bool) -> String {
    let names: Vec<String> = fitted
        .summary(alpha)
        .coefficients
        .iter()
        .enumerate()
        .filter(|(column, own)| counts(*column) && own.vif.is_some_and(|v| v > INFLATED))
        .map(|(_, own)| own.name.clone())
        .collect();
    list(&names)
}

#[cfg(test)]
mod tests {
    use crate::{Formula, Table, TableOptions, TermOrder, analyze_table};

    fn ids(csv: &str, formula: &str) -> Vec<&'static str> {
        let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
        let found = analyze_table(&table, &formula, &TableOptions::default()).unwrap();
        found.findings.iter().map(|own| own.id).collect()
    }

    #[test]
    fn texts_have_no_units_that_could_inflate() {
        let (mut texts, mut numbers) = ("y,t,s\n".to_owned(), "y,t,s\n".to_owned());
        for row in 0..36 {
            let (t, s, y) = (row % 3, row / 3 % 4, 10 + row * 7 % 11);
            texts += &format!("{y},t{t},s{s}\n");
            numbers += &format!("{y},{},{}\n", 100 + t, 1000 + s);
        }
        let only_coding = "collinearity-is-coding";
        assert!(!ids(&texts, "y ~ t*s").contains(&only_coding), "{:?}", ids(&texts, "y ~ t*s"));
        assert!(ids(&numbers, "y ~ t*s").contains(&only_coding));
    }
}
