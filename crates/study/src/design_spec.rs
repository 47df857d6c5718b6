//! Which configurations a study asks for; the `design` crate lists them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Configuration;

/// Which configurations run, how often, in which order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DesignSpec {
    /// How configurations are chosen.
    #[serde(flatten)]
    pub kind: DesignKind,
    /// What is added to the rows of a two-level design.
    #[serde(flatten)]
    pub additions: Additions,
    /// Trials of each row.
    pub replications: u32,
    /// Order of the trials.
    pub order: RunOrder,
}

impl DesignSpec {
    /// No rows: configurations come from elsewhere.
    pub fn open() -> Self {
        Self {
            kind: DesignKind::Open,
            additions: Additions::default(),
            replications: 1,
            order: RunOrder::Standard,
        }
    }
}

/// How configurations are chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum DesignKind {
    /// No rows of its own: configurations come from a search, or from results measured elsewhere.
    Open,
    /// One factor at a time leaves the baseline.
    OneFactor {
        /// Levels of the baseline; a factor not named starts at its first level.
        baseline: Configuration,
    },
    /// Every combination.
    Full,
    /// A regular fraction of the two-level combinations.
    Fractional {
        /// Number of rows, a power of two; absent where generators decide.
        runs: Option<u32>,
        /// Such as `batch = nodes*executors`; empty where the program chooses.
        generators: Vec<String>,
        /// Checked against what the generators give.
        resolution: Option<u32>,
    },
    /// Main effects of many two-level factors in few rows.
    PlackettBurman {
        /// Number of rows; the fewest that are enough where absent.
        runs: Option<u32>,
    },
    /// A cube with points on its axes and in its centre.
    CentralComposite {
        /// Where the axial points lie.
        face: Face,
        /// How far out they lie.
        alpha: AxialDistance,
        /// Centre points with the cube and with the star; the usual ones where absent.
        center_points: Option<[u32; 2]>,
    },
    /// Three levels without the corners of the cube.
    BoxBehnken {
        /// Centre points; the published ones where absent.
        center_points: Option<u32>,
    },
    /// One point in every stratum of every factor.
    LatinHypercube {
        /// Number of rows.
        runs: u32,
        /// How the points are arranged.
        spread: Spread,
    },
    /// The first points of the Sobol sequence.
    Sobol {
        /// Number of rows.
        runs: u32,
    },
    /// The candidates that fix the coefficients of an equation best.
    DOptimal {
        /// Number of rows.
        runs: u32,
        /// Terms of the equation; those of the analysis where absent.
        model: Option<String>,
        /// Rows to choose from; every combination of levels where empty.
        candidates: Vec<Configuration>,
        /// Random rows that the search starts from, one after the other.
        starts: u32,
    },
    /// An orthogonal array of factors with different numbers of levels.
    Mixed {
        /// Number of rows; the fewest that are enough where absent.
        runs: Option<u32>,
    },
    /// The rows the user lists.
    Table {
        /// Rows in the user's order.
        rows: Vec<Configuration>,
    },
}

/// What is added to the rows of a two-level design.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Additions {
    /// Rows with every factor in the middle.
    #[serde(rename = "center_points", skip_serializing_if = "is_zero")]
    pub centre_points: u32,
    /// The same rows again with signs reversed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foldover: Option<Foldover>,
    /// Groups of rows, such as days, whose differences must not be taken for effects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<BlockSpec>,
}

/// Which signs a foldover reverses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Foldover {
    /// Those of every factor, which clears main effects of two-factor interactions.
    Full,
    /// Those of one factor, which clears it and all its interactions.
    On(String),
}

/// How rows are divided into blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockSpec {
    /// This many blocks, a power of two; the program chooses what is given up for them.
    Count(u32),
    /// Effects, such as `ABC` or `lr*batch`, whose signs tell the blocks apart.
    Generators(Vec<String>),
}

/// Where the axial points of a central composite design lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Face {
    /// Outside the cube.
    #[default]
    Circumscribed,
    /// At the ends of the factors, with the cube shrunk.
    Inscribed,
    /// On the faces of the cube.
    #[serde(alias = "face-centered")]
    FaceCentred,
}

/// How far out the axial points of a central composite design lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AxialDistance {
    /// Predictions are equally sure in all directions.
    #[default]
    Rotatable,
    /// Cube and star are orthogonal blocks.
    Orthogonal,
}

/// How the points of a Latin hypercube are arranged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// As the seed has it.
    Plain,
    /// Swapped until the closest points are far apart.
    #[default]
    Maximin,
}

/// Order of the trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunOrder {
    /// All trials shuffled by the study's seed.
    #[default]
    Randomized,
    /// One replicate after the other, each shuffled.
    Blocked,
    /// Row by row as the design lists them, one replicate after the other.
    Standard,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A design with its parts under keys of their own: laid flat, the centre points of some kinds and
/// those that are added would share one.
pub(crate) mod in_parts {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Additions, DesignKind, DesignSpec, RunOrder};

    #[derive(Serialize, Deserialize)]
    struct Parts {
        kind: DesignKind,
        additions: Additions,
        replications: u32,
        order: RunOrder,
    }

    pub(crate) fn serialize<S: Serializer>(
        design: &DesignSpec,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let DesignSpec { kind, additions, replications, order } = design.clone();
        Parts { kind, additions, replications, order }.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<DesignSpec, D::Error> {
        let Parts { kind, additions, replications, order } = Parts::deserialize(deserializer)?;
        Ok(DesignSpec { kind, additions, replications, order })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Kept(#[serde(with = "in_parts")] DesignSpec);

    #[test]
    fn every_kind_survives_being_kept_with_additions_of_its_own() {
        let additions = Additions {
            centre_points: 3,
            foldover: Some(Foldover::On("a".to_owned())),
            blocks: Some(BlockSpec::Generators(vec!["AB".to_owned()])),
        };
        let center_points = Some([1, 2]);
        let (face, alpha) = (Face::FaceCentred, AxialDistance::Orthogonal);
        for kind in [
            DesignKind::Open,
            DesignKind::Full,
            DesignKind::OneFactor { baseline: Configuration::default() },
            DesignKind::Fractional { runs: None, generators: Vec::new(), resolution: Some(4) },
            DesignKind::PlackettBurman { runs: Some(12) },
            DesignKind::CentralComposite { face, alpha, center_points },
            // Its centre points and the added ones have one name in the flat form.
            DesignKind::BoxBehnken { center_points: Some(5) },
            DesignKind::LatinHypercube { runs: 7, spread: Spread::Plain },
            DesignKind::Sobol { runs: 8 },
            DesignKind::DOptimal { runs: 6, model: None, candidates: Vec::new(), starts: 2 },
            DesignKind::Mixed { runs: None },
            DesignKind::Table { rows: vec![Configuration::default()] },
        ] {
            let additions = additions.clone();
            let own =
                Kept(DesignSpec { kind, additions, replications: 2, order: RunOrder::Blocked });
            let kept = serde_json::to_string(&own).unwrap();
            assert_eq!(serde_json::from_str::<Kept>(&kept).unwrap(), own, "{kept}");
        }
    }

    #[test]
    fn what_is_not_added_is_not_written() {
        let json = serde_json::to_value(DesignSpec::open()).unwrap();
        let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["type", "replications", "order"]);
        assert_eq!(serde_json::from_str::<Additions>("{}").unwrap(), Additions::default());
    }

    #[test]
    fn both_spellings_of_the_centre_are_read() {
        for word in ["\"face-centred\"", "\"face-centered\""] {
            assert_eq!(serde_json::from_str::<Face>(word).unwrap(), Face::FaceCentred);
        }
    }
}
