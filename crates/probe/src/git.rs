//! The commit that a folder is at, by asking `git`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A slow network drive must not hold up a study for a detail.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a checkout stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkout {
    pub(crate) commit: String,
    /// Whether a tracked file of the checkout differs from the commit. Untracked files do not
    /// count, or a study's own results would.
    pub(crate) dirty: bool,
}

/// The checkout around `folder`; nothing without git, a checkout or a commit.
pub(crate) fn checkout(folder: &Path) -> Option<Checkout> {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(folder)
        .args(["--no-optional-locks", "status", "--porcelain=v2", "--branch"])
        .arg("--untracked-files=no")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    // Set inside git hooks, these would point at another checkout.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(variable);
    }
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // The receiver is gone when patience ran out.
        let _ = sender.send(command.output());
    });
    let output = receiver.recv_timeout(PATIENCE).ok()?.ok()?;
    output.status.success().then(|| parse(&String::from_utf8_lossy(&output.stdout)))?
}

fn parse(status: &str) -> Option<Checkout> {
    let commit = status.lines().find_map(|line| line.strip_prefix("# branch.oid "))?;
    let dirty = status.lines().any(|line| !line.starts_with('#'));
    (commit != "(initial)").then(|| Checkout { commit: commit.to_owned(), dirty })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn status_text_is_read() {
        let clean = "# branch.oid 0123abc\n# branch.head main\n";
        assert_eq!(parse(clean), Some(Checkout { commit: "0123abc".into(), dirty: false }));
        let dirty = format!("{clean}1 .M N... 100644 100644 100644 1 2 train.py\n");
        assert!(parse(&dirty).unwrap().dirty);
        assert_eq!(parse("# branch.oid (initial)\n# branch.head main\n"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_folder_outside_any_checkout_has_no_commit() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(checkout(folder.path()), None);
    }

    #[test]
    fn changes_to_tracked_files_make_a_checkout_dirty() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
            let mut command = Command::new("git");
            command.arg("-C").arg(folder.path()).args(identity).args(arguments);
            command.output().is_ok_and(|output| output.status.success())
        };
        if !git(&["init", "-q"]) {
            eprintln!("SKIPPED: no git on this machine");
            return;
        }
        let file = folder.path().join("train.py");
        fs::write(&file, "lr = 1\n").unwrap();
        assert!(git(&["add", "."]) && git(&["commit", "-q", "--no-verify", "-m", "start"]));
        fs::write(folder.path().join("results.csv"), "1\n").unwrap();
        let clean = checkout(folder.path()).unwrap();
        assert_eq!((clean.commit.len(), clean.dirty), (40, false));
        fs::write(&file, "lr = 22\n").unwrap();
        assert!(checkout(folder.path()).unwrap().dirty);
    }
}
