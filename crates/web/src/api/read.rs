//! Studies, trials, series and analysis, as they are.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use trainwright::pages::ShownColumns;
use trainwright::{StudyView, TrialList, TrialQuery, live_curves};
use trainwright_study::TrialState;

use super::messages::{
    AnalysisOut, SeriesList, SeriesOut, StudyList, StudySummary, TrialPage, TrialSummary,
};
use super::{ApiFault, Body};
use crate::pages::fault::Fault;
use crate::pages::trials::TableQuery;
use crate::router::Site;

/// Trials that are given at a time.
const MOST_TRIALS: usize = 10_000;

/// Trials that are given where nobody says how many.
const TRIALS: usize = 1_000;

pub(crate) async fn studies(State(site): State<Arc<Site>>) -> Body<StudyList> {
    let mut studies = Vec::new();
    for entry in site.library.entries().iter() {
        // One that cannot be read now is told by its own address.
        if let Ok(view) = site.library.view(entry).await {
            studies.push(StudySummary::of(entry, &view));
        }
    }
    Body(StudyList { schema: "trainwright/studies/1", studies })
}

pub(crate) async fn study(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
) -> Result<Body<StudySummary>, ApiFault> {
    let entry = site.library.entry(&id)?;
    let view = site.library.view(&entry).await?;
    Ok(Body(StudySummary::of(&entry, &view)))
}

pub(crate) async fn trials(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    query: Result<Query<TableQuery>, QueryRejection>,
) -> Result<Body<TrialPage>, ApiFault> {
    let Query(query) =
        query.map_err(|error| Fault::new(StatusCode::BAD_REQUEST, error.body_text()))?;
    let entry = site.library.entry(&id)?;
    let view = site.library.view(&entry).await?;
    // What can be sorted by must not depend on whether trials differ in it.
    let checked = TrialQuery { columns: ShownColumns::All, ..query.checked()? };
    let page = move || {
        let list = TrialList::new(&view, &checked)?;
        let count = query.count.unwrap_or(TRIALS).min(MOST_TRIALS);
        let trials = list.trials(&view).skip(query.from).take(count).map(TrialSummary::of);
        Ok(TrialPage {
            schema: "trainwright/trials/1",
            total: list.total,
            matching: list.chosen.len(),
            from: query.from,
            trials: trials.collect(),
        })
    };
    Ok(Body(site.library.work(page).await?))
}

/// The trial of a number, or that there is none.
pub(crate) fn known(view: &StudyView, number: u32) -> Result<TrialState, Fault> {
    view.trial(number).map(|own| own.state).ok_or_else(|| {
        let words = format!("the study `{}` has no trial {number}", view.study.name);
        Fault::new(StatusCode::NOT_FOUND, words)
    })
}

pub(crate) async fn trial(
    State(site): State<Arc<Site>>,
    Path((id, number)): Path<(String, u32)>,
) -> Result<Body<TrialSummary>, ApiFault> {
    let entry = site.library.entry(&id)?;
    let view = site.library.view(&entry).await?;
    known(&view, number)?;
    let found = view.trial(number).map(TrialSummary::of);
    found
        .map(Body)
        .ok_or_else(|| Fault::new(StatusCode::NOT_FOUND, "there is no such trial").into())
}

pub(crate) async fn series(
    State(site): State<Arc<Site>>,
    Path((id, number)): Path<(String, u32)>,
) -> Result<Body<SeriesList>, ApiFault> {
    let entry = site.library.entry(&id)?;
    let view = site.library.view(&entry).await?;
    let state = known(&view, number)?;
    let read = move || {
        let mut series: Vec<_> =
            view.series(&[number])?.into_iter().flat_map(|(_, own)| own).collect();
        if series.is_empty() && state == TrialState::Running {
            series = live_curves(&view.place, number)?;
        }
        let out = series.into_iter().map(|own| SeriesOut {
            name: own.name,
            axis: own.axis,
            unit: own.unit,
            at: own.at,
            values: own.values,
        });
        Ok(SeriesList { schema: "trainwright/series/1", trial: number, series: out.collect() })
    };
    Ok(Body(site.library.work(read).await?))
}

pub(crate) async fn analysis(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
) -> Result<Body<AnalysisOut>, ApiFault> {
    let entry = site.library.entry(&id)?;
    let thought = site.library.thought(&entry).await?;
    let told = move || {
        let analysis = thought.analysis.as_ref().ok().map(serde_json::to_value).transpose();
        Ok(AnalysisOut {
            schema: "trainwright/analysis/1",
            change: thought.change,
            analysis: analysis.map_err(|error| {
                Fault::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
            })?,
            refused: thought.analysis.as_ref().err().cloned(),
        })
    };
    Ok(Body(site.library.work(told).await?))
}
