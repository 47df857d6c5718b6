//! How often the program is wrong, by simulation.
//!
//! Clean studies of many kinds are made from fixed seeds, and what is said of them is counted:
//! `clean.rs` bounds false alarms, `faults.rs` the chance that a planted fault is seen, and
//! `coverage.rs` how often intervals hold the truth. `kinds.rs` lists the kinds of study. Each
//! has a fast part, and a full one of thousands of studies that `just full` runs.

mod clean;
mod coverage;
mod faults;
mod kinds;
mod noise;

/// Whether a count is one that shares within bounds give, allowing for three and a half standard
/// errors of a count: of some hundred counts looked at, one in twenty suites would else fail by
/// chance.
fn within(count: u64, of: u64, [low, high]: [f64; 2]) -> bool {
    let (count, of) = (count as f64, of as f64);
    let slack = |share: f64| 3.5 * (of * share * (1.0 - share)).sqrt();
    count >= of * low - slack(low) && count <= of * high + slack(high)
}
