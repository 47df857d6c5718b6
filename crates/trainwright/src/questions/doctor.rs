//! The verb `doctor`: what is there and what is missing, and for which feature.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use serde::Serialize;
use trainwright_analysis::wording::bytes;
use trainwright_engine::spark::{Installation, PYSPARK_VERSION};
use trainwright_probe::describe_machine;
use trainwright_records::cache_folder;

/// Free bytes below which a study may stop for want of room.
const LITTLE_ROOM: u64 = 1 << 30;
/// Seconds since 1970 before which a clock was never set: 2025.
const CLOCK_NOT_SET: u64 = 1_735_689_600;
/// Names that Chromium has.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// What is there and what is missing.
#[derive(Debug, Clone, Serialize)]
pub struct DoctorReply {
    /// Version of this program.
    pub version: &'static str,
    /// One entry a thing, in the order of the features.
    pub checks: Vec<DoctorCheck>,
}

/// One thing that a feature needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorCheck {
    /// The thing.
    pub name: &'static str,
    /// What it is for.
    pub feature: &'static str,
    /// How it stands.
    pub state: DoctorState,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub advice: Option<String>,
}

/// How a thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DoctorState {
    /// It is there.
    Good,
    /// It is there, but may spoil measurements.
    Doubtful,
    /// It is not there, and its feature does not work.
    Missing,
}

/// Looks at this machine; `folder` is where studies would lie.
pub fn doctor(folder: &Path) -> DoctorReply {
    let mut checks = vec![disk(folder), cache()];
    checks.extend(machine());
    checks.extend(spark());
    checks.extend(python());
    checks.push(browser());
    checks.extend(built_in());
    DoctorReply { version: env!("CARGO_PKG_VERSION"), checks }
}

fn check(name: &'static str, feature: &'static str, found: impl Into<String>) -> DoctorCheck {
    let (state, found) = (DoctorState::Good, found.into());
    DoctorCheck { name, feature, state, found, advice: None }
}

impl DoctorCheck {
    fn but(self, state: DoctorState, advice: &str) -> Self {
        Self { state, advice: Some(advice.to_owned()), ..self }
    }
}

fn disk(folder: &Path) -> DoctorCheck {
    let feature = "stores and outputs of trials";
    match describe_machine(folder).file_system {
        Some(own) if own.free_bytes < LITTLE_ROOM => {
            check("free disk", feature, format!("{} free", bytes(own.free_bytes))).but(
                DoctorState::Doubtful,
                "free some space, or put the store elsewhere by --store",
            )
        }
        Some(own) => check("free disk", feature, format!("{} free", bytes(own.free_bytes))),
        None => check("free disk", feature, format!("{} tells nothing", folder.display()))
            .but(DoctorState::Doubtful, "name a folder that is there"),
    }
}

/// The cache folder, in which data sets and capacities are kept.
fn cache() -> DoctorCheck {
    let feature = "data sets, and what the machine can do";
    let advice = "set TRAINWRIGHT_CACHE to a folder that can be written";
    let Ok(folder) = cache_folder() else {
        let none = check("cache folder", feature, "there is none");
        return none.but(DoctorState::Missing, advice);
    };
    let found = check("cache folder", feature, folder.display().to_string());
    let made = fs::create_dir_all(&folder).is_ok();
    match made && tempfile::tempfile_in(&folder).is_ok() {
        true => found,
        false => found.but(DoctorState::Missing, advice),
    }
}

/// What decides how well times can be measured.
fn machine() -> Vec<DoctorCheck> {
    let feature = "times that repeat";
    let cores = describe_machine(Path::new("/")).machine.cores;
    let mut checks = vec![match cores {
        0 | 1 => check("cores", feature, "1 core").but(
            DoctorState::Doubtful,
            "the runner and trials share one core: times vary more, and strategies with \
             several workers gain nothing",
        ),
        cores => check("cores", feature, format!("{cores} cores")),
    }];
    checks.push(governor(Path::new("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")));
    checks.push(clock_source(Path::new(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    )));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let set = now.is_ok_and(|own| own.as_secs() >= CLOCK_NOT_SET);
    let clock = check("clock", "when trials ran", if set { "set" } else { "never set" });
    checks.push(match set {
        true => clock,
        false => clock.but(DoctorState::Doubtful, "set the clock, such as by systemd-timesyncd"),
    });
    checks
}

fn governor(path: &Path) -> DoctorCheck {
    let feature = "times that repeat";
    match fs::read_to_string(path).map(|own| own.trim().to_owned()) {
        Ok(own) if own == "performance" => check("frequency governor", feature, own),
        Ok(own) => check("frequency governor", feature, own).but(
            DoctorState::Doubtful,
            "the processor changes its speed by itself; for exact times set the governor \
             `performance`, such as by `cpupower frequency-set -g performance`",
        ),
        Err(_) => check(
            "frequency governor",
            feature,
            "the system does not tell, as in most \
             virtual machines",
        ),
    }
}

fn clock_source(path: &Path) -> DoctorCheck {
    let feature = "short times";
    match fs::read_to_string(path).map(|own| own.trim().to_owned()) {
        Ok(own) if ["acpi_pm", "hpet", "jiffies"].contains(&own.as_str()) => {
            check("clock source", feature, own)
                .but(DoctorState::Doubtful, "reading this clock is slow; tsc or kvm-clock is not")
        }
        Ok(own) => check("clock source", feature, own),
        Err(_) => check("clock source", feature, "the system does not tell"),
    }
}

fn spark() -> Vec<DoctorCheck> {
    let feature = "--engine spark";
    let java = match first_line("java", &["-version"]) {
        Some(found) => check("Java", feature, found),
        None => check("Java", feature, "not found")
            .but(DoctorState::Missing, "install openjdk-17-jre-headless or a later one"),
    };
    let spark = match Installation::find() {
        Ok(found) => check("pyspark", feature, found.home.display().to_string()),
        Err(error) => {
            let advice = format!(
                "`trainwright engine setup spark` installs pyspark {PYSPARK_VERSION} by itself"
            );
            check("pyspark", feature, error.to_string()).but(DoctorState::Missing, &advice)
        }
    };
    vec![java, spark]
}

fn python() -> Vec<DoctorCheck> {
    let feature = "studies in Python";
    let Some(version) = first_line("python3", &["--version"]) else {
        let none = check("Python", feature, "not found");
        return vec![none.but(DoctorState::Missing, "install python3")];
    };
    let words = ["-c", "import trainwright; print(trainwright.__file__)"];
    let module = match first_line("python3", &words) {
        Some(found) if !found.contains("Error") => check("Python module", feature, found),
        _ => check("Python module", feature, "python3 has no module trainwright").but(
            DoctorState::Missing,
            "install it with `pip install .` in a checkout; trials need no module to report",
        ),
    };
    vec![check("Python", feature, version), module]
}

fn browser() -> DoctorCheck {
    let feature = "tests of pages in a browser (reports need none to be written)";
    match BROWSERS.into_iter().find_map(|name| on_path(name.as_ref())) {
        Some(found) => check("Chromium", feature, found.display().to_string()),
        None => check("Chromium", feature, "not found")
            .but(DoctorState::Missing, "install chromium; any browser shows reports"),
    }
}

/// What this program was built with.
fn built_in() -> Vec<DoctorCheck> {
    let features = [
        ("object-stores", "data in s3:// and gs://", cfg!(feature = "object-stores")),
        ("turbojpeg", "faster pictures by libjpeg-turbo", cfg!(feature = "turbojpeg")),
        ("parquet", "export --format parquet", cfg!(feature = "parquet")),
    ];
    let of = |(name, feature, there): (&'static str, &'static str, bool)| match there {
        true => check(name, feature, "built in"),
        false => {
            let advice = format!("build with `--features {name}`");
            check(name, feature, "not built in").but(DoctorState::Missing, &advice)
        }
    };
    features.into_iter().map(of).collect()
}

/// The first line that a program prints, on whichever output; nothing where it fails.
fn first_line(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    output.status.success().then(|| line.trim().to_owned())
}

fn on_path(name: &OsStr) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_says_what_to_do() {
        let reply = doctor(Path::new("/"));
        assert!(reply.checks.len() >= 12, "{reply:#?}");
        for own in &reply.checks {
            assert_eq!(own.advice.is_some(), own.state != DoctorState::Good, "{own:?}");
        }
    }

    #[test]
    fn a_governor_that_changes_speed_is_doubtful() {
        let folder = tempfile::tempdir().unwrap();
        let of = |word: &str| {
            let path = folder.path().join("governor");
            fs::write(&path, word).unwrap();
            governor(&path).state
        };
        assert_eq!(of("performance\n"), DoctorState::Good);
        assert_eq!(of("powersave\n"), DoctorState::Doubtful);
        assert_eq!(governor(&folder.path().join("none")).state, DoctorState::Good);
        let path = folder.path().join("clock");
        fs::write(&path, "hpet\n").unwrap();
        assert_eq!(clock_source(&path).state, DoctorState::Doubtful);
    }
}
