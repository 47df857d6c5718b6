//! The rows that a study's kind of design gives, before replication: one file a kind.
//!
//! Files named `..._rows` put a design of plain numbers, from the file of the same name, onto the
//! factors of a study.

pub(crate) mod box_behnken;
pub(crate) mod central_composite;
pub(crate) mod d_optimal;
pub(crate) mod d_optimal_rows;
pub(crate) mod fractional;
pub(crate) mod full;
pub(crate) mod latin_hypercube;
pub(crate) mod one_factor;
pub(crate) mod orthogonal_array;
pub(crate) mod orthogonal_array_rows;
pub(crate) mod plackett_burman;
pub(crate) mod response_surface;
pub(crate) mod sobol;
pub(crate) mod space_filling;
pub(crate) mod space_filling_rows;
pub(crate) mod table_rows;
pub(crate) mod two_level_rows;

use trainwright_study::{Configuration, DesignKind, Study};

use crate::design::Construction;
use crate::error::DesignError;
use crate::kinds::d_optimal_rows::Wanted;
use crate::kinds::full::full;
use crate::kinds::one_factor::one_factor;
use crate::kinds::orthogonal_array_rows::mixed;
use crate::kinds::plackett_burman::PartialAlias;
use crate::kinds::table_rows::table;
use crate::note::DesignNote;
use crate::two_level::blocks::Blocks;
use crate::two_level::fraction::TwoLevelFraction;

/// Rows with what is known about them.
pub(crate) struct Listed {
    pub(crate) kind: Construction,
    pub(crate) rows: Vec<Configuration>,
    pub(crate) fraction: Option<TwoLevelFraction>,
    pub(crate) partial_aliases: Vec<PartialAlias>,
    pub(crate) blocks: Option<Blocks>,
    pub(crate) centre_points: u32,
    pub(crate) notes: Vec<DesignNote>,
}

impl Listed {
    /// Rows of which nothing else is known.
    pub(crate) fn new(
        kind: Construction,
        rows: Vec<Configuration>,
        notes: Vec<DesignNote>,
    ) -> Self {
        let (fraction, partial_aliases, blocks) = (None, Vec::new(), None);
        Self { kind, rows, fraction, partial_aliases, blocks, centre_points: 0, notes }
    }

    /// The rows that a study asks for.
    pub(crate) fn of(study: &Study) -> Result<Self, DesignError> {
        let (kind, (rows, notes)) = match &study.design.kind {
            DesignKind::Open => (Construction::Open, (Vec::new(), Vec::new())),
            DesignKind::Fractional { .. } | DesignKind::PlackettBurman { .. } => {
                return two_level_rows::listed(study);
            }
            DesignKind::Full => {
                let (rows, notes) = full(study)?;
                return two_level_rows::with_additions(
                    study,
                    Self::new(Construction::Full, rows, notes),
                );
            }
            DesignKind::OneFactor { baseline } => {
                (Construction::OneFactor, one_factor(study, baseline)?)
            }
            DesignKind::Table { rows } => (Construction::Table, table(study, rows)?),
            DesignKind::CentralComposite { face, alpha, center_points } => {
                let rows =
                    response_surface::central_composite(study, *face, *alpha, *center_points)?;
                (Construction::CentralComposite, rows)
            }
            DesignKind::BoxBehnken { center_points } => {
                (Construction::BoxBehnken, response_surface::box_behnken(study, *center_points)?)
            }
            DesignKind::LatinHypercube { runs, spread } => (
                Construction::LatinHypercube,
                space_filling_rows::latin_hypercube_rows(study, *runs, *spread)?,
            ),
            DesignKind::Sobol { runs } => {
                (Construction::Sobol, space_filling_rows::sobol_rows(study, *runs)?)
            }
            DesignKind::DOptimal { runs, model, candidates, starts } => {
                let (runs, starts) = (*runs, *starts);
                let wanted = Wanted { runs, model: model.as_deref(), candidates, starts };
                return d_optimal_rows::listed(study, &wanted);
            }
            DesignKind::Mixed { runs } => (Construction::Mixed, mixed(study, *runs)?),
        };
        Ok(Self::new(kind, rows, notes))
    }
}
