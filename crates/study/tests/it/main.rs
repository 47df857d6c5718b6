//! Study files, right and wrong, through the public interface.

mod faults;
mod good;
mod hostile;
