//! Arguments of `serve` and `exclude`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::StudyArguments;

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Stores, and folders with stores below them.
    #[arg(value_name = "STORE|FOLDER", default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub listen: SocketAddr,
    /// A name under which the server is reached, beside its addresses; may be repeated.
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// File with the token that visitors must show; needed to listen beyond this machine.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Let pages and programs act: stop, retry, add replications, leave trials out, ask and tell.
    #[arg(long)]
    pub allow_actions: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExcludeArguments {
    #[command(flatten)]
    pub common: StudyArguments,
    /// Number of the trial.
    pub trial: u32,
    /// Why it is left out.
    #[arg(long, value_name = "TEXT", required_unless_present = "undo", conflicts_with = "undo")]
    pub reason: Option<String>,
    /// Take it in again.
    #[arg(long)]
    pub undo: bool,
}
