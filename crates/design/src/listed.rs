//! The rows that a study's kind of design gives, before replication.

use trainwright_study::{Configuration, DesignKind, Study};

use crate::blocks::Blocks;
use crate::d_optimal_rows::{self, Wanted};
use crate::design::Kind;
use crate::error::DesignError;
use crate::fraction::TwoLevelFraction;
use crate::full::full;
use crate::mixed::mixed;
use crate::note::DesignNote;
use crate::one_factor::one_factor;
use crate::plackett_burman::PartialAlias;
use crate::table::table;
use crate::{response_surface, space_filling_rows, two_level};

/// Rows with what is known about them.
pub(crate) struct Listed {
    pub(crate) kind: Kind,
    pub(crate) rows: Vec<Configuration>,
    pub(crate) fraction: Option<TwoLevelFraction>,
    pub(crate) partial_aliases: Vec<PartialAlias>,
    pub(crate) blocks: Option<Blocks>,
    pub(crate) centre_points: u32,
    pub(crate) notes: Vec<DesignNote>,
}

impl Listed {
    /// Rows of which nothing else is known.
    pub(crate) fn new(kind: Kind, rows: Vec<Configuration>, notes: Vec<DesignNote>) -> Self {
        let (fraction, partial_aliases, blocks) = (None, Vec::new(), None);
        Self { kind, rows, fraction, partial_aliases, blocks, centre_points: 0, notes }
    }

    /// The rows that a study asks for.
    pub(crate) fn of(study: &Study) -> Result<Self, DesignError> {
        let (kind, (rows, notes)) = match &study.design.kind {
            DesignKind::Open => (Kind::Open, (Vec::new(), Vec::new())),
            DesignKind::Fractional { .. } | DesignKind::PlackettBurman { .. } => {
                return two_level::listed(study);
            }
            DesignKind::Full => {
                let (rows, notes) = full(study)?;
                return two_level::with_additions(study, Self::new(Kind::Full, rows, notes));
            }
            DesignKind::OneFactor { baseline } => (Kind::OneFactor, one_factor(study, baseline)?),
            DesignKind::Table { rows } => (Kind::Table, table(study, rows)?),
            DesignKind::CentralComposite { face, alpha, center_points } => {
                let rows =
                    response_surface::central_composite(study, *face, *alpha, *center_points)?;
                (Kind::CentralComposite, rows)
            }
            DesignKind::BoxBehnken { center_points } => {
                (Kind::BoxBehnken, response_surface::box_behnken(study, *center_points)?)
            }
            DesignKind::LatinHypercube { runs, spread } => (
                Kind::LatinHypercube,
                space_filling_rows::latin_hypercube_rows(study, *runs, *spread)?,
            ),
            DesignKind::Sobol { runs } => {
                (Kind::Sobol, space_filling_rows::sobol_rows(study, *runs)?)
            }
            DesignKind::DOptimal { runs, model, candidates, starts } => {
                let (runs, starts) = (*runs, *starts);
                let wanted = Wanted { runs, model: model.as_deref(), candidates, starts };
                return d_optimal_rows::listed(study, &wanted);
            }
            DesignKind::Mixed { runs } => (Kind::Mixed, mixed(study, *runs)?),
        };
        Ok(Self::new(kind, rows, notes))
    }
}
