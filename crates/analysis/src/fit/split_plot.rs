//! Terms tested against the error of their own stratum.

use trainwright_stats::{AnovaRow, ErrorStrata, Stratum, StratumTerm};

use crate::error::AnalysisError;
use crate::findings::{Finding, info, warning};
use crate::fit::analysis::StratumTable;
use crate::fit::anova_lines::lines;
use crate::fit::fitted::schemes;
use crate::model::model_matrix::ModelMatrix;
use crate::model::problem::Problem;
use crate::wording::list;

/// The strata of a problem; none where all observations have the same error.
pub(crate) fn strata_of(problem: &Problem) -> Result<Option<ErrorStrata>, AnalysisError> {
    if problem.groupings.is_empty() {
        return Ok(None);
    }
    let stats = |source| AnalysisError::Stats { response: problem.response.clone(), source };
    let (variables, equation) = (&problem.variables, problem.equation());
    let [_, _, summed] = schemes(problem.coding, problem.contrasts);
    let matrix = ModelMatrix::new(variables, equation, summed, problem.y.len()).map_err(stats)?;
    let groups: Vec<Vec<usize>> = problem.groupings.iter().map(|g| g.groups.clone()).collect();
    ErrorStrata::new(&matrix.columns, &problem.y, &matrix.structure, &groups)
        .map(Some)
        .map_err(stats)
}

/// A table a stratum, and what to know about them.
pub(crate) fn told(
    problem: &Problem,
    found: Option<&ErrorStrata>,
) -> (Vec<StratumTable>, Option<Finding>) {
    let found = found.map_or(&[][..], |own| &own.strata);
    let tables = found.iter().map(|stratum| table_of(stratum, problem)).collect();
    (tables, (!found.is_empty()).then(|| finding(found, problem)))
}

/// The test of a term in the one stratum it lies in; `None` if it lies in several.
pub(crate) fn only_test(found: &[Stratum], term: usize) -> Option<(&Stratum, &StratumTerm)> {
    let mut tests = found.iter().flat_map(|stratum| {
        stratum.terms.iter().filter(|own| own.term == term).map(move |own| (stratum, own))
    });
    tests.next().filter(|_| tests.next().is_none())
}

fn table_of(stratum: &Stratum, problem: &Problem) -> StratumTable {
    let name = problem.groupings.get(stratum.grouping).map_or("Within", |g| g.name.as_str());
    let total: f64 = stratum.terms.iter().map(|own| own.sum_sq).sum::<f64>() + stratum.ss_residual;
    let mut rows: Vec<AnovaRow> = stratum
        .terms
        .iter()
        .map(|own| AnovaRow {
            term: Some(own.term),
            df: own.df,
            sum_sq: Some(own.sum_sq),
            mean_sq: Some(own.sum_sq / own.df as f64),
            f: own.f,
            p: own.p,
            percent: (total > 0.0).then(|| 100.0 * own.sum_sq / total),
        })
        .collect();
    let (df, ss) = (stratum.df_residual, stratum.ss_residual);
    rows.push(AnovaRow {
        term: None,
        df,
        sum_sq: Some(ss),
        mean_sq: (df > 0).then(|| ss / df as f64),
        f: None,
        p: None,
        percent: (total > 0.0).then(|| 100.0 * ss / total),
    });
    let rows = lines(&rows, total, &problem.term_names);
    StratumTable { stratum: name.to_owned(), rows }
}

fn finding(found: &[Stratum], problem: &Problem) -> Finding {
    let strata_of =
        |term: usize| found.iter().filter(|s| s.terms.iter().any(|own| own.term == term)).count();
    let split: Vec<String> = (1..=problem.term_names.len())
        .filter(|&term| strata_of(term) > 1)
        .map(|term| problem.term_names[term - 1].clone())
        .collect();
    if split.is_empty() {
        let text = "each term is tested against the error of its own stratum, and intervals of \
                    effects, coefficients and means have that error too; where strata mix, \
                    degrees of freedom follow Satterthwaite's rule";
        return info("error-strata", text.to_owned());
    }
    let text = format!(
        "the groups are not balanced, so {} shows in several strata and has no single test; read \
         the strata one by one, and take intervals as approximate",
        list(&split)
    );
    warning("unbalanced-strata", text)
}
