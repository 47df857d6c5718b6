//! A quadratic surface.

use trainwright_analysis::Surface;

use super::{Colour, TextTable, findings_text};
use crate::figure::figure;

/// The verdict, the coefficients, and how the surface bends along its axes.
pub fn surface_text(found: &Surface, colour: Colour) -> String {
    format!(
        "{}\n\n{}\n{}{}",
        found.text,
        coefficients(found),
        curvatures(found),
        findings_text(&found.findings, colour)
    )
}

fn coefficients(found: &Surface) -> TextTable {
    let mut table = TextTable::with_header(["term (coded)", "estimate", "std. error", "p"]);
    let shown = |value: Option<f64>| value.map_or_else(String::new, figure);
    for own in &found.coefficients {
        let p = own.p.map_or_else(String::new, |p| format!("{p:.2e}"));
        table.row([own.term.clone(), figure(own.estimate), shown(own.std_error), p]);
    }
    table
}

fn curvatures(found: &Surface) -> TextTable {
    let names = found.factors.iter().map(|factor| format!("along {}", factor.name));
    let head = ["curvature".to_owned(), "interval".to_owned()];
    let mut table = TextTable::with_header(head.into_iter().chain(names));
    for own in &found.curvatures {
        let interval = match own.ci_low.zip(own.ci_high) {
            Some((low, high)) => format!("{} to {}", figure(low), figure(high)),
            None => String::new(),
        };
        let parts = own.direction.iter().map(|value| figure(*value));
        table.row([figure(own.value), interval].into_iter().chain(parts));
    }
    table
}
