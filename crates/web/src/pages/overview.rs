//! All studies, and the overview of one.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use sha2::{Digest, Sha256};
use trainwright::StudyView;
use trainwright::pages::{Section, escape, figure, progress_html};
use trainwright_study::TrialState;

use super::address::of_study;
use super::events::all_versions;
use super::fault::Fault;
use super::layout::{Frame, heading, navigation};
use super::study_page::{StudyPage, answer};
use super::words::time;
use crate::actions::forms_of_study;
use crate::router::Site;
use crate::studies::shelf::Entry;

/// A short name for a text.
pub(crate) fn short_hash(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The list of all studies.
pub(crate) async fn studies(
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let entries = site.library.entries();
    let version = all_versions(&entries);
    let mut cards = String::new();
    for entry in entries.iter() {
        let view = site.library.view(entry).await;
        cards += &card(entry, view.as_deref());
    }
    if entries.is_empty() {
        cards = "<p class=\"note\">There is no study yet. <code>trainwright run study.toml</code> \
                 makes the first one; it appears here by itself.</p>"
            .to_owned();
    }
    let folders = super::data::folders(&site);
    let tests = site.library.work(move || Ok(trainwright::find_speedtests(&folders).len())).await?;
    if tests > 0 {
        cards += "<p><a href=\"/data\">Data read speed</a></p>";
    }
    let body = format!(
        "<section id=\"studies\" data-live><h1>Studies</h1>\n<div class=\"cards\">{cards}</div></section>"
    );
    let page = Frame {
        title: "Studies - Trainwright",
        navigation: String::new(),
        version: Some(&version),
        events: Some("/events"),
        body: &body,
    };
    Ok(answer(&headers, page.html().into()))
}

fn card(entry: &Entry, view: Result<&StudyView, &Fault>) -> String {
    let (name, address) = (escape(&entry.name), of_study(&entry.id));
    let store = escape(&entry.store.to_string_lossy()).to_string();
    let facts = match view {
        Ok(view) => format!("{}{}", progress_html(&view.counts.states), facts(view)),
        Err(_) => {
            "<p class=\"note\">It cannot be read at this moment; its page says why.</p>".to_owned()
        }
    };
    format!(
        "<article class=\"card\"><h2><a href=\"{address}\">{name}</a></h2>{facts}\
         <p class=\"quiet path\">{store}</p></article>\n"
    )
}

/// State, time left and money of a study.
pub(crate) fn facts(view: &StudyView) -> String {
    let mut pairs = vec![("state", state(view))];
    if let Some(left) = view.time_left {
        let idle = if view.runner.is_some() { "" } else { " of running" };
        pairs.push(("time left", format!("about {}{idle}", time(left.seconds))));
    }
    pairs.push(("time used", time(view.used_s)));
    if let Some(spent) = view.spent() {
        pairs.push(("spent", money(spent)));
    }
    let mut out = String::from("<dl class=\"facts\">");
    for (name, value) in pairs {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value));
    }
    out + "</dl>"
}

fn state(view: &StudyView) -> String {
    let open = [TrialState::Planned, TrialState::Stopped, TrialState::Running];
    let left: usize = open.iter().map(|state| view.counts.count(*state)).sum();
    match (view.runner, left) {
        (Some(pid), _) => format!("running (process {pid})"),
        (None, 0) => "all trials have ended".to_owned(),
        (None, left) => format!("not running, {left} trials left"),
    }
}

/// The overview of a study: verdict first.
pub(crate) async fn overview(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let page = StudyPage::open(&site, &id).await?;
    let thought = site.library.thought_soon(&page.entry).await?;
    let key = format!("overview {}", thought.change);
    let site_of_forms = Arc::clone(&site);
    page.answer(&site, &headers, &key, Some(thought.change), move |page| {
        let view = &page.view;
        let body = format!(
            "{}<section id=\"progress\" data-live aria-label=\"Progress\">{}{}{}{}</section>\n{}",
            heading(&page.entry, "Study"),
            progress_html(&view.counts.states),
            facts(view),
            running(view, &of_study(&page.entry.id)),
            forms_of_study(&site_of_forms, &page.entry, view),
            view.sections(&[Section::Verdict], &thought)?
        );
        Ok(page.frame(&navigation(&page.entry, ""), "", &body))
    })
    .await
}

/// What the running trials last told.
fn running(view: &StudyView, base: &str) -> String {
    if view.progress.is_empty() || view.runner.is_none() {
        return String::new();
    }
    let mut out = String::from("<h2 class=\"small\">Running now</h2><ul class=\"running\">");
    for own in &view.progress {
        let latest: Vec<String> =
            own.latest.iter().map(|(name, value)| format!("{name} {}", figure(*value))).collect();
        let configuration =
            view.trial(own.number).map(|trial| trial.configuration.to_string()).unwrap_or_default();
        let _ = write!(
            out,
            "<li><a href=\"{base}/trials/{n}\">trial {n}</a> {} <span class=\"quiet\">{}, {}</span></li>",
            escape(&configuration),
            escape(&time(own.elapsed_s)),
            escape(&latest.join(", ")),
            n = own.number
        );
    }
    out + "</ul>"
}

/// Money in the currency of the study's price, which nobody named.
fn money(amount: f64) -> String {
    match amount {
        own if own > 0.0 && own < 0.01 => "below 0.01".to_owned(),
        own => format!("{own:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_two_decimals_and_what_is_less_is_told_so() {
        assert_eq!([0.0, 7e-5, 0.01, 12.345].map(money), ["0.00", "below 0.01", "0.01", "12.35"]);
    }
}
