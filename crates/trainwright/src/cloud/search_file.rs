//! A search for machines as a plain file, which can be read, kept and gone on with.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trainwright_search::cloud::{Limits, Objective};

use super::catalog::Catalog;
use crate::Error;

/// The form of the file; another number is refused.
const SCHEMA: &str = "trainwright/cloud-search/1";

/// What is searched for, and what was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchFile {
    schema: String,
    /// The name of the method.
    pub(crate) method: String,
    /// What shall be small.
    pub(crate) objective: Objective,
    /// What an acceptable run keeps within.
    pub(crate) limits: Limits,
    /// Numbers of nodes that may be chosen.
    pub(crate) nodes: Vec<u32>,
    /// Decides everything random.
    pub(crate) seed: u64,
    /// Table of runs of other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<PathBuf>,
    /// The machines.
    pub(crate) catalog: Catalog,
    /// Runs in their order.
    pub(crate) runs: Vec<OwnRun>,
}

/// A run of the user's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnRun {
    /// The machine type.
    pub vm_type: String,
    /// How many machines.
    pub nodes: u32,
    /// How long it took; of a failed run until it failed.
    pub elapsed_s: Option<f64>,
    /// Whether it ended well.
    pub completed: bool,
    /// Low-level metrics by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
}

/// Whether a configuration that ran is meant to run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// It would be a slip.
    No,
    /// It is a replicate.
    Yes,
}

/// Keeps others from changing a search until it is dropped.
///
/// The lock is on a file of its own beside the search, because writing puts another file into the
/// place of the search.
pub(crate) struct SearchLock {
    _file: File,
}

impl SearchLock {
    /// Waits until nobody else changes the search; that takes moments, since nobody holds it while
    /// a job runs.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(crate) fn take(path: &Path) -> Result<Self, Error> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let own = path.with_file_name(format!(".{name}.lock"));
        let cannot = |source| Error::Folder { path: own.clone(), source };
        let file = File::options().create(true).truncate(false).write(true).open(&own);
        let file = file.map_err(cannot)?;
        file.lock().map_err(cannot)?;
        Ok(Self { _file: file })
    }
}

impl SearchFile {
    /// A search in which nothing has run.
    pub(crate) fn new(
        catalog: Catalog,
        nodes: Vec<u32>,
        objective: Objective,
        method: String,
    ) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            method,
            objective,
            limits: Limits::default(),
            nodes,
            seed: 1,
            history: None,
            catalog,
            runs: Vec::new(),
        }
    }

    /// Reads a search; nothing where there is no such file.
    ///
    /// # Errors
    /// A file that cannot be read or is no search.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Error> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(Error::Input { path: path.to_owned(), source }),
        };
        let fault = |message: String| Error::CloudFile { file: path.to_owned(), message };
        let own: Self = serde_json::from_str(&text).map_err(|source| fault(source.to_string()))?;
        if own.schema != SCHEMA {
            let schema = &own.schema;
            return Err(fault(format!("its schema is `{schema}`, where this is `{SCHEMA}`")));
        }
        Ok(Some(own))
    }

    /// Writes the search, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(self).expect("a search has fields with names");
        crate::write_file(path, (text + "\n").as_bytes())
    }

    /// Refuses another search than this one; which runs there were does not matter.
    ///
    /// # Errors
    /// Something differs; all that does is told.
    pub(crate) fn same_search(&self, wished: &Self, path: &Path) -> Result<(), Error> {
        let told = |own: &Self| {
            let limit = |value: Option<f64>| value.map_or("none".to_owned(), |own| own.to_string());
            let history = own.history.as_ref().map_or("none".into(), |own| own.to_string_lossy());
            let types: Vec<&str> =
                own.catalog.machines.iter().map(|own| own.vm_type.as_str()).collect();
            [
                ("method", own.method.clone()),
                ("objective", format!("{:?}", own.objective).to_lowercase()),
                ("nodes", format!("{:?}", own.nodes)),
                ("max-time", limit(own.limits.time_s)),
                ("max-cost", limit(own.limits.cost_usd)),
                ("seed", own.seed.to_string()),
                ("history", history.into_owned()),
                ("catalog", format!("{} of {}", types.join(", "), own.catalog.date)),
            ]
        };
        let mut differs: Vec<String> = told(self)
            .into_iter()
            .zip(told(wished))
            .filter(|(own, other)| own != other)
            .map(|((name, own), (_, other))| format!("{name} is {own} there and {other} here"))
            .collect();
        if differs.is_empty() && self.catalog != wished.catalog {
            differs.push("properties of machines differ".to_owned());
        }
        if differs.is_empty() {
            return Ok(());
        }
        Err(Error::Request(format!(
            "{} was begun otherwise: {}; leave the options out to go on with it, or name another \
             file to begin anew",
            path.display(),
            differs.join("; ")
        )))
    }

    /// Adds a run.
    ///
    /// # Errors
    /// A configuration that is not among the candidates or has run and is not meant to again, or a
    /// time that is none.
    pub(crate) fn add(&mut self, run: OwnRun, again: Again) -> Result<(), Error> {
        let OwnRun { vm_type, nodes, elapsed_s, completed, .. } = &run;
        let known = self.catalog.machines.iter().any(|own| own.vm_type == *vm_type);
        if !known || !self.nodes.contains(nodes) {
            let types: Vec<&str> =
                self.catalog.machines.iter().map(|own| own.vm_type.as_str()).collect();
            return Err(Error::Request(format!(
                "{nodes} x {vm_type} is not among the candidates; the types are {}, the numbers \
                 of nodes {:?}",
                types.join(", "),
                self.nodes
            )));
        }
        let same = |own: &OwnRun| own.vm_type == *vm_type && own.nodes == *nodes;
        if again == Again::No && self.runs.iter().any(same) {
            return Err(Error::Request(format!(
                "{nodes} x {vm_type} was told before; --again adds one more measurement of it"
            )));
        }
        if *completed && elapsed_s.is_none() {
            return Err(Error::Request("a run that ended well needs its --time".to_owned()));
        }
        if let Some(elapsed) = elapsed_s.filter(|own| !(own.is_finite() && *own > 0.0)) {
            return Err(Error::Request(format!("a time of {elapsed} s is none")));
        }
        self.runs.push(run);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalog::catalog;
    use super::*;

    fn search() -> SearchFile {
        let catalog = catalog(None).unwrap();
        SearchFile::new(catalog, vec![1, 4], Objective::Cost, "default".to_owned())
    }

    fn run(search: &SearchFile, nodes: u32, elapsed_s: Option<f64>, completed: bool) -> OwnRun {
        let vm_type = search.catalog.machines[0].vm_type.clone();
        OwnRun { vm_type, nodes, elapsed_s, completed, metrics: BTreeMap::new() }
    }

    #[test]
    fn a_search_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("search.json");
        assert_eq!(SearchFile::read(&path).unwrap(), None);
        let mut own = search();
        own.limits = Limits { time_s: Some(60.5), cost_usd: None };
        own.history = Some("runs.csv".into());
        own.add(run(&own, 4, Some(12.25), true), Again::No).unwrap();
        own.write(&path).unwrap();
        assert_eq!(SearchFile::read(&path).unwrap(), Some(own));
    }

    #[test]
    fn what_is_no_search_is_refused_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("search.json");
        let refused = |text: &str| {
            std::fs::write(&path, text).unwrap();
            SearchFile::read(&path).unwrap_err().to_string()
        };
        let whole = serde_json::to_string(&search()).unwrap();
        for (text, words) in [
            ("{", "search.json"),
            (
                &whole.replace("cloud-search/1", "cloud-search/9"),
                "its schema is `trainwright/cloud-search/9`",
            ),
            (&whole.replace("\"seed\"", "\"sead\""), "sead"),
        ] {
            let told = refused(text);
            assert!(told.contains(words) && told.contains("search.json"), "{told}");
        }
    }

    #[test]
    fn a_replicate_is_kept_where_it_is_meant() {
        let mut own = search();
        own.add(run(&own, 1, Some(5.0), true), Again::No).unwrap();
        own.add(run(&own, 1, Some(7.0), true), Again::Yes).unwrap();
        assert_eq!(own.runs.len(), 2);
    }

    #[test]
    fn runs_that_cannot_be_are_named_and_not_kept() {
        let mut own = search();
        own.add(run(&own, 1, Some(5.0), true), Again::No).unwrap();
        own.add(run(&own, 4, None, false), Again::No).unwrap();
        let name = own.catalog.machines[0].vm_type.clone();
        let cases = [
            (
                OwnRun { vm_type: "z9.huge".to_owned(), ..run(&own, 1, Some(5.0), true) },
                "1 x z9.huge is not among",
            ),
            (run(&own, 3, Some(5.0), true), "the numbers of nodes [1, 4]"),
            (run(&own, 1, Some(6.0), true), "was told before"),
        ];
        for (run, words) in cases {
            let told = own.add(run, Again::No).unwrap_err().to_string();
            assert!(told.contains(words), "{told}");
        }
        let mut fresh = search();
        for (elapsed, words) in
            [(None, "needs its --time"), (Some(0.0), "a time of 0 s"), (Some(f64::NAN), "NaN")]
        {
            let told = fresh.add(run(&own, 1, elapsed, true), Again::No).unwrap_err().to_string();
            assert!(told.contains(words), "{told}");
        }
        assert!(fresh.runs.is_empty() && own.runs.len() == 2);
        assert!(own.runs.iter().all(|run| run.vm_type == name));
    }
}
