//! Designs for curved surfaces.

use trainwright::Error;
use trainwright_design::{Alpha, BoxBehnken, CentralComposite, CentrePoints, Star};

use super::{allow_only, decimal_table, factors, letters, missing, refused, table};
use crate::arguments::{AlphaArgument, DesignArguments, FaceArgument};
use crate::output::{print, print_json, tell};

pub(super) fn central_composite(arguments: &DesignArguments) -> anyhow::Result<()> {
    let allowed = ["--factors", "--face", "--alpha", "--center"];
    allow_only(arguments, "central composite", &allowed)?;
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
    let design = CentralComposite::new(factors(arguments)?, star, centre)
        .map_err(|error| refused(&error))?;
    if arguments.json {
        return print_json("design", &design);
    }
    let table = decimal_table(&letters(design.factors().len()), design.rows());
    print(&format!("{table}\naxial points at {:.4} half edges of the cube\n", design.alpha()))
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

pub(super) fn box_behnken(arguments: &DesignArguments) -> anyhow::Result<()> {
    allow_only(arguments, "Box-Behnken", &["--factors", "--center"])?;
    let factors = factors(arguments)?;
    let centre = match *arguments.center {
        // A number of factors without a published design is refused below.
        [] => BoxBehnken::published_centre(factors).unwrap_or_default(),
        [centre] => centre,
        _ => {
            let message = "--center takes one number for a Box-Behnken design";
            return Err(Error::Request(message.into()).into());
        }
    };
    let design = BoxBehnken::new(factors, centre).map_err(|error| refused(&error))?;
    if arguments.json {
        print_json("design", &design)
    } else {
        print(&table(&letters(factors), design.rows()))
    }
}
