//! Rules about the design table.

use super::{Checker, at};
use crate::file::draft::{CenterDraft, DesignDraft, DesignKindDraft, FoldoverDraft};
use crate::{Additions, BlockSpec, Configuration, DesignKind, DesignSpec, Factor, Foldover};

/// Random starts of the search for a D-optimal design, unless the study says otherwise.
const STARTS: u32 = 10;

impl Checker<'_> {
    pub(super) fn design(
        &mut self,
        draft: Option<DesignDraft>,
        factors: &[Factor],
    ) -> Option<DesignSpec> {
        if factors.is_empty() {
            let help = "add a table such as [factors.lr] with levels = [0.001, 0.01]";
            self.fault(at!["design"], "the study has no factors", Some(help));
        }
        let Some(draft) = draft else { return Some(DesignSpec::open()) };
        if draft.replications == 0 {
            self.fault(at!["design", "replications"], "replications must be at least 1", None);
        }
        self.keys_that_do_not_fit(&draft);
        let additions = self.additions(&draft);
        let (order, replications) = (draft.order, draft.replications);
        let kind = self.design_kind(draft, factors)?;
        Some(DesignSpec { kind, additions, replications, order })
    }

    fn design_kind(&mut self, draft: DesignDraft, factors: &[Factor]) -> Option<DesignKind> {
        Some(match draft.kind {
            DesignKindDraft::Full => DesignKind::Full,
            DesignKindDraft::OneFactor => {
                DesignKind::OneFactor { baseline: self.baseline(&draft, factors) }
            }
            DesignKindDraft::Fractional => {
                if draft.runs.is_none() && draft.generators.is_empty() {
                    let help = "add runs = 8 or generators = [\"c = a*b\"]";
                    self.fault(
                        at!["design"],
                        "a fractional design needs runs or generators",
                        Some(help),
                    );
                }
                DesignKind::Fractional {
                    runs: draft.runs,
                    generators: draft.generators,
                    resolution: draft.resolution,
                }
            }
            DesignKindDraft::PlackettBurman => DesignKind::PlackettBurman { runs: draft.runs },
            DesignKindDraft::CentralComposite => DesignKind::CentralComposite {
                face: draft.face.unwrap_or_default(),
                alpha: draft.alpha.unwrap_or_default(),
                center_points: draft.center_points.map(|centre| match centre {
                    CenterDraft::All(star) => [0, star],
                    CenterDraft::CubeAndStar(both) => both,
                }),
            },
            DesignKindDraft::BoxBehnken => {
                DesignKind::BoxBehnken { center_points: self.one_center_count(&draft) }
            }
            DesignKindDraft::LatinHypercube => DesignKind::LatinHypercube {
                runs: self.runs(&draft, "a Latin hypercube")?,
                spread: draft.spread.unwrap_or_default(),
            },
            DesignKindDraft::Sobol => {
                DesignKind::Sobol { runs: self.runs(&draft, "a Sobol design")? }
            }
            DesignKindDraft::DOptimal => self.d_optimal(draft, factors)?,
            DesignKindDraft::Mixed => DesignKind::Mixed { runs: draft.runs },
            DesignKindDraft::Table => DesignKind::Table { rows: self.table(&draft, factors)? },
        })
    }

    fn d_optimal(&mut self, draft: DesignDraft, factors: &[Factor]) -> Option<DesignKind> {
        let runs = self.runs(&draft, "a D-optimal design");
        let starts = draft.starts.unwrap_or(STARTS);
        if starts == 0 {
            self.fault(at!["design", "starts"], "starts must be at least 1", None);
        }
        let candidates = match &draft.candidates {
            Some(file) => self.file_rows(at!["design", "candidates"], file, false, factors)?,
            None => Vec::new(),
        };
        Some(DesignKind::DOptimal { runs: runs?, model: draft.model, candidates, starts })
    }

    fn runs(&mut self, draft: &DesignDraft, what: &str) -> Option<u32> {
        if draft.runs.is_none() {
            self.fault(at!["design"], format!("{what} needs runs"), Some("add runs = 16"));
        }
        draft.runs
    }

    fn one_center_count(&mut self, draft: &DesignDraft) -> Option<u32> {
        match draft.center_points? {
            CenterDraft::All(count) => Some(count),
            CenterDraft::CubeAndStar(_) => {
                let message = "two numbers of centre points are for a central composite design";
                self.fault(at!["design", "center_points"], message, Some("write one number"));
                None
            }
        }
    }

    /// What is added to the rows of a two-level design.
    fn additions(&mut self, draft: &DesignDraft) -> Additions {
        use DesignKindDraft::{BoxBehnken, CentralComposite};
        let own_centre = matches!(draft.kind, BoxBehnken | CentralComposite);
        let centre_points =
            if own_centre { None } else { self.one_center_count(draft) }.unwrap_or_default();
        let foldover = match &draft.foldover {
            None | Some(FoldoverDraft::Full(false)) => None,
            Some(FoldoverDraft::Full(true)) => Some(Foldover::Full),
            Some(FoldoverDraft::On(factor)) => Some(Foldover::On(factor.clone())),
        };
        let blocks = match (draft.blocks, draft.block_generators.as_slice()) {
            (None, []) => None,
            (Some(count), []) => Some(BlockSpec::Count(count)),
            (None, generators) => Some(BlockSpec::Generators(generators.to_vec())),
            (Some(_), _) => {
                let message = "`blocks` and `block_generators` are both there";
                self.fault(at!["design", "blocks"], message, Some("leave one of them out"));
                None
            }
        };
        Additions { centre_points, foldover, blocks }
    }

    fn keys_that_do_not_fit(&mut self, draft: &DesignDraft) {
        use DesignKindDraft::{
            BoxBehnken, CentralComposite, DOptimal, Fractional, Full, LatinHypercube, Mixed,
            OneFactor, PlackettBurman, Sobol, Table,
        };
        let sized = [Fractional, PlackettBurman, LatinHypercube, Sobol, DOptimal, Mixed];
        let centred = [Full, Fractional, PlackettBurman, CentralComposite, BoxBehnken];
        let keys: [(&str, bool, &[DesignKindDraft]); 17] = [
            ("runs", draft.runs.is_some(), &sized),
            ("resolution", draft.resolution.is_some(), &[Fractional]),
            ("generators", !draft.generators.is_empty(), &[Fractional]),
            ("baseline", !draft.baseline.0.is_empty(), &[OneFactor]),
            ("rows", draft.rows.is_some(), &[Table]),
            ("file", draft.file.is_some(), &[Table]),
            ("coded", draft.coded, &[Table]),
            ("face", draft.face.is_some(), &[CentralComposite]),
            ("alpha", draft.alpha.is_some(), &[CentralComposite]),
            ("center_points", draft.center_points.is_some(), &centred),
            ("spread", draft.spread.is_some(), &[LatinHypercube]),
            ("foldover", draft.foldover.is_some(), &[Fractional, PlackettBurman]),
            ("blocks", draft.blocks.is_some(), &[Full, Fractional]),
            ("block_generators", !draft.block_generators.is_empty(), &[Full, Fractional]),
            ("model", draft.model.is_some(), &[DOptimal]),
            ("candidates", draft.candidates.is_some(), &[DOptimal]),
            ("starts", draft.starts.is_some(), &[DOptimal]),
        ];
        for (key, present, kinds) in keys {
            if present && !kinds.contains(&draft.kind) {
                let message = format!("`{key}` does not go with this type of design");
                self.fault(at!["design", key], message, Some("leave it out"));
            }
        }
    }

    fn baseline(&mut self, draft: &DesignDraft, factors: &[Factor]) -> Configuration {
        let mut pairs = Vec::new();
        for (name, level) in &draft.baseline.0 {
            let place = at!["design", "baseline", name];
            match factors.iter().find(|factor| &factor.name == name) {
                None => {
                    let names = factors.iter().map(|factor| factor.name.as_str());
                    self.unknown_name(place, format!("`{name}` is no factor"), name, names);
                }
                Some(factor) => match factor.level(level) {
                    Some(level) => pairs.push((name.clone(), level.clone())),
                    None => self.no_level(place, level, factor),
                },
            }
        }
        Configuration::new(pairs)
    }
}
