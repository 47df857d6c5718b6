//! A table of the user's own runs, such as those of last month.

use std::path::Path;

use super::recorded::{Cells, Recorded};
use super::search_file::OwnRun;
use crate::Error;

/// Reads runs of one workload: columns vm_type, nodes (1 where absent), elapsed_s and, where
/// known, completed (1 or 0); columns that are none of a table of recorded runs are low-level
/// metrics. A table with several workloads needs the name of one.
///
/// # Errors
/// A file that cannot be read, a column that is missing, a value that is none, or no such workload.
pub fn own_runs(file: &Path, workload: Option<&str>) -> Result<Vec<OwnRun>, Error> {
    let text = std::fs::read_to_string(file)
        .map_err(|source| Error::Input { path: file.to_owned(), source })?;
    parse(&text, workload).map_err(|message| Error::CloudFile { file: file.to_owned(), message })
}

fn parse(text: &str, workload: Option<&str>) -> Result<Vec<OwnRun>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let head = reader.headers().map_err(|source| source.to_string())?.clone();
    let columns = head.iter().enumerate().map(|(at, name)| (name, at)).collect();
    for needed in ["vm_type", "elapsed_s"] {
        if !head.iter().any(|name| name == needed) {
            return Err(format!("there is no column `{needed}`"));
        }
    }
    let metrics = Recorded::metric_columns(&head);
    let mut found: Vec<(String, OwnRun)> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|source| source.to_string())?;
        let line = record.position().map_or(0, |own| own.line() as usize);
        let cells = Cells { columns: &columns, record: &record, line };
        let name = cells.text("workload").unwrap_or_default().to_owned();
        if workload.is_none_or(|wanted| wanted == name) {
            found.push((name, cells.own_run(&metrics)?));
        }
    }
    let first = found.first().map(|(name, _)| name.clone());
    let other = found.iter().find(|(name, _)| Some(name) != first.as_ref());
    match (first, other, workload) {
        (None, _, Some(name)) => Err(format!("it has no workload `{name}`")),
        (None, _, None) => Err("there are no runs in it".to_owned()),
        (Some(first), Some((other, _)), _) => Err(format!(
            "it has several workloads, such as `{first}` and `{other}`; name one with --workload"
        )),
        _ => Ok(found.into_iter().map(|(_, run)| run).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_little_and_one_of_much_are_read() {
        let little = parse("vm_type,elapsed_s\na,12.5\nb,9\na,13\n", None).unwrap();
        assert_eq!(little.len(), 3);
        assert_eq!((little[0].nodes, little[0].completed), (1, true));
        let much = "workload,vm_type,nodes,completed,elapsed_s,vcpus,cpu_user_pct\n\
                    x,a,2,1,10,4,70\ny,a,2,1,20,4,60\ny,b,4,0,5,8,\n";
        let own = parse(much, Some("y")).unwrap();
        assert_eq!((own.len(), own[1].nodes, own[1].completed), (2, 4, false));
        assert_eq!(
            own[0].metrics.iter().collect::<Vec<_>>(),
            [(&"cpu_user_pct".to_owned(), &60.0)]
        );
        assert!(own[1].metrics.is_empty());
    }

    #[test]
    fn what_is_no_table_of_own_runs_is_refused() {
        let refused = |text: &str, workload: Option<&str>| parse(text, workload).unwrap_err();
        assert!(refused("vm_type\na\n", None).contains("no column `elapsed_s`"));
        assert!(
            refused("vm_type,elapsed_s\na,long\n", None).contains("line 2: elapsed_s is `long`")
        );
        let two = "workload,vm_type,elapsed_s\nx,a,1\ny,a,2\n";
        assert!(refused(two, None).contains("name one with --workload"));
        assert!(refused(two, Some("z")).contains("no workload `z`"));
    }
}
