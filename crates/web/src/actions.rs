//! What pages may do beside showing, where the server was started with that.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use trainwright::pages::{ReportTrial, escape};
use trainwright::{StudyView, Wish, add_replications, start_runner};
use trainwright_study::{Study, TrialState};

use crate::pages::address::of_study;
use crate::pages::fault::Fault;
use crate::router::Site;
use crate::studies::shelf::Entry;

/// Replications that are added at a time.
const MOST_REPLICATIONS: u32 = 1_000;

/// Letters of a reason.
const MOST_REASON: usize = 500;

/// The fields of a form that was sent; what does not read is left out.
pub(crate) fn fields(body: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(body);
    text.split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

/// A field as it was before it was sent.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).and_then(|own| std::str::from_utf8(own).ok());
        let code = code.filter(|own| own.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match (bytes[at], code.and_then(|own| u8::from_str_radix(own, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A study and the fields of a form.
type Admitted = (Entry, Arc<Study>, BTreeMap<String, String>);

/// A study and the fields of a form of ours; anything else is refused.
fn admitted(site: &Site, id: &str, body: &[u8]) -> Result<Admitted, Fault> {
    if site.program.is_none() {
        let words = "the server only shows; start it with --allow-actions to let pages act";
        return Err(Fault::new(StatusCode::FORBIDDEN, words));
    }
    let fields = fields(body);
    let shown = fields.get("form").map(String::as_str).unwrap_or_default();
    if !site.guard.is_form_code(shown) {
        let words =
            "the form is not of this server, or of before it was started again; load the page anew";
        return Err(Fault::new(StatusCode::FORBIDDEN, words));
    }
    let entry = site.library.entry(id)?;
    let study = entry.study.clone().map_err(|why| Fault::new(StatusCode::CONFLICT, why))?;
    Ok((entry, study, fields))
}

/// Back to the page of the form.
fn back(entry: &Entry, rest: &str) -> Response {
    Redirect::to(&format!("{}{rest}", of_study(&entry.id))).into_response()
}

/// Asks the runner to stop.
pub(crate) async fn stop(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, Fault> {
    let (entry, study, _) = admitted(&site, &id, &body)?;
    let store = entry.store.clone();
    let work = move || Ok(trainwright::stop(&study, Some(&store), Wish::Stop).map(drop)?);
    site.library.work(work).await?;
    Ok(back(&entry, ""))
}

/// Runs failed trials again, and what is left.
pub(crate) async fn retry(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, Fault> {
    let (entry, study, _) = admitted(&site, &id, &body)?;
    start(&site, &entry, &study, true).await?;
    Ok(back(&entry, ""))
}

/// Plans more replications and runs them.
pub(crate) async fn replicate(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, Fault> {
    let (entry, study, fields) = admitted(&site, &id, &body)?;
    let wanted = fields.get("more").and_then(|own| own.parse().ok());
    let more = wanted.filter(|own| (1..=MOST_REPLICATIONS).contains(own)).ok_or_else(|| {
        let words = format!("say how many more replications, from 1 to {MOST_REPLICATIONS}");
        Fault::new(StatusCode::BAD_REQUEST, words)
    })?;
    if let Some(pid) = entry.runner {
        let words = format!("process {pid} runs the study; wait for it, or stop it first");
        return Err(Fault::new(StatusCode::CONFLICT, words));
    }
    let (store, name) = (entry.store.clone(), entry.name.clone());
    site.library.work(move || Ok(add_replications(&store, &name, more).map(drop)?)).await?;
    start(&site, &entry, &study, false).await?;
    Ok(back(&entry, ""))
}

async fn start(site: &Site, entry: &Entry, study: &Study, retry: bool) -> Result<(), Fault> {
    let Some(program) = site.program.clone() else { return Ok(()) };
    let (store, name) = (entry.store.clone(), entry.name.clone());
    let arguments: &'static [&'static str] =
        if retry && study.search.is_none() { &["--retry-failed"] } else { &[] };
    let work = move || Ok(start_runner(&program, &store, &name, arguments).map(drop)?);
    site.library.work(work).await
}

/// Leaves a trial out of the analysis, or takes it in again.
pub(crate) async fn exclude(
    State(site): State<Arc<Site>>,
    Path((id, number)): Path<(String, u32)>,
    body: Bytes,
) -> Result<Response, Fault> {
    let (entry, study, fields) = admitted(&site, &id, &body)?;
    let reason = match fields.contains_key("undo") {
        true => None,
        false => Some(fields.get("reason").cloned().unwrap_or_default()),
    };
    if reason.as_ref().is_some_and(|own| own.chars().count() > MOST_REASON) {
        let words = format!("the reason is longer than {MOST_REASON} letters");
        return Err(Fault::new(StatusCode::BAD_REQUEST, words));
    }
    let store = entry.store.clone();
    let work = move || {
        Ok(trainwright::exclude(&study, Some(&store), number, reason.as_deref()).map(drop)?)
    };
    site.library.work(work).await?;
    Ok(back(&entry, &format!("/trials/{number}")))
}

/// The forms on the overview of a study; none where the server only shows.
pub(crate) fn forms_of_study(site: &Site, entry: &Entry, view: &StudyView) -> String {
    if site.program.is_none() {
        return String::new();
    }
    let (base, code) = (of_study(&entry.id), site.guard.form_code());
    let form = |path: &str, inner: &str| {
        format!(
            "<form method=\"post\" action=\"{base}/{path}\" class=\"form\"><input type=\"hidden\" \
             name=\"form\" value=\"{code}\">{inner}</form>"
        )
    };
    if view.runner.is_some() {
        return form("stop", "<button type=\"submit\">Stop the runner</button>");
    }
    let mut out = String::from("<div class=\"actions\">");
    if view.counts.count(TrialState::Failed) > 0 {
        out += &form("retry", "<button type=\"submit\">Run failed trials again</button>");
    }
    if !view.design.rows().is_empty() {
        out += &form(
            "replicate",
            "<label for=\"more\">More replications</label><input id=\"more\" name=\"more\" \
             type=\"number\" min=\"1\" max=\"1000\" value=\"1\" required>\
             <button type=\"submit\">Add and run</button>",
        );
    }
    out + "</div>"
}

/// The form on the page of a trial; none where the server only shows.
pub(crate) fn form_of_trial(site: &Site, entry: &Entry, trial: &ReportTrial) -> String {
    if site.program.is_none() {
        return String::new();
    }
    let (base, code) = (of_study(&entry.id), site.guard.form_code());
    let inner = match &trial.excluded {
        Some(reason) => format!(
            "<p>Left out of the analysis: {}</p><input type=\"hidden\" name=\"undo\" value=\"yes\">\
             <button type=\"submit\">Take it in again</button>",
            escape(reason)
        ),
        None => format!(
            "<label for=\"reason\">Leave this trial out of the analysis because</label>\
             <input id=\"reason\" name=\"reason\" type=\"text\" maxlength=\"{MOST_REASON}\" required>\
             <button type=\"submit\">Leave out</button>"
        ),
    };
    format!(
        "<section id=\"exclude\" data-live aria-label=\"Leave out\"><form method=\"post\" class=\"form\" \
         action=\"{base}/trials/{}/exclude\"><input type=\"hidden\" name=\"form\" value=\"{code}\">{inner}\
         </form></section>\n",
        trial.number
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pages::address::encoded;

    #[test]
    fn fields_read_as_browsers_send_them() {
        let own = fields(b"a=1+2&b=%C3%A9%2&c&=x&d=%zz%4");
        assert_eq!(own.get("a").unwrap(), "1 2");
        assert_eq!(own.get("b").unwrap(), "\u{e9}%2");
        assert_eq!(own.get("d").unwrap(), "%zz%4");
        assert!(!own.contains_key("c"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_fields_or_nothing(body in prop::collection::vec(any::<u8>(), 0..200)) {
            fields(&body);
        }

        #[test]
        fn what_was_encoded_is_decoded(text in "\\PC{0,40}") {
            prop_assert_eq!(decoded(&encoded(&text)), text);
        }
    }
}
