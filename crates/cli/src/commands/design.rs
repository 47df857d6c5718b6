//! `trainwright design`: arguments as questions about designs.

use trainwright::{
    Alpha, CentrePoints, DesignRequest, Error, FractionBy, FractionRequest, OptimalRequest, Spread,
    Star, terminal,
};
use trainwright_study::BlockSpec;

use crate::arguments::{AlphaArgument, DesignArguments, DesignKindArgument, FaceArgument};
use crate::output::{show, tell};

pub(crate) fn design(arguments: &DesignArguments) -> anyhow::Result<u8> {
    let (kind, allowed) = options_of(arguments.kind);
    allow_only(arguments, kind, allowed)?;
    let reply = trainwright::design(&request(arguments)?)?;
    show("design", arguments.json, &reply, terminal::design)?;
    Ok(0)
}

/// The name of a kind in a sentence, and the options that it takes.
fn options_of(kind: DesignKindArgument) -> (&'static str, &'static [&'static str]) {
    match kind {
        DesignKindArgument::Full => {
            ("full", &["--factors", "--levels", "--blocks", "--block-generators"])
        }
        DesignKindArgument::Fractional => (
            "fractional",
            &["--factors", "--runs", "--generators", "--blocks", "--block-generators"],
        ),
        DesignKindArgument::PlackettBurman => ("Plackett-Burman", &["--factors", "--runs"]),
        DesignKindArgument::CentralComposite => {
            ("central composite", &["--factors", "--face", "--alpha", "--center"])
        }
        DesignKindArgument::BoxBehnken => ("Box-Behnken", &["--factors", "--center"]),
        DesignKindArgument::LatinHypercube => {
            ("Latin hypercube", &["--factors", "--runs", "--seed", "--maximin"])
        }
        DesignKindArgument::Sobol => ("Sobol", &["--factors", "--runs"]),
        DesignKindArgument::Foldover => {
            ("foldover", &["--factors", "--runs", "--generators", "--on"])
        }
        DesignKindArgument::Mixed => ("mixed", &["--levels", "--runs"]),
        DesignKindArgument::DOptimal => {
            ("D-optimal", &["--factors", "--levels", "--runs", "--model", "--starts", "--seed"])
        }
        DesignKindArgument::Augment => {
            ("augmented", &["--data", "--columns", "--add", "--model", "--starts", "--seed"])
        }
    }
}

fn request(arguments: &DesignArguments) -> Result<DesignRequest, Error> {
    Ok(match arguments.kind {
        DesignKindArgument::Full => full(arguments)?,
        DesignKindArgument::Fractional => DesignRequest::Fraction {
            fraction: fraction(arguments)?,
            blocks: block_spec(arguments),
        },
        DesignKindArgument::PlackettBurman => {
            DesignRequest::PlackettBurman { factors: factors(arguments)?, runs: runs(arguments)? }
        }
        DesignKindArgument::CentralComposite => central_composite(arguments)?,
        DesignKindArgument::BoxBehnken => {
            DesignRequest::BoxBehnken { factors: factors(arguments)?, centre: centre(arguments)? }
        }
        DesignKindArgument::LatinHypercube => DesignRequest::LatinHypercube {
            factors: factors(arguments)?,
            runs: runs(arguments)?,
            seed: arguments.seed.unwrap_or(0),
            spread: if arguments.maximin { Spread::Maximin } else { Spread::Plain },
        },
        DesignKindArgument::Sobol => sobol(arguments)?,
        DesignKindArgument::Foldover => {
            DesignRequest::Foldover { fraction: fraction(arguments)?, on: arguments.on }
        }
        DesignKindArgument::Mixed => mixed(arguments)?,
        DesignKindArgument::DOptimal => d_optimal(arguments)?,
        DesignKindArgument::Augment => augment(arguments)?,
    })
}

fn full(arguments: &DesignArguments) -> Result<DesignRequest, Error> {
    if let Some(blocks) = block_spec(arguments) {
        let fraction = FractionRequest { factors: factors(arguments)?, by: FractionBy::Whole };
        return Ok(DesignRequest::Fraction { fraction, blocks: Some(blocks) });
    }
    match (arguments.factors, arguments.levels.as_slice()) {
        (Some(factors), []) => Ok(DesignRequest::TwoLevelFull { factors }),
        (None, levels @ [_, ..]) => Ok(DesignRequest::Full { levels: levels.to_vec() }),
        _ => Err(missing("either --factors 3 or --levels 2,2,3")),
    }
}

fn fraction(arguments: &DesignArguments) -> Result<FractionRequest, Error> {
    let by = match (arguments.runs, arguments.generators.as_slice()) {
        (Some(runs), []) => FractionBy::Runs(runs),
        (None, words @ [_, ..]) => FractionBy::Generators(words.to_vec()),
        _ => return Err(missing("either --runs 32 or --generators F=ABCDE")),
    };
    Ok(FractionRequest { factors: factors(arguments)?, by })
}

/// The blocks that are asked for.
fn block_spec(arguments: &DesignArguments) -> Option<BlockSpec> {
    match (arguments.blocks, arguments.block_generators.as_slice()) {
        (_, words @ [_, ..]) => Some(BlockSpec::Generators(words.to_vec())),
        (Some(count), []) => Some(BlockSpec::Count(count)),
        (None, []) => None,
    }
}

fn central_composite(arguments: &DesignArguments) -> Result<DesignRequest, Error> {
    let alpha = match arguments.alpha {
        None | Some(AlphaArgument::Rotatable) => Alpha::Rotatable,
        Some(AlphaArgument::Orthogonal) => Alpha::Orthogonal,
    };
    let star = match arguments.face {
        None | Some(FaceArgument::Circumscribed) => Star::Circumscribed(alpha),
        Some(FaceArgument::Inscribed) => Star::Inscribed(alpha),
        Some(FaceArgument::FaceCentred) => Star::FaceCentred,
    };
    if star == Star::FaceCentred && arguments.alpha.is_some() {
        tell("note: the axial points of a face-centred design lie at 1 whatever --alpha says");
    }
    let centre = centre_points(&arguments.center, star)?;
    Ok(DesignRequest::CentralComposite { factors: factors(arguments)?, star, centre })
}

/// A single number runs with the star: without blocks it is all the same where it runs.
fn centre_points(numbers: &[usize], star: Star) -> Result<CentrePoints, Error> {
    let in_blocks =
        matches!(star, Star::Circumscribed(Alpha::Orthogonal) | Star::Inscribed(Alpha::Orthogonal));
    match *numbers {
        [] => Ok(CentrePoints { cube: 4, star: 4 }),
        [_] if in_blocks => Err(missing(
            "two numbers of centre points, with the cube and with the star, such as --center 4,4, \
             because --alpha orthogonal depends on both",
        )),
        [star] => Ok(CentrePoints { cube: 0, star }),
        [cube, star] => Ok(CentrePoints { cube, star }),
        _ => {
            Err(Error::Request(format!("--center takes one or two numbers, not {}", numbers.len())))
        }
    }
}

fn centre(arguments: &DesignArguments) -> Result<Option<usize>, Error> {
    match *arguments.center {
        [] => Ok(None),
        [centre] => Ok(Some(centre)),
        _ => Err(Error::Request("--center takes one number for a Box-Behnken design".to_owned())),
    }
}

fn sobol(arguments: &DesignArguments) -> Result<DesignRequest, Error> {
    let runs = runs(arguments)?;
    let factors = factors(arguments)?;
    if !runs.is_power_of_two() {
        tell(&format!("note: {runs} is not a power of two, so the points are not quite balanced"));
    }
    Ok(DesignRequest::Sobol { factors, runs })
}

fn mixed(arguments: &DesignArguments) -> Result<DesignRequest, Error> {
    if arguments.levels.is_empty() {
        return Err(missing("--levels, such as --levels 2,3,3,3"));
    }
    let levels = arguments.levels.clone();
    Ok(DesignRequest::OrthogonalArray { levels, runs: arguments.runs })
}

fn d_optimal(arguments: &DesignArguments) -> Result<DesignRequest, Error> {
    let levels = match (arguments.factors, arguments.levels.as_slice()) {
        // Beyond 64 factors the combinations are refused, however many more there are.
        (Some(factors), []) => vec![2; factors.min(64)],
        (None, levels @ [_, ..]) => levels.to_vec(),
        _ => return Err(missing("either --factors 3 or --levels 2,3,3")),
    };
    let request = chosen_for(arguments, runs(arguments)?);
    Ok(DesignRequest::DOptimal { levels, request })
}

fn augment(arguments: &DesignArguments) -> Result<DesignRequest, Error> {
    let data = arguments.data.clone();
    let data = data.ok_or_else(|| missing("--data, such as --data rows.csv"))?;
    let add = arguments.add.ok_or_else(|| missing("--add, such as --add 4"))?;
    let (columns, request) = (arguments.columns.clone(), chosen_for(arguments, add));
    Ok(DesignRequest::Augment { data, columns, request })
}

fn chosen_for(arguments: &DesignArguments, runs: u32) -> OptimalRequest {
    OptimalRequest {
        model: arguments.model.clone().unwrap_or_else(|| "main + 2fi".to_owned()),
        runs,
        starts: arguments.starts.unwrap_or(10),
        seed: arguments.seed.unwrap_or(0),
    }
}

/// Refuses options that this kind of design would have to ignore.
fn allow_only(arguments: &DesignArguments, kind: &str, allowed: &[&str]) -> Result<(), Error> {
    let given = [
        ("--factors", arguments.factors.is_some()),
        ("--runs", arguments.runs.is_some()),
        ("--generators", !arguments.generators.is_empty()),
        ("--levels", !arguments.levels.is_empty()),
        ("--face", arguments.face.is_some()),
        ("--alpha", arguments.alpha.is_some()),
        ("--center", !arguments.center.is_empty()),
        ("--seed", arguments.seed.is_some()),
        ("--maximin", arguments.maximin),
        ("--blocks", arguments.blocks.is_some()),
        ("--block-generators", !arguments.block_generators.is_empty()),
        ("--on", arguments.on.is_some()),
        ("--model", arguments.model.is_some()),
        ("--starts", arguments.starts.is_some()),
        ("--data", arguments.data.is_some()),
        ("--columns", !arguments.columns.is_empty()),
        ("--add", arguments.add.is_some()),
    ];
    match given.iter().find(|(option, given)| *given && !allowed.contains(option)) {
        Some((option, _)) => Err(Error::Request(format!(
            "{option} does not apply to a {kind} design, which takes {}",
            allowed.join(", ")
        ))),
        None => Ok(()),
    }
}

fn factors(arguments: &DesignArguments) -> Result<usize, Error> {
    arguments.factors.ok_or_else(|| missing("--factors, such as --factors 6"))
}

fn runs(arguments: &DesignArguments) -> Result<u32, Error> {
    arguments.runs.ok_or_else(|| missing("--runs, such as --runs 16"))
}

fn missing(what: &str) -> Error {
    Error::Request(format!("this design needs {what}"))
}
