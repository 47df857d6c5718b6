use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn write(path: &Path, content: &[u8]) {
    write_whole(path, |out| out.write_all(content)).unwrap();
}

#[test]
fn a_file_is_replaced_whole_and_keeps_its_access_rights() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    write(&path, b"first");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write(&path, b"2nd");
    assert_eq!(fs::read(&path).unwrap(), b"2nd");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    assert_eq!(names(folder.path()), ["a.txt"]);
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    write(&path, b"old");
    let failed = write_whole(&path, |out| {
        out.write_all(&[7; 3 * BUFFER_BYTES])?;
        Err(io::Error::other("no space left"))
    });
    assert_eq!(failed.unwrap_err().to_string(), "no space left");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["a.txt"]);
}

#[test]
fn a_writer_that_panics_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    let panics = || write_whole(&path, |_| panic!("as asked"));
    assert!(std::panic::catch_unwind(panics).is_err());
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn what_a_dead_writer_left_is_taken_over_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(private_name(&path, 0), "half of something long").unwrap();
    write(&path, b"new");
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(folder.path()), ["a.txt"]);
}

#[test]
fn stale_private_files_go_and_those_of_living_writers_stay() {
    let folder = tempfile::tempdir().unwrap();
    let stale = private_name(&folder.path().join("dead.bin"), 3);
    fs::write(&stale, "half").unwrap();
    fs::write(folder.path().join(".other.partial"), "not ours").unwrap();
    fs::write(folder.path().join("seen.trainwright-partial"), "not hidden").unwrap();
    let mut living = PrivateFile::create(&folder.path().join("living.bin")).unwrap();
    living.write_all(b"half").unwrap();
    assert_eq!(remove_stale(folder.path()).unwrap(), [stale]);
    let kept = [".living.bin.trainwright-partial", ".other.partial", "seen.trainwright-partial"];
    assert_eq!(names(folder.path()), kept);
    living.publish().unwrap();
    assert_eq!(fs::read(folder.path().join("living.bin")).unwrap(), b"half");
}

#[test]
fn two_writers_of_one_file_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    let mut first = PrivateFile::create(&path).unwrap();
    let mut second = PrivateFile::create(&path).unwrap();
    first.write_all(b"first").unwrap();
    second.write_all(b"second").unwrap();
    second.publish().unwrap();
    first.publish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first");
    assert_eq!(names(folder.path()), ["a.txt"]);
}

#[test]
fn many_writers_and_a_remover_never_spoil_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    write(&path, &[0; 1000]);
    std::thread::scope(|scope| {
        for writer in 1..=3 {
            let path = &path;
            scope.spawn(move || (0..30).for_each(|_| write(path, &[writer; 1000])));
        }
        scope.spawn(|| (0..60).for_each(|_| drop(remove_stale(folder.path()).unwrap())));
        for _ in 0..200 {
            let found = fs::read(&path).unwrap();
            assert!(found.len() == 1000 && found.iter().all(|&byte| byte == found[0]));
        }
    });
    assert_eq!(names(folder.path()), ["a.bin"]);
}

#[test]
fn a_link_stays_and_its_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [file, link] = ["real.txt", "link.txt"].map(|name| folder.path().join(name));
    write(&file, b"old");
    symlink("real.txt", &link).unwrap();
    write(&link, b"new");
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn what_is_no_file_is_written_straight() {
    write(Path::new("/dev/null"), b"gone");
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    let folder = tempfile::tempdir().unwrap();
    let onto_folder = write_whole(folder.path(), |out| out.write_all(b"x"));
    assert!(onto_folder.is_err());
}

#[test]
fn the_longest_name_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ä".repeat(127));
    write(&path, b"long");
    assert_eq!(fs::read(&path).unwrap(), b"long");
}
