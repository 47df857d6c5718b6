//! Starts a program in a session of its own, noted before it runs.
//!
//! The new process shares our memory until its program runs, and we wait meanwhile: this is what
//! `posix_spawn` does as well, which cannot be told to note the process. A copy of our memory, as
//! `fork` makes it, would cost a short trial more than all its other bookkeeping.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::ptr;

use nix::errno::Errno;
use nix::libc::{self, c_char, c_int};
use nix::sched::{CloneFlags, clone};
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::sys::wait::waitpid;
use nix::unistd::{AccessFlags, access, setsid};

use super::note::NoteLine;

/// More than the few frames of [`Prepared::become_program`] take, which call the kernel alone.
const STACK: usize = 32 << 10;
/// Where programs are looked for when no `PATH` says it, as `execvp` does.
const USUAL_PATH: &str = "/bin:/usr/bin";
/// Runs scripts that do not name their interpreter, as `execvp` does.
const SHELL: &CStr = c"/bin/sh";

/// A program to start; its input is empty.
#[derive(Debug)]
pub(super) struct Program<'a> {
    /// Its name or path, and its arguments.
    pub(super) words: &'a [String],
    pub(super) workdir: &'a Path,
    /// Variables besides those that it inherits.
    pub(super) environment: &'a BTreeMap<String, String>,
    pub(super) stdout: File,
    pub(super) stderr: File,
}

impl Program<'_> {
    /// Starts the process and notes it; gives its number.
    ///
    /// # Errors
    /// When a word has a zero byte, the system has no room for a process or its note, or there is
    /// no such program.
    pub(super) fn start(&self, note: NoteLine<'_>) -> io::Result<u32> {
        let stdin = File::open("/dev/null")?;
        let descriptors = [&stdin, &self.stdout, &self.stderr].map(AsRawFd::as_raw_fd);
        let mut prepared = Prepared::new(self, descriptors, note)?;
        let mut stack = vec![0; STACK];
        let mut failure = None;
        // A signal must not run a handler of ours in a process that shares our memory.
        let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        let child = || {
            failure = Some(prepared.become_program());
            // Not zero, though nobody looks at it.
            127
        };
        let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
        // SAFETY: this thread waits until the process has a memory of its own or has ended.
        // Until then the process makes system calls only, with what was allocated before.
        let started = unsafe { clone(Box::new(child), &mut stack, flags, Some(libc::SIGCHLD)) };
        before.thread_set_mask()?;
        let started = started?;
        match failure {
            None => Ok(u32::try_from(started.as_raw()).expect("process numbers are positive")),
            Some(error) => {
                // It has ended by itself and is known to nobody else.
                waitpid(started, None)?;
                Err(error.into())
            }
        }
    }
}

/// What a new process needs to become a program without allocating anything.
struct Prepared<'a> {
    /// Where the program may lie, in order.
    paths: Vec<CString>,
    arguments: Pointers,
    /// The same for a script that the shell must run; its second word is still to be set.
    shell_arguments: Pointers,
    environment: Pointers,
    workdir: CString,
    descriptors: [RawFd; 3],
    note: NoteLine<'a>,
}

impl<'a> Prepared<'a> {
    fn new(program: &Program<'_>, descriptors: [RawFd; 3], note: NoteLine<'a>) -> io::Result<Self> {
        let environment = environment(program.environment);
        let name = &program.words[0];
        let words = |words: &[String]| {
            words.iter().map(|word| CString::new(word.as_str())).collect::<Result<Vec<_>, _>>()
        };
        let mut shell_words = vec![SHELL.to_owned(), SHELL.to_owned()];
        shell_words.extend(words(&program.words[1..])?);
        let variables = environment
            .iter()
            .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()));
        Ok(Self {
            paths: paths(name, environment.get(OsStr::new("PATH")))?,
            arguments: Pointers::new(words(program.words)?),
            shell_arguments: Pointers::new(shell_words),
            environment: Pointers::new(variables.collect::<Result<_, _>>()?),
            workdir: CString::new(program.workdir.as_os_str().as_bytes())?,
            descriptors,
            note,
        })
    }

    /// Turns the new process into the program; returns only where that fails.
    fn become_program(&mut self) -> Errno {
        match self.settle() {
            Ok(()) => self.execute(),
            Err(error) => error,
        }
    }

    /// Session, note, files, folder and signals as the program is to find them.
    fn settle(&self) -> Result<(), Errno> {
        setsid()?;
        self.note.note_this_process()?;
        for (target, source) in (0..).zip(self.descriptors) {
            // SAFETY: dup2 takes two integers.
            Errno::result(unsafe { libc::dup2(source, target) })?;
        }
        // SAFETY: the path ends with a zero byte.
        Errno::result(unsafe { libc::chdir(self.workdir.as_ptr()) })?;
        default_signals();
        SigSet::empty().thread_set_mask()
    }

    /// Tries one path after the other, as `execvp` does.
    fn execute(&mut self) -> Errno {
        let mut last = Errno::ENOENT;
        for path in &self.paths {
            let mut error = execute(path, &self.arguments, &self.environment);
            if error == Errno::ENOEXEC
                && let Some(script) = self.shell_arguments.pointers.get_mut(1)
            {
                *script = path.as_ptr();
                error = execute(SHELL, &self.shell_arguments, &self.environment);
            }
            match error {
                Errno::ENOENT | Errno::ENOTDIR => {}
                // There may be another further on; if not, this one is worth telling of.
                Errno::EACCES => last = error,
                error => return error,
            }
        }
        last
    }
}

/// Texts as the kernel takes them: pointers to each, and a null one at the end.
struct Pointers {
    pointers: Vec<*const c_char>,
    /// What the pointers lead to.
    _texts: Vec<CString>,
}

impl Pointers {
    fn new(texts: Vec<CString>) -> Self {
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect();
        Self { pointers, _texts: texts }
    }
}

fn execute(path: &CStr, arguments: &Pointers, environment: &Pointers) -> Errno {
    // SAFETY: every list ends with a null pointer, every text with a zero byte.
    unsafe {
        libc::execve(path.as_ptr(), arguments.pointers.as_ptr(), environment.pointers.as_ptr());
    }
    Errno::last()
}

/// Gives up every handler of ours, and the ignored SIGPIPE of a Rust program.
fn default_signals() {
    // SAFETY: all-zero is a valid sigaction, namely the default one without flags.
    let (mut now, default) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: both pointers are valid for the whole call. The few signals that cannot be
        // changed give an error and keep their action.
        unsafe {
            if libc::sigaction(signal, ptr::null(), &mut now) == 0 && gives_up(signal, &now) {
                libc::sigaction(signal, &default, ptr::null_mut());
            }
        }
    }
}

fn gives_up(signal: c_int, now: &libc::sigaction) -> bool {
    signal == libc::SIGPIPE || ![libc::SIG_DFL, libc::SIG_IGN].contains(&now.sa_sigaction)
}

/// What we inherited, with the program's own variables.
fn environment(own: &BTreeMap<String, String>) -> BTreeMap<OsString, OsString> {
    let own = own.iter().map(|(name, value)| (name.into(), value.into()));
    std::env::vars_os().chain(own).collect()
}

/// Where a program of this name may lie, in order. Places without such a file are left out, and
/// those behind the first one that can be run: to look is many times quicker than to try.
fn paths(name: &str, path: Option<&OsString>) -> io::Result<Vec<CString>> {
    if name.contains('/') {
        return Ok(vec![CString::new(name)?]);
    }
    let mut found = Vec::new();
    if name.is_empty() {
        return Ok(found);
    }
    let path = path.map_or(OsStr::new(USUAL_PATH), OsString::as_os_str);
    for place in std::env::split_paths(path).map(|folder| folder.join(name)) {
        let runs = match fs::metadata(&place) {
            Ok(meta) => meta.is_file() && access(&place, AccessFlags::X_OK).is_ok(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            // Whatever it is, to try it tells what is wrong.
            Err(_) => false,
        };
        found.push(CString::new(place.into_os_string().into_vec())?);
        if runs {
            break;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use nix::sys::wait::WaitStatus;
    use nix::unistd::Pid;
    use tempfile::TempDir;

    use super::*;
    use crate::local::note::ProcessNotes;

    /// A folder for a program, with its output and its note.
    struct Place(TempDir);

    impl Place {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn file(&self, name: &str) -> File {
            File::create(self.0.path().join(name)).unwrap()
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.0.path().join(name)).unwrap()
        }

        fn script(&self, name: &str, text: &str) {
            let path = self.0.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }

        fn start(&self, words: &[&str], variables: &[(&str, &str)]) -> io::Result<u32> {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
            let program = Program {
                words: &words,
                workdir: self.0.path(),
                environment: &variables.iter().map(owned).collect(),
                stdout: self.file("stdout"),
                stderr: self.file("stderr"),
            };
            let notes = ProcessNotes::create(self.0.path(), None).unwrap();
            let mut trial = notes.of_trial(1);
            program.start(trial.next_line())
        }

        /// What a program writes until it has ended well.
        #[track_caller]
        fn output(&self, words: &[&str], variables: &[(&str, &str)]) -> String {
            let pid = self.start(words, variables).unwrap();
            let pid = Pid::from_raw(pid.try_into().unwrap());
            assert_eq!(
                waitpid(pid, None),
                Ok(WaitStatus::Exited(pid, 0)),
                "{}",
                self.read("stderr")
            );
            self.read("stdout")
        }
    }

    #[track_caller]
    fn check_failure(words: &[&str], kind: io::ErrorKind) {
        assert_eq!(Place::new().start(words, &[]).unwrap_err().kind(), kind);
    }

    #[test]
    fn a_process_leads_its_session_and_is_noted_before_it_runs() {
        let place = Place::new();
        // Number, state, parent, group, session of the process, and the pid and session noted.
        let output = place.output(
            &[
                "sh",
                "-c",
                "read p n s q g i r < /proc/$$/stat; echo $$ $g $i
                 tr -d '\\0' < .process | tail -n +2 | grep . | cut -d' ' -f2,7",
            ],
            &[],
        );
        let words: Vec<&str> = output.split_whitespace().collect();
        assert_eq!(words, [words[0]; 5]);
    }

    #[test]
    fn words_variables_and_folder_arrive_as_they_are() {
        let place = Place::new();
        let words = ["sh", "-c", "printf '%s|' \"$1\" \"$2\" \"$OWN\" \"$HOME\"; pwd -P", "sh"];
        let words = [&words[..], &["", "a b\n$c"]].concat();
        let folder = fs::canonicalize(place.0.path()).unwrap();
        let output = place.output(&words, &[("OWN", "x=y"), ("HOME", "here")]);
        assert_eq!(output, format!("|a b\n$c|x=y|here|{}\n", folder.display()));
    }

    #[test]
    fn a_program_is_found_by_the_path_that_it_is_given() {
        let place = Place::new();
        place.script("greet", "#!/bin/sh\necho greeted\n");
        let path = place.0.path().to_str().unwrap().to_owned();
        assert_eq!(place.output(&["greet"], &[("PATH", &format!("/nowhere:{path}"))]), "greeted\n");
        assert_eq!(place.output(&["./greet"], &[("PATH", "/nowhere")]), "greeted\n");
        assert!(place.start(&["greet"], &[]).is_err());
    }

    #[test]
    fn places_that_cannot_run_it_are_passed_over_and_those_behind_the_first_that_can_are_not_tried()
    {
        let place = Place::new();
        let at = |folder: &str| place.0.path().join(folder);
        for folder in ["folder/greet", "data", "first", "second"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["data/greet", "first/greet", "second/greet"] {
            place.script(file, "#!/bin/sh\n");
        }
        fs::set_permissions(at("data/greet"), fs::Permissions::from_mode(0o644)).unwrap();
        let folders = ["none", "folder", "data", "first", "second"].map(at);
        let path = std::env::join_paths(&folders).unwrap();
        let found = paths("greet", Some(&path)).unwrap();
        let expected = ["folder", "data", "first"].map(|folder| at(folder).join("greet"));
        let expected = expected.map(|own| CString::new(own.into_os_string().into_vec()).unwrap());
        assert_eq!(found, expected);
        let searched = path.into_string().unwrap();
        assert_eq!(place.output(&["greet"], &[("PATH", &searched)]), "");
    }

    #[test]
    fn a_script_without_an_interpreter_is_run_by_the_shell() {
        let place = Place::new();
        place.script("bare", "echo \"bare $1\"\n");
        assert_eq!(place.output(&["./bare", "word"], &[]), "bare word\n");
    }

    #[test]
    fn what_cannot_start_is_an_error_and_leaves_no_process() {
        check_failure(&["no-such-program-anywhere"], io::ErrorKind::NotFound);
        check_failure(&[""], io::ErrorKind::NotFound);
        check_failure(&["/etc/passwd"], io::ErrorKind::PermissionDenied);
        check_failure(&["true", "zero\0byte"], io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_note_that_cannot_be_written_keeps_the_program_from_running() {
        let place = Place::new();
        let program = Program {
            words: &["touch".to_owned(), "ran".to_owned()],
            workdir: place.0.path(),
            environment: &BTreeMap::new(),
            stdout: place.file("stdout"),
            stderr: place.file("stderr"),
        };
        let notes = ProcessNotes::without_room();
        let mut trial = notes.of_trial(1);
        let error = program.start(trial.next_line()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(!place.0.path().join("ran").exists());
    }

    #[test]
    fn no_signal_is_blocked_or_handled_and_broken_pipes_kill() {
        let status = Place::new().output(&["cat", "/proc/self/status"], &[]);
        let signals = |field: &str| {
            let bits = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
            u64::from_str_radix(bits.unwrap().trim(), 16).unwrap()
        };
        assert_eq!((signals("SigBlk"), signals("SigCgt")), (0, 0));
        assert_eq!(signals("SigIgn") >> (libc::SIGPIPE - 1) & 1, 0);
    }

    #[test]
    fn the_caller_keeps_its_own_signals() {
        let before = SigSet::thread_get_mask().unwrap();
        Place::new().output(&["true"], &[]);
        assert_eq!(SigSet::thread_get_mask().unwrap(), before);
    }
}
