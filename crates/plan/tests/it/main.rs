//! Tests of the planner.

mod exactness;
mod lab;
mod reference;
