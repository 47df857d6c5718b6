//! Arguments of every verb, with their help.

mod cloud;
mod data;
mod design;
mod load;
mod queue;
mod search;
mod stats;
mod tables;
mod train;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use cloud::{
    CatalogArguments, CloudTellArguments, CloudVerb, RecommendArguments, ReplayArguments,
};
pub(crate) use data::{InspectArguments, PrepareArguments, SpeedtestArguments, VerifyArguments};
pub(crate) use design::{AlphaArgument, DesignArguments, DesignKindArgument, FaceArgument};
pub(crate) use load::{ArrivalsArgument, LoadArguments};
pub(crate) use queue::{
    FitArguments, QuestionArguments, QueueVerb, SimulateArguments, SimulatedKind, name_and_value,
};
pub(crate) use search::{AskArguments, SearchArguments, TellArguments};
pub(crate) use stats::StatsArguments;
pub(crate) use tables::{
    CompareArguments, CorrelateArguments, FindingsArguments, OverheadArguments, ScalingArguments,
    SurfaceArguments,
};
pub(crate) use train::{JobArguments, PredictArguments, TrainArguments, WorkerArguments};

/// Find the fastest, cheapest way to train a model by running real experiments, and hear what
/// matters and how sure that is.
#[derive(Debug, Parser)]
#[command(name = "trainwright", version, arg_required_else_help = true)]
#[command(
    after_help = "Start with:\n  trainwright init study.toml\n  trainwright run study.toml\n\n\
    Exit codes: 0 done; 1 done, but some trials failed; 2 bad input; 3 environment; 4 our bug; \
    130 stopped after saving"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Write a commented study that runs as it is.
    #[command(after_help = "Examples:\n  trainwright init study.toml\n  \
        trainwright init sweep.toml --from results.csv")]
    Init(InitArguments),
    /// Check a study and show what it will do: run table, aliases, power, hours, price.
    #[command(after_help = "Example:\n  trainwright check study.toml")]
    Check(StudyArguments),
    /// Run a study, or go on where it stopped, and tell the verdict.
    #[command(after_help = "Examples:\n  trainwright run study.toml\n  \
        trainwright run study.toml --report report.html\n  \
        trainwright run study.toml --retry-failed")]
    Run(RunArguments),
    /// Search for the best configuration of a study, or go on where it stopped.
    #[command(after_help = "Examples:\n  trainwright search examples/search/study.toml\n  \
        trainwright search examples/search/study.toml --explain --json")]
    Search(SearchArguments),
    /// Ask a study's search which trials to run next, to run them elsewhere.
    #[command(after_help = "Example:\n  trainwright ask examples/ask-tell/study.toml --count 2")]
    Ask(AskArguments),
    /// Tell a study's search what came of a trial.
    #[command(
        after_help = "Examples:\n  trainwright ask examples/ask-tell/study.toml --count 2\n  \
        trainwright tell examples/ask-tell/study.toml --trial 1 --value loss=0.25 --seconds 12\n  \
        trainwright tell examples/ask-tell/study.toml --trial 2 --failed 'out of memory'"
    )]
    Tell(TellArguments),
    /// Show how far a study has come.
    #[command(after_help = "Example:\n  trainwright status study.toml")]
    Status(StudyArguments),
    /// Show what a trial wrote.
    #[command(after_help = "Examples:\n  trainwright logs study.toml 3\n  \
        trainwright logs study.toml 3 --stderr")]
    Logs(LogsArguments),
    /// Ask the runner of a study to stop; what is finished is kept.
    #[command(after_help = "Example:\n  trainwright stop study.toml")]
    Stop(StopArguments),
    /// Write all trials as a table.
    #[command(
        after_help = "Examples:\n  trainwright export study.toml --format csv -o trials.csv\n  \
        trainwright export study.toml --usage -o trials.csv\n  \
        trainwright export study.toml --spreadsheet-safe -o trials.csv"
    )]
    Export(ExportArguments),
    /// Take in results measured elsewhere, checked against the design.
    #[command(after_help = "Example:\n  \
        trainwright import results.csv --study study.toml --column cost=cost_exact")]
    Import(ImportArguments),
    /// Fit an equation, test its terms, check its assumptions, say what it means.
    #[command(after_help = "Examples:\n  trainwright analyze study.toml\n  \
        trainwright analyze --data runs.csv --formula 'cost ~ lr*batch + nodes' --type 2\n  \
        trainwright analyze --data runs.csv --formula 'cost ~ lr*batch' --report page.html")]
    Analyze(AnalyzeArguments),
    /// Make one statistical test on columns of a table.
    #[command(
        after_help = "Examples:\n  trainwright stats shapiro-wilk --data runs.csv --column cost\n  \
        trainwright stats kruskal --data runs.csv --column cost --by batch\n  \
        trainwright stats bootstrap --data runs.csv --column time --by strategy --ratio\n  \
        trainwright stats spearman --data runs.csv --column lr --with cost\n  \
        trainwright stats box-cox --data runs.csv --formula 'cost ~ lr*batch'\n  \
        trainwright stats p-adjust --data tests.csv --column p --method bh"
    )]
    Stats(StatsArguments),
    /// Compare levels with a baseline: ratios with intervals, in words.
    #[command(after_help = "Examples:\n  \
        trainwright compare --data runs.csv --column time --by cores --baseline 1\n  \
        trainwright compare --data runs.csv --column time --by strategy --paired seed\n  \
        trainwright compare --data runs.csv --column time --by cores --objective minimize\n  \
        trainwright compare study.toml")]
    Compare(CompareArguments),
    /// Tell how time falls with workers: speed-up, efficiency, the laws of Amdahl, Gustafson, Ernest.
    #[command(after_help = "Examples:\n  \
        trainwright scaling --data runs.csv --column time --workers nodes --predict 16,32\n  \
        trainwright scaling --data runs.csv --column time --workers nodes --size rows")]
    Scaling(ScalingArguments),
    /// Split time into a cost a step and the rest, for every strategy.
    #[command(after_help = "Example:\n  \
        trainwright overhead --data runs.csv --column time --steps steps --by strategy --unit s")]
    Overhead(OverheadArguments),
    /// Correlate a response with every parameter, and tell where a line does not describe it.
    #[command(after_help = "Example:\n  \
        trainwright correlate --data runs.csv --column images_per_s --with batch,nodes")]
    Correlate(CorrelateArguments),
    /// Fit a quadratic surface: stationary point, its kind, and the best point of what was tried.
    #[command(after_help = "Examples:\n  trainwright surface study.toml\n  \
        trainwright surface --data runs.csv --column loss --factors lr,batch \
        --objective minimize")]
    Surface(SurfaceArguments),
    /// Explain the findings that the program makes.
    #[command(after_help = "Examples:\n  trainwright findings\n  \
        trainwright findings no-replication")]
    Findings(FindingsArguments),
    /// Print an experimental design with its aliases.
    #[command(after_help = "Examples:\n  trainwright design fractional --factors 6 --runs 32\n  \
        trainwright design fractional --factors 6 --generators F=ABCDE --json\n  \
        trainwright design full --levels 2,2,3\n  \
        trainwright design plackett-burman --factors 11 --runs 12\n  \
        trainwright design central-composite --factors 3 --center 4,4\n  \
        trainwright design latin-hypercube --factors 4 --runs 20 --maximin\n  \
        trainwright design full --factors 5 --blocks 4\n  \
        trainwright design foldover --factors 7 --runs 8 --on A\n  \
        trainwright design mixed --levels 2,3,3,3\n  \
        trainwright design d-optimal --levels 3,3,2 --runs 12 --model quadratic\n  \
        trainwright design augment --data rows.csv --add 4")]
    Design(DesignArguments),
    /// Tell how long jobs of a queue wait, how many servers they need, which queue times make.
    #[command(
        subcommand,
        after_help = "Examples:\n  trainwright queue mmc --arrival 3.2 --service 1 --servers 4\n  \
        trainwright queue mmc --arrival 40/h --service-time 4m --target-response 10m\n  \
        trainwright queue mg1 --arrival 0.8 --service 1 --scv-service 2.9 --json\n  \
        trainwright queue fit --data runs.csv --column time --unit s"
    )]
    Queue(QueueVerb),
    /// Let real jobs of a study arrive at random, and compare their waits with a queue model.
    #[command(after_help = "Examples:\n  trainwright load study.toml --rate 40/h --jobs 100\n  \
        trainwright load study.toml --rate 2/s --jobs 200 --slots 4 --set lr=0.01 --report load.html\n  \
        trainwright load study.toml --arrivals file --arrivals-file moments.csv --max-time 30m\n\n\
        Results are kept beside the store: trainwright.loads/<study>/load-0001.csv holds each job \
        as soon as it ends, load-0001.json the whole answer.")]
    // So that -1 reaches the check that explains what is wrong with it.
    #[command(allow_negative_numbers = true)]
    Load(LoadArguments),
    /// Choose machines for a job, and compare methods that do.
    #[command(
        subcommand,
        after_help = "Examples:\n  trainwright cloud catalog\n  \
        trainwright cloud recommend machines.json --nodes 1,2,4,8 --objective cost\n  \
        trainwright cloud replay --runs examples/cloud/runs.csv --method all --objective cost"
    )]
    Cloud(CloudVerb),
    /// Write everything about a study into one HTML file.
    #[command(after_help = "Example:\n  trainwright report study.toml -o report.html")]
    Report(ReportArguments),
    /// Get data sets, turn them into records, check and look at those.
    #[command(
        subcommand,
        after_help = "Examples:\n  trainwright data fetch fashion-mnist\n  \
        trainwright data prepare photos/ --out shards/\n  trainwright data verify shards/"
    )]
    Data(DataVerb),
    /// Train one network with the built-in trainer.
    #[command(after_help = "Examples:\n  trainwright train --network mlp \
        --data fashion-mnist-sample --epochs 3 --lr 0.001\n  \
        trainwright train --epochs 9 --optimizer momentum --lr 0.02 --schedule grow-batch:4@3,6\n  \
        trainwright train --network logistic --data a9a --optimizer adagrad --lr 0.1\n  \
        trainwright train --epochs 50 --checkpoint kept --resume\n  \
        trainwright train --strategy mirrored --replicas 2 --batch 64\n  \
        trainwright train --strategy multi-worker --workers 2 --batch 64 --micro-batch 16\n  \
        trainwright train --strategy multi-worker --workers 3 --elastic --trace trace.json\n  \
        trainwright train --strategy local-sgd --workers 2 --sync-every 8\n  \
        trainwright train --strategy parameter-server --workers 2 --servers 1 --consistency async")]
    // So that -1 reaches the check that explains what is wrong with it.
    #[command(allow_negative_numbers = true)]
    Train(Box<TrainArguments>),
    /// Work for a job that another process trains with `--listen`, as a worker or a server.
    #[command(after_help = "Example:\n  \
        head -c 32 /dev/urandom | base64 > secret\n  \
        trainwright train --strategy multi-worker --workers 2 --listen 127.0.0.1:7700 \
        --secret-file secret &\n  \
        trainwright worker --join 127.0.0.1:7700 --secret-file secret")]
    Worker(WorkerArguments),
    /// Apply a trained network to a test part: confusion matrix, accuracy of each class.
    #[command(after_help = "Examples:\n  trainwright train --epochs 3 --checkpoint kept\n  \
        trainwright predict kept\n  trainwright predict kept --data mnist -o predictions.csv\n  \
        trainwright predict kept --data photos/ --report predictions.html")]
    Predict(PredictArguments),
    /// Show what a network consists of: layers, shapes, parameters, operations, memory.
    #[command(after_help = "Examples:\n  trainwright network mobilenet-v2:1.0\n  \
        trainwright network cnn:flowers --input 96x96x3 --classes 10 --json\n  \
        trainwright network mine.toml\n\n\
        Networks: mlp:784-128-10, cnn:flowers, mobilenet-v2:1.0, lstm:128, bilstm:128, or a TOML \
        file with name, input and [[layer]] tables.")]
    Network(NetworkArguments),
    /// Describe this machine; with --measure, find out what it can do and keep it for other verbs.
    ///
    /// Products of matrices and copies on one and on all cores, bytes and round trips over loopback,
    /// writing and reading a file: a few seconds. `train`, `analyze` and `report` use the figures to
    /// tell which resource binds. They are kept in the cache folder (TRAINWRIGHT_CACHE, or else
    /// trainwright in the user's cache).
    #[command(after_help = "Examples:\n  trainwright machine\n  \
        trainwright machine --measure\n  trainwright machine --measure --folder photos/ --json")]
    Machine(MachineArguments),
    /// Run one training job from a file: what a trial of the built-in trainer does.
    #[command(after_help = "Example:\n  trainwright job job.json")]
    Job(JobArguments),
    /// Try metric rules.
    #[command(
        subcommand,
        after_help = "Example:\n  trainwright metrics test train.log --study study.toml"
    )]
    Metrics(MetricsVerb),
    /// Print the JSON Schema of the study file, for editors.
    #[command(after_help = "Example:\n  trainwright schema > study.schema.json")]
    Schema,
    /// Print completions for a shell.
    #[command(after_help = "Example:\n  \
        trainwright completions bash > ~/.local/share/bash-completion/completions/trainwright")]
    Completions(CompletionsArguments),
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// File to write.
    #[arg(default_value = "study.toml")]
    pub path: PathBuf,
    /// Guess factors and metrics from a table of results.
    #[arg(long, value_name = "CSV")]
    pub from: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StudyArguments {
    /// Study file.
    pub study: PathBuf,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub common: StudyArguments,
    /// Run failed trials again.
    #[arg(long)]
    pub retry_failed: bool,
    /// Do not flush each finished trial to disk; for studies of very short trials.
    #[arg(long)]
    pub no_flush: bool,
    /// Accept a change of the study although trials have run; the analysis tells of it.
    #[arg(long, value_name = "WHAT")]
    pub accept: Vec<Acceptable>,
    /// Take the trials recorded under the study's name in this store instead of running any.
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Write the report here at the end.
    #[arg(long, value_name = "HTML")]
    pub report: Option<PathBuf>,
}

/// A change of a study with trials that is refused unless it is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Acceptable {
    /// Another command, or other settings of the job.
    Command,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArguments {
    /// Study file.
    pub study: PathBuf,
    /// Number of the trial.
    pub trial: u32,
    /// Show the standard error instead of the standard output.
    #[arg(long)]
    pub stderr: bool,
    /// Print every byte as the trial wrote it, on a terminal too; otherwise a terminal is shown
    /// control characters by name (\\e for the escape character), and a file or pipe gets them as
    /// they are.
    #[arg(long, conflicts_with = "json")]
    pub raw: bool,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    #[command(flatten)]
    pub common: StudyArguments,
    /// Kill running trials at once.
    #[arg(long)]
    pub now: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Study file.
    pub study: PathBuf,
    /// Form of the table.
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub format: ExportFormat,
    /// File to write [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Put an apostrophe before cells of a CSV table that a spreadsheet would take for formulas,
    /// such as =1+2; numbers stay as they are.
    #[arg(long)]
    pub spreadsheet_safe: bool,
    /// Add what each trial used of the machine: time, CPU, memory, disk, network, GPUs.
    #[arg(long)]
    pub usage: bool,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Csv,
    Json,
    /// In builds with the cargo feature `parquet`.
    Parquet,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Table of results with a header, or an SQLite file of Optuna.
    pub results: PathBuf,
    /// Study file.
    #[arg(long)]
    pub study: PathBuf,
    /// Which of several studies in a file of Optuna.
    #[arg(long, value_name = "NAME")]
    pub optuna_study: Option<String>,
    /// Column of a factor or metric, where the names differ.
    #[arg(long, value_name = "NAME=COLUMN", value_parser = name_and_column)]
    pub column: Vec<(String, String)>,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

fn name_and_column(text: &str) -> Result<(String, String), String> {
    let (name, column) = text.split_once('=').ok_or("write NAME=COLUMN, such as cost=seconds")?;
    Ok((name.trim().to_owned(), column.trim().to_owned()))
}

#[derive(Debug, Args)]
pub(crate) struct AnalyzeArguments {
    /// Study file; or use --data and --formula.
    #[arg(required_unless_present = "data", conflicts_with = "data")]
    pub study: Option<PathBuf>,
    /// Table of results with a header.
    #[arg(long, value_name = "CSV", requires = "formula")]
    pub data: Option<PathBuf>,
    /// Equation, such as 'cost ~ lr*batch + nodes'.
    #[arg(long, requires = "data")]
    pub formula: Option<String>,
    /// Types of the analysis of variance.
    #[arg(long = "type", value_delimiter = ',', default_values_t = [1, 2, 3])]
    pub types: Vec<u8>,
    /// Numeric columns to treat as categories.
    #[arg(long, value_delimiter = ',', requires = "data")]
    pub categorical: Vec<String>,
    /// How numbers enter the equation [default: raw with --data, coded for a study].
    #[arg(long, value_enum)]
    pub coding: Option<CodingArgument>,
    /// How categories become coefficients: against the first level, or against their mean.
    #[arg(long, value_enum, default_value_t = ContrastsArgument::Treatment, requires = "data")]
    pub contrasts: ContrastsArgument,
    /// Order in which a*b*c expands: as the formula reads, or by degree as R does.
    #[arg(long, value_enum, default_value_t = OrderArgument::Formula, requires = "data")]
    pub order: OrderArgument,
    /// Store of the trials [default: trainwright.db beside the study].
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub store: Option<PathBuf>,
    /// Write a page with plots too; for a study use the verb report.
    #[arg(long, value_name = "HTML", requires = "data")]
    pub report: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CodingArgument {
    Raw,
    Coded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContrastsArgument {
    Treatment,
    Sum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArgument {
    Formula,
    Degree,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    pub common: StudyArguments,
    /// File to write.
    #[arg(short, long, value_name = "HTML", default_value = "report.html")]
    pub output: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataVerb {
    /// Get a whole data set, checked by its hash.
    #[command(after_help = "Examples:\n  trainwright data fetch fashion-mnist\n  \
        trainwright data fetch fashion-mnist --from downloads/")]
    Fetch(FetchArguments),
    /// Turn pictures or a table into shards of TFRecords, in parallel, byte for byte repeatable.
    ///
    /// Pictures are decoded, scaled with antialias to a square and stored as JPEG in the feature
    /// `image/encoded` (pixels: `image/raw`) of a tf.train.Example, with `image/height`,
    /// `image/width`, `image/channels`, `image/name` and the class in `label`. An orientation in
    /// EXIF data is ignored, as TensorFlow does. An interrupted run goes on when it is started
    /// again.
    #[command(after_help = "Examples:\n  trainwright data prepare photos/ --out shards/\n  \
        trainwright data prepare photos/ --out parts/ --size 128 --split 0.8,0.1,0.1\n  \
        trainwright data prepare a9a --out sparse/ --shards 4")]
    Prepare(PrepareArguments),
    /// Read TFRecord files whole and list every damage; exit code 1 when there is one.
    #[command(after_help = "Examples:\n  trainwright data verify shards/\n  \
        trainwright data verify 'shards/*.tfrecord' --json")]
    Verify(VerifyArguments),
    /// Show what TFRecord files hold: counts, sizes, features, the first examples.
    #[command(after_help = "Example:\n  \
        trainwright data inspect shards/data-00000-of-00016.tfrecord")]
    Inspect(InspectArguments),
    /// Measure what feeds training faster: picture files, or records that were prepared of them.
    ///
    /// Files are read, decoded, scaled and cut; records are parsed and decoded. Every combination
    /// of batch size, batch number and threads is read in a random order, repetition after
    /// repetition. The result: images/s and MB/s, regressions on each parameter and on all of
    /// them, how many times as fast records are, and a verdict in words.
    ///
    /// On a warm local disk records of 192 x 192 pixels were 3.3 to 3.5 times as fast as
    /// photographs of 500 x 300, because less is decoded. Ratios such as 70 come from the wait before each
    /// file of a distant store: --latency shows it (docs/data-path.md has measured figures).
    #[command(after_help = "Examples:\n  trainwright data speedtest photos/\n  \
        trainwright data speedtest photos/ --records shards/ --batch-size 2,4,6,8 \
        --batch-number 3,6,9,12 --repetitions 3 --report speed.html\n  \
        trainwright data speedtest photos/ --latency 20ms --bandwidth 100MB/s --json")]
    Speedtest(SpeedtestArguments),
}

#[derive(Debug, Args)]
pub(crate) struct FetchArguments {
    /// Name of the data set.
    #[arg(value_parser = ["fashion-mnist"])]
    pub name: String,
    /// Folder that holds its files.
    #[arg(long, value_name = "FOLDER", conflicts_with = "url")]
    pub from: Option<PathBuf>,
    /// Server to download from.
    #[arg(long)]
    pub url: Option<String>,
    /// Folder to keep it in [default: the cache].
    #[arg(long, value_name = "FOLDER")]
    pub into: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MetricsVerb {
    /// Show what a study's metric rules find in a log, and what they nearly find.
    #[command(after_help = "Example:\n  trainwright metrics test train.log --study study.toml")]
    Test(MetricsTestArguments),
}

#[derive(Debug, Args)]
pub(crate) struct MetricsTestArguments {
    /// Log to read, as if it were the trial's standard output.
    pub log: PathBuf,
    /// Study file with the rules.
    #[arg(long)]
    pub study: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NetworkArguments {
    /// Short text such as mobilenet-v2:1.0, or a TOML file.
    pub description: String,
    /// Dimensions of one example, such as 64x64x3.
    #[arg(long)]
    pub input: Option<String>,
    /// How many classes.
    #[arg(long)]
    pub classes: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MachineArguments {
    /// Measure what the machine can do, and keep it.
    #[arg(long)]
    pub measure: bool,
    /// Folder whose disk is described and measured.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub folder: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell.
    pub shell: clap_complete::Shell,
}
