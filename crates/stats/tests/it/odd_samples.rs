//! Whatever the sample, a test gives proper numbers or an error.

use proptest::prelude::*;
use trainwright_stats::{
    StatsError, anderson_darling, bartlett, brown_forsythe, dagostino, fligner_killeen,
    jarque_bera, kendall, kruskal_wallis, lenth, levene, lilliefors, mann_whitney, one_way,
    paired_t, pearson, shapiro_wilk, spearman, tukey, two_level_effects, welch, welch_t, wilcoxon,
};

/// Values that tests stumble over: ties, zeros, extremes and what is no number.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => (-3..4i32).prop_map(f64::from),
        4 => -1.0..1.0f64,
        1 => prop::sample::select(vec![
            -0.0, 1e-99, 1e-160, 1e99, -1e99, 1e150, 1e15, 1e15 + 1.0, f64::NAN, f64::INFINITY,
            f64::MIN_POSITIVE,
        ]),
    ]
}

fn sample() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(value(), 0..14)
}

type Found = Result<(f64, f64), StatsError>;

/// Statistic and p-value of every test of one sample.
fn of_sample(x: &[f64]) -> Vec<Found> {
    vec![
        shapiro_wilk(x).map(|f| (f.w, f.p)),
        anderson_darling(x).map(|f| (f.a2, f.p)),
        lilliefors(x).map(|f| (f.d, f.p)),
        jarque_bera(x).map(|f| (f.statistic, f.p)),
        dagostino(x).map(|f| (f.statistic, f.p)),
        two_level_effects(x).map(|f| (f.iter().sum(), 0.0)),
        lenth(x).map(|f| (f.me + f.sme, 0.0)),
    ]
}

/// Statistic and p-value of every test of groups.
fn of_groups(groups: &[Vec<f64>]) -> Vec<Found> {
    let mut found = vec![
        one_way(groups).map(|f| (f.f, f.p)),
        levene(groups).map(|f| (f.f, f.p)),
        brown_forsythe(groups).map(|f| (f.f, f.p)),
        bartlett(groups).map(|f| (f.statistic, f.p)),
        fligner_killeen(groups).map(|f| (f.statistic, f.p)),
        kruskal_wallis(groups).map(|f| (f.h, f.p)),
        welch(groups).map(|f| (f.f + f.df2, f.p)),
    ];
    if let Ok(tukey) = tukey(groups) {
        found.extend(tukey.pairs.iter().map(|pair| Ok((pair.low + pair.high, pair.p))));
    }
    found
}

/// Statistic and p-value of every test of two samples.
fn of_two(x: &[f64], y: &[f64]) -> Vec<Found> {
    vec![
        pearson(x, y).map(|f| (f.r + f.t.unwrap_or(0.0), f.p.unwrap_or(0.0))),
        spearman(x, y).map(|f| (f.rho + f.t.unwrap_or(0.0), f.p)),
        kendall(x, y).map(|f| (f.tau + f.z, f.p)),
        welch_t(x, y).map(|f| (f.t + f.interval[0] + f.df, f.p)),
        paired_t(x, y).map(|f| (f.t + f.interval[1], f.p)),
        mann_whitney(x, y).map(|f| (f.u + f.shift.unwrap_or(0.0), f.p)),
        wilcoxon(x, y).map(|f| (f.v + f.shift.unwrap_or(0.0), f.p)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_sample_makes_a_number_that_is_not_one(x in sample(), y in sample(), z in sample()) {
        let shared = x.len().min(y.len());
        let all = [
            of_sample(&x),
            of_groups(&[x.clone(), y.clone()]),
            of_groups(&[x.clone(), y.clone(), z]),
            of_two(&x, &y),
            of_two(&x[..shared], &y[..shared]),
        ]
        .concat();
        for (place, (statistic, p)) in all.into_iter().flatten().enumerate() {
            prop_assert!(statistic.is_finite() && (0.0..=1.0).contains(&p), "{place}: {statistic} {p}");
        }
    }
}

#[test]
fn a_large_offset_costs_no_digits() {
    // Eighths survive an offset of 2^30 exactly, so both must give the same figures.
    let near: Vec<Vec<f64>> = [[1, 7, 4, 9, 3], [12, 5, 8, 11, 2], [6, 21, 3, 14, 30]]
        .map(|own| own.map(|v: i32| f64::from(v) / 8.0).to_vec())
        .into();
    let far: Vec<Vec<f64>> =
        near.iter().map(|own| own.iter().map(|v| v + 1_073_741_824.0).collect()).collect();
    let figures = |groups: &[Vec<f64>]| {
        [
            one_way(groups).unwrap().f,
            welch(groups).unwrap().f,
            levene(groups).unwrap().f,
            brown_forsythe(groups).unwrap().f,
            bartlett(groups).unwrap().statistic,
            welch_t(&groups[0], &groups[1]).unwrap().t,
            tukey(groups).unwrap().pairs[0].difference,
            jarque_bera(&groups.concat()).unwrap().statistic,
        ]
    };
    for (a, b) in figures(&near).into_iter().zip(figures(&far)) {
        assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
    }
}
