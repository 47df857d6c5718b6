//! Shards by folder, file or pattern.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::RecordsError;
use crate::files::bucket::{bucket_of, is_remote};

/// Folders of the parts of a prepared set.
const PARTS: [&str; 3] = ["train", "validation", "test"];

/// The files that a text stands for, sorted: the `*.tfrecord` files of a folder, one file, or
/// those whose names match a pattern of `*` and `?` in its last part; also in an object store.
///
/// # Errors
/// When nothing matches or the folder cannot be read.
pub fn shard_paths(pattern: &str) -> Result<Vec<PathBuf>, RecordsError> {
    let path = Path::new(pattern);
    if is_remote(path) {
        return remote_shards(pattern);
    }
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let (folder, name) = if path.is_dir() {
        (path.to_owned(), "*.tfrecord".to_owned())
    } else {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (folder.unwrap_or(Path::new(".")).to_owned(), name)
    };
    let in_folder = |error: std::io::Error| RecordsError::from(error).in_file(&folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(in_folder)? {
        let entry = entry.map_err(in_folder)?;
        let file = entry.file_name();
        if matches(name.as_bytes(), file.as_encoded_bytes()) && entry.path().is_file() {
            found.push(entry.path());
        }
    }
    if found.is_empty() {
        return Err(RecordsError::NoMatch { pattern: pattern.to_owned() });
    }
    found.sort();
    Ok(found)
}

/// The same, and of a folder also the shards of its parts (`train`, `validation`, `test`), as
/// `data prepare --split` writes them.
///
/// # Errors
/// As for [`shard_paths`].
pub fn shard_paths_of_parts(pattern: &str) -> Result<Vec<PathBuf>, RecordsError> {
    let own = shard_paths(pattern);
    let is_folder = if is_remote(Path::new(pattern)) {
        !pattern.contains(['*', '?']) && !pattern.ends_with(".tfrecord")
    } else {
        Path::new(pattern).is_dir()
    };
    if !is_folder {
        return own;
    }
    let mut found = Vec::new();
    let parts = PARTS.map(|part| shard_paths(&Path::new(pattern).join(part).to_string_lossy()));
    for paths in [own].into_iter().chain(parts) {
        match paths {
            Err(RecordsError::NoMatch { .. }) => {}
            paths => found.extend(paths?),
        }
    }
    if found.is_empty() {
        return Err(RecordsError::NoMatch { pattern: pattern.to_owned() });
    }
    Ok(found)
}

/// The same in an object store, where only a pattern or the ending tells a shard from a folder.
fn remote_shards(pattern: &str) -> Result<Vec<PathBuf>, RecordsError> {
    let path = Path::new(pattern);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let wild = name.contains(['*', '?']);
    if !wild && name.ends_with(".tfrecord") {
        return Ok(vec![path.to_owned()]);
    }
    let (folder, name) =
        if wild { (path.parent().unwrap_or(path), name.as_str()) } else { (path, "*.tfrecord") };
    let objects = bucket_of(path)?.list(folder)?;
    let directly_in = objects.into_iter().map(|own| own.address).filter(|address| {
        let own = address.file_name().unwrap_or_default();
        address.parent() == Some(folder) && matches(name.as_bytes(), own.as_encoded_bytes())
    });
    let found: Vec<PathBuf> = directly_in.collect();
    if found.is_empty() {
        return Err(RecordsError::NoMatch { pattern: pattern.to_owned() });
    }
    Ok(found)
}

/// Whether a name matches a pattern; hidden names match only patterns that begin with a dot.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    if name.first() == Some(&b'.') && pattern.first() != Some(&b'.') {
        return false;
    }
    // The last star and what it has swallowed, to go back to when the rest does not match.
    let (mut at, mut in_name, mut star) = (0, 0, None);
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match star {
                Some((star_at, swallowed)) => {
                    star = Some((star_at, swallowed + 1));
                    (at, in_name) = (star_at + 1, swallowed + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_match_names() {
        for (pattern, name, expected) in [
            ("*.tfrecord", "a.tfrecord", true),
            ("*.tfrecord", "a.tfrecord.idx", false),
            ("*.tfrecord", ".a.tfrecord", false),
            ("data-*-of-0001?.tfrecord", "data-00000-of-00016.tfrecord", true),
            ("a*b*c", "axxbxbyc", true),
            ("a*b*c", "axxbxby", false),
            ("*", "", true),
            ("?", "", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn folders_files_and_patterns_give_sorted_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.tfrecord", "a.tfrecord", "a.tfrecord.idx"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let names = |pattern: &str| {
            let found = shard_paths(folder.path().join(pattern).to_str().unwrap());
            found.map(|paths| {
                let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
                paths.iter().map(name).collect::<Vec<_>>()
            })
        };
        assert_eq!(names("").unwrap(), ["a.tfrecord", "b.tfrecord"]);
        assert_eq!(names("a*").unwrap(), ["a.tfrecord", "a.tfrecord.idx"]);
        assert!(names("c*").unwrap_err().to_string().contains("no file matches"));
    }

    #[test]
    fn the_parts_of_a_folder_are_looked_into_where_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        assert!(shard_paths_of_parts(root).unwrap_err().to_string().contains("no file matches"));
        for name in ["train/b.tfrecord", "test/a.tfrecord", "other/c.tfrecord"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert!(shard_paths(root).is_err());
        let found = shard_paths_of_parts(root).unwrap();
        let expected = ["train/b.tfrecord", "test/a.tfrecord"].map(|name| folder.path().join(name));
        assert_eq!(found, expected);
        let part = folder.path().join("train");
        assert_eq!(shard_paths_of_parts(part.to_str().unwrap()).unwrap(), expected[..1]);
    }

    /// The obvious version: every way to cut the name at a star is tried.
    fn slow(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => (0..=name.len()).any(|cut| slow(rest, &name[cut..])),
            ([b'?', rest @ ..], [_, name @ ..]) => slow(rest, name),
            ([first, rest @ ..], [byte, name @ ..]) => first == byte && slow(rest, name),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn patterns_match_what_trying_every_cut_matches(
            pattern in "[ab*?]{0,8}", name in "[ab]{0,10}",
        ) {
            let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
            prop_assert_eq!(matches(pattern, name), slow(pattern, name));
        }
    }
}
