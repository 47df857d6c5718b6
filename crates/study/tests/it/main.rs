//! Study files, right and wrong, through the public interface.

mod built;
mod faults;
mod good;
mod hostile;
