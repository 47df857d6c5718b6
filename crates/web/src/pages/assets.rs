//! Scripts and styles, which never change while the program runs.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use trainwright::pages::{ECHARTS, SCRIPT, STYLE};

use super::fault::Fault;

const FILES: [(&str, &str, &str); 5] = [
    ("echarts.js", "text/javascript; charset=utf-8", ECHARTS),
    ("report.js", "text/javascript; charset=utf-8", SCRIPT),
    ("report.css", "text/css; charset=utf-8", STYLE),
    ("live.js", "text/javascript; charset=utf-8", include_str!("../../assets/live.js")),
    ("live.css", "text/css; charset=utf-8", include_str!("../../assets/live.css")),
];

/// A mark of all files together, so that a browser keeps them until one changes.
static MARK: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    FILES.iter().for_each(|(_, _, text)| hash.update(text.as_bytes()));
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
});

/// Where a file is found.
pub(crate) fn asset_address(name: &str) -> String {
    format!("/assets/{name}?{}", *MARK)
}

/// A script or style.
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|(own, _, _)| *own == name) {
        Some((_, kind, text)) => {
            let headers = [
                (header::CONTENT_TYPE, *kind),
                (header::CACHE_CONTROL, "private, max-age=31536000, immutable"),
            ];
            (headers, *text).into_response()
        }
        None => Fault::new(StatusCode::NOT_FOUND, "there is no such file").into_response(),
    }
}
