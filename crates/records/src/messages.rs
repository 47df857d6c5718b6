//! What records hold: protocol buffer messages, in and out.
//!
//! `protobuf.rs` knows fields and bytes; [`example`] and `sequence_example.rs` are TensorFlow's
//! examples, `example_view.rs` looks into one without taking it apart; [`events`] reads the event
//! files of TensorBoard and [`event_writer`] writes them.

pub mod event_writer;
pub mod events;
pub mod example;
pub(crate) mod example_view;
pub(crate) mod protobuf;
pub(crate) mod sequence_example;
