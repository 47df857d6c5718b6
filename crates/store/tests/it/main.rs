//! The store through its public interface, on real files.

mod keeping;
mod trouble;
