//! A study before a minute is spent, in words.

use trainwright_analysis::PlannedPower;
use trainwright_analysis::wording::count;
use trainwright_design::{Construction, Design};
use trainwright_report::terminal::{TextTable, confounding_text};

use crate::{HoursFrom, Preview};

/// Most rows of the run table that are printed.
const MOST_ROWS: usize = 64;

/// Everything about a study before a minute is spent.
pub fn check(preview: &Preview) -> String {
    if preview.design.kind() == Construction::Open {
        let mut text = format!(
            "{}: no [design], so no trials are planned: they come with `trainwright import`, or \
             with `trainwright search` where there is a [search]\n",
            preview.study
        );
        preview.notes.iter().for_each(|note| text.push_str(&format!("note: {note}\n")));
        return text;
    }
    let rows = preview.design.rows().len();
    let mut text = format!(
        "{}: {} trials = {rows} rows x {} replications",
        preview.study,
        preview.trials.len(),
        preview.replications
    );
    let mut put = |line: String| {
        text.push('\n');
        text.push_str(&line);
    };
    for change in &preview.changes {
        put(format!("since its trials were planned, {}: {}", change.words, change.meaning.words()));
    }
    if preview.warmup > 0 {
        put(format!("{} warm-up trials come first and do not count", preview.warmup));
    }
    put(time(preview));
    if let Some(price) = preview.price {
        put(format!("price: {price:.2} in the currency of price_per_hour"));
    }
    if let Some(command) = &preview.first_command {
        put(format!("first command: {}", command.join(" ")));
    }
    put(power(preview.power.as_ref()));
    for note in &preview.notes {
        put(format!("note: {note}"));
    }
    put(confounding_text(&preview.design, preview.confounding.as_ref()));
    put(row_table(&preview.design));
    text
}

fn time(preview: &Preview) -> String {
    match preview.hours {
        _ if !preview.runs => "nothing to run: results come with `trainwright import`".to_owned(),
        Some(estimate) => {
            let from = match estimate.from {
                HoursFrom::FinishedTrials => "by the trials that have run",
                HoursFrom::Timeout => "at most, if every trial takes its timeout",
            };
            format!("takes {} {from}", duration(estimate.hours))
        }
        None => "time: unknown until the first trial has run".to_owned(),
    }
}

fn power(power: Option<&PlannedPower>) -> String {
    let Some(power) = power else {
        return "power: not worked out, the terms are too many".to_owned();
    };
    let chance = 100.0 * power.power;
    match (power.smallest_effect, power.df_smallest.unwrap_or(power.df_residual)) {
        (Some(effect), df) => format!(
            "power: an effect of {effect:.2} {}, {}, is found with {chance:.0} % \
             probability, allowing for {} by Holm's method ({df} degrees of freedom for the noise)",
            if df == power.df_residual {
                "residual standard deviations"
            } else {
                "standard deviations of the noise between whole plots"
            },
            power.meaning.unwrap_or("low to high"),
            count(power.tests, "term")
        ),
        (None, 0) => "power: none, no degrees of freedom are left to measure the noise; add \
                      replications or leave out terms"
            .to_owned(),
        (None, df) => format!("{df} degrees of freedom measure the noise"),
    }
}

fn duration(hours: f64) -> String {
    match hours * 3600.0 {
        s if s < 90.0 => format!("about {s:.0} s"),
        s if s < 5400.0 => format!("about {:.0} min", s / 60.0),
        s => format!("about {:.1} h", s / 3600.0),
    }
}

fn row_table(design: &Design) -> String {
    let block = design.blocks().map(|_| "block");
    let names = design.factors().iter().map(String::as_str);
    let mut table = TextTable::with_header(std::iter::once("row").chain(block).chain(names));
    for (number, row) in (1..).zip(design.rows()).take(MOST_ROWS) {
        let number: u32 = number;
        let block = design.blocks().and_then(|blocks| blocks.of_row(number));
        let cells = design.factors().iter().map(|name| match row.get(name) {
            Some(level) => level.to_string(),
            None => "-".to_owned(),
        });
        let block = block.map(|block| block.to_string());
        table.row(std::iter::once(number.to_string()).chain(block).chain(cells));
    }
    let more = design.rows().len().saturating_sub(MOST_ROWS);
    let more = if more > 0 { format!("... {more} more rows\n") } else { String::new() };
    format!("\n{table}{more}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use trainwright_study::Study;

    use super::*;
    use crate::{ChangeMeaning, ChangeNote, Hours};

    const STUDY: &str = "schema = 1\n[study]\nname = \"demo\"\n[factors.a]\nlevels = [1, 2]\n\
        [factors.b]\nlevels = [3, 4]\n[design]\ntype = \"full\"\nreplications = 2\n[run]\n\
        command = [\"go\", \"{a}\", \"{b}\"]\n[metrics.y]\nfrom = \"stdout\"\n[analysis]\n\
        terms = \"main\"\n";

    fn preview(text: &str) -> Preview {
        let folder = tempfile::tempdir().unwrap();
        let study = Study::from_text(text).unwrap();
        crate::check(&study, Some(&folder.path().join("s.db")), Path::new("trainwright")).unwrap()
    }

    #[test]
    fn the_first_line_counts_trials_and_the_last_lines_list_the_rows() {
        let text = check(&preview(STUDY));
        assert!(text.starts_with("demo: 8 trials = 4 rows x 2 replications\n"), "{text}");
        assert!(text.contains("\ntime: unknown until the first trial has run\n"), "{text}");
        assert!(text.contains("\nfirst command: go "), "{text}");
        assert!(text.contains("\npower: an effect of "), "{text}");
        assert!(text.contains("by Holm's method (5 degrees of freedom for the noise)"), "{text}");
        let rows: Vec<&str> = text.lines().rev().take(4).collect();
        let cells: Vec<&str> = rows[0].split_whitespace().collect();
        assert_eq!(cells, ["4", "2", "4"]);
    }

    #[test]
    fn without_a_design_nothing_is_planned() {
        let open = STUDY.replace("[design]\ntype = \"full\"\nreplications = 2\n", "");
        let text = check(&preview(&open));
        assert!(text.starts_with("demo: no [design], so no trials are planned: "), "{text}");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn changes_warm_up_and_price_are_told_where_there_are_some() {
        let mut own = preview(STUDY);
        own.changes = vec![ChangeNote {
            words: "the seed is now 4; it was 3".to_owned(),
            meaning: ChangeMeaning::Refused,
        }];
        (own.warmup, own.price) = (2, Some(12.345));
        own.notes = vec!["rows are few".to_owned()];
        let text = check(&own);
        assert!(
            text.contains(
                "\nsince its trials were planned, the seed is now 4; it was 3: `run` will refuse \
                 it; give the study another name or --store\n"
            ),
            "{text}"
        );
        assert!(text.contains("\n2 warm-up trials come first and do not count\n"), "{text}");
        assert!(text.contains("\nprice: 12.35 in the currency of price_per_hour\n"), "{text}");
        assert!(text.contains("\nnote: rows are few\n"), "{text}");
    }

    #[test]
    fn time_says_what_it_rests_on() {
        let mut own = preview(STUDY);
        own.hours = Some(Hours { hours: 2.0, from: HoursFrom::Timeout });
        assert_eq!(time(&own), "takes about 2.0 h at most, if every trial takes its timeout");
        own.hours = Some(Hours { hours: 0.01, from: HoursFrom::FinishedTrials });
        assert_eq!(time(&own), "takes about 36 s by the trials that have run");
        own.runs = false;
        assert_eq!(time(&own), "nothing to run: results come with `trainwright import`");
    }

    #[test]
    fn durations_have_the_unit_that_reads_best() {
        for (seconds, words) in [
            (0.0, "about 0 s"),
            (89.0, "about 89 s"),
            (90.0, "about 2 min"),
            (5399.0, "about 90 min"),
            (5400.0, "about 1.5 h"),
        ] {
            assert_eq!(duration(seconds / 3600.0), words);
        }
    }

    #[test]
    fn without_degrees_of_freedom_there_is_no_power() {
        let own = preview(
            &STUDY
                .replace("replications = 2", "replications = 1")
                .replace("\"main\"", "\"main + 2fi\""),
        );
        let words = power(own.power.as_ref());
        assert!(words.starts_with("power: none, no degrees of freedom are left"), "{words}");
        assert_eq!(power(None), "power: not worked out, the terms are too many");
    }

    #[test]
    fn of_many_rows_the_first_64_are_shown() {
        let levels: Vec<String> = (1..=40).map(|level| level.to_string()).collect();
        let many = STUDY.replace("levels = [1, 2]", &format!("levels = [{}]", levels.join(", ")));
        let text = check(&preview(&many));
        assert!(text.ends_with("\n... 16 more rows\n"), "{text}");
    }

    #[test]
    fn blocks_have_a_column() {
        let text =
            check(&preview(&STUDY.replace("replications = 2", "replications = 2\nblocks = 2")));
        let header = text.lines().find(|line| line.trim_start().starts_with("row ")).unwrap();
        let names: Vec<&str> = header.split_whitespace().collect();
        assert_eq!(names, ["row", "block", "a", "b"]);
    }
}
