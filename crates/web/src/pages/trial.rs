//! One trial: what it ran with, where, what it says and used, and what it left.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use trainwright::pages::{ReportTrial, escape, figure};
use trainwright::{LogName, Place, Thought, files_in, live_curves, output_tail};
use trainwright_study::TrialState;

use super::address::{encoded, of_study};
use super::fault::Fault;
use super::layout::navigation;
use super::study_page::StudyPage;
use super::words::{size, time};
use crate::actions::form_of_trial;
use crate::router::Site;

/// The version of a trial's page: that of its study, and how much it has written.
pub(crate) fn trial_version(study: &str, place: &Place, number: u32) -> String {
    let folder = place.trial(number);
    let length = |name: &str| std::fs::metadata(folder.join(name)).map_or(0, |own| own.len());
    format!("{study}-{}-{}-{}", length("stdout"), length("stderr"), length("metrics.jsonl"))
}

/// The page.
pub(crate) async fn trial(
    State(site): State<Arc<Site>>,
    Path((id, number)): Path<(String, u32)>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let mut page = StudyPage::open(&site, &id).await?;
    if page.view.trial(number).is_none() {
        let words = format!("the study `{id}` has no trial {number}");
        return Err(Fault::new(StatusCode::NOT_FOUND, words));
    }
    page.version = trial_version(&page.version, &page.view.place, number);
    let own_site = Arc::clone(&site);
    page.answer(&site, &headers, &format!("trial {number}"), None, move |page| {
        let Some(trial) = page.view.trial(number) else { return Ok(String::new()) };
        let mut body = head(page, trial);
        body += &described(page, trial);
        body += &form_of_trial(&own_site, &page.entry, trial);
        body += &outputs(page, trial)?;
        let live = match trial.state {
            TrialState::Running => live_curves(&page.view.place, number)?,
            _ => Vec::new(),
        };
        let thought = Thought::none(&page.view.study);
        body += &page.view.trial_sections(trial, live, &thought)?;
        body += &files(page, trial);
        Ok(framed(page, number, &body))
    })
    .await
}

fn framed(page: &StudyPage, number: u32, body: &str) -> String {
    let title = format!("Trial {number} of {} - Trainwright", page.entry.name);
    let events = format!("/events?study={}&trial={number}", encoded(&page.entry.id));
    let frame = super::layout::Frame {
        title: &title,
        navigation: navigation(&page.entry, "trials"),
        version: Some(&page.version),
        events: Some(&events),
        body,
    };
    frame.html()
}

fn head(page: &StudyPage, trial: &ReportTrial) -> String {
    let base = of_study(&page.entry.id);
    let place = page.view.trials.iter().position(|own| own.number == trial.number);
    let neighbour = |step: isize, words: &str| {
        let other = place.and_then(|own| own.checked_add_signed(step));
        other.and_then(|own| page.view.trials.get(own)).map_or_else(String::new, |own| {
            format!("<a href=\"{base}/trials/{n}\">{words} {n}</a> ", n = own.number)
        })
    };
    format!(
        "<div class=\"title\"><p class=\"kind\">Trial of <a href=\"{base}\">{}</a></p><h1>Trial {}</h1>\
         <p class=\"neighbours\">{}{}</p></div>\n",
        escape(&page.entry.name),
        trial.number,
        neighbour(-1, "\u{2190} trial"),
        neighbour(1, "\u{2192} trial")
    )
}

/// A value with the unit of its metric, where it has one.
fn in_unit(page: &StudyPage, metric: &str, value: f64) -> String {
    let known = page.view.study.metrics.iter().find(|own| own.name == metric);
    match known.and_then(|own| own.unit.as_deref()) {
        Some(unit) => format!("{} {unit}", figure(value)),
        None => figure(value),
    }
}

/// What is known of a trial, as a list of names and values.
fn facts(page: &StudyPage, trial: &ReportTrial) -> String {
    let state = trial.state;
    let mut pairs =
        vec![("state".to_owned(), format!("<span class=\"state state-{state}\">{state}</span>"))];
    let mut add =
        |name: &str, value: String| pairs.push((name.to_owned(), escape(&value).to_string()));
    if let Some(row) = trial.row {
        add("row of the design", row.to_string());
    }
    add("replicate", trial.replicate.to_string());
    add("attempts", trial.attempts.to_string());
    for own in &trial.measurements {
        let range = if own.in_range { "" } else { " (out of range)" };
        add(&own.metric, format!("{}{range}", in_unit(page, &own.metric, own.value)));
    }
    if let Some(usage) = &trial.usage {
        add("took", time(usage.wall_s));
        add("processor time", time(usage.user_s + usage.system_s));
        if let Some(peak) = usage.peak_memory_bytes {
            add("peak memory", size(peak));
        }
    }
    if let Some(own) = page.view.progress.iter().find(|own| own.number == trial.number) {
        for (name, value) in own.latest.iter().filter(|_| state == TrialState::Running) {
            add(&format!("latest {name}"), in_unit(page, name, *value));
        }
    }
    if let [machine] = page.view.machines.as_slice() {
        add("machine", format!("{}, {} cores, {}", machine.host, machine.cores, machine.cpu));
    }
    let each = pairs.iter();
    each.map(|(name, value)| format!("<div><dt>{}</dt><dd>{value}</dd></div>", escape(name)))
        .collect()
}

fn described(page: &StudyPage, trial: &ReportTrial) -> String {
    let facts = facts(page, trial);
    let chips: String = trial
        .configuration
        .iter()
        .map(|(name, level)| {
            format!("<li><span>{}</span> {}</li>", escape(name), escape(&level.to_string()))
        })
        .collect();
    let mut out = format!(
        "<section id=\"configuration\" data-live aria-labelledby=\"configuration-heading\">\
         <h2 id=\"configuration-heading\">Configuration</h2><ul class=\"chips\">{chips}</ul>\
         <dl class=\"facts\">{facts}</dl>"
    );
    for (class, words) in [("fault", &trial.reason), ("note", &trial.excluded)] {
        if let Some(words) = words {
            let lead = if class == "note" { "Left out of the analysis: " } else { "" };
            let _ = write!(out, "<p class=\"{class}\">{lead}{}</p>", escape(words));
        }
    }
    if !trial.command.is_empty() {
        let _ = write!(
            out,
            "<h3>Command</h3><pre class=\"command\">{}</pre>",
            escape(&trial.command.join(" "))
        );
    }
    out + "</section>\n"
}

fn outputs(page: &StudyPage, trial: &ReportTrial) -> Result<String, trainwright::Error> {
    let mut out = String::from(
        "<section id=\"output\" data-live aria-labelledby=\"output-heading\">\
         <h2 id=\"output-heading\">Output</h2>\n",
    );
    for (name, heading) in
        [(LogName::Stdout, "Standard output"), (LogName::Stderr, "Standard error")]
    {
        let tail = output_tail(&page.view.place, trial.number, name)?;
        if tail.bytes == 0 {
            let _ = write!(out, "<p class=\"note\">{heading}: nothing.</p>");
            continue;
        }
        let cut = match tail.left_out {
            0 => String::new(),
            more => format!(" The first {} are left out.", size(more)),
        };
        let _ = write!(
            out,
            "<h3>{heading}</h3><p class=\"quiet\">{}.{cut}</p>\
             <pre id=\"{}\" class=\"tail\" tabindex=\"0\" aria-label=\"{heading}\">{}</pre>",
            size(tail.bytes),
            name.word(),
            escape(&tail.text)
        );
    }
    Ok(out + "</section>\n")
}

fn files(page: &StudyPage, trial: &ReportTrial) -> String {
    let (found, _) = files_in(&page.view.place.trial(trial.number));
    let base = format!("{}/trials/{}/files", of_study(&page.entry.id), trial.number);
    let mut out = String::from(
        "<section id=\"files\" data-live aria-labelledby=\"files-heading\">\
         <h2 id=\"files-heading\">Files</h2>\n",
    );
    if found.is_empty() {
        out += "<p class=\"note\">The trial has left no files here.</p>";
    } else {
        out += "<ul class=\"files\">";
        for own in found {
            let address: Vec<String> = own.name.split('/').map(encoded).collect();
            let _ = write!(
                out,
                "<li><a href=\"{base}/{}\">{}</a> <span class=\"quiet\">{}</span></li>",
                address.join("/"),
                escape(&own.name),
                size(own.bytes)
            );
        }
        out += "</ul>";
    }
    out + "</section>\n"
}
