//! Addresses with wildcards: `s3://bucket/train-*.tfrecord`.

use std::path::{Path, PathBuf};

use super::Bucket;
use crate::error::RecordsError;

/// The objects that a pattern stands for, in the order of their addresses: `*` is any characters
/// and `?` any one, neither of them `/`. An address without either is itself, there or not.
///
/// # Errors
/// When the folder cannot be listed, or nothing fits.
pub fn matching(bucket: &dyn Bucket, pattern: &Path) -> Result<Vec<PathBuf>, RecordsError> {
    let text = pattern.to_string_lossy();
    let Some(wild) = text.find(['*', '?']) else { return Ok(vec![pattern.to_owned()]) };
    let folder = match text[..wild].rfind('/') {
        Some(0) => "/",
        Some(slash) => &text[..slash],
        None => ".",
    };
    let listed = bucket.list(Path::new(folder))?;
    let fits = |address: &Path| {
        let address = address.to_string_lossy();
        // Files of the folder `.` are listed as `./name`.
        let address = if folder == "." { address.trim_start_matches("./") } else { &address };
        fits(text.as_bytes(), address.as_bytes())
    };
    let found: Vec<_> =
        listed.into_iter().map(|object| object.address).filter(|address| fits(address)).collect();
    if found.is_empty() {
        return Err(RecordsError::NothingMatches { pattern: pattern.to_owned() });
    }
    Ok(found)
}

/// Whether a name fits a pattern: on a mismatch the last `*` takes one byte more.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&byte) if byte == name[n] || (byte == b'?' && name[n] != b'/') => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) if name[taken] != b'/' => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                _ => return false,
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::bucket::LocalBucket;

    /// The slow obvious version.
    fn slow(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), None) => slow(rest, name),
            (Some((b'*', rest)), Some((&head, tail))) => {
                slow(rest, name) || (head != b'/' && slow(pattern, tail))
            }
            (Some((b'?', rest)), Some((&head, tail))) => head != b'/' && slow(rest, tail),
            (Some((&own, rest)), Some((&head, tail))) => own == head && slow(rest, tail),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn wildcards_agree_with_the_slow_version(
            pattern in "[ab/*?]{0,8}", name in "[ab/]{0,8}",
        ) {
            let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
            prop_assert_eq!(fits(pattern, name), slow(pattern, name));
        }
    }

    #[test]
    fn a_pattern_lists_what_fits_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.tfrecord", "a.tfrecord", "a.tfrecord.idx", "c.txt"] {
            fs::write(folder.path().join(name), b"").unwrap();
        }
        let pattern = folder.path().join("*.tfrecord");
        let found = matching(&LocalBucket, &pattern).unwrap();
        assert_eq!(found, ["a.tfrecord", "b.tfrecord"].map(|name| folder.path().join(name)));

        let nothing = folder.path().join("x-*");
        let error = matching(&LocalBucket, &nothing).unwrap_err().to_string();
        assert_eq!(error, format!("nothing fits `{}`", nothing.display()));
        let plain = folder.path().join("missing");
        assert_eq!(matching(&LocalBucket, &plain).unwrap(), [plain]);
    }
}
