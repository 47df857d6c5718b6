//! The verb `findings`: what the program may say without being asked, explained.

use serde::Serialize;
use trainwright_analysis::{CatalogueEntry, CatalogueGroup, catalogue, catalogue_entry};

use crate::Error;

/// All findings, or one of them.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
pub enum FindingsReply {
    /// Every finding, group by group.
    All {
        /// The groups.
        groups: &'static [CatalogueGroup],
    },
    /// The one that was asked for.
    One(&'static CatalogueEntry),
}

/// Explains one finding, or lists them all.
///
/// # Errors
/// There is no finding of that name.
pub fn findings(id: Option<&str>) -> Result<FindingsReply, Error> {
    let Some(id) = id else { return Ok(FindingsReply::All { groups: catalogue() }) };
    catalogue_entry(id).map(FindingsReply::One).ok_or_else(|| {
        Error::Request(format!("there is no finding `{id}`; `trainwright findings` lists them"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_that_is_not_there_is_refused_by_its_name() {
        let error = findings(Some("no-such-thing")).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("no finding `no-such-thing`"), "{error}");
    }
}
