//! Designs in words.

use trainwright_report::terminal::{
    decimal_rows_text, fraction_text, rows_text, screening_text, space_filling_text,
};

use crate::questions::designs::letters;
use crate::{DesignReply, OptimalRows};

/// The rows of a design and what is known about them.
pub fn design(reply: &DesignReply) -> String {
    match reply {
        DesignReply::Levels { factors, rows } => rows_text(factors, rows),
        DesignReply::Fraction { fraction, blocks } => fraction_text(fraction, blocks.as_ref()),
        DesignReply::Screening(design) => screening_text(design),
        DesignReply::CentralComposite(design) => {
            let table = decimal_rows_text(&letters(design.factors().len()), design.rows());
            format!("{table}\naxial points at {:.4} half edges of the cube\n", design.alpha())
        }
        DesignReply::BoxBehnken(design) => {
            rows_text(&letters(design.factors().len()), design.rows())
        }
        DesignReply::Points { factors, rows, space_filling } => {
            let measured = space_filling.as_ref().map(space_filling_text).unwrap_or_default();
            decimal_rows_text(factors, rows) + &measured
        }
        DesignReply::Array { factors, array, rows, .. } => {
            format!("{}\northogonal array {array}\n", rows_text(factors, rows))
        }
        DesignReply::Chosen(rows) => chosen(rows),
    }
}

fn chosen(rows: &OptimalRows) -> String {
    let optimality = &rows.optimality;
    let with = match rows.existing {
        0 => String::new(),
        existing => format!("; with the {existing} rows that were there"),
    };
    format!(
        "{}\nD-efficiency {:.2} % for {} coefficients{with}; {} of {} starts found it\n",
        rows_text(&rows.factors, &rows.rows),
        optimality.d_efficiency,
        optimality.coefficients,
        optimality.starts_at_best,
        optimality.starts
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DesignRequest, OptimalRequest};

    fn words(request: &DesignRequest) -> String {
        design(&crate::design(request).unwrap())
    }

    #[test]
    fn every_row_has_a_line_below_the_letters() {
        let text = words(&DesignRequest::TwoLevelFull { factors: 2 });
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0].iter().rev().take(2).rev().copied().collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!(lines.iter().filter(|line| !line.is_empty()).count(), 5);
    }

    #[test]
    fn chosen_rows_tell_how_good_they_are_and_what_was_there() {
        let optimality = trainwright_design::Optimality {
            coefficients: 3,
            d_efficiency: 98.765,
            starts: 10,
            starts_at_best: 7,
        };
        let rows = |existing| OptimalRows {
            factors: vec!["a".to_owned()],
            existing,
            rows: vec![vec![trainwright_study::Level::Integer(1)]],
            optimality,
        };
        let text = design(&DesignReply::Chosen(rows(0)));
        let last = "D-efficiency 98.77 % for 3 coefficients; 7 of 10 starts found it\n";
        assert!(text.ends_with(last), "{text}");
        let text = design(&DesignReply::Chosen(rows(4)));
        assert!(text.contains("coefficients; with the 4 rows that were there; 7 of 10"), "{text}");
    }

    #[test]
    fn a_request_of_too_few_rows_says_so() {
        let request = OptimalRequest { model: "main".to_owned(), runs: 1, starts: 1, seed: 1 };
        let factors = ["a", "b"].map(|name| {
            (
                name.to_owned(),
                vec![trainwright_study::Level::Integer(0), trainwright_study::Level::Integer(1)],
            )
        });
        let error = crate::questions::optimal_rows::optimal_rows(&factors, &request).unwrap_err();
        assert!(error.to_string().starts_with("cannot choose rows: "), "{error}");
    }
}
