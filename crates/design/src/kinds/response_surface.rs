//! Central composite and Box-Behnken designs of a study's factors.

use trainwright_study::{AxialDistance, Configuration, Face, Study};

use crate::coded_levels::{Repeats, configurations};
use crate::error::DesignError;
use crate::kinds::box_behnken::BoxBehnken;
use crate::kinds::central_composite::{Alpha, CentralComposite, CentrePoints, Star};
use crate::note::DesignNote;
use crate::rows::RowList;

/// Centre points with the cube and with the star, unless the study says otherwise.
const CENTRE: [u32; 2] = [4, 4];

pub(crate) type RowsAndNotes = (Vec<Configuration>, Vec<DesignNote>);

pub(crate) fn central_composite(
    study: &Study,
    face: Face,
    alpha: AxialDistance,
    centre: Option<[u32; 2]>,
) -> Result<RowsAndNotes, DesignError> {
    let alpha = match alpha {
        AxialDistance::Rotatable => Alpha::Rotatable,
        AxialDistance::Orthogonal => Alpha::Orthogonal,
    };
    let star = match face {
        Face::Circumscribed => Star::Circumscribed(alpha),
        Face::Inscribed => Star::Inscribed(alpha),
        Face::FaceCentred => Star::FaceCentred,
    };
    let [cube, own] = centre.unwrap_or(CENTRE);
    let centre = CentrePoints { cube: cube as usize, star: own as usize };
    let design = CentralComposite::new(study.factors.len(), star, centre)?;
    let axial = DesignNote::Axial { alpha: design.alpha() };
    let (rows, notes) = rows(study, "a central composite design", design.rows())?;
    Ok((rows, std::iter::once(axial).chain(notes).collect()))
}

pub(crate) fn box_behnken(study: &Study, centre: Option<u32>) -> Result<RowsAndNotes, DesignError> {
    let factors = study.factors.len();
    // A number of factors without a published design is refused below.
    let published = BoxBehnken::published_centre(factors).unwrap_or_default();
    let design = BoxBehnken::new(factors, centre.map_or(published, |own| own as usize))?;
    let coded: Vec<Vec<f64>> =
        design.rows().iter().map(|row| row.iter().map(|&own| f64::from(own)).collect()).collect();
    rows(study, "a Box-Behnken design", &coded)
}

/// Coded rows as configurations, without those that a constraint forbids.
fn rows(
    study: &Study,
    design: &'static str,
    coded: &[Vec<f64>],
) -> Result<RowsAndNotes, DesignError> {
    let (configurations, notes) = configurations(study, design, coded, Repeats::Refused)?;
    let mut list = RowList::new(study);
    for row in &configurations {
        list.push(row)?;
    }
    let (rows, dropped) = list.finish()?;
    Ok((rows, [notes, dropped].concat()))
}
