//! Puts Fashion-MNIST into the cache, from a folder, Debian's package or over HTTP.
//!
//! A file is written under a private name, its content is compared with the published hash, and
//! only then does it get its final name; a failed fetch leaves nothing under a final name.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::data_sets::load::{DEBIAN_FASHION_MNIST, FASHION, find_file};
use crate::data_sets::published::{FASHION_MNIST, PublishedFile};
use crate::error::RecordsError;
use crate::files::durable::{PrivateFile, flush_folder};

/// Where the authors publish the set, over plain HTTP; hashes make up for the missing encryption.
pub const PUBLISHED_URL: &str = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/";

const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
/// How long a server may be silent.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long one file may take, for servers that send a byte now and then.
const LONGEST: Duration = Duration::from_secs(3600);
const CHUNK_BYTES: usize = 1 << 16;

/// Where to fetch from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchSource {
    /// A folder with the four files, plain or compressed.
    Folder(PathBuf),
    /// The folder of Debian's package `dataset-fashion-mnist`.
    DebianPackage,
    /// A folder on an HTTP server, such as [`PUBLISHED_URL`].
    Http {
        /// Address that the file names are appended to.
        base_url: String,
    },
}

/// How far a fetch has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchProgress<'a> {
    /// The file that is being copied.
    pub file: &'a str,
    /// Bytes of it so far.
    pub bytes: u64,
    /// Its size, where the source tells.
    pub total_bytes: Option<u64>,
}

/// Fetches Fashion-MNIST into the folder `fashion-mnist` of `cache` and returns that folder.
/// Files that are already there with the right content are not fetched again.
///
/// # Errors
/// When the source lacks a file, has another content, or the cache cannot be written.
pub fn fetch_fashion_mnist(
    source: &FetchSource,
    cache: &Path,
    progress: &mut dyn FnMut(&FetchProgress<'_>),
) -> Result<PathBuf, RecordsError> {
    let folder = cache.join(FASHION);
    Fetch { files: &FASHION_MNIST, folder: &folder, pause: PAUSE, patience: PATIENCE, progress }
        .run(source)?;
    Ok(folder)
}

/// A fetch under way.
struct Fetch<'a> {
    files: &'a [PublishedFile],
    folder: &'a Path,
    /// Time between attempts.
    pause: Duration,
    /// How long a server may be silent.
    patience: Duration,
    progress: &'a mut dyn FnMut(&FetchProgress<'_>),
}

/// Bytes on their way in, and where they come from.
struct Incoming<R> {
    input: R,
    total_bytes: Option<u64>,
    origin: String,
}

impl Fetch<'_> {
    fn run(&mut self, source: &FetchSource) -> Result<(), RecordsError> {
        fs::create_dir_all(self.folder).map_err(|error| self.in_folder(error))?;
        for file in self.files {
            if self.has(file) {
                continue;
            }
            match source {
                FetchSource::Folder(from) => self.copy_file(file, from)?,
                FetchSource::DebianPackage => {
                    self.copy_file(file, Path::new(DEBIAN_FASHION_MNIST))?;
                }
                FetchSource::Http { base_url } => {
                    let url = format!("{}/{}.gz", base_url.trim_end_matches('/'), file.name);
                    self.download(file, &url)?;
                }
            }
        }
        Ok(())
    }

    fn has(&self, file: &PublishedFile) -> bool {
        let Ok(path) = find_file(self.folder, file.name) else { return false };
        File::open(path).is_ok_and(|input| file.read(input, file.name).is_ok())
    }

    fn in_folder(&self, error: std::io::Error) -> RecordsError {
        RecordsError::from(error).in_file(self.folder)
    }

    fn copy_file(&mut self, file: &PublishedFile, from: &Path) -> Result<(), RecordsError> {
        let path = find_file(from, file.name)?;
        let open = || {
            let input = File::open(&path)?;
            let total = input.metadata()?.len();
            Ok::<_, std::io::Error>((input, total))
        };
        let in_path = |error: RecordsError| error.in_file(&path);
        let (input, total) = open().map_err(|error| in_path(error.into()))?;
        let origin = path.display().to_string();
        let incoming = Incoming { input, total_bytes: Some(total), origin };
        self.keep(file, incoming).map_err(|error| match error {
            // The cache's errors carry their path, so a bare one is the source's.
            RecordsError::Io(_) => in_path(error),
            other => other,
        })
    }

    fn download(&mut self, file: &PublishedFile, url: &str) -> Result<(), RecordsError> {
        let mut attempt = 1;
        loop {
            match self.try_download(file, url) {
                Err(error) if attempt < ATTEMPTS && may_pass(&error) => {
                    tracing::warn!(url, attempt, %error, "download failed, trying again");
                    std::thread::sleep(self.pause);
                    attempt += 1;
                }
                outcome => return outcome,
            }
        }
    }

    fn try_download(&mut self, file: &PublishedFile, url: &str) -> Result<(), RecordsError> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_resolve(Some(self.patience))
            .timeout_connect(Some(self.patience))
            .timeout_send_request(Some(self.patience))
            .timeout_recv_response(Some(self.patience))
            .timeout_per_read(Some(self.patience))
            .timeout_recv_body(Some(LONGEST))
            .build()
            .into();
        let failed =
            |source| RecordsError::Download { url: url.to_owned(), source: Box::new(source) };
        let body = agent.get(url).call().map_err(failed)?.into_body();
        let total_bytes = body.content_length();
        let incoming = Incoming { input: body.into_reader(), total_bytes, origin: url.to_owned() };
        self.keep(file, incoming).map_err(|error| match error {
            // The cache's errors carry their path, so a bare one is the connection's.
            RecordsError::Io(error) => failed(ureq::Error::Io(error)),
            other => other,
        })
    }

    /// Copies to a private name, checks the content, and gives the file its final name.
    fn keep<R: Read>(
        &mut self,
        file: &PublishedFile,
        incoming: Incoming<R>,
    ) -> Result<(), RecordsError> {
        let origin = incoming.origin.clone();
        let private = PrivateFile::create(&self.folder.join(file.name));
        let mut private = private.map_err(|error| self.in_folder(error))?;
        let start = self.copy(file, incoming, &mut private)?;
        let written = File::open(private.private_path()).map_err(|error| self.in_folder(error))?;
        file.read(written, &origin)?;
        let ending = if start == [0x1f, 0x8b] { ".gz" } else { "" };
        let path = self.folder.join(format!("{}{ending}", file.name));
        let published = private.publish_as(&path).and_then(|()| flush_folder(self.folder));
        published.map_err(|error| self.in_folder(error))
    }

    /// Copies all bytes, up to what the published file could need, and returns the first two.
    fn copy<R: Read>(
        &mut self,
        file: &PublishedFile,
        incoming: Incoming<R>,
        output: &mut impl Write,
    ) -> Result<[u8; 2], RecordsError> {
        let Incoming { input, total_bytes, .. } = incoming;
        // Deflate never grows its input by more than a few bytes a block; a longer answer is not
        // the file and will fail the check.
        let mut input = input.take(file.bytes + file.bytes / 100 + 4096);
        let mut chunk = vec![0; CHUNK_BYTES];
        let (mut bytes, mut start) = (0, Vec::new());
        loop {
            let count = input.read(&mut chunk)?;
            if count == 0 {
                break;
            }
            let missing = 2_usize.saturating_sub(start.len()).min(count);
            start.extend_from_slice(&chunk[..missing]);
            output.write_all(&chunk[..count]).map_err(|error| self.in_folder(error))?;
            bytes += count as u64;
            (self.progress)(&FetchProgress { file: file.name, bytes, total_bytes });
        }
        Ok(start.try_into().unwrap_or_default())
    }
}

/// Whether trying again could help: the connection or the server failed, not the request.
fn may_pass(error: &RecordsError) -> bool {
    match error {
        RecordsError::Download { source, .. } => match **source {
            ureq::Error::StatusCode(status) => status >= 500,
            ureq::Error::Io(_) | ureq::Error::Timeout(_) | ureq::Error::ConnectionFailed => true,
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests;
