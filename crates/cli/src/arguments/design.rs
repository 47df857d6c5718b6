//! Arguments of `design`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct DesignArguments {
    /// Kind of design.
    #[arg(value_enum)]
    pub kind: DesignKindArgument,
    /// Number of factors.
    #[arg(long, value_name = "N")]
    pub factors: Option<usize>,
    /// Number of rows.
    #[arg(long, value_name = "N")]
    pub runs: Option<u32>,
    /// Generators of a fractional design, such as F=ABCDE.
    #[arg(long, value_delimiter = ',', value_name = "WORDS")]
    pub generators: Vec<String>,
    /// Numbers of levels of a full, mixed or D-optimal design, such as 2,2,3.
    #[arg(long, value_delimiter = ',', value_name = "COUNTS")]
    pub levels: Vec<usize>,
    /// Where the axial points of a central composite design lie [default: circumscribed].
    #[arg(long, value_enum)]
    pub face: Option<FaceArgument>,
    /// How far out they lie [default: rotatable].
    #[arg(long, value_enum)]
    pub alpha: Option<AlphaArgument>,
    /// Centre points: in all, or with the cube and with the star of a central composite design
    /// [default: 4,4; for box-behnken 3, from 5 factors on 6].
    #[arg(long, value_delimiter = ',', value_name = "N[,N]")]
    pub center: Vec<usize>,
    /// Number of blocks that a two-level design is divided into, a power of two.
    #[arg(long, value_name = "N")]
    pub blocks: Option<u32>,
    /// Effects given up for the blocks, such as ABC,BCD.
    #[arg(long, value_delimiter = ',', value_name = "WORDS")]
    pub block_generators: Vec<String>,
    /// Factor whose signs a foldover reverses [default: all of them].
    #[arg(long, value_name = "LETTER")]
    pub on: Option<char>,
    /// Terms that rows are chosen for, such as "main + 2fi", quadratic or "A*B + A^2"
    /// [default: main + 2fi].
    #[arg(long, value_name = "TERMS")]
    pub model: Option<String>,
    /// Random starts of the search for D-optimal rows [default: 10].
    #[arg(long, value_name = "N")]
    pub starts: Option<u32>,
    /// CSV file with the rows to add to, one column a factor.
    #[arg(long, value_name = "CSV")]
    pub data: Option<PathBuf>,
    /// Columns of it that are factors [default: all of them].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub columns: Vec<String>,
    /// Number of rows to add.
    #[arg(long, value_name = "N")]
    pub add: Option<u32>,
    /// Seed of a Latin hypercube or of D-optimal rows [default: 0].
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Swap coordinates until the closest points of a Latin hypercube are far apart.
    #[arg(long)]
    pub maximin: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DesignKindArgument {
    /// Every combination.
    Full,
    /// A regular fraction of the two-level combinations.
    Fractional,
    /// Main effects of many two-level factors in few runs.
    PlackettBurman,
    /// A cube with points on its axes, for curved surfaces.
    CentralComposite,
    /// Three levels without the corners of the cube, for curved surfaces.
    BoxBehnken,
    /// Points between 0 and 1, one in every stratum of every factor.
    LatinHypercube,
    /// Points between 0 and 1 of the Sobol sequence.
    Sobol,
    /// A fraction and itself with signs reversed.
    Foldover,
    /// An orthogonal array for factors with different numbers of levels.
    Mixed,
    /// The rows that fix the coefficients of a model best.
    DOptimal,
    /// Further rows for a table, chosen as for a D-optimal design.
    Augment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FaceArgument {
    /// Outside the cube.
    #[value(alias = "ccc")]
    Circumscribed,
    /// At -1 and +1, with the cube shrunk.
    #[value(alias = "cci")]
    Inscribed,
    /// On the faces of the cube.
    #[value(alias = "ccf", alias = "face-centered")]
    FaceCentred,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlphaArgument {
    /// Predictions are equally sure in all directions.
    Rotatable,
    /// Cube and star are orthogonal blocks.
    Orthogonal,
}
