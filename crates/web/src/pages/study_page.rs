//! Pages of a study: sections of the report under one heading.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use trainwright::StudyView;
use trainwright::pages::Section;

use super::address::encoded;
use super::fault::Fault;
use super::layout::{Frame, PAGES, heading, navigation};
use super::overview::short_hash;
use crate::router::Site;
use crate::studies::shelf::{Entry, version};

/// A page of a study, with the trials as they are.
#[derive(Clone)]
pub(crate) struct StudyPage {
    pub(crate) entry: Entry,
    pub(crate) view: Arc<StudyView>,
    /// The version of all that the page shows.
    pub(crate) version: String,
}

impl StudyPage {
    /// Looks at the study.
    pub(crate) async fn open(site: &Site, id: &str) -> Result<Self, Fault> {
        let entry = site.library.entry(id)?;
        let view = site.library.view(&entry).await?;
        let version = version(view.change, view.runner);
        Ok(Self { entry, view, version })
    }

    /// The page that `make` makes, once for each key and version. A thought that is older than
    /// the trials makes the page as old, so that it is asked for again.
    pub(crate) async fn answer(
        mut self,
        site: &Site,
        headers: &HeaderMap,
        key: &str,
        thought: Option<i64>,
        make: impl FnOnce(&Self) -> Result<String, trainwright::Error> + Send + 'static,
    ) -> Result<Response, Fault> {
        let key = format!("{} {} {key}", self.entry.id, self.version);
        if let Some(change) = thought.filter(|change| *change < self.view.change) {
            self.version = version(change, self.view.runner);
        }
        let make = || site.library.work(move || make(&self).map(Bytes::from).map_err(Fault::from));
        Ok(answer(headers, site.pages.get(&key, make).await?))
    }

    /// The page around a body.
    pub(crate) fn frame(&self, navigation: &str, page: &str, body: &str) -> String {
        let title = match page {
            "" => format!("{} - Trainwright", self.entry.name),
            page => format!("{page} of {} - Trainwright", self.entry.name),
        };
        let events = format!("/events?study={}", encoded(&self.entry.id));
        let frame = Frame {
            title: &title,
            navigation: navigation.to_owned(),
            version: Some(&self.version),
            events: Some(&events),
            body,
        };
        frame.html()
    }
}

/// A page with a mark by which a browser asks whether it has changed.
pub(crate) fn answer(headers: &HeaderMap, page: Bytes) -> Response {
    let mark = format!("\"{}\"", short_hash(&String::from_utf8_lossy(&page)));
    let known = headers.get(header::IF_NONE_MATCH).and_then(|own| own.to_str().ok());
    let own = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CACHE_CONTROL, "private, no-cache".to_owned()),
        (header::ETAG, mark.clone()),
    ];
    match known == Some(mark.as_str()) {
        true => (StatusCode::NOT_MODIFIED, own).into_response(),
        false => (own, page).into_response(),
    }
}

/// The sections of a page.
fn sections(page: &str) -> Option<&'static [Section]> {
    Some(match page {
        "design" => &[Section::Design],
        "effects" => &[Section::Effects],
        "fit" => &[Section::Fit],
        "surface" => &[Section::Surface, Section::Parallel],
        "search" => &[Section::Search],
        "curves" => &[Section::Curves],
        "resources" => &[Section::Resources, Section::Cluster],
        "environment" => &[Section::Environment],
        _ => return None,
    })
}

/// A page of sections.
pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Path((id, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let sections = sections(&name).ok_or_else(|| {
        Fault::new(StatusCode::NOT_FOUND, format!("a study has no page `{name}`"))
    })?;
    let page = StudyPage::open(&site, &id).await?;
    let thought = site.library.thought_soon(&page.entry).await?;
    let key = format!("{name} {}", thought.change);
    page.answer(&site, &headers, &key, Some(thought.change), move |page| {
        let title = PAGES.iter().find(|(path, _)| *path == name).map_or("", |(_, title)| title);
        let mut body = heading(&page.entry, title);
        body += &page.view.sections(sections, &thought)?;
        if !body.contains("<section") {
            body += &empty(&name);
        }
        Ok(page.frame(&navigation(&page.entry, &name), title, &body))
    })
    .await
}

/// What a page says that has nothing to show.
fn empty(page: &str) -> String {
    let words = match page {
        "surface" => {
            "There is nothing to draw yet: a surface needs finished trials of numeric factors with at \
             least three levels, and lines need two finished trials of two factors."
        }
        _ => "There is nothing to show yet.",
    };
    format!("<section id=\"nothing\"><p class=\"note\">{words}</p></section>")
}
