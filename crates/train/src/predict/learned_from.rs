//! Whether pictures are among those that a network learned from.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Parts of a data set that are kept apart for judging.
const KEPT_APART: [&str; 3] = ["test", "validation", "val"];

/// Whether the pictures at `asked` are among those at `trained`, as far as their places tell.
pub(super) fn learned_from(trained: &Path, asked: &Path) -> bool {
    let (Ok(trained), Ok(asked)) = (fs::canonicalize(trained), fs::canonicalize(asked)) else {
        return false;
    };
    let Ok(inside) = asked.strip_prefix(&trained) else { return trained.starts_with(&asked) };
    let part = inside.components().next().and_then(|own| own.as_os_str().to_str());
    !part.is_some_and(|part| KEPT_APART.contains(&part))
        && !asked.file_name().and_then(OsStr::to_str).is_some_and(|own| own.starts_with("test-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_what_lies_in_it_were_learned_from_but_not_its_test_part() {
        let folder = std::env::temp_dir().join(format!("learned-from-{}", std::process::id()));
        for part in ["shards/train", "shards/test", "other"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        let trained = folder.join("shards");
        let answer = |asked: &str| learned_from(&trained, &folder.join(asked));
        assert!(answer("shards") && answer("shards/train") && answer("."));
        assert!(!answer("shards/test") && !answer("other") && !answer("missing"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
