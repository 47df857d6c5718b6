//! Tables of recorded runs: one row a workload, machine type and number of nodes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use trainwright_search::cloud::{
    Candidate, History, Limits, Machine, Objective, PastRun, PastWorkload, Problem,
};

use super::search_file::OwnRun;
use crate::Error;

/// Columns that are no low-level metrics.
const KNOWN: [&str; 30] = [
    "setting",
    "workload",
    "group",
    "application",
    "framework",
    "datasize",
    "vm_type",
    "nodes",
    "completed",
    "runs",
    "runs_completed",
    "elapsed_s",
    "elapsed_min_s",
    "elapsed_max_s",
    "elapsed_std_s",
    "cost_usd",
    "price_usd_per_hour",
    "family",
    "category",
    "generation",
    "size",
    "vcpus",
    "memory_gib",
    "cpu_ghz",
    "local_ssd",
    "local_disk_gb",
    "total_vcpus",
    "total_memory_gib",
    "input_bytes",
    "workload_full",
];

/// Runs as a table has them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recorded {
    pub(crate) metric_names: Vec<String>,
    pub(crate) rows: Vec<RecordedRow>,
    file: PathBuf,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecordedRow {
    pub(crate) workload: String,
    pub(crate) group: String,
    pub(crate) candidate: Candidate,
    pub(crate) run: PastRun,
}

/// Workloads that were recorded on the same configurations, and those.
#[derive(Debug, Clone)]
pub(crate) struct RecordedProblem {
    pub(crate) problem: Problem,
    pub(crate) workloads: Vec<PastWorkload>,
}

impl Recorded {
    /// Reads a table.
    ///
    /// # Errors
    /// A file that cannot be read, a column that is missing, or a value that is none.
    pub(crate) fn read(file: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(file)
            .map_err(|source| Error::Input { path: file.to_owned(), source })?;
        Self::parse(file, &text)
    }

    fn parse(file: &Path, text: &str) -> Result<Self, Error> {
        let fault = |message: String| Error::CloudFile { file: file.to_owned(), message };
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let head = reader.headers().map_err(|source| fault(source.to_string()))?.clone();
        let columns: BTreeMap<&str, usize> =
            head.iter().enumerate().map(|(at, name)| (name, at)).collect();
        for needed in ["workload", "vm_type", "nodes", "elapsed_s", "vcpus", "memory_gib"] {
            if !columns.contains_key(needed) {
                return Err(fault(format!("there is no column `{needed}`")));
            }
        }
        let metrics = Self::metric_columns(&head);
        let mut rows: Vec<RecordedRow> = Vec::new();
        for (number, record) in reader.records().enumerate() {
            let record = record.map_err(|source| fault(source.to_string()))?;
            let cells = Cells { columns: &columns, record: &record, line: number + 2 };
            let row = cells.row(&metrics).map_err(fault)?;
            let same =
                |own: &RecordedRow| own.workload == row.workload && own.candidate == row.candidate;
            if rows.iter().any(same) {
                let (label, work) = (row.candidate.label(), &row.workload);
                let line = number + 2;
                return Err(fault(format!("line {line}: `{work}` ran on {label} before")));
            }
            rows.push(row);
        }
        if rows.is_empty() {
            return Err(fault("there are no runs in it".to_owned()));
        }
        let metric_names = metrics.into_iter().map(|(_, name)| name).collect();
        Ok(Self { metric_names, rows, file: file.to_owned() })
    }

    /// Places and names of the columns that are low-level metrics.
    pub(super) fn metric_columns(head: &csv::StringRecord) -> Vec<(usize, String)> {
        let own = head.iter().enumerate().filter(|(_, name)| !KNOWN.contains(name));
        own.map(|(at, name)| (at, name.to_owned())).collect()
    }

    /// One problem for each set of configurations that workloads were recorded on.
    ///
    /// # Errors
    /// A configuration whose properties are no numbers above 0.
    pub(crate) fn problems(
        &self,
        objective: Objective,
        limits: Limits,
    ) -> Result<Vec<RecordedProblem>, Error> {
        let mut by_workload: Vec<(&str, Vec<&RecordedRow>)> = Vec::new();
        for row in &self.rows {
            match by_workload.iter_mut().find(|(name, _)| *name == row.workload) {
                Some((_, rows)) => rows.push(row),
                None => by_workload.push((&row.workload, vec![row])),
            }
        }
        let mut found: Vec<RecordedProblem> = Vec::new();
        for (_, rows) in by_workload {
            let mut candidates: Vec<Candidate> =
                rows.iter().map(|row| row.candidate.clone()).collect();
            candidates.sort_by(|a, b| {
                a.machine.vm_type.cmp(&b.machine.vm_type).then(a.nodes.cmp(&b.nodes))
            });
            let own = found.iter().position(|own| own.problem.candidates() == candidates);
            let own = match own {
                Some(own) => own,
                None => {
                    let problem = Problem::new(candidates, objective, limits).map_err(|error| {
                        Error::CloudFile { file: self.file.clone(), message: error.to_string() }
                    })?;
                    found.push(RecordedProblem { problem, workloads: Vec::new() });
                    found.len() - 1
                }
            };
            let workload = aligned(&found[own].problem, &rows);
            found[own].workloads.push(workload);
        }
        Ok(found)
    }

    /// What these runs say about the candidates of a problem, with metrics in another order.
    pub(crate) fn history(&self, problem: &Problem, metric_names: &[String]) -> History {
        let places: Vec<Option<usize>> = metric_names
            .iter()
            .map(|name| self.metric_names.iter().position(|own| own == name))
            .collect();
        let mut rows: BTreeMap<&str, Vec<&RecordedRow>> = BTreeMap::new();
        for row in &self.rows {
            if problem.place(&row.candidate.machine.vm_type, row.candidate.nodes).is_some() {
                rows.entry(&row.workload).or_default().push(row);
            }
        }
        let mut workloads: Vec<PastWorkload> =
            rows.values().map(|rows| aligned(problem, rows)).collect();
        for run in workloads.iter_mut().flat_map(|own| own.runs.iter_mut().flatten()) {
            let metric = |place: &Option<usize>| run.metrics[(*place)?];
            run.metrics = places.iter().map(metric).collect();
        }
        History { metric_names: metric_names.to_vec(), workloads }
    }
}

fn aligned(problem: &Problem, rows: &[&RecordedRow]) -> PastWorkload {
    let mut runs = vec![None; problem.candidates().len()];
    for row in rows {
        if let Some(at) = problem.place(&row.candidate.machine.vm_type, row.candidate.nodes) {
            runs[at] = Some(row.run.clone());
        }
    }
    PastWorkload { name: rows[0].workload.clone(), group: rows[0].group.clone(), runs }
}

/// One line of a table.
pub(super) struct Cells<'a> {
    pub(super) columns: &'a BTreeMap<&'a str, usize>,
    pub(super) record: &'a csv::StringRecord,
    pub(super) line: usize,
}

impl Cells<'_> {
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let own = self.record.get(*self.columns.get(name)?)?;
        (!own.is_empty()).then_some(own)
    }

    fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Some(value)),
            _ => Err(format!("line {}: {name} is `{text}`, which is no number", self.line)),
        }
    }

    fn needed<T>(&self, name: &str, value: Option<T>) -> Result<T, String> {
        value.ok_or_else(|| format!("line {}: {name} is empty", self.line))
    }

    fn price(&self, nodes: f64) -> Result<f64, String> {
        if let Some(price) = self.number("price_usd_per_hour")? {
            return Ok(price);
        }
        // A table of runs may tell what they cost instead of the price of a machine.
        match (self.number("cost_usd")?, self.number("elapsed_s")?) {
            (Some(cost), Some(elapsed)) => Ok(cost / elapsed * 3600.0 / nodes),
            _ => Err(format!("line {}: price_usd_per_hour is empty", self.line)),
        }
    }

    fn nodes(&self) -> Result<Option<u32>, String> {
        let Some(nodes) = self.number("nodes")? else { return Ok(None) };
        if nodes < 1.0 || nodes.fract() != 0.0 || nodes > f64::from(u32::MAX) {
            return Err(format!("line {}: nodes is {nodes}, which counts no machines", self.line));
        }
        Ok(Some(nodes as u32))
    }

    fn run(&self, metrics: &[(usize, String)]) -> Result<PastRun, String> {
        let elapsed_s = self.number("elapsed_s")?;
        if let Some(elapsed) = elapsed_s.filter(|own| *own <= 0.0) {
            return Err(format!("line {}: elapsed_s is {elapsed}, which is no time", self.line));
        }
        let completed = match self.text("completed") {
            Some("1" | "true") => true,
            Some("0" | "false") => false,
            None => elapsed_s.is_some(),
            Some(other) => {
                return Err(format!("line {}: completed is `{other}`, not 1 or 0", self.line));
            }
        };
        if completed && elapsed_s.is_none() {
            return Err(format!("line {}: a completed run has no elapsed_s", self.line));
        }
        let metric = |(at, _): &(usize, String)| {
            self.record
                .get(*at)
                .and_then(|text| text.parse::<f64>().ok())
                .filter(|own| own.is_finite())
        };
        Ok(PastRun { elapsed_s, completed, metrics: metrics.iter().map(metric).collect() })
    }

    /// The line as a run of the user's own, whose machine is in a catalogue.
    pub(super) fn own_run(&self, metrics: &[(usize, String)]) -> Result<OwnRun, String> {
        let vm_type = self.needed("vm_type", self.text("vm_type"))?.to_owned();
        let PastRun { elapsed_s, completed, metrics: values } = self.run(metrics)?;
        let named = metrics.iter().zip(values);
        let metrics = named.filter_map(|((_, name), value)| Some((name.clone(), value?))).collect();
        Ok(OwnRun { vm_type, nodes: self.nodes()?.unwrap_or(1), elapsed_s, completed, metrics })
    }

    fn row(&self, metrics: &[(usize, String)]) -> Result<RecordedRow, String> {
        let workload = self.needed("workload", self.text("workload"))?.to_owned();
        let nodes = self.needed("nodes", self.nodes()?)?;
        let vm_type = self.needed("vm_type", self.text("vm_type"))?;
        let run = self.run(metrics)?;
        let disk = self.number("local_disk_gb")?;
        let machine = Machine {
            vm_type: vm_type.to_owned(),
            vcpus: self.needed("vcpus", self.number("vcpus")?)?,
            memory_gib: self.needed("memory_gib", self.number("memory_gib")?)?,
            price_usd_per_hour: self.price(f64::from(nodes))?,
            cpu_ghz: self.number("cpu_ghz")?,
            generation: self.number("generation")?,
            local_disk_gb: if disk.is_some() { disk } else { self.number("local_ssd")? },
            network_gbps: None,
            gpus: None,
        };
        let group = self.text("group").map_or_else(|| workload.clone(), str::to_owned);
        Ok(RecordedRow { workload, group, candidate: Candidate { machine, nodes }, run })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "workload,group,vm_type,nodes,completed,elapsed_s,price_usd_per_hour,vcpus,\
                        memory_gib,cpu_user_pct\n";

    fn read(rows: &str) -> Result<Recorded, String> {
        Recorded::parse(Path::new("r.csv"), &format!("{HEAD}{rows}")).map_err(|own| own.to_string())
    }

    #[test]
    fn workloads_on_the_same_configurations_share_a_problem() {
        let rows = "a-1,a,m,1,1,50,0.1,2,4,70\na-1,a,m,2,0,,0.1,2,4,\n\
                    b-1,b,m,2,1,30,0.1,2,4,60\nb-1,b,m,1,1,40,0.1,2,4,50\n\
                    c-1,c,m,1,1,20,0.1,2,4,\n";
        let own = read(rows).unwrap();
        assert_eq!(own.metric_names, ["cpu_user_pct"]);
        let problems = own.problems(Objective::Time, Limits::default()).unwrap();
        assert_eq!(problems.len(), 2);
        let names: Vec<&str> = problems[0].workloads.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["a-1", "b-1"]);
        assert_eq!(problems[0].workloads[0].finished(1), None);
        assert_eq!(problems[0].workloads[1].finished(1), Some(30.0));
        let names = ["other".to_owned(), "cpu_user_pct".to_owned()];
        let history = own.history(&problems[1].problem, &names);
        assert_eq!(history.workloads.len(), 3);
        let metrics = &history.workloads[0].runs[0].as_ref().unwrap().metrics;
        assert_eq!(metrics, &[None, Some(70.0)]);
    }

    #[test]
    fn faults_name_the_line_the_column_and_the_value() {
        for (row, expected) in [
            ("a,a,m,0,1,50,0.1,2,4,\n", "line 2: nodes is 0, which counts no machines"),
            ("a,a,m,1,maybe,50,0.1,2,4,\n", "line 2: completed is `maybe`, not 1 or 0"),
            ("a,a,m,1,1,,0.1,2,4,\n", "line 2: a completed run has no elapsed_s"),
            ("a,a,m,1,1,x,0.1,2,4,\n", "line 2: elapsed_s is `x`, which is no number"),
            ("a,a,m,1,1,5,0.1,,4,\n", "line 2: vcpus is empty"),
            ("", "there are no runs in it"),
            ("a,a,m,1,1,5,1,2,4,\na,a,m,1,1,6,1,2,4,\n", "line 3: `a` ran on m before"),
        ] {
            let error = read(row).unwrap_err();
            assert_eq!(error, format!("cannot use r.csv: {expected}"));
        }
        let error = Recorded::parse(Path::new("r.csv"), "workload\na\n").unwrap_err().to_string();
        assert_eq!(error, "cannot use r.csv: there is no column `vm_type`");
    }

    #[test]
    fn a_price_follows_from_a_cost() {
        let head = "workload,vm_type,nodes,elapsed_s,cost_usd,vcpus,memory_gib\n";
        let own = Recorded::parse(Path::new("r"), &format!("{head}a,m,2,1800,0.5,2,4\n")).unwrap();
        assert!((own.rows[0].candidate.machine.price_usd_per_hour - 0.5).abs() < 1e-12);
        assert!(own.rows[0].run.completed);
    }
}
