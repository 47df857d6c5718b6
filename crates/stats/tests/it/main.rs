//! Agreement with the reference vectors; their origin is stated in `tests/data/README.md`.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod distributions;
mod least_squares;
mod odd_samples;
mod simulations;
mod tests_of_samples;
mod vectors;
