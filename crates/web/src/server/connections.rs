//! Accepts connections, so many at a time, and gives slow ones up.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::patient::Patient;

/// Connections at a time; the next ones wait to be accepted.
const MOST_CONNECTIONS: usize = 1_024;

/// Time for the head of a request; also how long an idle connection is kept.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);

/// Time for which an answer may make no headway.
const WRITE_PATIENCE: Duration = Duration::from_secs(20);

/// Bytes of a request's head.
const MOST_HEAD: usize = 32 * 1024;

/// Pause after an accept that failed, for want of file handles most often.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers connections as long as the runtime lives.
pub(crate) async fn accept_all(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let stream = TokioIo::new(Patient::new(stream, WRITE_PATIENCE));
            // An end that went away is no fault of ours.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_PATIENCE)
                .max_buf_size(MOST_HEAD)
                .serve_connection(stream, service)
                .await;
            drop(place);
        });
    }
}
