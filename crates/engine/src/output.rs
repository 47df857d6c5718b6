//! Where the texts of a trial lie, and whether it was this trial that wrote them.

pub(crate) mod open;
mod printable;
pub(crate) mod text;

pub use open::open_regular;
pub use printable::printable;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use trainwright_study::{MetricSource, Study, Template, TextFile};

use crate::render::{METRICS, Names};

/// Name of the file with the standard output in a trial's folder.
pub(crate) const STDOUT: &str = "stdout";
/// Name of the file with the standard error in a trial's folder.
pub(crate) const STDERR: &str = "stderr";

/// The folder of a trial below that of its study's trials.
pub fn trial_folder(trials: &Path, number: u32) -> PathBuf {
    trials.join(format!("{number:05}"))
}

/// Where a trial's outputs are kept; any of the files may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptOutputs {
    /// The trial's own folder.
    pub folder: PathBuf,
    /// Its standard output.
    pub stdout: PathBuf,
    /// Its standard error.
    pub stderr: PathBuf,
    /// The JSON lines that it reported.
    pub metrics: PathBuf,
}

/// The outputs of a trial below the folder of its study's trials; nothing without its folder.
pub fn outputs(trials: &Path, number: u32) -> Option<KeptOutputs> {
    let folder = trial_folder(trials, number);
    let [stdout, stderr, metrics] = [STDOUT, STDERR, METRICS].map(|name| folder.join(name));
    folder.is_dir().then_some(KeptOutputs { folder, stdout, stderr, metrics })
}

/// Where the texts of a trial lie.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    pub(crate) stdout: PathBuf,
    pub(crate) stderr: PathBuf,
    pub(crate) metrics: PathBuf,
    files: Files<'a>,
}

#[derive(Debug)]
enum Files<'a> {
    /// Files of a trial, named relative to its folders.
    Trial { names: Option<Names<'a>>, workdir: PathBuf, folder: PathBuf, own: Own },
    /// One text that stands for all of them.
    One(PathBuf),
}

impl<'a> Output<'a> {
    /// The texts that a trial is about to write; remembers what is there already.
    pub(crate) fn of_trial(study: &Study, names: Names<'a>, workdir: &Path, folder: &Path) -> Self {
        let mut output = Self::of_folder(folder, workdir, Some(names), Own::default());
        let before = output.present(study);
        if let Files::Trial { own, .. } = &mut output.files {
            *own = Own::NewSince(before);
        }
        output
    }

    /// The texts of a trial that ran in this span of time.
    pub(crate) fn of_kept_trial(
        names: Names<'a>,
        workdir: &Path,
        folder: &Path,
        span: TimeSpan,
    ) -> Self {
        Self::of_folder(folder, workdir, Some(names), Own::WrittenDuring(span))
    }

    /// The texts that some trial left in its folder.
    pub(crate) fn of_past_trial(folder: &Path) -> Self {
        Self::of_folder(folder, folder, None, Own::default())
    }

    /// One text that stands for every text of a trial.
    pub(crate) fn of_log(log: &Path) -> Self {
        let [stdout, stderr, metrics] = [log; 3].map(Path::to_owned);
        Self { stdout, stderr, metrics, files: Files::One(log.to_owned()) }
    }

    fn of_folder(folder: &Path, workdir: &Path, names: Option<Names<'a>>, own: Own) -> Self {
        Self {
            stdout: folder.join(STDOUT),
            stderr: folder.join(STDERR),
            metrics: folder.join(METRICS),
            files: Files::Trial {
                names,
                workdir: workdir.to_owned(),
                folder: folder.to_owned(),
                own,
            },
        }
    }

    /// The file of a text.
    pub(crate) fn text(&self, text: &TextFile) -> Result<PathBuf, String> {
        match text {
            TextFile::Stdout => Ok(self.stdout.clone()),
            TextFile::Stderr => Ok(self.stderr.clone()),
            TextFile::Path(path) => self.file(path),
        }
    }

    /// A file that the trial wrote, below its working folder or else its own folder.
    pub(crate) fn file(&self, file: &str) -> Result<PathBuf, String> {
        let (candidates, own, folder) = match &self.files {
            Files::One(log) => return Ok(log.clone()),
            Files::Trial { own, folder, .. } => (self.candidates(file)?, own, folder),
        };
        if let Some(fresh) = candidates.iter().find(|path| own.wrote(path, folder)) {
            return Ok(fresh.clone());
        }
        Err(match candidates.iter().find(|path| path.exists()) {
            Some(foreign) => format!("{} {}", foreign.display(), own.why_not()),
            None => format!("there is no file {}", candidates[0].display()),
        })
    }

    /// The event files that the trial wrote below a folder, with their runs.
    pub(crate) fn event_files(&self, folder: &str) -> Result<Vec<EventFile>, String> {
        let (candidates, own, own_folder) = match &self.files {
            Files::One(log) => {
                return Ok(vec![EventFile { run: String::new(), path: log.clone() }]);
            }
            Files::Trial { own, folder: own_folder, .. } => {
                (self.candidates(folder)?, own, own_folder)
            }
        };
        // The trial's own folder first: nobody else writes there.
        for root in candidates.iter().rev() {
            let files = self.event_files_below(root);
            let fresh: Vec<EventFile> =
                files.into_iter().filter(|file| own.wrote(&file.path, own_folder)).collect();
            if !fresh.is_empty() {
                return Ok(fresh);
            }
        }
        Err(format!("the trial wrote no event file below {}", candidates[0].display()))
    }

    /// The paths that a name of a file may mean, best first.
    fn candidates(&self, file: &str) -> Result<Vec<PathBuf>, String> {
        let Files::Trial { names, workdir, folder, .. } = &self.files else { return Ok(vec![]) };
        let template = Template::parse(file);
        let file = match names {
            Some(names) => names.fill(&template).map_err(|error| error.to_string())?,
            None => template
                .render(|_| None)
                .map_err(|name| format!("`{{{name}}}` of `{file}` has no value outside a trial"))?,
        };
        let mut paths = vec![workdir.join(&file), folder.join(&file)];
        paths.dedup();
        Ok(paths)
    }

    /// Event files below a folder, without those in the folders of other trials.
    fn event_files_below(&self, root: &Path) -> Vec<EventFile> {
        let own = match &self.files {
            Files::Trial { folder, .. } => folder.as_path(),
            Files::One(_) => root,
        };
        let others = if root.starts_with(own) { None } else { own.parent() };
        let mut found = Vec::new();
        let mut open = vec![(root.to_owned(), String::new())];
        while let Some((folder, run)) = open.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
                // The entry's own type, so that a symbolic link cannot lead in a circle.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    let below = if run.is_empty() { name } else { format!("{run}/{name}") };
                    if others != Some(path.as_path()) {
                        open.push((path, below));
                    }
                } else if name.contains("tfevents") {
                    found.push(EventFile { run: run.clone(), path });
                }
            }
        }
        found.sort();
        found
    }

    /// Prints of the files that the study's rules may read and that are there now.
    fn present(&self, study: &Study) -> Before {
        let mut paths = Vec::new();
        let mut add = |file: &str| paths.extend(self.candidates(file).unwrap_or_default());
        for metric in &study.metrics {
            match &metric.source {
                MetricSource::Regex { file: TextFile::Path(file), .. }
                | MetricSource::Json { file, .. }
                | MetricSource::Csv { file, .. } => add(file),
                _ => {}
            }
        }
        for echo in &study.echoes {
            if let TextFile::Path(file) = &echo.file {
                add(file);
            }
        }
        for metric in &study.metrics {
            if let MetricSource::Tensorboard { file, .. } = &metric.source {
                for root in self.candidates(file).unwrap_or_default() {
                    paths.extend(self.event_files_below(&root).into_iter().map(|file| file.path));
                }
            }
        }
        let prints = paths.into_iter().filter_map(|path| print(&path).map(|print| (path, print)));
        Before(prints.collect())
    }
}

/// An event file and the folder it lies in, relative to the one that was searched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventFile {
    pub(crate) run: String,
    pub(crate) path: PathBuf,
}

/// How a file is known to be this trial's.
#[derive(Debug)]
enum Own {
    NewSince(Before),
    WrittenDuring(TimeSpan),
}

impl Default for Own {
    fn default() -> Self {
        Self::NewSince(Before::default())
    }
}

impl Own {
    /// Whether a file is there and the trial wrote it.
    fn wrote(&self, path: &Path, own_folder: &Path) -> bool {
        match self {
            Self::NewSince(before) => before.changed(path),
            Self::WrittenDuring(span) => {
                path.exists() && (path.starts_with(own_folder) || span.saw_last_write(path))
            }
        }
    }

    fn why_not(&self) -> &'static str {
        match self {
            Self::NewSince(_) => {
                "is older than the trial, which did not write it; its numbers would be those of \
                 an earlier run"
            }
            Self::WrittenDuring(_) => {
                "was last written before or after the trial; its numbers would be those of \
                 another run"
            }
        }
    }
}

/// When a trial ran.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeSpan {
    from: SystemTime,
    until: SystemTime,
}

impl TimeSpan {
    /// Times of files come from a clock that lags by up to a tick of the kernel.
    const LAG: Duration = Duration::from_millis(20);

    /// From a moment in milliseconds since 1970 for a while, or for good.
    pub(crate) fn new(started_ms: i64, length: Option<Duration>) -> Self {
        let since_1970 = Duration::from_millis(u64::try_from(started_ms).unwrap_or(0));
        let from = SystemTime::UNIX_EPOCH + since_1970;
        let until = length.and_then(|length| from.checked_add(length + Self::LAG));
        Self {
            from: from.checked_sub(Self::LAG).unwrap_or(from),
            until: until.unwrap_or_else(SystemTime::now),
        }
    }

    fn saw_last_write(&self, path: &Path) -> bool {
        let written = fs::metadata(path).and_then(|meta| meta.modified());
        written.is_ok_and(|at| (self.from..=self.until).contains(&at))
    }
}

/// Which files were there before the trial, and what they were like.
#[derive(Debug, Default)]
struct Before(BTreeMap<PathBuf, Print>);

/// What changes whenever a file is written: device, inode, length, and both its times.
type Print = [i64; 7];

impl Before {
    /// Whether a file is there and is new or different.
    fn changed(&self, path: &Path) -> bool {
        print(path).is_some_and(|now| self.0.get(path) != Some(&now))
    }
}

fn print(path: &Path) -> Option<Print> {
    let meta = fs::metadata(path).ok()?;
    Some([
        meta.dev().cast_signed(),
        meta.ino().cast_signed(),
        meta.size().cast_signed(),
        meta.mtime(),
        meta.mtime_nsec(),
        meta.ctime(),
        meta.ctime_nsec(),
    ])
}
