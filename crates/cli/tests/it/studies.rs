//! Studies, from the file to the report, through everything that can go wrong.

mod at_hand;
mod changed_rules;
mod changes;
mod crashes;
mod disk;
mod examples;
mod metrics;
mod mlflow;
mod open_studies;
mod outcomes;
mod searches;
mod split_plots;
mod stopping;
mod study_designs;
mod terminals;
mod verdicts;
