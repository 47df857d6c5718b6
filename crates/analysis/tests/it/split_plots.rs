//! Groups with errors of their own: every figure has the error of its stratum.
//!
//! The table holds three treatments between nine plots and four levels within each. Expected
//! figures: R 4.2.2, lme4, lmerTest and emmeans,
//! `m <- lmer(y ~ t*s + (1|plot), d); emm_options(lmer.df = "satterthwaite")`, then
//! `summary(pairs(emmeans(m, "t"), reverse = TRUE), infer = TRUE)`, `summary(emmeans(m, "s"))` and
//! `coef(summary(m))` with treatment contrasts; `aov(y ~ t*s + Error(plot), d)` agrees.

use trainwright_analysis::{
    Analysis, Formula, TableOptions, TermOrder, analyze_table, planned_power,
};
use trainwright_design::Design;
use trainwright_study::{Direction, Study};

use crate::support::{close, finding, table};

fn analysis() -> Analysis {
    let table = table("split_plot.csv", &[]);
    let formula = Formula::parse("y ~ t*s + Error(plot)", TermOrder::Formula).unwrap();
    let options = TableOptions { direction: Some(Direction::Minimize), ..Default::default() };
    analyze_table(&table, &formula, &options).unwrap()
}

#[test]
fn level_differences_have_the_error_of_their_stratum() {
    let found = analysis();
    let check = |factor: &str, a: &str, b: &str, expected: [f64; 4]| {
        let of = found.level_differences.iter().find(|own| own.factor == factor).unwrap();
        let named = |own: &&trainwright_analysis::LevelDifference| {
            own.a.to_string() == a && own.b.to_string() == b
        };
        let pair = of.pairs.iter().find(named).unwrap();
        for (own, want) in [pair.difference, pair.low, pair.high, pair.p].into_iter().zip(expected)
        {
            assert!((own - want).abs() < 2e-6, "{factor} {a} - {b}: {own} where {want}");
        }
    };
    check("t", "t2", "t1", [-1.953_85, -5.527_465_62, 1.619_765_62, 0.287_822_03]);
    check("t", "t3", "t1", [0.568_5, -3.005_115_62, 4.142_115_62, 0.879_431_68]);
    check("t", "t3", "t2", [2.522_35, -1.051_265_62, 6.095_965_62, 0.156_381_97]);
    check("s", "s2", "s1", [0.893_155_56, 0.027_244_91, 1.759_066_2, 0.041_856_48]);
    check("s", "s3", "s1", [1.736_777_78, 0.870_867_13, 2.602_688_43, 0.000_121_07]);
    check("s", "s4", "s3", [-1.040_422_22, -1.906_332_87, -0.174_511_57, 0.015_499_53]);
}

#[test]
fn means_mix_strata_by_satterthwaites_rule() {
    let found = analysis();
    let ends = |factor: &str, level: usize| {
        let of = found.main_effects.iter().find(|own| own.factor == factor).unwrap();
        (of.levels[level].ci_low.unwrap(), of.levels[level].ci_high.unwrap())
    };
    for (own, want) in [
        (ends("t", 0), (10.882_172_19, 14.912_561_14)),
        (ends("s", 2), (12.160_741_37, 14.520_836_41)),
    ] {
        close("low", own.0, want.0, 1e-6);
        close("high", own.1, want.1, 1e-6);
    }
}

#[test]
fn coefficients_mix_strata_by_satterthwaites_rule() {
    let found = analysis();
    let check = |name: &str, error: f64, p: f64| {
        let own = found.fit.coefficients.iter().find(|own| own.name == name).unwrap();
        close(name, own.std_error.unwrap(), error, 1e-6);
        close(name, own.p.unwrap(), p, 1e-5);
    };
    let names: Vec<&str> = found.fit.coefficients.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names.len(), 12, "{names:?}");
    check(names[0], 0.885_359_804_8, 9.327_229_14e-7);
    check(names[1], 1.252_087_843_5, 0.246_909_476_1);
    check(names[3], 0.530_660_771, 0.026_568_323_7);
    check(names[6], 0.750_467_659_4, 0.251_463_958_3);
    assert_eq!((found.fit.f, found.fit.p), (None, None));
}

#[test]
fn plots_are_neither_factors_nor_missing_repeats() {
    let found = analysis();
    assert_eq!(finding(&found, "no-replication"), None);
    assert_eq!(finding(&found, "unbalanced"), None);
    assert!(found.lenth.is_none());
    assert!(found.best.as_ref().unwrap().configuration.get("plot").is_none());
    let normality = found.checks.iter().find(|own| own.name == "normality").unwrap();
    assert!(normality.verdict.contains("between and within groups"), "{}", normality.verdict);
    let fit = found.checks.iter().find(|own| own.name == "lack-of-fit").unwrap();
    assert_eq!(fit.holds, None);
}

#[test]
fn six_whole_plots_leave_four_degrees_of_freedom() {
    let study = Study::from_text(
        "schema = 1\n[study]\nname = \"x\"\n[factors.a]\nlevels = [0, 1]\nhard_to_change = true\n\
         [factors.b]\nlevels = [0, 1]\n[factors.c]\nlevels = [0, 1, 2]\n[design]\n\
         type = \"full\"\nreplications = 3\n[analysis]\nterms = \"main\"\n[metrics.y]\n\
         objective = \"minimize\"\n",
    )
    .unwrap();
    let power = planned_power(&study, &Design::of(&study).unwrap()).unwrap().unwrap();
    let of = |name: &str| power.terms.iter().find(|own| own.term == name).unwrap();
    assert_eq!((power.n, of("a").df_residual, power.df_smallest), (36, Some(4), Some(4)));
    assert!(of("b").df_residual.unwrap() > 20);
    assert!(of("a").smallest_effect.unwrap() > 1.3 * of("b").smallest_effect.unwrap());
}
