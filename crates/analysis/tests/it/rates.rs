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

/// Standard errors of a count that a fast part allows for: of some hundred counts looked at, one
/// in twenty suites would else fail by chance.
const FAST: f64 = 3.5;

/// The same for a full one, whose counts are large.
const FULL: f64 = 2.0;

/// Whether a count is one that shares within bounds give, up to so many of its standard errors.
fn within(count: u64, of: u64, [low, high]: [f64; 2], errors: f64) -> bool {
    let (count, of) = (count as f64, of as f64);
    let slack = |share: f64| errors * (of * share * (1.0 - share)).sqrt();
    count >= of * low - slack(low) && count <= of * high + slack(high)
}
