//! A design before any check.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Ordered;
use crate::{AxialDistance, Face, Level, RunOrder, Spread};

/// Which configurations run, how often and in which order.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DesignDraft {
    /// How configurations are chosen.
    #[serde(rename = "type")]
    pub kind: DesignKindDraft,
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
    pub fn new(kind: DesignKindDraft) -> Self {
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

/// The word for how configurations are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words of the key `type`")]
pub enum DesignKindDraft {
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

fn one() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_design_from_code_is_the_one_that_a_file_with_its_type_alone_says() {
        let read: DesignDraft = toml::from_str("type = \"full\"").unwrap();
        let built = DesignDraft::new(DesignKindDraft::Full);
        assert_eq!(format!("{read:?}"), format!("{built:?}"));
    }

    #[test]
    fn centre_points_are_one_number_or_two() {
        let of = |text: &str| toml::from_str::<DesignDraft>(&format!("type = \"full\"\n{text}"));
        assert!(matches!(
            of("center_points = 3").unwrap().center_points,
            Some(CenterDraft::All(3))
        ));
        let two = of("center_points = [1, 2]").unwrap().center_points;
        assert!(matches!(two, Some(CenterDraft::CubeAndStar([1, 2]))));
        for bad in ["-1", "[1]", "[1, 2, 3]", "\"two\""] {
            assert!(of(&format!("center_points = {bad}")).is_err(), "{bad}");
        }
    }
}
