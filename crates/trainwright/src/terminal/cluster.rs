//! What a cluster did, in words.

use std::collections::BTreeMap;

use trainwright_report::terminal::TextTable;
use trainwright_study::ClusterTask;

use crate::ClusterReply;

/// Attempts whose words are printed; more of them hardly say anything else.
const MOST_FAILED: usize = 3;

/// A line for each executor: attempts, how they ended, times by Spark and by our own processes; and
/// what those said that failed.
pub fn on_cluster(cluster: &ClusterReply) -> String {
    if cluster.tasks.is_empty() {
        return String::new();
    }
    let mut executors: BTreeMap<(&str, &str), Vec<&ClusterTask>> = BTreeMap::new();
    for task in &cluster.tasks {
        executors.entry((&task.executor, &task.host)).or_default().push(task);
    }
    let head = ["executor", "host", "tasks", "lost", "busy s", "CPU s", "delay ms"];
    let mut table = TextTable::with_header(head).numbers_in(2..7);
    for ((executor, host), tasks) in executors {
        let lost = tasks.iter().filter(|task| task.status != "success").count();
        // Of some attempts nothing is known, and where none is told there is no figure.
        let known = |of: fn(&ClusterTask) -> Option<f64>| -> Vec<f64> {
            tasks.iter().filter_map(|task| of(task)).collect()
        };
        let sum = |own: &[f64]| match own {
            [] => "-".to_owned(),
            own => format!("{:.1}", own.iter().sum::<f64>()),
        };
        let cpu = |task: &ClusterTask| task.usage.as_ref().map(|own| own.user_s + own.system_s);
        let delays = known(|task| task.scheduler_delay_s);
        let delay = match &delays[..] {
            [] => "-".to_owned(),
            own => format!("{:.0}", own.iter().sum::<f64>() / own.len() as f64 * 1e3),
        };
        table.row([
            executor.to_owned(),
            host.to_owned(),
            tasks.len().to_string(),
            lost.to_string(),
            sum(&known(|task| task.duration_s)),
            sum(&known(cpu)),
            delay,
        ]);
    }
    let ClusterReply { application, slots, partitions, .. } = cluster;
    let words = format!("{partitions} partitions on {slots} slots");
    let failed = failed_attempts(&cluster.tasks);
    format!("\nSpark {}, {}: {words}\n\n{table}{failed}", application.version, application.id)
}

/// What attempts said that failed, also where another one made up for them.
fn failed_attempts(tasks: &[ClusterTask]) -> String {
    let told = |task: &&ClusterTask| task.status == "failed" && task.error.is_some();
    let failed: Vec<&ClusterTask> = tasks.iter().filter(told).collect();
    let mut text = String::new();
    for task in failed.iter().take(MOST_FAILED) {
        let said = task.error.as_deref().unwrap_or_default().trim_end().replace('\n', "\n  ");
        text += &format!("\nfailed on {}: {said}\n", task.host);
    }
    if failed.len() > MOST_FAILED {
        let more = failed.len() - MOST_FAILED;
        text += &format!("\n... and {more} more, which --json and --report show\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(executor: &str, status: &str) -> ClusterTask {
        ClusterTask {
            label: "partition 0".to_owned(),
            partition: 0,
            attempt: 1,
            executor: executor.to_owned(),
            host: "127.0.0.2".to_owned(),
            status: status.to_owned(),
            speculative: false,
            launched_ms: 0,
            duration_s: Some(1.5),
            scheduler_delay_s: Some(0.02),
            error: None,
            usage: None,
        }
    }

    #[test]
    fn executors_stand_in_a_table_with_what_they_lost() {
        let tasks = vec![task("0", "success"), task("0", "killed"), task("1", "success")];
        let application = Default::default();
        let text = on_cluster(&ClusterReply { application, slots: 2, partitions: 2, tasks });
        let row = text.lines().find(|line| line.trim_start().starts_with("0 ")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells, ["0", "127.0.0.2", "2", "1", "3.0", "-", "20"]);
    }

    #[test]
    fn what_failed_attempts_said_is_told_and_a_race_that_was_lost_is_not() {
        let said = |status: &str, words: &str| ClusterTask {
            error: Some(words.to_owned()),
            ..task("0", status)
        };
        let mut tasks = vec![said("killed", "another attempt succeeded"), task("1", "failed")];
        tasks.push(said("failed", "partition 0, attempt 1, ended with 3:\nno such disk"));
        tasks.extend((0..4).map(|_| said("failed", "again")));
        let text = failed_attempts(&tasks);
        assert!(text.starts_with(
            "\nfailed on 127.0.0.2: partition 0, attempt 1, ended with 3:\n  no such disk\n"
        ));
        assert!(!text.contains("another attempt") && text.contains("and 2 more"), "{text}");
    }
}
