//! Nouns of the crates below that requests and replies are made of, so that a front end needs no
//! other crate than this one and `study`.

/// How results are analysed and compared.
pub mod analysis {
    pub use trainwright_analysis::{
        Analysis, AnovaType, Coding, CompareOptions, Contrasts, OverheadOptions, ScalingOptions,
        StudyOptions, SurfaceOptions, TableOptions, TermOrder,
    };
}

/// Searches for machines.
pub mod clouds {
    pub use trainwright_search::cloud::ernest::{ExperimentRequest, Experiments};
    pub use trainwright_search::cloud::{Limits, Method, Objective, Stop};
}

/// What plans are made of.
pub mod plans {
    pub use trainwright_plan::{
        Constraints, Overlap, Pin, PlanFile, Sharding, Strategy, Sums, Training,
    };
}

/// Questions about queues.
pub mod queueing {
    pub use trainwright_queueing::{
        ClassTarget, Discipline, Measure, PriorityDraft, QueueDraft, QueueName, QueueingError,
        Statistic, Target,
    };
}

/// How pictures and tables become records, and how they are read.
pub mod records {
    pub use trainwright_records::bucket::{Bandwidth, parse_latency};
    pub use trainwright_records::pictures::{Framing, PixelLimit};
    pub use trainwright_records::pipeline::{
        Augment, Batch, CacheKind, Epoch, Images, PipelineOptions, PixelKind, Remainder, Replica,
    };
    pub use trainwright_records::prepare::{
        OnCorrupt, PartShares, PrepareOptions, PrepareProgress, Storage,
    };
    pub use trainwright_records::{Limits, ReadSource};
}

/// Training jobs and what they tell.
pub mod training {
    pub use trainwright_train::{
        CheckpointEvery, CheckpointOptions, CheckpointStart, DamagedCheckpoint, Flow,
        PredictRequest, Predictions, TrainEvent, TrainOptions, TrainOutcome, WorkRequest, Workers,
    };
}

/// How trials are kept, and what those that run last told.
pub mod store {
    pub use trainwright_store::{Durability, Progress, StoreWatch, TrackedMetric, TrackedRun};
}

/// The parts of a report that live pages show.
pub mod pages {
    pub use trainwright_report::assets::{ECHARTS, SCRIPT, STYLE};
    pub use trainwright_report::{
        Escaped, ReportTrial, Section, ShownColumns, escape, figure, progress_html, with_code,
    };
}
