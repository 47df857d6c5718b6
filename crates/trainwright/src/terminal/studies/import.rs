//! Imported results, in words.

use crate::Imported;
use crate::studies::import::{MissingRow, ShortRow};

/// What an import kept and what it could not place.
pub fn imported(imported: &Imported) -> String {
    let mut text = format!("Kept {} results.\n", imported.kept);
    let mut put = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    if !imported.without_response.is_empty() {
        let lines = &imported.without_response;
        let shown: Vec<String> = lines.iter().take(5).map(u64::to_string).collect();
        let more = if lines.len() > 5 { ", ..." } else { "" };
        put(format!(
            "Left out {} lines without a value for the response: {}{more}",
            lines.len(),
            shown.join(", ")
        ));
    }
    for (metric, values) in &imported.out_of_range {
        put(format!(
            "{} outside the range of {metric}: correct the table, or the range in the study",
            if *values == 1 { "1 value lies".to_owned() } else { format!("{values} values lie") }
        ));
    }
    for MissingRow { row, configuration } in &imported.missing_rows {
        put(format!("Row {row} of the design has no result: {configuration}"));
    }
    for ShortRow { row, results, planned } in &imported.short_rows {
        put(format!("Row {row} of the design has {results} of {planned} results"));
    }
    if let Some(first) = imported.outside_design.first() {
        put(format!(
            "{} results match no row of the design, such as {first}",
            imported.outside_design.len()
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use trainwright_study::{Configuration, Level};

    use super::*;

    #[test]
    fn what_was_kept_left_out_and_missed_is_told() {
        let configuration =
            || Configuration::new(vec![("lr".to_owned(), Level::Text("high".to_owned()))]);
        let text = imported(&Imported {
            kept: 3,
            without_response: (2..=8).collect(),
            out_of_range: [("y".to_owned(), 2)].into(),
            outside_design: vec![configuration(), configuration()],
            missing_rows: vec![MissingRow { row: 4, configuration: configuration() }],
            short_rows: vec![ShortRow { row: 5, results: 1, planned: 3 }],
        });
        let expected = "Kept 3 results.\n\
            Left out 7 lines without a value for the response: 2, 3, 4, 5, 6, ...\n\
            2 values lie outside the range of y: correct the table, or the range in the study\n\
            Row 4 of the design has no result: lr=high\n\
            Row 5 of the design has 1 of 3 results\n\
            2 results match no row of the design, such as lr=high\n";
        assert_eq!(text, expected);
        assert_eq!(imported(&Imported { kept: 1, ..Imported::default() }), "Kept 1 results.\n");
    }
}
