//! The server over real sockets: what it shows, what it lets in and what it does not.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod acting;
mod api;
mod attacks;
mod pages;
mod served;
