//! What p-values and intervals promise, kept over many simulated samples.
//!
//! Seeds are fixed, so a run always gives the same answer. The bounds are those that chance alone
//! breaks once in a thousand seeds.

use std::collections::BTreeSet;

use trainwright_stats::{
    Columns, Fit, Normal, SumOfSquares, TermStructure, anderson_darling, bartlett, brown_forsythe,
    dagostino, fligner_killeen, kendall, kruskal_wallis, least_squares, levene, lilliefors,
    mann_whitney, one_way, paired_t, pearson, shapiro_wilk, spearman, tukey, welch, welch_t,
    wilcoxon,
};

/// Random numbers inside 0 to 1, and normal ones.
struct Random(trainwright_random::Random);

impl Random {
    fn new(seed: u64) -> Self {
        Self(trainwright_random::Random::new(seed))
    }

    fn uniform(&mut self) -> f64 {
        ((self.0.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| Normal.quantile(self.uniform()).unwrap()).collect()
    }

    fn groups(&mut self, sizes: &[usize]) -> Vec<Vec<f64>> {
        sizes.iter().map(|&size| self.normals(size)).collect()
    }
}

/// A fit of noise to two readings and a factor of three levels; nothing is there to find.
fn noise_fit(random: &mut Random, rows: usize) -> Fit {
    let level = |k: usize| (0..rows).map(|i| if i % 3 == k { 1.0 } else { 0.0 }).collect();
    let columns =
        vec![vec![1.0; rows], random.normals(rows), random.normals(rows), level(1), level(2)];
    least_squares(&Columns::new(columns).unwrap(), &random.normals(rows)).unwrap()
}

fn term_p(random: &mut Random, kind: SumOfSquares) -> f64 {
    let factors = (0..3).map(|k| BTreeSet::from([k])).collect();
    let terms = TermStructure { term_of_column: vec![0, 1, 2, 3, 3], factors };
    let rows = noise_fit(random, 31).anova(&terms, kind).unwrap();
    rows.iter().find(|row| row.term == Some(3)).unwrap().p.unwrap()
}

/// Simulated samples of a test.
const SAMPLES: usize = 1500;

/// One p-value of a sample in which the null hypothesis is true.
type PValue = fn(&mut Random) -> f64;

const TESTS: &[(&str, PValue)] = &[
    ("t of a coefficient", |r| noise_fit(r, 20).coefficients[1].unwrap().p.unwrap()),
    ("F of a fit", |r| noise_fit(r, 20).test.unwrap().p),
    ("type I", |r| term_p(r, SumOfSquares::Sequential)),
    ("type II", |r| term_p(r, SumOfSquares::Marginal)),
    ("type III", |r| term_p(r, SumOfSquares::Partial)),
    ("Breusch-Pagan", |r| noise_fit(r, 200).breusch_pagan().unwrap().p),
    ("Durbin-Watson", |r| noise_fit(r, 16).durbin_watson().unwrap().p_positive),
    ("Shapiro-Wilk of 10", |r| shapiro_wilk(&r.normals(10)).unwrap().p),
    ("Shapiro-Wilk of 50", |r| shapiro_wilk(&r.normals(50)).unwrap().p),
    ("Shapiro-Wilk of 500", |r| shapiro_wilk(&r.normals(500)).unwrap().p),
    ("Anderson-Darling", |r| anderson_darling(&r.normals(60)).unwrap().p),
    ("D'Agostino", |r| dagostino(&r.normals(200)).unwrap().p),
    ("Bartlett", |r| bartlett(&r.groups(&[12, 20, 30])).unwrap().p),
    ("Levene", |r| levene(&r.groups(&[60, 70, 80])).unwrap().p),
    ("Brown-Forsythe", |r| brown_forsythe(&r.groups(&[61, 71, 81])).unwrap().p),
    ("Fligner-Killeen", |r| fligner_killeen(&r.groups(&[61, 71, 81])).unwrap().p),
    ("one-way", |r| one_way(&r.groups(&[4, 5, 9])).unwrap().p),
    ("Welch", |r| {
        let mut groups = r.groups(&[10, 15, 20]);
        groups[1].iter_mut().for_each(|v| *v *= 3.0);
        welch(&groups).unwrap().p
    }),
    ("Kruskal-Wallis", |r| kruskal_wallis(&r.groups(&[20, 25, 30])).unwrap().p),
    ("Mann-Whitney", |r| mann_whitney(&r.normals(30), &r.normals(24)).unwrap().p),
    ("Wilcoxon", |r| wilcoxon(&r.normals(40), &r.normals(40)).unwrap().p),
    ("Welch's t", |r| {
        let wide: Vec<f64> = r.normals(9).iter().map(|v| 4.0 * v).collect();
        welch_t(&r.normals(14), &wide).unwrap().p
    }),
    ("paired t", |r| paired_t(&r.normals(7), &r.normals(7)).unwrap().p),
    ("Pearson", |r| pearson(&r.normals(9), &r.normals(9)).unwrap().p.unwrap()),
    ("Spearman", |r| spearman(&r.normals(40), &r.normals(40)).unwrap().p),
    ("Kendall", |r| kendall(&r.normals(60), &r.normals(60)).unwrap().p),
];

/// Largest gap between the p-values' distribution and the uniform one (Kolmogorov).
fn gap(mut p: Vec<f64>) -> f64 {
    p.sort_by(f64::total_cmp);
    let n = p.len() as f64;
    let above = |(i, p): (usize, &f64)| ((i + 1) as f64 / n - p).max(p - i as f64 / n);
    p.iter().enumerate().map(above).fold(0.0, f64::max)
}

#[test]
fn p_values_are_uniform_where_there_is_nothing_to_find() {
    // Kolmogorov's distribution is above 1.95 once in a thousand.
    let bound = 1.95 / (SAMPLES as f64).sqrt();
    let mut broken = Vec::new();
    for (number, (name, p_value)) in TESTS.iter().enumerate() {
        let mut random = Random::new(1000 + number as u64);
        let found = gap((0..SAMPLES).map(|_| p_value(&mut random)).collect());
        if found > bound {
            broken.push(format!("{name}: {found:.4}"));
        }
    }
    assert!(broken.is_empty(), "further than {bound:.4} from uniform: {broken:?}");
}

#[test]
fn lilliefors_rejects_as_often_as_it_says() {
    // Its p-values are a fit to the tail and hold below 0.1 only.
    let mut random = Random::new(7);
    let p: Vec<f64> = (0..SAMPLES).map(|_| lilliefors(&random.normals(40)).unwrap().p).collect();
    for level in [0.01, 0.05, 0.1] {
        let share = p.iter().filter(|p| **p < level).count() as f64 / SAMPLES as f64;
        let reach = 3.3 * (level * (1.0 - level) / SAMPLES as f64).sqrt();
        assert!((share - level).abs() < reach, "{share} of samples below {level}");
    }
}

/// Whether an interval of a sample holds the truth.
type Holds = fn(&mut Random) -> bool;

fn within([low, high]: [f64; 2], truth: f64) -> bool {
    low <= truth && truth <= high
}

const INTERVALS: &[(&str, usize, Holds)] = &[
    ("a coefficient", 3000, |r| {
        let x = r.normals(12);
        let y: Vec<f64> = x.iter().zip(r.normals(12)).map(|(x, e)| 2.0 - 0.7 * x + e).collect();
        let matrix = Columns::new(vec![vec![1.0; 12], x]).unwrap();
        let fit = least_squares(&matrix, &y).unwrap();
        within(fit.interval(1, 0.95).unwrap().unwrap(), -0.7)
    }),
    ("a correlation", 3000, |r| {
        let x = r.normals(60);
        let y: Vec<f64> = x.iter().zip(r.normals(60)).map(|(x, e)| 0.6 * x + 0.8 * e).collect();
        within(pearson(&x, &y).unwrap().interval.unwrap(), 0.6)
    }),
    ("a difference of means", 3000, |r| {
        let second: Vec<f64> = r.normals(11).iter().map(|v| 5.0 + 3.0 * v).collect();
        within(welch_t(&r.normals(16), &second).unwrap().interval, -5.0)
    }),
    ("a paired difference", 3000, |r| {
        let first = r.normals(8);
        let second: Vec<f64> = first.iter().zip(r.normals(8)).map(|(a, e)| a + 1.0 + e).collect();
        within(paired_t(&first, &second).unwrap().interval, -1.0)
    }),
    ("all of Tukey's differences together", 800, |r| {
        let groups: Vec<Vec<f64>> = r
            .groups(&[6, 6, 6, 6])
            .into_iter()
            .enumerate()
            .map(|(k, own)| own.iter().map(|v| v + k as f64).collect())
            .collect();
        let truth = |first: usize, second: usize| second as f64 - first as f64;
        let pairs = tukey(&groups).unwrap().pairs;
        pairs.iter().all(|own| within([own.low, own.high], truth(own.first, own.second)))
    }),
];

#[test]
fn intervals_of_95_percent_hold_the_truth_95_times_in_100() {
    for (number, (name, samples, holds)) in INTERVALS.iter().enumerate() {
        let mut random = Random::new(2000 + number as u64);
        let share = (0..*samples).filter(|_| holds(&mut random)).count() as f64 / *samples as f64;
        let reach = 3.3 * (0.95 * 0.05 / *samples as f64).sqrt();
        assert!((share - 0.95).abs() < reach, "{name}: {share} of {samples}");
    }
}
