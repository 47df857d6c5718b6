//! Study files, right and wrong, through the public interface.

mod built;
mod expressions;
mod factors;
mod faults;
mod good;
mod hostile;
mod trials;
