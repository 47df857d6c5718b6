//! Every verb of the facade as a front end calls it: what it gives, and how it refuses.

mod data;
mod designs;
mod lab;
mod queues;
mod running;
mod statistics;
mod studies;
mod tables;
mod trainings;
