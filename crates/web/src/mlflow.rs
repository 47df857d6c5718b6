//! The part of MLflow's tracking calls by which a trial tells its metrics.

/// Listens on the loopback while a study runs, and hands what trials log to their metrics files.
#[derive(Debug)]
pub struct TrackingServer {}
