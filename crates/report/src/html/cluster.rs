//! What a cluster did: a timeline of its executors, and a line for each.

use std::collections::BTreeMap;
use std::fmt::Write;

use trainwright_analysis::wording::count;
use trainwright_study::ClusterTask;

use super::{folded, note};
use crate::charts::{Charts, executors};
use crate::escape::escape;
use crate::figure::figure;

/// Id, heading and what to look at.
pub(super) const SECTION: (&str, &str, &str) = (
    "cluster",
    "Cluster",
    "What ran on which executor, and when. Look for slots that stay empty, for one executor that \
     is slower than the others, and for tasks that were lost.",
);

/// Adds the section to those of a page that has something to show in it.
pub(super) fn add_to<'a>(
    sections: &mut Vec<(&'a str, &'a str, &'a str)>,
    bodies: &mut Vec<String>,
    tasks: &[ClusterTask],
    charts: &mut Charts,
) {
    if !tasks.is_empty() {
        sections.push(SECTION);
        bodies.push(section(tasks, charts));
    }
}

/// Tasks that are drawn.
const MOST_TASKS: usize = 5_000;

/// Failed attempts whose words are shown.
const MOST_FAILED: usize = 50;

/// The timeline and a table of executors.
pub(super) fn section(tasks: &[ClusterTask], charts: &mut Charts) -> String {
    let shown = &tasks[..tasks.len().min(MOST_TASKS)];
    let mut out = charts.place("executors", executors(shown));
    if shown.len() < tasks.len() {
        out += &note(&format!("The first {MOST_TASKS} of {}.", count(tasks.len(), "task")));
    }
    out += "<table><thead><tr><th>executor</th><th>host</th><th>tasks</th><th>lost</th>\
            <th>second attempts</th><th>busy s</th><th>CPU s of our processes</th>\
            <th>peak MB</th><th>disk MB</th><th>mean scheduler delay ms</th></tr></thead>\n<tbody>";
    let mut by_executor: BTreeMap<(&str, &str), Vec<&ClusterTask>> = BTreeMap::new();
    for task in tasks {
        by_executor.entry((&task.executor, &task.host)).or_default().push(task);
    }
    for ((executor, host), tasks) in by_executor {
        let _ = write!(out, "<tr><td>{}</td><td>{}</td>", escape(executor), escape(host));
        for cell in cells(&tasks) {
            let _ = write!(out, "<td class=\"number\">{cell}</td>");
        }
        out += "</tr>\n";
    }
    out += "</tbody></table>\n";
    out += &failed_attempts(tasks);
    out + &note(
        "Times and delays are Spark's. CPU, memory and disk are told by the processes that did the \
         work, which Spark does not see.",
    )
}

/// What attempts said that failed, also where another one made up for them.
fn failed_attempts(tasks: &[ClusterTask]) -> String {
    let failed = tasks.iter().filter(|task| task.status == "failed");
    let told = failed.filter_map(|task| {
        let words = format!(
            "{}, attempt {}, executor {} on {}:\n{}\n",
            task.label,
            task.attempt,
            task.executor,
            task.host,
            task.error.as_ref()?.trim_end()
        );
        Some(words)
    });
    let words: Vec<String> = told.take(MOST_FAILED).collect();
    match words.len() {
        0 => String::new(),
        some => {
            let body = format!("<pre class=\"command\">{}</pre>", escape(&words.join("\n")));
            folded(&format!("What failed attempts said: {some}"), &body)
        }
    }
}

fn cells(tasks: &[&ClusterTask]) -> [String; 8] {
    let sum = |of: &dyn Fn(&ClusterTask) -> Option<f64>| -> f64 {
        tasks.iter().filter_map(|task| of(task)).sum()
    };
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let usages = || tasks.iter().filter_map(|task| task.usage.as_ref());
    let disk = usages()
        .map(|own| own.disk_read_bytes.unwrap_or(0) + own.disk_write_bytes.unwrap_or(0))
        .sum();
    let delays = tasks.iter().filter(|task| task.scheduler_delay_s.is_some()).count().max(1);
    let lost = tasks.iter().filter(|task| task.status != "success").count();
    let speculative = tasks.iter().filter(|task| task.speculative).count();
    [
        tasks.len().to_string(),
        lost.to_string(),
        speculative.to_string(),
        figure(sum(&|task| task.duration_s)),
        figure(usages().map(|own| own.user_s + own.system_s).sum()),
        figure(megabytes(usages().filter_map(|own| own.peak_memory_bytes).max().unwrap_or(0))),
        figure(megabytes(disk)),
        figure(sum(&|task| task.scheduler_delay_s) * 1e3 / delays as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::cluster_task;

    #[test]
    fn every_executor_has_a_line_and_names_are_text() {
        let mut lost = cluster_task("1", 0, 1.0, "killed");
        lost.host = "<b>".to_owned();
        let tasks =
            [cluster_task("0", 0, 1.5, "success"), cluster_task("0", 2_000, 0.5, "success"), lost];
        let text = section(&tasks, &mut Charts::default());
        assert!(!text.contains("failed attempts"), "{text}");
        assert!(text.contains("<td>0</td><td>127.0.0.1</td><td class=\"number\">2</td>"), "{text}");
        assert!(text.contains("&lt;b&gt;") && !text.contains("<b>"), "{text}");
        assert!(text.contains("<td class=\"number\">1</td><td class=\"number\">1</td>"), "{text}");
    }

    #[test]
    fn what_a_failed_attempt_said_is_shown_as_text() {
        let mut failed = cluster_task("1", 0, 1.0, "failed");
        failed.error = Some("ended with 3:\nno <disk>".to_owned());
        let text = section(&[failed], &mut Charts::default());
        assert!(text.contains("What failed attempts said: 1"), "{text}");
        assert!(text.contains("attempt 1, executor 1 on 127.0.0.1:"), "{text}");
        assert!(text.contains("no &lt;disk&gt;"), "{text}");
    }
}
