//! Regular two-level fractions: generators and words, alias structure, the best fraction, foldover,
//! blocks, and tables of signs typed by hand.

pub(crate) mod aberration_table;
pub(crate) mod blocks;
pub(crate) mod effect_columns;
pub(crate) mod foldover;
pub(crate) mod fraction;
pub(crate) mod generator;
pub(crate) mod minimum_aberration;
pub(crate) mod misprint;
pub(crate) mod word;
