//! Answers of `compare`, `correlate`, `scaling`, `overhead` and `surface`.

mod comparisons;
mod correlations;
mod scaling;
mod surfaces;
