//! The page of a set of shards that was made: what it holds, and what a cluster did for it.

use trainwright_study::ClusterTask;

use super::cluster;
use super::shell::Shell;
use crate::charts::Charts;
use crate::escape::escape;
use crate::table::{Cell, Sorting, Table};

/// What the page of a preparation shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparationPage<'a> {
    /// What was prepared.
    pub source: &'a str,
    /// The result in words, line by line.
    pub words: &'a str,
    /// Part, file, records and bytes of each shard.
    pub shards: Vec<(&'a str, &'a str, u64, u64)>,
    /// What a cluster did; nothing where none was used.
    pub cluster: &'a [ClusterTask],
    /// Name and version of the program.
    pub program: &'a str,
    /// When the page was written.
    pub written_at: &'a str,
}

const SECTIONS: [(&str, &str, &str); 2] = [
    ("verdict", "Result", "What was made, and what was left out."),
    ("shards", "Shards", "Every shard. Look for one that is much smaller or larger than the rest."),
];

/// The page of a preparation as one HTML file, which loads nothing from elsewhere.
pub fn preparation_html(page: &PreparationPage<'_>) -> String {
    let mut charts = Charts::default();
    let mut sections = SECTIONS.to_vec();
    let words = format!("<pre class=\"command\">{}</pre>\n", escape(page.words));
    let mut bodies = vec![words, shards(page)];
    cluster::add_to(&mut sections, &mut bodies, page.cluster, &mut charts);
    let shell = Shell {
        title: format!("{} - preparation", page.source),
        header: format!(
            "<header><div class=\"wide\"><p class=\"kind\">Preparation</p>\n<h1>{}</h1>\n\
             </div></header>\n",
            escape(page.source)
        ),
        sections: &sections,
        bodies,
        charts,
        program: page.program,
        written_at: page.written_at,
    };
    shell.html()
}

fn shards(page: &PreparationPage<'_>) -> String {
    let head = ["part", "file", "records", "MB"];
    let mut table = Table::new("Shards", Sorting::ByHeader, &head);
    for (part, file, records, bytes) in &page.shards {
        table.push(vec![
            Cell::text(part),
            Cell::text(file),
            Cell::count(usize::try_from(*records).unwrap_or(usize::MAX)),
            Cell::number(*bytes as f64 / 1e6),
        ]);
    }
    table.html()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::cluster_task;

    #[test]
    fn shards_stand_in_a_table_and_a_cluster_below_where_there_was_one() {
        let page = PreparationPage {
            source: "photos <1>",
            words: "40 records",
            shards: vec![("train", "train/a-0.tfrecord", 40, 2_500_000)],
            cluster: &[],
            program: "trainwright",
            written_at: "today",
        };
        let here = preparation_html(&page);
        assert!(here.contains("photos &lt;1&gt;") && here.contains("40 records"), "{here}");
        assert!(here.contains("train/a-0.tfrecord") && here.contains(">2.500<"), "{here}");
        assert!(!here.contains("id=\"cluster\""));
        let tasks = [cluster_task("1", 0, 2.0, "success")];
        let there = preparation_html(&PreparationPage { cluster: &tasks, ..page });
        assert!(there.contains("id=\"cluster\"") && there.contains("id=\"executors\""));
    }
}
