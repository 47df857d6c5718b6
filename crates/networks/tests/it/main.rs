//! Networks against slow and obvious versions of themselves.

mod gradients;
mod layers;
mod optimizers;
mod reference;
