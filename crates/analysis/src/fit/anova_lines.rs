//! Lines of an analysis-of-variance table with effect sizes and adjusted p-values.

use trainwright_stats::{AnovaRow, holm};

use crate::fit::analysis::AnovaLine;

/// The lines of a table; `ss_total` is the variation that all terms share.
///
/// Partial eta squared is SS / (SS + SS residual). Omega squared is
/// (SS - df MS residual) / (SS total + MS residual), which corrects for chance and may be
/// negative (Hays, Statistics for Psychologists, 1963; Olejnik and Algina, Psychological Methods
/// 8, 2003, for both). P-values are adjusted for the number of terms by Holm's method.
pub(crate) fn lines(rows: &[AnovaRow], ss_total: f64, names: &[String]) -> Vec<AnovaLine> {
    let residual = rows.iter().find(|row| row.term.is_none());
    let mut found: Vec<AnovaLine> =
        rows.iter().map(|row| line(row, residual, ss_total, names)).collect();
    let of_term = |line: &AnovaLine| line.p.filter(|_| line.term != INTERCEPT);
    let tested: Vec<Option<f64>> = found.iter().map(of_term).collect();
    found.iter_mut().zip(holm(&tested)).for_each(|(line, p)| line.p_adjusted = p);
    found
}

const INTERCEPT: &str = "(Intercept)";

fn line(row: &AnovaRow, residual: Option<&AnovaRow>, ss_total: f64, names: &[String]) -> AnovaLine {
    let term = match row.term {
        None => "Residuals".to_owned(),
        Some(0) => INTERCEPT.to_owned(),
        Some(term) => names[term - 1].clone(),
    };
    let own = row.sum_sq.filter(|_| row.term.is_some_and(|term| term > 0));
    let error = residual.and_then(|r| Some((r.sum_sq?, r.mean_sq?)));
    let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    AnovaLine {
        term,
        df: row.df,
        sum_sq: row.sum_sq,
        mean_sq: row.mean_sq,
        f: row.f,
        p: row.p,
        p_adjusted: None,
        percent: row.percent,
        partial_eta_sq: own.zip(error).and_then(|(own, (ss, _))| share(own, own + ss)),
        omega_sq: own
            .zip(error)
            .and_then(|(own, (_, ms))| share(own - row.df as f64 * ms, ss_total + ms)),
        aliased: row.term.is_some() && row.df == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(term: Option<usize>, df: usize, ss: f64, p: Option<f64>) -> AnovaRow {
        let mean_sq = Some(ss / df as f64);
        AnovaRow { term, df, sum_sq: Some(ss), mean_sq, f: None, p, percent: None }
    }

    #[test]
    fn effect_sizes_follow_their_formulas() {
        let rows = [
            row(Some(0), 1, 900.0, Some(1e-9)),
            row(Some(1), 2, 60.0, Some(0.01)),
            row(Some(2), 1, 1.0, Some(0.6)),
            row(None, 10, 40.0, None),
        ];
        let found = lines(&rows, 101.0, &["a".to_owned(), "b".to_owned()]);
        assert_eq!((found[0].partial_eta_sq, found[0].p_adjusted), (None, None));
        assert_eq!((found[1].partial_eta_sq, found[1].omega_sq), (Some(0.6), Some(52.0 / 105.0)));
        assert_eq!((found[1].p_adjusted, found[2].p_adjusted), (Some(0.02), Some(0.6)));
        assert_eq!(found[2].omega_sq, Some(-3.0 / 105.0), "chance alone would give more");
        assert_eq!((found[3].omega_sq, found[3].p_adjusted), (None, None));
    }
}
