//! A study before any check: what the study file says, or what a program puts together.
//!
//! [`Study::from_draft`](crate::Study::from_draft) checks one that was built in code. Serde reads
//! drafts from the study file and the JSON Schema shows them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

pub use crate::file::ordered::Ordered;
use crate::{
    AxialDistance, Direction, Face, FactorKind, Level, Pick, PrepareCommand, RunOrder, Scale,
    Spread, Template,
};

/// A Trainwright study: factors, a design, something to run, metrics and an analysis.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyDraft {
    /// Version of the study file format: 1.
    pub schema: u32,
    /// Name, seed and purpose.
    pub study: HeadDraft,
    /// What is varied: one table a factor.
    #[serde(default)]
    pub factors: Ordered<FactorDraft>,
    /// Which configurations run, how often and in which order.
    pub design: Option<DesignDraft>,
    /// A job of the built-in trainer. A factor may stand for any of its keys.
    pub job: Option<JobDraft>,
    /// How trials run, and the command where `[job]` is absent.
    #[serde(default)]
    pub run: RunDraft,
    /// What is measured: one table a metric.
    pub metrics: Ordered<MetricDraft>,
    /// Parameters read back from the output: one table a factor.
    #[serde(default)]
    pub echo: Ordered<EchoDraft>,
    /// What is asked of the measurements.
    #[serde(default)]
    pub analysis: AnalysisDraft,
    /// Conditions that every configuration must meet.
    #[serde(default)]
    pub constraint: Vec<ConstraintDraft>,
    /// Where trials run.
    #[serde(default)]
    pub engine: EngineDraft,
    /// Resource sampling.
    #[serde(default)]
    pub telemetry: TelemetryDraft,
    /// Limits and price.
    #[serde(default)]
    pub budget: BudgetDraft,
}

impl StudyDraft {
    /// A study of this name with nothing in it yet.
    pub fn new(name: &str) -> Self {
        Self {
            schema: 1,
            study: HeadDraft { name: name.to_owned(), ..HeadDraft::default() },
            factors: Ordered::default(),
            design: None,
            job: None,
            run: RunDraft::default(),
            metrics: Ordered::default(),
            echo: Ordered::default(),
            analysis: AnalysisDraft::default(),
            constraint: Vec::new(),
            engine: EngineDraft::default(),
            telemetry: TelemetryDraft::default(),
            budget: BudgetDraft::default(),
        }
    }
}

/// Name, seed and purpose of the study.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadDraft {
    /// Letters, digits, dots, dashes and underscores.
    pub name: String,
    /// Drives the run order and the seed of every trial.
    #[serde(default)]
    pub seed: u64,
    /// What the study asks.
    pub description: Option<String>,
}

/// A knob and its levels.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactorDraft {
    /// The values it takes, at least two.
    pub levels: Option<Vec<Level>>,
    /// A range of numbers instead of levels; with whole numbers at both ends, of whole numbers.
    pub range: Option<RangeDraft>,
    /// How distances between numeric levels are measured.
    #[serde(default)]
    pub scale: Scale,
    /// Whether it changes the training or the machine.
    #[serde(default)]
    pub kind: FactorKind,
    /// Runs are grouped so that it changes seldom.
    #[serde(default)]
    pub hard_to_change: bool,
    /// The factor exists only where this holds, such as `optimizer == 'sgd'`.
    pub when: Option<String>,
    /// The value that trials had which ran before the study had this factor.
    pub before: Option<Level>,
}

impl FactorDraft {
    /// A factor with these levels.
    pub fn with_levels(levels: Vec<Level>) -> Self {
        Self { levels: Some(levels), ..Self::default() }
    }
}

/// A range of numbers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeDraft {
    /// Lower end.
    pub from: Level,
    /// Upper end.
    pub to: Level,
}

/// Which configurations run, how often and in which order.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DesignDraft {
    /// How configurations are chosen.
    #[serde(rename = "type")]
    pub kind: DesignWord,
    /// Number of rows; of a fractional design a power of two.
    pub runs: Option<u32>,
    /// Checked against what the design reaches.
    pub resolution: Option<u32>,
    /// Generators of a fractional design, such as `batch = lr*epochs`.
    #[serde(default)]
    pub generators: Vec<String>,
    /// Starting configuration of a one-factor design.
    #[serde(default)]
    pub baseline: Ordered<Level>,
    /// Rows of a table design, each with one level a factor in the order of the factors.
    pub rows: Option<Vec<Vec<Level>>>,
    /// CSV file with the rows of a table design, one column a factor.
    pub file: Option<String>,
    /// Cells of the table are -1 and +1 instead of levels.
    #[serde(default)]
    pub coded: bool,
    /// Where the axial points of a central composite design lie.
    pub face: Option<Face>,
    /// How far out the axial points of a central composite design lie.
    pub alpha: Option<AxialDistance>,
    /// Rows with every factor in the middle; for a central composite design also the numbers with
    /// the cube and with the star.
    pub center_points: Option<CenterDraft>,
    /// How the points of a Latin hypercube are arranged.
    pub spread: Option<Spread>,
    /// Runs the rows again with all signs reversed, or those of the named factor.
    pub foldover: Option<FoldoverDraft>,
    /// Number of blocks, such as days, that the rows are divided into: a power of two.
    pub blocks: Option<u32>,
    /// Effects given up for the blocks, such as `ABC` or `lr*batch`.
    #[serde(default)]
    pub block_generators: Vec<String>,
    /// Terms that a D-optimal design serves, such as `main + 2fi` or `quadratic`; those of the
    /// analysis where absent.
    pub model: Option<String>,
    /// CSV file with the rows that a D-optimal design may choose from, one column a factor.
    pub candidates: Option<String>,
    /// Random starts of the search for a D-optimal design.
    pub starts: Option<u32>,
    /// Trials of each row.
    #[serde(default = "one")]
    pub replications: u32,
    /// Order of the trials.
    #[serde(default)]
    pub order: RunOrder,
}

impl DesignDraft {
    /// A design of this kind, each row once, in random order.
    pub fn new(kind: DesignWord) -> Self {
        Self {
            kind,
            runs: None,
            resolution: None,
            generators: Vec::new(),
            baseline: Ordered::default(),
            rows: None,
            file: None,
            coded: false,
            face: None,
            alpha: None,
            center_points: None,
            spread: None,
            foldover: None,
            blocks: None,
            block_generators: Vec::new(),
            model: None,
            candidates: None,
            starts: None,
            replications: 1,
            order: RunOrder::default(),
        }
    }
}

/// The word for how configurations are chosen; [`DesignKind`](crate::DesignKind) is what it comes
/// to with the other keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words of the key `type`")]
pub enum DesignWord {
    OneFactor,
    Full,
    Fractional,
    PlackettBurman,
    CentralComposite,
    BoxBehnken,
    LatinHypercube,
    Sobol,
    DOptimal,
    Mixed,
    Table,
}

/// Rows with every factor in the middle.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CenterDraft {
    /// In all.
    All(u32),
    /// With the cube, and with the star.
    CubeAndStar([u32; 2]),
}

/// Which signs a foldover reverses.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FoldoverDraft {
    /// Those of every factor.
    Full(bool),
    /// Those of the factor of this name or letter.
    On(String),
}

/// A job of the built-in trainer.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobDraft {
    /// The network: `mlp`, `logistic`, a description such as `cnn:flowers`, or a TOML file.
    pub network: Option<Level>,
    /// A data set's name, such as `fashion-mnist-sample`, or a folder.
    pub data: Option<Level>,
    /// Hidden layers of an MLP.
    pub hidden_layers: Option<Level>,
    /// Neurons in each hidden layer.
    pub neurons: Option<Level>,
    /// Learning rate.
    pub lr: Option<Level>,
    /// Examples a step.
    pub batch: Option<Level>,
    /// Passes over the training data.
    pub epochs: Option<Level>,
    /// `sgd`, `momentum`, `nesterov`, `adam`, `adamw`, `adagrad` or `ftrl`.
    pub optimizer: Option<Level>,
    /// `constant`, `cosine`, `step:0.1@30,60`, `grow-batch:5@30,60` or `noise-scale`.
    pub schedule: Option<Level>,
    /// Epochs over which the learning rate rises to its full size.
    pub warmup: Option<Level>,
    /// Batch that the learning rate is meant for; it is scaled linearly to the batch in use.
    pub reference_batch: Option<Level>,
    /// Momentum of `momentum` and `nesterov`.
    pub momentum: Option<Level>,
    /// What draws weights to zero.
    pub weight_decay: Option<Level>,
    /// Penalty on absolute weights, for `ftrl`.
    pub l1: Option<Level>,
    /// Largest global norm of the gradients.
    pub clip_norm: Option<Level>,
    /// Share of each label that is spread over all classes.
    pub label_smoothing: Option<Level>,
    /// Random changes of the pictures to learn from: `none`, or some of `flip`, `crop:64`,
    /// `zoom:0.5` and `contrast:0.8-1.2` with commas between them.
    pub augment: Option<Level>,
    /// Side in pixels of the squares that the files of a picture folder are made.
    pub size: Option<Level>,
    /// Epochs without improvement after which a job stops.
    pub early_stopping: Option<Level>,
    /// Seconds of training after which a job ends with what it has.
    pub time_limit_s: Option<Level>,
    /// File of the test part, where the data are one file.
    pub test_data: Option<Level>,
    /// File of weights to start from.
    pub weights: Option<Level>,
    /// Start of the names of layers that do not learn.
    pub freeze: Option<Level>,
    /// Folder for TensorBoard event files, beside the study file; each trial has its own in it.
    pub tensorboard: Option<Level>,
    /// Hash the features of a sparse model into two to the power of this.
    pub hash_bits: Option<Level>,
    /// Whether the updates of a sparse model wait for each other: `sync` or `hogwild`.
    pub update: Option<Level>,
    /// `one-device`.
    pub strategy: Option<Level>,
    /// Replicas of the network.
    pub replicas: Option<Level>,
    /// Worker processes.
    pub workers: Option<Level>,
    /// Threads that one replica computes with.
    pub threads: Option<Level>,
}

impl JobDraft {
    /// Keys that were written, with their values.
    pub(crate) fn fields(self) -> Vec<(String, Level)> {
        let fields = [
            ("network", self.network),
            ("data", self.data),
            ("hidden_layers", self.hidden_layers),
            ("neurons", self.neurons),
            ("lr", self.lr),
            ("batch", self.batch),
            ("epochs", self.epochs),
            ("optimizer", self.optimizer),
            ("schedule", self.schedule),
            ("warmup", self.warmup),
            ("reference_batch", self.reference_batch),
            ("momentum", self.momentum),
            ("weight_decay", self.weight_decay),
            ("l1", self.l1),
            ("clip_norm", self.clip_norm),
            ("label_smoothing", self.label_smoothing),
            ("augment", self.augment),
            ("size", self.size),
            ("early_stopping", self.early_stopping),
            ("time_limit_s", self.time_limit_s),
            ("test_data", self.test_data),
            ("weights", self.weights),
            ("freeze", self.freeze),
            ("tensorboard", self.tensorboard),
            ("hash_bits", self.hash_bits),
            ("update", self.update),
            ("strategy", self.strategy),
            ("replicas", self.replicas),
            ("workers", self.workers),
            ("threads", self.threads),
        ];
        fields.into_iter().filter_map(|(key, level)| Some((key.to_owned(), level?))).collect()
    }
}

/// How trials run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunDraft {
    /// Words of the command; `{factor}` stands for a level, a nested list is left out where a
    /// factor in it does not exist.
    pub command: Option<Vec<WordDraft>>,
    /// Folder to run in; the study file's own where absent.
    pub workdir: Option<String>,
    /// Variables set for the command.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables of `env` whose values may be kept and shown; of the others only the names are.
    #[serde(default)]
    pub keep_env: Vec<String>,
    /// Longest time a trial may take, such as `20m`.
    pub timeout: Option<String>,
    /// Time between asking a trial to stop and killing it, such as `5s`.
    pub grace: Option<String>,
    /// Further attempts after an exit code in `retry_on`.
    #[serde(default)]
    pub retries: u32,
    /// Exit codes worth another attempt; 128 plus the number for a signal.
    pub retry_on: Option<Vec<i32>>,
    /// Trials of this study at the same time, at most the engine's slots.
    pub parallel: Option<u32>,
    /// Trials thrown away before the first one counts.
    #[serde(default)]
    pub warmup: u32,
    /// What runs before every trial: a command for the shell, in which values are quoted, or a list
    /// of words that run without one.
    pub prepare: Option<PrepareDraft>,
}

/// What runs before a trial.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(missing_docs, reason = "a script, or words")]
pub enum PrepareDraft {
    Shell(String),
    Words(Vec<String>),
}

impl PrepareDraft {
    pub(crate) fn command(&self) -> PrepareCommand {
        match self {
            Self::Shell(text) => PrepareCommand::Shell(Template::parse(text)),
            Self::Words(words) => {
                PrepareCommand::Words(words.iter().map(|word| Template::parse(word)).collect())
            }
        }
    }
}

/// A part of a command line.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(missing_docs, reason = "a word, or a list of words")]
pub enum WordDraft {
    One(String),
    Group(Vec<String>),
}

/// A quantity measured in every trial.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetricDraft {
    /// Where it is read; without it, the metrics file and then `::metric` lines are searched.
    pub from: Option<MetricFrom>,
    /// Key in the JSON lines; the metric's name where absent.
    pub key: Option<String>,
    /// `stdout`, `stderr` or a path.
    pub file: Option<String>,
    /// Pattern with a group `(?P<value>...)`.
    #[serde(rename = "match")]
    pub pattern: Option<String>,
    /// Which of several values counts.
    pub pick: Option<Pick>,
    /// JSON Pointer, such as `/eval/accuracy`.
    pub pointer: Option<String>,
    /// CSV column; the metric's name where absent.
    pub column: Option<String>,
    /// TensorBoard tag; the metric's name where absent.
    pub tag: Option<String>,
    /// Formula over factors and other metrics.
    pub expr: Option<String>,
    /// Unit, mandatory for time and money.
    pub unit: Option<String>,
    /// Smallest and largest believable value.
    pub range: Option<[f64; 2]>,
    /// Whether the study wants it small or large.
    pub objective: Option<Direction>,
}

/// Where a metric is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words of the key `from`")]
pub enum MetricFrom {
    Wall,
    Jsonl,
    Stdout,
    Regex,
    Json,
    Csv,
    Tensorboard,
    Expr,
}

/// A parameter read back from the output.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EchoDraft {
    /// Pattern with a group `(?P<value>...)`.
    #[serde(rename = "match")]
    pub pattern: String,
    /// `stdout`, `stderr` or a path.
    pub file: Option<String>,
}

/// What is asked of the measurements.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalysisDraft {
    /// The metric to explain; the one with an objective where absent.
    pub response: Option<String>,
    /// `main`, `main + 2fi`, `quadratic` (with squares), or a formula such as `lr*batch + neurons`;
    /// where absent `quadratic` for central composite and Box-Behnken designs, else `main + 2fi`.
    /// In `main` a numeric factor of three or more levels may bend, in a formula it is a straight
    /// line beside the powers written, such as `lr + lr^2`.
    pub terms: Option<String>,
    /// Largest p-value called evidence.
    pub alpha: Option<f64>,
}

/// A condition that every configuration must meet.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstraintDraft {
    /// Such as `replicas * batch <= 512`.
    pub expr: String,
}

/// Where trials run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineDraft {
    /// `local` or `spark`.
    #[serde(default)]
    pub kind: EngineKind,
    /// Trials at the same time.
    pub slots: Option<u32>,
}

/// What runs the trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words of the key `kind`")]
pub enum EngineKind {
    #[default]
    Local,
    Spark,
}

/// Resource sampling.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TelemetryDraft {
    /// Time between samples, such as `1s`.
    pub sample_every: Option<String>,
}

/// Limits and price.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetDraft {
    /// No trial starts after this many hours of running.
    pub max_hours: Option<f64>,
    /// Price of an hour of the machine.
    pub price_per_hour: Option<f64>,
}

fn one() -> u32 {
    1
}
