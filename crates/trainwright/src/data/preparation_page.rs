//! The page of a set of shards that was made.

use std::path::Path;

use trainwright_report::{PreparationPage, preparation_html};

use crate::studies::report::PROGRAM;
use crate::{ClusterReply, PrepareReply, terminal};

/// The shards that were made of a source, as one HTML file; `cluster` is what one did for it.
pub fn preparation_page(
    source: &Path,
    reply: &PrepareReply,
    cluster: Option<&ClusterReply>,
    written_at: &str,
) -> String {
    let parts = reply.prepared.parts.iter();
    let shards = parts.flat_map(|part| part.shards.iter().map(|own| (part.name.as_str(), own)));
    preparation_html(&PreparationPage {
        source: &source.display().to_string(),
        words: &terminal::prepared(reply),
        shards: shards
            .map(|(part, own)| (part, own.file.as_str(), own.records, own.bytes))
            .collect(),
        cluster: cluster.map_or(&[], |own| &own.tasks),
        program: PROGRAM,
        written_at,
    })
}
