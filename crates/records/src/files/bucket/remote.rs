//! Objects of Amazon S3, of servers that speak its protocol, and of Google Cloud Storage.
//!
//! Credentials, region and server come from the environment as for other tools: `AWS_*` with
//! `AWS_ENDPOINT_URL` for another server, `GOOGLE_*` with `STORAGE_EMULATOR_HOST` for an emulator.
//! Requests that fail for a passing reason are made again after growing waits. This is the one
//! file with asynchronous code; its functions block.

use std::env;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::stream::{BoxStream, StreamExt, TryStreamExt};
use object_store::aws::AmazonS3Builder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload, RetryConfig, WriteMultipart};
use tokio::runtime::{Builder, Runtime};

use super::{Bucket, Object};
use crate::error::RecordsError;

/// Objects beyond this size are sent in parts, which are retried one by one.
const PART_BYTES: usize = 16 << 20;

/// Parts on their way at a time.
const PARTS_AT_ONCE: usize = 4;

/// One bucket of an object store.
pub(super) struct RemoteBucket {
    objects: Arc<dyn ObjectStore>,
    /// `s3://name`.
    root: String,
}

impl RemoteBucket {
    /// The bucket that an address is in.
    pub(super) fn of(address: &Path) -> Result<Self, RecordsError> {
        let text = address.to_string_lossy();
        let no_bucket = || RecordsError::NoBucket { address: address.to_owned() };
        let (scheme, rest) = text.split_once("://").ok_or_else(no_bucket)?;
        let name = rest.split('/').next().filter(|name| !name.is_empty()).ok_or_else(no_bucket)?;
        let objects = match scheme {
            "s3" => amazon(name),
            _ => google(name),
        };
        let objects = objects.map_err(|error| failed(address, error))?;
        Ok(Self { objects, root: format!("{scheme}://{name}") })
    }

    /// The key of an address in this bucket.
    fn key(&self, address: &Path) -> Result<Key, RecordsError> {
        let text = address.to_string_lossy();
        let key = text.strip_prefix(self.root.as_str());
        let key = key.filter(|key| key.is_empty() || key.starts_with('/'));
        let key = key.ok_or_else(|| RecordsError::NoBucket { address: address.to_owned() })?;
        Key::parse(key).map_err(|error| failed(address, error.into()))
    }

    fn address(&self, key: &Key) -> PathBuf {
        Path::new(&self.root).join(key.as_ref())
    }
}

impl Bucket for RemoteBucket {
    fn list(&self, folder: &Path) -> Result<Vec<Object>, RecordsError> {
        let prefix = self.key(folder)?;
        let found = runtime().block_on(self.objects.list(Some(&prefix)).try_collect::<Vec<_>>());
        let found = found.map_err(|error| failed(folder, error))?;
        let shown = found
            .iter()
            .filter(|found| !found.location.filename().is_some_and(|name| name.starts_with('.')));
        let object = |found: &object_store::ObjectMeta| Object {
            address: self.address(&found.location),
            bytes: found.size,
        };
        let mut objects: Vec<_> = shown.map(object).collect();
        objects.sort_by(|a, b| a.address.cmp(&b.address));
        Ok(objects)
    }

    fn open(&self, address: &Path) -> Result<Box<dyn Read + Send>, RecordsError> {
        let key = self.key(address)?;
        let got = runtime().block_on(self.objects.get(&key));
        let stream = got.map_err(|error| failed(address, error))?.into_stream();
        Ok(Box::new(Stream { stream, chunk: Default::default(), read: 0 }))
    }

    fn read_range(&self, address: &Path, range: Range<u64>) -> Result<Vec<u8>, RecordsError> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let key = self.key(address)?;
        let got = runtime().block_on(self.objects.get_range(&key, range.clone()));
        let bytes = got.map_err(|error| failed(address, error))?;
        if bytes.len() as u64 != range.end - range.start {
            return Err(RecordsError::RangeBeyondEnd { range }.in_file(address));
        }
        Ok(bytes.to_vec())
    }

    fn write(&self, address: &Path, bytes: &[u8]) -> Result<(), RecordsError> {
        let key = self.key(address)?;
        let written = runtime().block_on(async {
            if bytes.len() <= PART_BYTES {
                let payload = PutPayload::from(bytes.to_vec());
                return self.objects.put(&key, payload).await.map(drop);
            }
            let upload = self.objects.put_multipart(&key).await?;
            let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
            for part in bytes.chunks(PART_BYTES) {
                upload.wait_for_capacity(PARTS_AT_ONCE).await?;
                upload.write(part);
            }
            upload.finish().await.map(drop)
        });
        written.map_err(|error| failed(address, error))
    }
}

/// An object as it arrives.
struct Stream {
    stream: BoxStream<'static, object_store::Result<bytes::Bytes>>,
    chunk: bytes::Bytes,
    read: usize,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.chunk.len() {
            match runtime().block_on(self.stream.next()) {
                Some(Ok(chunk)) => (self.chunk, self.read) = (chunk, 0),
                Some(Err(error)) => return Err(io::Error::other(error)),
                None => return Ok(0),
            }
        }
        let rest = &self.chunk[self.read..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}

fn amazon(name: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(name).with_retry(retries());
    let endpoint = env::var("AWS_ENDPOINT_URL_S3").or_else(|_| env::var("AWS_ENDPOINT_URL"));
    if endpoint.is_ok_and(|endpoint| endpoint.starts_with("http://")) {
        builder = builder.with_allow_http(true);
    }
    Ok(Arc::new(builder.build()?))
}

fn google(name: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
    let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(name);
    let mut builder = builder.with_retry(retries());
    if let Ok(host) = env::var("STORAGE_EMULATOR_HOST") {
        let url = if host.contains("://") { host } else { format!("http://{host}") };
        builder = builder.with_base_url(&url).with_service_account_key(NOBODY);
    }
    Ok(Arc::new(builder.build()?))
}

/// An account for emulators, which ask nobody who they are: it never gets a token.
const NOBODY: &str =
    r#"{"private_key": "", "private_key_id": "", "client_email": "", "disable_oauth": true}"#;

/// Waits of 0.1 s that double, for a minute at most.
fn retries() -> RetryConfig {
    let mut retries = RetryConfig { max_retries: 8, ..RetryConfig::default() };
    retries.retry_timeout = Duration::from_secs(60);
    retries
}

/// One thread for the network, started when it is first needed.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("object-stores").enable_all();
        builder.build().expect("a thread and its poller can be made")
    })
}

fn failed(address: &Path, source: object_store::Error) -> RecordsError {
    if let object_store::Error::NotFound { .. } = source {
        let missing = io::Error::new(io::ErrorKind::NotFound, "no such object");
        return RecordsError::from(missing).in_file(address);
    }
    RecordsError::ObjectStore { address: address.to_owned(), source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::bucket::contract;

    /// `bench/stores/run.sh` starts real servers and names empty folders in them here.
    #[test]
    fn object_stores_keep_the_contract() {
        let folders = env::var("TRAINWRIGHT_TEST_BUCKETS").unwrap_or_default();
        if folders.is_empty() {
            eprintln!("SKIPPED: TRAINWRIGHT_TEST_BUCKETS names no folder of an object store");
        }
        for folder in folders.split_whitespace().map(Path::new) {
            contract::check(&RemoteBucket::of(folder).unwrap(), folder);
            let long = vec![5; 2 * PART_BYTES + 1];
            let address = folder.join("in-parts.bin");
            let bucket = RemoteBucket::of(folder).unwrap();
            bucket.write(&address, &long).unwrap();
            let mut back = Vec::new();
            bucket.read(&address, &mut back).unwrap();
            assert!(back == long, "parts come back in order");
        }
    }

    #[test]
    fn an_address_without_a_bucket_is_refused() {
        let error = RemoteBucket::of(Path::new("s3:///x")).err().unwrap().to_string();
        assert_eq!(error, "s3:///x: no bucket is named; write it as s3://bucket/folder/name");
    }
}
