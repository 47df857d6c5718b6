//! Writing pages and tables.

use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use trainwright::{Error, Results};
use trainwright_study::{Moment, Study};

/// Writes a file whole, or leaves what was there before.
pub(crate) fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    trainwright::write_file(path, content.as_ref())
}

/// Writes a study's report and gives its size.
pub(crate) fn write_report(study: &Study, results: &Results, path: &Path) -> Result<usize, Error> {
    let html = trainwright::report(study, results, &now())?;
    write_file(path, &html)?;
    Ok(html.len())
}

/// A page that cannot be written is told before the hours it is about.
pub(crate) fn check_folder_of(path: &Path) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_none_or(Path::is_dir) {
        return Ok(());
    }
    let source = io::Error::new(io::ErrorKind::NotFound, "its folder is not there");
    Err(Error::Folder { path: path.to_owned(), source })
}

/// The present minute, for the foot of a page.
pub(crate) fn now() -> String {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{} UTC", Moment::of_unix_s(since_1970.as_secs() as i64).to_the_minute())
}
