//! The page of one training: what bound it, where each rank's time went, and a few steps moment by
//! moment.

use trainwright_analysis::Attribution;
use trainwright_analysis::wording::percent;
use trainwright_study::ClusterTask;

use super::shell::Shell;
use super::{cluster, note, paragraph, sentence};
use crate::charts::{Charts, rank_times, timeline};
use crate::escape::escape;
use crate::table::{Cell, Sorting, Table};

/// What the page of a training shows.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingPage<'a> {
    /// The job in a few words.
    pub job: &'a str,
    /// Its result in words.
    pub words: &'a str,
    /// What bound it; absent where ranks kept no account.
    pub bottleneck: Option<&'a Attribution>,
    /// What ranks can do, in words; sums and spans refer to it.
    pub activities: &'a [&'a str],
    /// Where each rank's time went.
    pub ranks: Vec<RankSum>,
    /// Some steps of each rank, moment by moment.
    pub timelines: Vec<Timeline>,
    /// Which steps these are, in words.
    pub steps: String,
    /// What a cluster did; nothing where none was used.
    pub cluster: &'a [ClusterTask],
    /// Name and version of the program.
    pub program: &'a str,
    /// When the page was written.
    pub written_at: &'a str,
}

/// Seconds of one rank, one figure an activity.
#[derive(Debug, Clone, PartialEq)]
pub struct RankSum {
    /// Which rank.
    pub rank: usize,
    /// Seconds, in the order of the activities.
    pub seconds: Vec<f64>,
}

/// What one rank did, in the order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Which rank.
    pub rank: usize,
    /// What it did.
    pub spans: Vec<TimelineSpan>,
}

/// One thing that a rank did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimelineSpan {
    /// Its place among the activities.
    pub activity: usize,
    /// From when, in seconds.
    pub start_s: f64,
    /// To when, in seconds.
    pub end_s: f64,
}

const SECTIONS: [(&str, &str, &str); 3] = [
    ("verdict", "Result", "What came of it, and what bound it."),
    (
        "ranks",
        "Ranks",
        "Where each rank's time went. Look for ranks that compute longer than the others: those wait.",
    ),
    (
        "timeline",
        "Timeline",
        "A few steps, moment by moment. Look for gaps, and for what all ranks wait for.",
    ),
];

/// The page of a training as one HTML file, which loads nothing from elsewhere.
pub fn training_html(page: &TrainingPage<'_>) -> String {
    let mut charts = Charts::default();
    let mut sections = SECTIONS.to_vec();
    let mut bodies = vec![verdict(page), ranks(page, &mut charts), steps(page, &mut charts)];
    cluster::add_to(&mut sections, &mut bodies, page.cluster, &mut charts);
    let shell = Shell {
        title: format!("{} - training", page.job),
        header: format!(
            "<header><div class=\"wide\"><p class=\"kind\">Training</p>\n<h1>{}</h1>\n\
             </div></header>\n",
            escape(page.job)
        ),
        sections: &sections,
        bodies,
        charts,
        program: page.program,
        written_at: page.written_at,
    };
    shell.html()
}

fn verdict(page: &TrainingPage<'_>) -> String {
    let mut out =
        format!("<pre class=\"command\">{}</pre>\n<h3>What binds</h3>\n", escape(page.words));
    let Some(own) = page.bottleneck else {
        return out + &note("The ranks of this training kept no account of their time.");
    };
    out += &paragraph(&sentence(&own.text));
    let mut table = Table::new(
        "What free resources would save",
        Sorting::Fixed,
        &["if this were free", "a step would shrink by"],
    );
    for free in &own.idealised {
        let share = 100.0 * free.shrinks_by;
        table.push(vec![Cell::text(free.resource.in_words()), Cell::shown(percent(share), share)]);
    }
    out += &table.html();
    if let Some(covered) = own.covered {
        out +=
            &note(&format!("{} of the training time is accounted for.", percent(100.0 * covered)));
    }
    out
}

fn ranks(page: &TrainingPage<'_>, charts: &mut Charts) -> String {
    if page.ranks.is_empty() {
        return note("The ranks of this training kept no account of their time.");
    }
    let head = [&["rank"], page.activities].concat();
    let mut table = Table::new("Seconds of each rank", Sorting::ByHeader, &head);
    for rank in &page.ranks {
        let mut row = vec![Cell::count(rank.rank)];
        row.extend(rank.seconds.iter().map(|seconds| Cell::number(*seconds)));
        table.push(row);
    }
    charts.place("rank-times", rank_times(&page.ranks, page.activities)) + &table.html()
}

fn steps(page: &TrainingPage<'_>, charts: &mut Charts) -> String {
    if page.timelines.iter().all(|own| own.spans.is_empty()) {
        return note("No step was followed moment by moment.");
    }
    charts.place("rank-timeline", timeline(&page.steps, &page.timelines, page.activities))
        + &note(
            "`trainwright train --trace` writes all that was kept, for Perfetto or chrome://tracing.",
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::cluster_task;

    fn page<'a>() -> TrainingPage<'a> {
        TrainingPage {
            job: "mlp <a>",
            words: "done",
            bottleneck: None,
            activities: &["computing", "waiting"],
            ranks: vec![],
            timelines: vec![],
            steps: "Steps 1 to 2".to_owned(),
            cluster: &[],
            program: "trainwright",
            written_at: "today",
        }
    }

    #[test]
    fn a_training_without_accounts_says_so_and_one_with_them_has_charts() {
        let without = training_html(&page());
        assert!(without.contains("mlp &lt;a&gt;") && without.contains("kept no account"));
        assert!(without.contains("No step was followed"));
        let spans = vec![TimelineSpan { activity: 0, start_s: 0.0, end_s: 1.0 }];
        let with = training_html(&TrainingPage {
            ranks: vec![RankSum { rank: 0, seconds: vec![1.0, 0.5] }],
            timelines: vec![Timeline { rank: 0, spans }],
            ..page()
        });
        assert!(with.contains("id=\"rank-times\"") && with.contains("id=\"rank-timeline\""));
        assert!(with.contains("Steps 1 to 2"));
    }

    #[test]
    fn only_a_training_on_a_cluster_shows_one() {
        let tasks = [cluster_task("0", 0, 1.5, "success")];
        assert!(!training_html(&page()).contains("id=\"cluster\""));
        let there = training_html(&TrainingPage { cluster: &tasks, ..page() });
        assert!(there.contains("id=\"cluster\"") && there.contains("href=\"#cluster\""));
        assert!(there.contains("id=\"executors\"") && there.contains("127.0.0.1"));
    }
}
