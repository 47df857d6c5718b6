//! A file that a trial left. Whatever it holds, a browser only shows it.

use std::io::Read;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use trainwright::{Place, open_trial_file};

use super::fault::Fault;
use crate::router::Site;

/// Bytes of a file that are given.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// Not even a page of ours: no script, no form, no frame, nothing of this site.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The file; text is shown, all else is saved.
pub(crate) async fn file(
    State(site): State<Arc<Site>>,
    Path((id, number, path)): Path<(String, u32, String)>,
) -> Result<Response, Fault> {
    let entry = site.library.entry(&id)?;
    let bytes = site
        .library
        .work(move || {
            let study = entry.study.map_err(|why| Fault::new(StatusCode::NOT_FOUND, why))?;
            let place = Place::of(&study, Some(&entry.store));
            let gone = |words: String| Fault::new(StatusCode::NOT_FOUND, words);
            let file = open_trial_file(&place, number, path.as_ref())
                .map_err(|error| gone(error.to_string()))?;
            let length = file.metadata().map_err(|error| gone(error.to_string()))?.len();
            if length > MOST_BYTES {
                let words = format!("the file has {length} bytes; look at it where it lies");
                return Err(Fault::new(StatusCode::PAYLOAD_TOO_LARGE, words));
            }
            let mut bytes = Vec::new();
            file.take(MOST_BYTES)
                .read_to_end(&mut bytes)
                .map_err(|error| gone(error.to_string()))?;
            Ok(bytes)
        })
        .await?;
    let is_text = std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
    let (kind, place) = match is_text {
        true => ("text/plain; charset=utf-8", "inline"),
        false => ("application/octet-stream", "attachment"),
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, place),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "private, no-cache"),
    ];
    Ok((headers, bytes).into_response())
}
