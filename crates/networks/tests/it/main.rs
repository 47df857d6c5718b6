//! Networks against slow and obvious versions of themselves.

mod gradients;
mod reference;
