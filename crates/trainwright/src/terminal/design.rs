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
