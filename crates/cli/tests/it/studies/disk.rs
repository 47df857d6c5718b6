//! Folders that are missing, read-only or full: a clear message, exit code 3, nothing damaged.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::program::{End, Lab, shell_study};

fn many_trials(script: &str) -> String {
    shell_study("[1, 2, 3, 4]", script, "")
        .replace("type = \"full\"", "type = \"full\"\nreplications = 25")
}

#[test]
fn a_store_in_a_missing_folder_is_refused_and_makes_nothing() {
    let lab = Lab::with_study(&shell_study("[1, 2]", "echo $x", ""));
    let end = lab.expect(3, &["run", "study.toml", "--store", "mistyped/results.db"]);
    end.says(&["mistyped", "--store"]);
    assert!(!lab.path("mistyped").exists());
    lab.expect(2, &["status", "study.toml", "--store", "mistyped/results.db"]).says(&[
        "demo",
        "mistyped/results.db",
        "trainwright run",
    ]);
    lab.expect(0, &["run", "study.toml", "--store", "results.db"]);
    assert!(!lab.path("trainwright.db").exists());
}

/// Runs the program in a folder that it may only read; the superuser does so as somebody else.
fn run_reading_only(lab: &Lab, words: &[&str]) -> End {
    let program = lab.path("trainwright");
    if !program.exists() {
        fs::copy(env!("CARGO_BIN_EXE_trainwright"), &program).unwrap();
    }
    let protect = |mode| {
        fs::set_permissions(lab.folder(), fs::Permissions::from_mode(mode)).unwrap();
    };
    let mut command = Command::new(&program);
    command.args(words).current_dir(lab.folder());
    if fs::metadata(lab.folder()).unwrap().uid() == 0 {
        command.uid(65534).gid(65534);
    }
    protect(0o555);
    let end = End::of(command);
    protect(0o755);
    end
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let lab = Lab::with_study(&shell_study("[1, 2]", "echo $x", ""));
    let end = run_reading_only(&lab, &["run", "study.toml"]);
    assert_eq!(end.code, Some(3), "{end:?}");
    end.says(&["cannot write", "trainwright.trials", "Permission denied"]);
    lab.expect(0, &["run", "study.toml"]);
}

#[test]
fn results_in_a_folder_that_cannot_be_written_can_be_read() {
    let lab = Lab::with_study(&shell_study("[1, 2]", "echo $x", ""));
    lab.expect(0, &["run", "study.toml", "--store", "50% of it?.db"]);
    let words = ["export", "study.toml", "--store", "50% of it?.db"];
    let open = lab.expect(0, &words);
    // A store is its owner's alone until the owner says otherwise.
    let store = lab.path("50% of it?.db");
    fs::set_permissions(store, fs::Permissions::from_mode(0o644)).unwrap();
    let end = run_reading_only(&lab, &words);
    assert_eq!((end.code, &end.stdout), (Some(0), &open.stdout), "{end:?}");
}

#[test]
fn a_results_file_that_cannot_be_written_is_told() {
    let lab = Lab::with_study(&shell_study("[1, 2]", "echo $x", ""));
    let end = lab.expect(3, &["run", "study.toml", "--report", "nowhere/r.html"]);
    end.says(&["nowhere/r.html", "its folder is not there"]);
    lab.expect(2, &["status", "study.toml"]).says(&["no results"]);
    lab.expect(0, &["run", "study.toml"]);
    lab.expect(3, &["export", "study.toml", "-o", "nowhere/t.csv"]).says(&["nowhere/t.csv"]);
    lab.expect(3, &["report", "study.toml", "-o", "nowhere/r.html"]).says(&["nowhere/r.html"]);
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let lab = Lab::with_study(&shell_study("[1, 2]", "echo $x", ""));
    let text = "these are my notes and no database at all\n".repeat(100);
    lab.write("trainwright.db", &text);
    lab.expect(3, &["run", "study.toml"]).says(&["trainwright.db", "not a Trainwright store"]);
    lab.expect(3, &["status", "study.toml"]).says(&["trainwright.db"]);
    assert_eq!(lab.read("trainwright.db"), text);
}

/// A limit on the size of every file is met at different moments of the store's life.
#[test]
fn a_study_goes_on_after_a_limit_on_file_sizes_is_lifted() {
    for blocks in [4, 16, 60, 120, 180] {
        let lab = Lab::with_study(&many_trials("echo $x"));
        let end = End::of(lab.limited(&format!("ulimit -f {blocks}"), &["run", "study.toml"]));
        assert_eq!(end.code, Some(3), "{blocks} blocks: {end:?}");
        end.says(&["cannot write the store", "trainwright.db", "run again"]);
        lab.expect(0, &["run", "study.toml"]);
        assert_eq!(lab.states(), [("finished".to_owned(), 100)].into(), "{blocks} blocks");
        lab.check_store("trainwright.db");
    }
}

#[test]
fn a_trial_that_fills_its_output_fails_alone() {
    let script = "[ $x = 2 ] && { ulimit -f 8; yes 0123456789; }; echo $x";
    let lab = Lab::with_study(&shell_study("[1, 2, 3]", script, ""));
    let end = lab.expect(1, &["run", "study.toml"]);
    end.says(&["signal SIGXFSZ"]);
    assert_eq!(lab.states(), [("failed".to_owned(), 1), ("finished".to_owned(), 2)].into());
}

/// A small file system in memory, for those who may mount one.
struct SmallDisk<'a>(&'a Lab);

impl<'a> SmallDisk<'a> {
    fn mount(lab: &'a Lab, size: &str) -> Option<Self> {
        fs::create_dir(lab.path("disk")).unwrap();
        let mounted = Self(lab);
        let done = mounted.call("mount", &["-t", "tmpfs", "-o", &format!("size={size}"), "none"]);
        done.then_some(mounted)
    }

    fn grow(&self) {
        assert!(self.call("mount", &["-o", "remount,size=50M"]));
    }

    fn call(&self, program: &str, words: &[&str]) -> bool {
        let mut command = Command::new(program);
        command.args(words).arg(self.0.path("disk"));
        command.output().is_ok_and(|output| output.status.success())
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        self.call("umount", &["-l"]);
    }
}

/// A study on a small disk stops for want of room, and goes on when there is some.
fn check_full_disk(size: &str, script: &str, trials: u64) {
    let lab = Lab::new();
    let Some(disk) = SmallDisk::mount(&lab, size) else {
        eprintln!("SKIPPED: no right to mount a small file system, so no disk was filled");
        return;
    };
    let text =
        many_trials(script).replace("replications = 25", &format!("replications = {}", trials / 4));
    lab.write("disk/study.toml", text);
    let study = "disk/study.toml";
    let end = lab.expect(3, &["run", study, "--no-flush"]);
    end.says(&["space", "free some space and run again"]);
    let counts = lab.json(&["status", study, "--json"])["counts"].clone();
    assert!(counts["finished"].as_u64().unwrap() > 0, "{counts}");
    assert_eq!(counts["failed"], 0, "a full disk is no fault of the trial: {counts}");
    disk.grow();
    lab.expect(0, &["run", study]);
    let counts = lab.json(&["status", study, "--json"])["counts"].clone();
    assert_eq!(counts["finished"], trials);
    lab.check_store("disk/trainwright.db");
}

#[test]
fn a_full_disk_stops_the_study_and_loses_nothing() {
    check_full_disk("400k", "head -c 30000 /dev/zero > $TRAINWRIGHT_DIR/weights || :", 100);
}

/// The store's journal has been written round by then, so that it still has room of its own.
#[test]
fn a_disk_that_a_trial_fills_fails_no_other_trial() {
    let script = "[ $TRAINWRIGHT_TRIAL = 500 ] && [ ! -e filled ] && touch filled && \
                  cat /dev/zero > $TRAINWRIGHT_DIR/weights; :";
    check_full_disk("12M", script, 800);
}

#[test]
fn a_report_that_does_not_fit_leaves_the_old_one() {
    let lab = Lab::with_study(&shell_study("[1, 2]", "echo $x", ""));
    lab.expect(0, &["run", "study.toml"]);
    lab.write("report.html", "the old report");
    let end = End::of(lab.limited("ulimit -f 200", &["report", "study.toml", "-o", "report.html"]));
    assert_eq!(end.code, Some(3), "{end:?}");
    end.says(&["cannot write report.html"]);
    assert_eq!(lab.read("report.html"), "the old report");
    let names = fs::read_dir(lab.folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let left = names.filter(|name| name.to_string_lossy().contains("partial")).count();
    assert_eq!(left, 0, "nothing half-written stays");
}
