//! Where bytes come from and go to: this machine's disks, or a bucket of an object store.
//!
//! An address is a path: `shards/a.tfrecord` is a local file, `s3://name/shards/a.tfrecord` and
//! `gs://name/shards/a.tfrecord` are objects. [`bucket_of`] gives the place an address is in;
//! [`Limited`] puts latency and a bandwidth in front of any of them.

mod limited;
mod limits;
mod link;
mod local;
#[cfg(feature = "object-stores")]
mod remote;

use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::RecordsError;

pub use limited::Limited;
pub use limits::{Bandwidth, Limits, parse_latency};
pub use local::LocalBucket;

/// Beginnings of addresses that lie in an object store.
const SCHEMES: [&str; 2] = ["s3://", "gs://"];

/// One object: a file, or what an object store calls one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Where it is.
    pub address: PathBuf,
    /// How long it is.
    pub bytes: u64,
}

/// A place that holds objects under addresses.
pub trait Bucket: Send + Sync {
    /// Every object below a folder, at any depth, in the order of their addresses. Hidden ones
    /// (their name begins with a dot) are left out: files under private names are no results.
    ///
    /// # Errors
    /// When the place cannot be read. A folder of an object store that holds nothing is empty, a
    /// local one that is not there is an error.
    fn list(&self, folder: &Path) -> Result<Vec<Object>, RecordsError>;

    /// The bytes of an object as a stream.
    ///
    /// # Errors
    /// When it is not there or cannot be read; the address is named.
    fn open(&self, address: &Path) -> Result<Box<dyn Read + Send>, RecordsError>;

    /// Some bytes of an object.
    ///
    /// # Errors
    /// When it is not there, cannot be read or ends before the range does.
    fn read_range(&self, address: &Path, range: Range<u64>) -> Result<Vec<u8>, RecordsError>;

    /// Makes or replaces an object. Others see the old one, or the whole new one.
    ///
    /// # Errors
    /// When it cannot be written; then nothing has changed.
    fn write(&self, address: &Path, bytes: &[u8]) -> Result<(), RecordsError>;

    /// Reads a whole object into `into`, whose memory is used again.
    ///
    /// # Errors
    /// When it is not there or cannot be read; the address is named.
    fn read(&self, address: &Path, into: &mut Vec<u8>) -> Result<(), RecordsError> {
        into.clear();
        let mut stream = self.open(address)?;
        match stream.read_to_end(into) {
            Ok(_) => Ok(()),
            Err(error) => Err(RecordsError::from(error).in_file(address)),
        }
    }
}

/// Whether an address lies in an object store.
pub fn is_remote(address: &Path) -> bool {
    SCHEMES
        .iter()
        .any(|scheme| address.as_os_str().as_encoded_bytes().starts_with(scheme.as_bytes()))
}

/// The place that an address is in.
///
/// # Errors
/// An `s3://` or `gs://` address without a bucket, in a program built without them, or whose
/// settings in the environment do not fit.
pub fn bucket_of(address: &Path) -> Result<Arc<dyn Bucket>, RecordsError> {
    if is_remote(address) { remote_bucket(address) } else { Ok(Arc::new(LocalBucket)) }
}

#[cfg(feature = "object-stores")]
fn remote_bucket(address: &Path) -> Result<Arc<dyn Bucket>, RecordsError> {
    Ok(Arc::new(remote::RemoteBucket::of(address)?))
}

#[cfg(not(feature = "object-stores"))]
fn remote_bucket(address: &Path) -> Result<Arc<dyn Bucket>, RecordsError> {
    Err(RecordsError::NoObjectStores { address: address.to_owned() })
}

/// What every place must do, run by the tests of each.
#[cfg(test)]
pub(crate) mod contract {
    use super::*;

    /// Checks a place at an empty folder.
    pub(crate) fn check(bucket: &dyn Bucket, folder: &Path) {
        let (first, second) = (folder.join("a/one.bin"), folder.join("two.bin"));
        let long: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
        bucket.write(&second, &long).unwrap();
        bucket.write(&first, b"old").unwrap();
        bucket.write(&first, b"new one").unwrap();
        let listed = bucket.list(folder).unwrap();
        let expected = [(first.clone(), 7), (second.clone(), 300_000)];
        let expected = expected.map(|(address, bytes)| Object { address, bytes });
        assert_eq!(listed, expected);

        let mut read = b"left from before".to_vec();
        bucket.read(&second, &mut read).unwrap();
        assert_eq!(read, long);
        bucket.read(&first, &mut read).unwrap();
        assert_eq!(read, b"new one");
        let mut start = [0; 3];
        bucket.open(&first).unwrap().read_exact(&mut start).unwrap();
        assert_eq!(&start, b"new");

        assert_eq!(bucket.read_range(&second, 250..260).unwrap(), long[250..260]);
        assert_eq!(bucket.read_range(&first, 2..2).unwrap(), b"");
        assert!(bucket.read_range(&first, 3..8).is_err(), "the object has 7 bytes");

        let missing = folder.join("missing.bin");
        let message = bucket.read(&missing, &mut read).unwrap_err().to_string();
        assert!(message.contains("missing.bin"), "{message}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_object_stores_are_told_from_paths() {
        for (address, remote) in
            [("s3://b/x", true), ("gs://b", true), ("shards/s3://", false), ("s3:/x", false)]
        {
            assert_eq!(is_remote(Path::new(address)), remote, "{address}");
        }
    }

    #[cfg(not(feature = "object-stores"))]
    #[test]
    fn a_build_without_object_stores_says_how_to_get_them() {
        let error = bucket_of(Path::new("s3://b/x.tfrecord")).err().unwrap();
        assert_eq!(
            error.to_string(),
            "s3://b/x.tfrecord: this program was built without object stores; build it with \
             `cargo build --release --features object-stores`"
        );
    }
}
