//! Where Spark, Python and Java are on this machine, and how to get them.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::EngineError;

/// The version that `engine setup spark` installs.
pub const PYSPARK_VERSION: &str = "4.3.0";

/// Oldest Java that this Spark runs on.
const OLDEST_JAVA: u32 = 17;

/// Spark as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Installation {
    /// Folder with `bin/spark-submit`.
    pub home: PathBuf,
    /// The Python that runs the driver, and the executors' unless PYSPARK_PYTHON says otherwise.
    pub python: PathBuf,
}

impl Installation {
    /// Looks in `SPARK_HOME`, in the environment's Python, and in the folder of [`set_up_spark`].
    ///
    /// # Errors
    /// When there is no Spark, or no Java that runs it; the error says what to install.
    pub fn find() -> Result<Self, EngineError> {
        let python =
            || env::var_os("PYSPARK_PYTHON").map_or_else(|| "python3".into(), PathBuf::from);
        let from_home = env::var_os("SPARK_HOME").map(PathBuf::from);
        let found = match from_home {
            Some(home) if has_submit(&home) => Self { home, python: python() },
            Some(home) => return Err(EngineError::NoSparkHome { home }),
            None => Self::of_python(&python())
                .or_else(|| Self::of_python(&set_up_folder()?.join("bin/python")))
                .ok_or(EngineError::NoSpark { version: PYSPARK_VERSION })?,
        };
        check_java()?;
        Ok(found)
    }

    /// The Spark that a Python would import.
    fn of_python(python: &Path) -> Option<Self> {
        let words = "import os, pyspark; print(os.path.dirname(pyspark.__file__))";
        let mut command = Command::new(python);
        let output = command.args(["-c", words]).stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let home = PathBuf::from(text.trim());
        let found = output.status.success() && has_submit(&home);
        found.then(|| Self { home, python: python.to_owned() })
    }

    /// The program that starts drivers.
    pub fn spark_submit(&self) -> PathBuf {
        self.home.join("bin/spark-submit")
    }
}

fn has_submit(home: &Path) -> bool {
    home.join("bin/spark-submit").is_file()
}

/// What [`set_up_spark`] did.
#[derive(Debug, Clone, Serialize)]
pub struct Setup {
    /// Folder of the virtual environment.
    pub folder: PathBuf,
    /// Version of pyspark.
    pub version: &'static str,
    /// Whether it was there before.
    pub was_there: bool,
}

/// Installs pyspark in a virtual environment of its own, in the user's data folder.
///
/// # Errors
/// When Python, its module `venv`, the network or Java is missing.
pub fn set_up_spark() -> Result<Setup, EngineError> {
    let folder = set_up_folder().ok_or(EngineError::NoHome)?;
    let version = PYSPARK_VERSION;
    let python = folder.join("bin/python");
    let was_there = Installation::of_python(&python).is_some();
    if !was_there {
        run("python3".as_ref(), &["-m".as_ref(), "venv".as_ref(), folder.as_os_str()])?;
        let package = format!("pyspark=={version}");
        let words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &package];
        run(python.as_os_str(), &words.map(OsStr::new))?;
    }
    check_java()?;
    Ok(Setup { folder, version, was_there })
}

/// The folder of the virtual environment; nothing without a home.
fn set_up_folder() -> Option<PathBuf> {
    let own = env::var_os("XDG_DATA_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let usual = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/share"));
    Some(own.or_else(usual)?.join("trainwright/spark"))
}

fn run(program: &OsStr, words: &[&OsStr]) -> Result<(), EngineError> {
    let shown = || {
        let all = std::iter::once(&program).chain(words).map(|word| word.to_string_lossy());
        all.collect::<Vec<_>>().join(" ")
    };
    let output = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| EngineError::Start { program: shown(), source })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(EngineError::SetUp { command: shown(), said })
}

/// Whether Java is there and new enough.
fn check_java() -> Result<(), EngineError> {
    let java = env::var_os("JAVA_HOME")
        .map_or_else(|| PathBuf::from("java"), |home| PathBuf::from(home).join("bin/java"));
    let none = || EngineError::NoJava { java: java.clone(), oldest: OLDEST_JAVA };
    let output = Command::new(&java).arg("-version").stdin(Stdio::null()).output();
    let output = output.map_err(|_| none())?;
    let said = String::from_utf8_lossy(&output.stderr);
    match java_version(&said) {
        Some(found) if found < OLDEST_JAVA => {
            Err(EngineError::OldJava { java, found, oldest: OLDEST_JAVA })
        }
        Some(_) => Ok(()),
        None => Err(none()),
    }
}

/// The first number of a version such as `17.0.15`, or the second of `1.8.0`.
fn java_version(said: &str) -> Option<u32> {
    let quoted = said.split('"').nth(1)?;
    let mut numbers = quoted.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match numbers.next()?.ok()? {
        1 => numbers.next()?.ok(),
        first => Some(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_tells_its_version_in_two_ways() {
        assert_eq!(java_version("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK"), Some(17));
        assert_eq!(java_version("java version \"1.8.0_402\"\n"), Some(8));
        assert_eq!(java_version("openjdk version \"21\" 2023-09-19"), Some(21));
        assert_eq!(java_version("command not found"), None);
    }

    #[test]
    fn a_python_without_pyspark_has_no_spark() {
        assert_eq!(Installation::of_python(Path::new("/bin/true")), None);
        assert_eq!(Installation::of_python(Path::new("/no/such/python")), None);
    }
}
