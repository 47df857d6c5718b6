//! Designs by themselves: the verb `design` with a dictionary of options.

use pyo3::prelude::*;
use serde::Deserialize;
use trainwright::{
    Alpha, CentrePoints, DesignRequest, FractionBy, FractionRequest, OptimalRequest, Spread, Star,
    terminal,
};
use trainwright_study::BlockSpec;

use crate::fault::{bad_input, json, raised};

/// A kind of design with its options.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Question {
    Full {
        factors: Option<usize>,
        levels: Option<Vec<usize>>,
        blocks: Option<Blocks>,
    },
    Fractional {
        factors: usize,
        runs: Option<u32>,
        generators: Option<Vec<String>>,
        blocks: Option<Blocks>,
    },
    Foldover {
        factors: usize,
        runs: Option<u32>,
        generators: Option<Vec<String>>,
        on: Option<char>,
    },
    PlackettBurman {
        factors: usize,
        runs: u32,
    },
    CentralComposite {
        factors: usize,
        face: Option<StarPlace>,
        alpha: Option<Reach>,
        center: Option<[usize; 2]>,
    },
    BoxBehnken {
        factors: usize,
        center: Option<usize>,
    },
    LatinHypercube {
        factors: usize,
        runs: u32,
        seed: Option<u64>,
        maximin: Option<bool>,
    },
    Sobol {
        factors: usize,
        runs: u32,
    },
    Mixed {
        levels: Vec<usize>,
        runs: Option<u32>,
    },
    DOptimal {
        levels: Vec<usize>,
        runs: u32,
        model: Option<String>,
        starts: Option<u32>,
        seed: Option<u64>,
    },
}

/// How many blocks, or the effects given up for them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Blocks {
    Count(u32),
    Effects(Vec<String>),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StarPlace {
    Circumscribed,
    Inscribed,
    FaceCentred,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reach {
    Rotatable,
    Orthogonal,
}

/// Makes a design: its options as JSON; rows and properties as JSON, and in words.
#[pyfunction]
pub(crate) fn design(py: Python<'_>, options: &str) -> PyResult<(String, String)> {
    let question: Question =
        serde_json::from_str(options).map_err(|error| bad_input(words(&error)))?;
    py.detach(|| {
        let reply = trainwright::design(&question.request()?).map_err(raised)?;
        Ok((json(&reply)?, terminal::design(&reply)))
    })
}

/// What is wrong with options, without a place in a JSON text that the user never saw.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let own = text.split(" at line ").next().unwrap_or(&text);
    format!("cannot build design: {own}")
}

impl Question {
    fn request(self) -> PyResult<DesignRequest> {
        Ok(match self {
            Self::Full { factors, levels, blocks } => full(factors, levels, blocks)?,
            Self::Fractional { factors, runs, generators, blocks } => DesignRequest::Fraction {
                fraction: fraction(factors, runs, generators)?,
                blocks: blocks.map(Blocks::spec),
            },
            Self::Foldover { factors, runs, generators, on } => {
                DesignRequest::Foldover { fraction: fraction(factors, runs, generators)?, on }
            }
            Self::PlackettBurman { factors, runs } => {
                DesignRequest::PlackettBurman { factors, runs }
            }
            Self::CentralComposite { factors, face, alpha, center } => {
                let [cube, outside] = center.unwrap_or([4, 4]);
                let centre = CentrePoints { cube, star: outside };
                DesignRequest::CentralComposite { factors, star: star(face, alpha), centre }
            }
            Self::BoxBehnken { factors, center } => {
                DesignRequest::BoxBehnken { factors, centre: center }
            }
            Self::LatinHypercube { factors, runs, seed, maximin } => {
                let spread = if maximin.unwrap_or(false) { Spread::Maximin } else { Spread::Plain };
                let seed = seed.unwrap_or(0);
                DesignRequest::LatinHypercube { factors, runs, seed, spread }
            }
            Self::Sobol { factors, runs } => DesignRequest::Sobol { factors, runs },
            Self::Mixed { levels, runs } => DesignRequest::OrthogonalArray { levels, runs },
            Self::DOptimal { levels, runs, model, starts, seed } => DesignRequest::DOptimal {
                levels,
                request: OptimalRequest {
                    model: model.unwrap_or_else(|| "main + 2fi".to_owned()),
                    runs,
                    starts: starts.unwrap_or(10),
                    seed: seed.unwrap_or(0),
                },
            },
        })
    }
}

impl Blocks {
    fn spec(self) -> BlockSpec {
        match self {
            Self::Count(count) => BlockSpec::Count(count),
            Self::Effects(effects) => BlockSpec::Generators(effects),
        }
    }
}

fn full(
    factors: Option<usize>,
    levels: Option<Vec<usize>>,
    blocks: Option<Blocks>,
) -> PyResult<DesignRequest> {
    match (factors, levels, blocks) {
        (Some(factors), None, None) => Ok(DesignRequest::TwoLevelFull { factors }),
        (None, Some(levels), None) => Ok(DesignRequest::Full { levels }),
        (Some(factors), None, Some(blocks)) => Ok(DesignRequest::Fraction {
            fraction: FractionRequest { factors, by: FractionBy::Whole },
            blocks: Some(blocks.spec()),
        }),
        _ => Err(bad_input("cannot build design: a full one takes either factors=3, perhaps with blocks=2, or levels=[2, 2, 3]".to_owned())),
    }
}

fn fraction(
    factors: usize,
    runs: Option<u32>,
    generators: Option<Vec<String>>,
) -> PyResult<FractionRequest> {
    let by = match (runs, generators) {
        (Some(runs), None) => FractionBy::Runs(runs),
        (None, Some(words)) => FractionBy::Generators(words),
        _ => {
            let words = "cannot build design: give either runs=32 or generators=[\"F=ABCDE\"]";
            return Err(bad_input(words.to_owned()));
        }
    };
    Ok(FractionRequest { factors, by })
}

fn star(face: Option<StarPlace>, alpha: Option<Reach>) -> Star {
    let alpha = match alpha {
        None | Some(Reach::Rotatable) => Alpha::Rotatable,
        Some(Reach::Orthogonal) => Alpha::Orthogonal,
    };
    match face {
        None | Some(StarPlace::Circumscribed) => Star::Circumscribed(alpha),
        Some(StarPlace::Inscribed) => Star::Inscribed(alpha),
        Some(StarPlace::FaceCentred) => Star::FaceCentred,
    }
}
