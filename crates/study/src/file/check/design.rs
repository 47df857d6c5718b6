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

#[cfg(test)]
mod tests {
    use crate::file::check::tests::{check, faults_of, taken, text_with};
    use crate::{
        Additions, AxialDistance, BlockSpec, DesignKind, DesignSpec, Face, Foldover, RunOrder,
        Spread,
    };

    #[track_caller]
    fn refused(design: &str, expected: &[&str]) {
        check("type = \"full\"", design, expected);
    }

    fn design(keys: &str) -> DesignSpec {
        taken("type = \"full\"", keys).design
    }

    #[test]
    fn a_study_without_factors_asks_nothing() {
        let words = "the study has no factors \
                     (add a table such as [factors.lr] with levels = [0.001, 0.01])";
        let text = text_with("[factors.a]\nlevels = [1, 2]\n", "")
            .replace("[factors.b]\nlevels = [\"x\", \"y\"]\n", "");
        assert_eq!(faults_of(&text), [format!("4:2: {words}")]);
    }

    #[test]
    fn a_study_without_a_design_is_open() {
        assert_eq!(taken("[design]\ntype = \"full\"\n", "").design, DesignSpec::open());
    }

    #[test]
    fn every_row_runs_at_least_once() {
        refused("type = \"full\"\nreplications = 0", &["10:16: replications must be at least 1"]);
        let usual = design("type = \"full\"\nblocks = 2");
        assert_eq!((usual.replications, usual.order), (1, RunOrder::Randomized));
    }

    /// Keys with a value that reads, and the kinds of designs that they are for.
    const KEYS: [(&str, &str, &str); 17] = [
        ("runs", "8", "fractional plackett-burman latin-hypercube sobol d-optimal mixed"),
        ("resolution", "3", "fractional"),
        ("generators", "[\"b = a\"]", "fractional"),
        ("baseline", "{ a = 1 }", "one-factor"),
        ("rows", "[[1, \"x\"]]", "table"),
        ("file", "\"rows.csv\"", "table"),
        ("coded", "true", "table"),
        ("face", "\"inscribed\"", "central-composite"),
        ("alpha", "\"orthogonal\"", "central-composite"),
        ("center_points", "2", "full fractional plackett-burman central-composite box-behnken"),
        ("spread", "\"plain\"", "latin-hypercube"),
        ("foldover", "true", "fractional plackett-burman"),
        ("blocks", "2", "full fractional"),
        ("block_generators", "[\"AB\"]", "full fractional"),
        ("model", "\"main\"", "d-optimal"),
        ("candidates", "\"rows.csv\"", "d-optimal"),
        ("starts", "2", "d-optimal"),
    ];

    #[test]
    fn each_key_goes_with_its_kinds_of_designs_and_with_no_other() {
        let kinds = "one-factor full fractional plackett-burman central-composite box-behnken \
                     latin-hypercube sobol d-optimal mixed table";
        for kind in kinds.split(' ') {
            for (key, value, own) in KEYS {
                let text = format!("type = \"{kind}\"\n{key} = {value}");
                let faults = faults_of(&text_with("type = \"full\"", &text));
                let words =
                    format!(": `{key}` does not go with this type of design (leave it out)");
                let refused = faults.iter().any(|fault| fault.ends_with(&words));
                assert_eq!(refused, !own.split(' ').any(|own| own == kind), "{kind}: {faults:?}");
            }
        }
    }

    #[test]
    fn a_false_word_about_the_table_is_no_key_of_another_design() {
        assert_eq!(design("type = \"full\"\ncoded = false").kind, DesignKind::Full);
    }

    #[test]
    fn a_fraction_has_runs_or_generators() {
        refused(
            "type = \"fractional\"",
            &["8:2: a fractional design needs runs or generators \
               (add runs = 8 or generators = [\"c = a*b\"])"],
        );
        let generators = vec!["b = a".to_owned()];
        assert_eq!(
            design("type = \"fractional\"\ngenerators = [\"b = a\"]\nresolution = 2").kind,
            DesignKind::Fractional { runs: None, generators, resolution: Some(2) }
        );
    }

    #[test]
    fn designs_of_any_size_must_be_told_one() {
        for (kind, what) in [
            ("latin-hypercube", "a Latin hypercube"),
            ("sobol", "a Sobol design"),
            ("d-optimal", "a D-optimal design"),
        ] {
            let words = format!("8:2: {what} needs runs (add runs = 16)");
            refused(&format!("type = \"{kind}\""), &[&words]);
        }
        for kind in ["plackett-burman", "mixed"] {
            design(&format!("type = \"{kind}\""));
        }
    }

    #[test]
    fn centre_points_of_a_composite_design_are_of_the_star_unless_two_numbers_are_given() {
        let of = |points: &str| match design(&format!("type = \"central-composite\"\n{points}")) {
            DesignSpec { kind: DesignKind::CentralComposite { center_points, .. }, .. } => {
                center_points
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(of("center_points = 3"), Some([0, 3]));
        assert_eq!(of("center_points = [4, 2]"), Some([4, 2]));
        assert_eq!(of("alpha = \"orthogonal\""), None);
        let own = design("type = \"central-composite\"\ncenter_points = 3");
        assert_eq!(own.additions, Additions::default(), "they are no additions as well");
    }

    #[test]
    fn two_numbers_of_centre_points_are_told_once() {
        let words = "two numbers of centre points are for a central composite design \
                     (write one number)";
        for kind in ["full", "box-behnken"] {
            let text = format!("type = \"{kind}\"\ncenter_points = [1, 2]");
            refused(&text, &[&format!("10:17: {words}")]);
        }
    }

    #[test]
    fn what_a_design_leaves_open_has_usual_values() {
        let composite = DesignKind::CentralComposite {
            face: Face::Circumscribed,
            alpha: AxialDistance::Rotatable,
            center_points: None,
        };
        assert_eq!(design("type = \"central-composite\"").kind, composite);
        assert_eq!(
            design("type = \"latin-hypercube\"\nruns = 5").kind,
            DesignKind::LatinHypercube { runs: 5, spread: Spread::Maximin }
        );
        assert_eq!(
            design("type = \"d-optimal\"\nruns = 5").kind,
            DesignKind::DOptimal { runs: 5, model: None, candidates: Vec::new(), starts: 10 }
        );
    }

    #[test]
    fn a_search_starts_somewhere() {
        refused(
            "type = \"d-optimal\"\nruns = 5\nstarts = 0",
            &["11:10: starts must be at least 1"],
        );
    }

    #[test]
    fn a_foldover_is_whole_or_of_one_factor() {
        let of = |foldover: &str| {
            let keys = format!("type = \"fractional\"\nruns = 2\nfoldover = {foldover}");
            design(&keys).additions.foldover
        };
        assert_eq!(of("true"), Some(Foldover::Full));
        assert_eq!(of("false"), None);
        assert_eq!(of("\"b\""), Some(Foldover::On("b".to_owned())));
    }

    #[test]
    fn blocks_are_counted_or_generated() {
        let of = |blocks: &str| design(&format!("type = \"full\"\n{blocks}")).additions.blocks;
        assert_eq!(of("blocks = 2"), Some(BlockSpec::Count(2)));
        let generators = vec!["a*b".to_owned()];
        assert_eq!(of("block_generators = [\"a*b\"]"), Some(BlockSpec::Generators(generators)));
        assert_eq!(of("block_generators = []"), None);
    }

    #[test]
    fn a_baseline_names_levels_of_factors_in_their_own_spelling() {
        let kind = design("type = \"one-factor\"\nbaseline = { b = \"y\", a = 2.0 }").kind;
        let DesignKind::OneFactor { baseline } = kind else { panic!("{kind:?}") };
        assert_eq!(baseline.to_string(), "b=y a=2");
        refused(
            "type = \"one-factor\"\nbaseline = { a = 3, c = 1 }",
            &[
                "10:18: 3 is no level of `a` (its levels are 1, 2)",
                "10:25: `c` is no factor (there are a, b)",
            ],
        );
    }
}
