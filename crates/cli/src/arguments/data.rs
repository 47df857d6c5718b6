//! Arguments of `data prepare`, `data verify` and `data inspect`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct PrepareArguments {
    /// Folder of pictures (one folder a class; JPEG, PNG), folder of IDX files, CSV table or
    /// libsvm file.
    pub source: PathBuf,
    /// Folder to write the shards to; an unfinished one is gone on with.
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
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// TFRecord files, folders of them, or patterns such as 'shards/*.tfrecord'.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// TFRecord files, folders of them, or patterns such as 'shards/*.tfrecord'.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Examples to show of each file.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub show: usize,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
