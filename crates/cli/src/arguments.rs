//! Arguments of every verb, with their help.

mod analyze;
mod bench;
mod cloud;
mod cluster;
mod data;
mod design;
mod load;
mod plan;
mod queue;
mod search;
mod serve;
mod stats;
mod study;
mod tables;
mod train;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use analyze::{AnalyzeArguments, CodingArgument, ContrastsArgument, OrderArgument};
pub(crate) use bench::BenchArguments;
pub(crate) use cloud::{
    CatalogArguments, CloudObjective, CloudTellArguments, CloudVerb, ExperimentsArguments,
    ForetellArguments, RecommendArguments, ReplayArguments,
};
pub(crate) use cluster::{ClusterArguments, EngineVerb};
pub(crate) use data::{
    DataVerb, FetchArguments, InspectArguments, PrepareArguments, SpeedtestArguments,
    VerifyArguments,
};
pub(crate) use design::{AlphaArgument, DesignArguments, DesignKindArgument, FaceArgument};
pub(crate) use load::{ArrivalsArgument, LoadArguments};
pub(crate) use plan::PlanArguments;
pub(crate) use queue::{
    FitArguments, QuestionArguments, QueueVerb, SimulateArguments, SimulatedKind, name_and_value,
};
pub(crate) use search::{AskArguments, SearchArguments, TellArguments};
pub(crate) use serve::{ExcludeArguments, ServeArguments};
pub(crate) use stats::StatsArguments;
pub(crate) use study::{
    Acceptable, ExportArguments, ExportFormat, ImportArguments, InitArguments, LogsArguments,
    ReportArguments, RunArguments, StopArguments, StudyArguments,
};
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
        trainwright init sweep.toml --from results.csv\n  \
        trainwright init digits.toml --from mlruns")]
    Init(InitArguments),
    /// Check a study and show what it will do: run table, aliases, power, hours, price.
    #[command(after_help = "Example:\n  trainwright check study.toml")]
    Check(StudyArguments),
    /// Run a study, or go on where it stopped, and tell the verdict.
    #[command(after_help = "Examples:\n  trainwright run study.toml\n  \
        trainwright run study.toml --report report.html\n  \
        trainwright run study.toml --retry-failed\n  \
        trainwright run study.toml --engine spark --master spark://127.0.0.1:7077 --slots 4")]
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
        trainwright logs study.toml 3 --stderr\n  trainwright logs study.toml 3 --files\n  \
        trainwright logs study.toml 3 --file params.json")]
    Logs(LogsArguments),
    /// Ask the runner of a study to stop; what is finished is kept.
    #[command(after_help = "Example:\n  trainwright stop study.toml")]
    Stop(StopArguments),
    /// Write all trials as a table.
    #[command(
        after_help = "Examples:\n  trainwright export study.toml --format csv -o trials.csv\n  \
        trainwright export study.toml --usage -o trials.csv\n  \
        trainwright export study.toml --spreadsheet-safe -o trials.csv\n  \
        trainwright export study.toml --format mlflow -o mlflow.db"
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
        trainwright compare study.toml\n  \
        trainwright compare study.toml study.toml --report studies.html")]
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
    /// Time commands in rounds of random order, and tell which is faster and how sure that is.
    ///
    /// What follows -- runs without a shell, a further -- between commands. Results are those of
    /// hyperfine and more: intervals, a test, memory, any number that commands print.
    #[command(after_help = "Examples:\n  trainwright bench 'sleep 0.01' 'sleep 0.02' --runs 5\n  \
        trainwright bench --runs 5 -- sleep 0.01 -- sleep 0.02\n  \
        trainwright bench -L size 100,1000 'seq {size} | sort' --warmup 1 --runs 5 --export-json b.json\n  \
        trainwright bench --metric 'r=(?<value>[0-9]+)/s' --objective maximize 'echo 9/s' 'echo 11/s'")]
    Bench(BenchArguments),
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
    /// Show studies on live web pages, and give them to programs over HTTP.
    #[command(after_help = "Examples:\n  trainwright serve\n  \
        trainwright serve results/ other/trainwright.db --listen 127.0.0.1:8000\n  \
        trainwright serve --allow-actions\n  \
        trainwright serve --listen 0.0.0.0:7878 --token-file token\n\n\
        Pages are read-only unless --allow-actions is given. The interface for programs is below \
        /api/v1; /api/v1/openapi.json describes it.")]
    Serve(ServeArguments),
    /// Leave a trial out of the analysis, and keep why.
    #[command(after_help = "Examples:\n  \
        trainwright exclude study.toml 7 --reason 'the disk was full'\n  \
        trainwright exclude study.toml 7 --undo")]
    Exclude(ExcludeArguments),
    /// Get data sets, turn them into records, check and look at those.
    #[command(
        subcommand,
        after_help = "Examples:\n  trainwright data fetch fashion-mnist\n  \
        trainwright data prepare photos/ --out shards/\n  trainwright data verify shards/"
    )]
    Data(DataVerb),
    /// Get ready what runs trials.
    #[command(subcommand, after_help = "Example:\n  trainwright engine setup spark")]
    Engine(EngineVerb),
    /// Do a task of a cluster's job: what Spark starts on executors.
    #[command(hide = true)]
    Executor,
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
        trainwright train --strategy parameter-server --workers 2 --servers 1 --consistency async\n  \
        trainwright train --strategy multi-worker --workers 2 --engine spark --master spark://127.0.0.1:7077")]
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
    /// Split a network over machines: strategies side by side, the best of them, and why.
    ///
    /// One step is simulated task by task for data parallel, sharded, tensor, pipeline and mesh
    /// strategies; a search then splits every operator by itself. Memory is a hard limit.
    #[command(after_help = "Examples:\n  \
        trainwright plan alexnet --machine 4-p100 --batch 256 --proposals 2000\n  \
        trainwright plan mobilenet-v2 --machine examples/plan/2x4-p100.toml --batch 256 \
        --examples 1281167 --proposals 500 --report plan.html --trace trace.json\n  \
        trainwright plan examples/plan/perceptron.json --machine 10x1-k80 --pin out=0 \
        --forbid hidden --max-degree 5 --json\n  \
        trainwright plan mlp:784-512-512-10 --machine 4-k80 --strategy tensor -o plan.json")]
    Plan(Box<PlanArguments>),
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
    /// Say what is missing for which feature, and what to do about it.
    #[command(after_help = "Examples:\n  trainwright doctor\n  trainwright doctor --json")]
    Doctor(DoctorArguments),
    /// Write a manual page for every verb into a folder.
    #[command(after_help = "Example:\n  trainwright man man1/")]
    Man(ManArguments),
    /// Print completions for a shell.
    #[command(after_help = "Example:\n  \
        trainwright completions bash > ~/.local/share/bash-completion/completions/trainwright")]
    Completions(CompletionsArguments),
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
pub(crate) struct DoctorArguments {
    /// Folder in which studies would lie.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub folder: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Folder for the pages; it is made where it is not there.
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell.
    pub shell: clap_complete::Shell,
}
