//! Chosen configurations beside each other.

use trainwright_analysis::Comparison;

use super::study::verdict::findings;
use super::{note, paragraph, sentence};
use crate::charts::{Charts, compared_values, with_unit};
use crate::table::{Cell, Sorting, Table};

/// A configuration that is compared, with its values.
#[derive(Debug, Clone)]
pub struct ComparedConfiguration {
    /// What tells it from the others.
    pub name: String,
    /// The same as settings and their values.
    pub settings: Vec<(String, String)>,
    /// What its trials measured.
    pub values: Vec<f64>,
}

/// The comparison as markup with the data of its chart: words, values, table.
pub fn comparison_html(
    found: &Comparison,
    unit: Option<&str>,
    shown: &[ComparedConfiguration],
) -> String {
    let mut charts = Charts::default();
    let response = with_unit(&found.response, unit);
    let mut out = String::from("<h3>In words</h3>\n");
    out += &found.levels.iter().map(|own| paragraph(&sentence(&own.text))).collect::<String>();
    out += &charts.place("compared-values", compared_values(&response, shown));
    let mut table = Table::new(
        "Configurations compared",
        Sorting::ByHeader,
        &["configuration", "trials", "mean", "deviation", "ratio", "from", "to", "p", "p, Holm"],
    );
    let base = &found.baseline;
    let mut first = vec![
        Cell::text(&base.level.to_string()),
        Cell::count(base.n),
        Cell::number(base.mean),
        Cell::optional(base.sd),
    ];
    first.extend((0..5).map(|_| Cell::missing()));
    table.push(first);
    for own in &found.levels {
        table.push(vec![
            Cell::text(&own.own.level.to_string()),
            Cell::count(own.own.n),
            Cell::number(own.own.mean),
            Cell::optional(own.own.sd),
            Cell::optional(own.ratio),
            Cell::optional(own.ci_low),
            Cell::optional(own.ci_high),
            Cell::p(own.p, found.alpha),
            Cell::p(own.p_adjusted, found.alpha),
        ]);
    }
    out += &table.html();
    let method = sentence(&format!("{}; p-values adjusted by Holm's method", found.method));
    out += &note(&method);
    out += &findings(found.findings.iter());
    out + &charts.script()
}
