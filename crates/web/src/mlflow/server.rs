//! Listens on the loopback while a study runs.

use std::collections::BTreeMap;
use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use trainwright::{Place, TrialVariables};
use trainwright_study::Study;

use super::calls::{Tracking, router};
use super::trial_runs::EXPERIMENT;

/// Listens on the loopback while a study runs, and hands what trials log to their metrics files.
///
/// Each trial gets variables by which MLflow's client finds its way here and shows that it is that
/// trial; nobody else is let in. The server ends when it is dropped.
pub struct TrackingServer {
    address: SocketAddr,
    tracking: Arc<Tracking>,
    place: Place,
    /// Dropping it ends what it runs.
    _runtime: Runtime,
}

impl TrackingServer {
    /// Begins to listen, at a port that is free.
    ///
    /// # Errors
    /// The system gives no port, thread or random bytes.
    pub fn start(study: &Study, store: Option<&Path>) -> anyhow::Result<Self> {
        let place = Place::of(study, store);
        let trials = std::path::absolute(&place.trials)
            .with_context(|| format!("cannot find {}", place.trials.display()))?;
        let place = Place { trials, ..place };
        let tracking = Arc::new(Tracking {
            study: study.name.clone(),
            secret: super::token::Secret::random()?,
            trials: Mutex::default(),
        });
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("tracking")
            .enable_all()
            .build()
            .context("cannot start a thread for MLflow's clients")?;
        let listener = runtime
            .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
            .context("cannot listen for MLflow's clients")?;
        let address = listener.local_addr().context("cannot listen for MLflow's clients")?;
        let routes = router(Arc::clone(&tracking));
        runtime.spawn(async move { axum::serve(listener, routes).await });
        Ok(Self { address, tracking, place, _runtime: runtime })
    }

    /// The variables that bring each trial here.
    pub fn variables(&self) -> TrialVariables {
        let (tracking, place) = (Arc::clone(&self.tracking), self.place.clone());
        let address = format!("http://{}", self.address);
        TrialVariables::new(move |trial| {
            let started = tracking.begin(trial.number, place.trial(trial.number));
            let pairs = [
                ("MLFLOW_TRACKING_URI", address.clone()),
                ("MLFLOW_TRACKING_TOKEN", tracking.secret.token(started)),
                // Those of another server would come before the token.
                ("MLFLOW_TRACKING_USERNAME", String::new()),
                ("MLFLOW_TRACKING_PASSWORD", String::new()),
                ("MLFLOW_RUN_ID", started.run_id()),
                ("MLFLOW_EXPERIMENT_ID", EXPERIMENT.to_owned()),
                // The client would otherwise tell its makers how it is used.
                ("MLFLOW_DISABLE_TELEMETRY", "true".to_owned()),
            ];
            let mut variables: BTreeMap<String, String> =
                pairs.map(|(name, value)| (name.to_owned(), value)).into();
            variables.extend(past_proxies(|name| env::var(name).ok()));
            variables
        })
    }
}

/// Where the user's programs go through a proxy, those by which they do not for the loopback.
fn past_proxies(known: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let proxies = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
    if proxies.iter().all(|name| known(name).is_none()) {
        return Vec::new();
    }
    let around = known("no_proxy").or_else(|| known("NO_PROXY")).filter(|own| !own.is_empty());
    let around = around.map_or_else(String::new, |own| own + ",") + "127.0.0.1";
    ["no_proxy", "NO_PROXY"].map(|name| (name.to_owned(), around.clone())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_gone_around_and_what_else_was_stays() {
        let set = |pairs: &'static [(&str, &str)]| {
            past_proxies(move |name| {
                pairs.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(set(&[]), []);
        assert_eq!(set(&[("no_proxy", "a")]), []);
        assert_eq!(set(&[("HTTP_PROXY", "x")])[0].1, "127.0.0.1");
        assert_eq!(set(&[("http_proxy", "x"), ("NO_PROXY", "a,b")])[1].1, "a,b,127.0.0.1");
    }
}
