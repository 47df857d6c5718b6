//! What a cluster did, in words.

use std::collections::BTreeMap;

use trainwright_report::terminal::TextTable;
use trainwright_study::ClusterTask;

use crate::ClusterReply;

/// A line for each executor: attempts, how they ended, times by Spark and by our own processes.
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
    format!("\nSpark {}, {}: {words}\n\n{table}", application.version, application.id)
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
}
