//! How fast data are read: speed tests whose answers lie beside the stores.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Html;
use serde::Deserialize;
use trainwright::pages::escape;
use trainwright::{find_speedtests, read_speedtest, speedtest_sections};

use super::fault::Fault;
use super::layout::Frame;
use crate::router::Site;

/// Which of them.
#[derive(Debug, Deserialize)]
pub(crate) struct DataQuery {
    #[serde(default)]
    test: usize,
}

/// The folders of all stores.
pub(crate) fn folders(site: &Site) -> Vec<PathBuf> {
    let entries = site.library.entries();
    let mut out: Vec<PathBuf> =
        entries.iter().filter_map(|own| own.store.parent().map(PathBuf::from)).collect();
    out.dedup();
    out
}

/// The page: a list of tests, and the one that was chosen.
pub(crate) async fn data(
    State(site): State<Arc<Site>>,
    Query(query): Query<DataQuery>,
) -> Result<Html<String>, Fault> {
    let folders = folders(&site);
    let body = site.library.work(move || Ok(body(&find_speedtests(&folders), query.test))).await?;
    let frame = Frame {
        title: "Data read speed - Trainwright",
        navigation: String::new(),
        version: None,
        events: None,
        body: &body,
    };
    Ok(Html(frame.html()))
}

fn body(found: &[PathBuf], chosen: usize) -> String {
    let mut out =
        String::from("<div class=\"title\"><p class=\"kind\">Data</p><h1>Read speed</h1></div>");
    let Some(path) = found.get(chosen) else {
        return out
            + "<section id=\"none\"><p class=\"note\">There is no speed test beside the stores; \
               <code>trainwright data speedtest photos/ --json > speed.json</code> makes one.</p></section>";
    };
    if found.len() > 1 {
        out += "<ul class=\"files\">";
        for (number, own) in found.iter().enumerate() {
            let mark = if number == chosen { " aria-current=\"page\"" } else { "" };
            let name = escape(&own.to_string_lossy()).to_string();
            let _ = write!(out, "<li><a href=\"/data?test={number}\"{mark}>{name}</a></li>");
        }
        out += "</ul>";
    }
    let _ = write!(out, "<p class=\"quiet path\">{}</p>", escape(&path.to_string_lossy()));
    match read_speedtest(path) {
        Ok(test) => out + &speedtest_sections(&test),
        Err(error) => {
            format!(
                "{out}<section id=\"none\"><p class=\"fault\">{}</p></section>",
                escape(&error.to_string())
            )
        }
    }
}
