//! The verb `data`: getting data sets.

use std::path::{Path, PathBuf};

use serde::Serialize;
use trainwright_records::{
    DEBIAN_FASHION_MNIST, FetchProgress, FetchSource, PUBLISHED_URL, cache_folder,
    fetch_fashion_mnist,
};

use crate::Error;

/// Where `data fetch` may look.
#[derive(Debug, Clone, Default)]
pub struct FetchRequest {
    /// A folder that holds the files.
    pub folder: Option<PathBuf>,
    /// A server to download from.
    pub url: Option<String>,
    /// Where to keep them, instead of the cache.
    pub into: Option<PathBuf>,
}

/// Where a data set is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FetchReply {
    /// The data set.
    pub name: &'static str,
    /// The folder that holds it.
    pub folder: PathBuf,
}

/// Gets the whole Fashion-MNIST set: from the folder or server named, else from the Debian
/// package's folder, else from where its authors publish it.
///
/// # Errors
/// No source has the right files, or they cannot be written.
pub fn fetch(
    request: &FetchRequest,
    progress: &mut dyn FnMut(&FetchProgress<'_>),
) -> Result<FetchReply, Error> {
    let cache = match &request.into {
        Some(folder) => folder.clone(),
        None => cache_folder()?,
    };
    let fetch = |source: &FetchSource, progress: &mut dyn FnMut(&FetchProgress<'_>)| {
        let folder = fetch_fashion_mnist(source, Path::new(&cache), progress)?;
        Ok(FetchReply { name: "fashion-mnist", folder })
    };
    if let Some(folder) = &request.folder {
        return fetch(&FetchSource::Folder(folder.clone()), progress);
    }
    if let Some(base_url) = &request.url {
        return fetch(&FetchSource::Http { base_url: base_url.clone() }, progress);
    }
    let source = if Path::new(DEBIAN_FASHION_MNIST).is_dir() {
        FetchSource::DebianPackage
    } else {
        FetchSource::Http { base_url: PUBLISHED_URL.to_owned() }
    };
    fetch(&source, progress)
}
