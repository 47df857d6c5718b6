//! What answers about queues, measured times and load tests mean.

mod answer_findings;
mod load_findings;
mod times_fit;

pub use answer_findings::{findings_of_classes, findings_of_queue};
pub use load_findings::{CutShort, LoadMeasured, findings_of_load};
pub use times_fit::{FitReply, MeasuredTimes, TimesFit, fit_times};
