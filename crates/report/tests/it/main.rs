//! Whole reports of simulated studies.

mod html;
mod simulated;
