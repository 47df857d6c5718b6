//! Questions that need no study: tables, tests, queues, designs, the machine.

pub(crate) mod designs;
pub(crate) mod doctor;
pub(crate) mod findings;
pub(crate) mod machine;
pub(crate) mod optimal_rows;
pub(crate) mod pages;
pub(crate) mod queue;
pub(crate) mod tables;
pub(crate) mod test_of_columns;
pub(crate) mod test_statistics;
