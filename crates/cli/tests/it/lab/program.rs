//! The real program in a folder of its own, and what a user can do with it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::park_timeout;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

/// Longest wait for anything that should happen soon, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        park_timeout(Duration::from_millis(1));
    }
}

/// A folder to run the program in.
pub(crate) struct Lab {
    folder: TempDir,
}

/// What an ended program left.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A lab whose `study.toml` is this text.
    pub(crate) fn with_study(text: &str) -> Self {
        let lab = Self::new();
        lab.write("study.toml", text);
        lab
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The text of a file; nothing where it is not there.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Words of each line of a file.
    pub(crate) fn lines(&self, name: &str) -> Vec<Vec<String>> {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        self.read(name).lines().map(words).collect()
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trainwright"));
        command.args(words);
        self.at_home(command)
    }

    /// The program under a shell's limits, such as `ulimit -f 8`.
    pub(crate) fn limited(&self, limit: &str, words: &[&str]) -> Command {
        let mut command = Command::new("sh");
        let script = format!("{limit}; exec \"$0\" \"$@\"");
        command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_trainwright")).args(words);
        self.at_home(command)
    }

    fn at_home(&self, mut command: Command) -> Command {
        command
            .current_dir(self.folder())
            .env("TRAINWRIGHT_CACHE", self.path("cache"))
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, words: &[&str]) -> End {
        End::of(self.command(words))
    }

    /// Runs the program and insists on its exit code.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, words: &[&str]) -> End {
        let end = self.run(words);
        assert_eq!(end.code, Some(code), "{words:?} gave {end:#?}");
        end
    }

    /// The one JSON object that the program prints.
    #[track_caller]
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let end = self.expect(0, words);
        serde_json::from_str(&end.stdout).unwrap_or_else(|error| panic!("{error}: {end:#?}"))
    }

    /// Starts the program, which goes on beside the test.
    pub(crate) fn start(&self, words: &[&str]) -> Running {
        let file = |name: &str| File::options().create(true).append(true).open(self.path(name));
        let mut command = self.command(words);
        command.stdout(file("running.stdout").unwrap()).stderr(file("running.stderr").unwrap());
        // Tests that run under `nohup` would hand down their deafness to hangups.
        // SAFETY: setting a signal's default action is all that happens between fork and exec.
        unsafe {
            command.pre_exec(|| Ok(signal(Signal::SIGHUP, SigHandler::SigDfl).map(drop)?));
        }
        Running { child: command.spawn().unwrap() }
    }

    /// The rows of `export study.toml`.
    #[track_caller]
    pub(crate) fn rows(&self) -> Vec<Value> {
        let table = self.json(&["export", "study.toml", "--format", "json"]);
        table["rows"].as_array().unwrap().clone()
    }

    /// How many trials are in each state.
    #[track_caller]
    pub(crate) fn states(&self) -> BTreeMap<String, usize> {
        let mut states = BTreeMap::new();
        for row in self.rows() {
            *states.entry(row["state"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        states
    }

    /// The whole store must be sound.
    #[track_caller]
    pub(crate) fn check_store(&self, name: &str) {
        let store = rusqlite::Connection::open(self.path(name)).unwrap();
        let verdict: String =
            store.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
    }
}

impl End {
    pub(crate) fn of(mut command: Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Insists that the messages hold all these parts.
    #[track_caller]
    pub(crate) fn says(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.stderr.contains(part), "no `{part}` in {self:#?}");
        }
    }
}

/// A program under way, killed when the test ends.
pub(crate) struct Running {
    child: Child,
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Gives it some time to end; tells whether it did.
    pub(crate) fn ends_within(&mut self, limit: Duration) -> bool {
        let begun = Instant::now();
        while !self.has_ended() {
            if begun.elapsed() >= limit {
                return false;
            }
            park_timeout(Duration::from_micros(200));
        }
        true
    }

    #[track_caller]
    pub(crate) fn end(&mut self) -> ExitStatus {
        until("the program ends", || self.has_ended());
        self.child.wait().unwrap()
    }

    /// Kills it as a crash would.
    pub(crate) fn crash(mut self) {
        self.signal(Signal::SIGKILL);
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process, which may be gone already.
pub(crate) fn send(pid: u32, signal: Signal) {
    let _ = kill(Pid::from_raw(pid.cast_signed()), signal);
}

/// Whether a process lives; one that has ended and was not reaped does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z" && state != "X")
}

/// A repeatable stream of numbers: splitmix64 (Steele, Lea and Flood, 2014).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// A study of one numeric factor `x` whose trials run a shell script.
///
/// The script reads `$x`, and every trial has a wall time and whatever `more` asks for.
pub(crate) fn shell_study(levels: &str, script: &str, more: &str) -> String {
    format!(
        "schema = 1\n[study]\nname = \"demo\"\nseed = 5\n[factors.x]\nlevels = {levels}\n\
         [design]\ntype = \"full\"\n[run]\nenv.x = \"{{x}}\"\n\
         command = [\"sh\", \"-c\", '''{script}''']\n{more}\n\
         [metrics.time]\nfrom = \"wall\"\nunit = \"s\"\n"
    )
}
