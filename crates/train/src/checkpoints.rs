//! A job kept on disk, so that it goes on after any interruption as if there had been none.

pub(crate) mod keeper;
