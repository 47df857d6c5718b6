//! Networks against slow and obvious versions of themselves.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod gradients;
mod layers;
mod optimizers;
mod reference;
mod step;
mod vectors;
