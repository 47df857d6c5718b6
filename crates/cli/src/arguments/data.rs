//! Arguments of the verbs on data: fetch, prepare, verify, inspect, speedtest.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use trainwright::records::{Bandwidth, PixelLimit, ReadSource, parse_latency};

use super::ClusterArguments;

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
        trainwright data prepare a9a --out sparse/ --shards 4\n  \
        trainwright data prepare photos/ --out on-spark/ --engine spark --master spark://127.0.0.1:7077")]
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

#[derive(Debug, Args)]
pub(crate) struct PrepareArguments {
    /// Folder of pictures (one folder a class; JPEG, PNG), folder of IDX files, CSV table or
    /// libsvm file.
    pub source: PathBuf,
    /// Folder to write the shards to; an unfinished one is gone on with. May be an empty one of an
    /// object store, such as s3://bucket/folder.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Side of the square pictures [default: 192; IDX pictures keep their size].
    #[arg(long, value_name = "PIXELS")]
    pub size: Option<usize>,
    /// Shards to write, in each part.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub shards: usize,
    /// Seed of order and split.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Threads to work on [default: as many as there are processors].
    #[arg(long, value_name = "T")]
    pub threads: Option<usize>,
    /// Quality of the JPEG pictures in the records, 1 to 100.
    #[arg(long, default_value_t = 95, conflicts_with = "pixels")]
    pub quality: u8,
    /// Store pixels instead of JPEG.
    #[arg(long)]
    pub pixels: bool,
    /// Cut the largest square out of the middle; this is what happens without --fit too.
    #[arg(long, conflicts_with = "fit")]
    pub crop: bool,
    /// Keep the whole picture, with black borders.
    #[arg(long)]
    pub fit: bool,
    /// Shares of train, validation and test, each in its own folder.
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub split: Option<Vec<f64>>,
    /// Leave out pictures that cannot be decoded, instead of failing with a list of them.
    #[arg(long)]
    pub skip_corrupt: bool,
    /// Most pixels that a picture may have; a file that claims more is refused before any memory is
    /// asked for [default: TRAINWRIGHT_MAX_PIXELS, or else 100000000].
    #[arg(long, value_name = "PIXELS")]
    pub max_pixels: Option<PixelLimit>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Write what was made, and what a cluster did for it, as one HTML file.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Partitions to spread the work over on a cluster [default: three for each core].
    #[arg(long, value_name = "N", help_heading = "Cluster")]
    pub partitions: Option<NonZeroU32>,
    #[command(flatten)]
    pub cluster: ClusterArguments,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// TFRecord files, folders of them, or patterns such as 'shards/*.tfrecord'; s3:// and gs://
    /// addresses in a program built with object stores.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// TFRecord files, folders of them, or patterns such as 'shards/*.tfrecord'; s3:// and gs://
    /// addresses in a program built with object stores.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Examples to show of each file.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub show: usize,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SpeedtestArguments {
    /// Folder of pictures (JPEG, PNG), at any depth.
    pub source: PathBuf,
    /// Folder of shards that were prepared of them [default: prepared in a temporary folder].
    #[arg(long, value_name = "DIR")]
    pub records: Option<PathBuf>,
    /// What to read: files, records or both.
    #[arg(long, value_enum, value_name = "FORMAT,...", value_delimiter = ',')]
    #[arg(default_value = "files,records")]
    pub format: Vec<PictureFormatArgument>,
    /// Side of the square that files are scaled and cut to.
    #[arg(long, value_name = "PIXELS", default_value = "192")]
    pub size: NonZeroUsize,
    /// Pictures a batch.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "2,4,6,8")]
    pub batch_size: Vec<NonZeroUsize>,
    /// Batches.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "3,6,9,12")]
    pub batch_number: Vec<NonZeroUsize>,
    /// Threads.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1")]
    pub threads: Vec<NonZeroUsize>,
    /// How often each combination is read.
    #[arg(long, value_name = "N", default_value = "3")]
    pub repetitions: NonZeroUsize,
    /// Drop the files from the cache before each reading. This is the cache of this system only;
    /// one of the disk, or of the machine that hosts this one, stays.
    #[arg(long)]
    pub cold: bool,
    /// Wait before the first byte of every file or shard, such as 20ms.
    #[arg(long, value_name = "TIME", value_parser = parse_latency)]
    pub latency: Option<Duration>,
    /// Bytes a second over all requests, such as 100MB/s.
    #[arg(long, value_name = "RATE")]
    pub bandwidth: Option<Bandwidth>,
    /// Most pixels that a picture may have; a file that claims more is refused before any memory is
    /// asked for [default: TRAINWRIGHT_MAX_PIXELS, or else 100000000].
    #[arg(long, value_name = "PIXELS")]
    pub max_pixels: Option<PixelLimit>,
    /// Seed of the order of readings and pictures.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Write tables and figures as one HTML file.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write every reading as a CSV table.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Partitions to spread the work over on a cluster [default: three for each core].
    #[arg(long, value_name = "N", help_heading = "Cluster")]
    pub partitions: Option<NonZeroU32>,
    #[command(flatten)]
    pub cluster: ClusterArguments,
}

/// What pictures are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum PictureFormatArgument {
    /// One file a picture.
    Files,
    /// Shards of prepared pictures.
    Records,
}

impl From<PictureFormatArgument> for ReadSource {
    fn from(argument: PictureFormatArgument) -> Self {
        match argument {
            PictureFormatArgument::Files => Self::Files,
            PictureFormatArgument::Records => Self::Records,
        }
    }
}
