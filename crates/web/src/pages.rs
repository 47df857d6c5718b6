//! What people see: one file a page. Sections of studies come from the report.

pub(crate) mod address;
pub(crate) mod assets;
pub(crate) mod compare;
pub(crate) mod data;
pub(crate) mod events;
pub(crate) mod fault;
pub(crate) mod files;
pub(crate) mod layout;
pub(crate) mod login;
pub(crate) mod overview;
pub(crate) mod study_page;
pub(crate) mod trial;
pub(crate) mod trials;
pub(crate) mod words;
