//! What binds each configuration.

use trainwright_analysis::wording::count;

use crate::html::note;
use crate::input::ReportInput;
use crate::table::{Cell, Sorting, Table};
use crate::terminal::bottlenecks::{cores, disk_mb_per_s, network_mb_per_s, verdict};

/// Configurations that are listed.
const MOST: usize = 200;

/// The table, where trials' use of the machine is known.
pub(in crate::html) fn section(input: &ReportInput<'_>) -> String {
    let Some(all) = input.analysis.map(|analysis| &analysis.bottlenecks) else {
        return String::new();
    };
    if all.is_empty() {
        return String::new();
    }
    let head = [
        "configuration",
        "trials",
        "binds",
        "would save",
        "cores in use",
        "network (MB/s)",
        "disk (MB/s)",
    ];
    let mut table = Table::new("What binds each configuration", Sorting::ByHeader, &head);
    for own in all.iter().take(MOST) {
        let [binds, saves] = verdict(own);
        let mut row = vec![
            Cell::text(&own.configuration.to_string()),
            Cell::count(own.trials.len()),
            Cell::text(&binds),
            Cell::text(&saves),
        ];
        row.extend([cores(own), network_mb_per_s(own), disk_mb_per_s(own)].map(Cell::optional));
        table.push(row);
    }
    let mut out = String::from(
        "<h3>What binds</h3>\n<p class=\"look\">The resource whose free use would save the most time, \
         in the trial whose time is the middle one. Look for the largest saving.</p>\n",
    );
    out += &table.html();
    if all.len() > MOST {
        out += &note(&format!("The first {MOST} of {}.", count(all.len(), "configuration")));
    }
    if all.iter().any(|own| own.attribution.at_most) {
        out += &note(
            "\"At most\" stands where only the use of the machine is known: when a program computed \
             and when it waited is not. Disk and network are judged where `trainwright machine \
             --measure` has measured what they can do.",
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use trainwright_analysis::Analysis;

    use super::*;
    use crate::terminal::bottlenecks::tests::bottleneck;
    use crate::tests::{SmallStudy, analysis};

    #[test]
    fn bounds_are_explained_and_studies_without_figures_have_no_table() {
        let own = SmallStudy::with("", "");
        let none = analysis(vec![]);
        assert_eq!(section(&own.input(Some(&none))), "");
        assert_eq!(section(&own.input(None)), "");
        let all = Analysis { bottlenecks: vec![bottleneck(0.2); MOST + 1], ..none };
        let page = section(&own.input(Some(&all)));
        assert!(page.contains("<h3>What binds</h3>"), "{page}");
        assert!(page.contains("waiting for something that is not measured"), "{page}");
        assert!(page.contains("The first 200 of 201 configurations."), "{page}");
        assert!(page.contains("only the use of the machine is known"), "{page}");
    }
}
