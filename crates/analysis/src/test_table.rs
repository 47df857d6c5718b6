//! The statistical tests by name: what each needs, what it answers and what that means.
//!
//! `which_test.rs` lists the tests, `input.rs` takes samples, groups and pairs out of a table,
//! `outcome.rs` turns what a test gives into fields and words.

mod input;
mod outcome;
mod resampled;
mod which_test;

use serde_json::{Map, Value, json};
use trainwright_stats::{
    Location, StatsError, adjust, anderson_darling, bartlett, brown_forsythe, dagostino,
    fligner_killeen, jarque_bera, kendall, kruskal_wallis, lenth, levene, lilliefors, mann_whitney,
    one_way, paired_t, pearson, shapiro_wilk, spearman, tukey, two_level_effects, welch, welch_t,
    wilcoxon,
};

use crate::csv_table::Table;
use crate::error::AnalysisError;
use crate::fit::box_cox_of_table::box_cox_of_table;
use crate::model::formula::{Formula, TermOrder};
use input::{Groups, Pairs, Sample};
use outcome::Outcome;
use resampled::resampled;
use which_test::Needs;
pub use which_test::{AdjustmentMethod, StatsTest};

/// A test and the columns to make it on.
#[derive(Debug, Clone, Copy)]
pub struct TestQuestion<'a> {
    /// The test.
    pub test: StatsTest,
    /// Column of the values.
    pub column: Option<&'a str>,
    /// Column that names the groups; it must have been read as text.
    pub by: Option<&'a str>,
    /// Column of the values to compare with, row by row.
    pub with: Option<&'a str>,
    /// Equation of a Box-Cox power.
    pub formula: Option<&'a str>,
    /// How p-values are adjusted.
    pub method: Option<AdjustmentMethod>,
    /// What a bootstrap compares: means, if not said.
    pub statistic: Option<Location>,
    /// Whether a bootstrap compares by a ratio instead of a difference.
    pub ratio: bool,
    /// Seed of a bootstrap.
    pub seed: Option<u64>,
}

/// What a test gave.
#[derive(Debug, Clone, PartialEq)]
pub struct TestResult {
    /// The numbers by name, as the JSON contract has them.
    pub fields: Map<String, Value>,
    /// What they mean, sentence by sentence.
    pub meaning: Vec<String>,
}

impl TestQuestion<'_> {
    /// Makes the test on a table. Rows without a value are left out, and the result names their
    /// lines.
    ///
    /// # Errors
    /// A column that is missing or not numeric, options that the test does not use or lacks, or
    /// values on which it is not defined.
    pub fn answer(&self, table: &Table) -> Result<TestResult, AnalysisError> {
        self.check()?;
        let outcome = match self.test.needs() {
            Needs::Sample => of_sample(self, table),
            Needs::Groups | Needs::TwoGroups => of_groups(self, table),
            Needs::Pairs => of_pairs(self, table),
            Needs::TwoSamples => resampled(self, table),
            Needs::PValues => adjusted(self, table),
            Needs::Factorial => factorial(self, table),
            Needs::Formula => power(self, table),
        };
        Ok(outcome.map_err(|message| AnalysisError::NoTest { message })?.named(self.test))
    }
}

fn of_sample(request: &TestQuestion<'_>, table: &Table) -> Result<Outcome, String> {
    let sample = Sample::read(table, request.column.unwrap_or_default())?;
    let values = &sample.values;
    let null = format!("`{}` came from a normal distribution", sample.name);
    let base = |statistic: f64, p: f64| Outcome::test(statistic, p, &null).rows(&sample);
    let shape = |found: trainwright_stats::ShapeTest| {
        let outcome = base(found.statistic, found.p);
        outcome.with("skewness", found.skewness).with("kurtosis", found.kurtosis)
    };
    let found = match request.test {
        StatsTest::AndersonDarling => anderson_darling(values).map(|found| {
            let outcome = base(found.a2, found.p).with("adjusted", found.adjusted);
            if found.p_is_bound() { outcome.with_bound() } else { outcome }
        }),
        StatsTest::Lilliefors => lilliefors(values).map(|found| base(found.d, found.p)),
        StatsTest::JarqueBera => jarque_bera(values).map(shape),
        StatsTest::DAgostino => dagostino(values).map(shape),
        StatsTest::ShapiroWilk => shapiro_wilk(values).map(|found| base(found.w, found.p)),
        other => return Err(other.not_made_of("one column")),
    };
    found.map_err(|error| sample.words(&error))
}

fn of_groups(request: &TestQuestion<'_>, table: &Table) -> Result<Outcome, String> {
    let column = request.column.unwrap_or_default();
    let groups = Groups::read(table, column, request.by.unwrap_or_default())?;
    if request.test.needs() == Needs::TwoGroups && groups.names.len() != 2 {
        return Err(groups.not_two(request.test));
    }
    let values = &groups.values;
    let base = |statistic: f64, p: f64, null: &str| {
        let null = format!("all groups had the same {null} of `{column}`");
        Outcome::test(statistic, p, &null).groups(&groups)
    };
    let f_test = |found: trainwright_stats::OneWay, null: &str| {
        let outcome = base(found.f, found.p, null).with("df1", found.df1).with("df2", found.df2);
        outcome.with("ss_between", found.ss_between).with("ss_within", found.ss_within)
    };
    let found = match request.test {
        StatsTest::Bartlett => bartlett(values)
            .map(|found| base(found.statistic, found.p, "variance").with("df", found.df)),
        StatsTest::Levene => levene(values).map(|found| f_test(found, "variance")),
        StatsTest::BrownForsythe => brown_forsythe(values).map(|found| f_test(found, "variance")),
        StatsTest::Fligner => fligner_killeen(values)
            .map(|found| base(found.statistic, found.p, "variance").with("df", found.df)),
        StatsTest::Kruskal => kruskal_wallis(values).map(|found| {
            base(found.h, found.p, "distribution").with("df", found.df).method(found.method)
        }),
        StatsTest::Welch => welch(values).map(|found| {
            base(found.f, found.p, "mean").with("df1", found.df1).with("df2", found.df2)
        }),
        StatsTest::Tukey => tukey(values).map(|found| Outcome::tukey(&found, &groups)),
        StatsTest::WelchT => welch_t(&values[0], &values[1])
            .map(|found| base(found.t, found.p, "mean").t_test(&found)),
        StatsTest::MannWhitney => mann_whitney(&values[0], &values[1]).map(|found| {
            base(found.u, found.p, "distribution")
                .with("probability", found.probability)
                .with("shift", found.shift)
                .method(found.method)
        }),
        StatsTest::Anova => one_way(values).map(|found| f_test(found, "mean")),
        other => return Err(other.not_made_of("groups")),
    };
    found.map_err(|error| groups.words(&error))
}

fn of_pairs(request: &TestQuestion<'_>, table: &Table) -> Result<Outcome, String> {
    let names = (request.column.unwrap_or_default(), request.with.unwrap_or_default());
    let pairs = Pairs::read(table, names.0, names.1)?;
    let (x, y) = (&pairs.first, &pairs.second);
    let base = |statistic: f64, p: Option<f64>, null: &str| {
        let null = format!("`{}` and `{}` {null}", names.0, names.1);
        Outcome::maybe(statistic, p, &null).pairs(&pairs)
    };
    let unrelated = "had nothing to do with each other";
    let found = match request.test {
        StatsTest::Spearman => spearman(x, y).map(|found| {
            let outcome = base(found.rho, Some(found.p), unrelated).with("rho", found.rho);
            outcome.with("t", found.t).method(found.method)
        }),
        StatsTest::Kendall => kendall(x, y).map(|found| {
            let outcome = base(found.tau, Some(found.p), unrelated).with("tau", found.tau);
            outcome.with("z", found.z).with("s", found.s).method(found.method)
        }),
        StatsTest::PairedT => paired_t(x, y)
            .map(|found| base(found.t, Some(found.p), "had the same mean").t_test(&found)),
        StatsTest::Wilcoxon => wilcoxon(x, y).map(|found| {
            base(found.v, Some(found.p), "differed by chance alone")
                .with("zeros", found.zeros)
                .with("shift", found.shift)
                .method(found.method)
        }),
        StatsTest::Pearson => pearson(x, y).map(|found| {
            let [low, high] = [0, 1].map(|end| found.interval.map(|interval| interval[end]));
            let outcome = base(found.r, found.p, unrelated).with("r", found.r);
            outcome.with("t", found.t).with("ci_low", low).with("ci_high", high)
        }),
        other => return Err(other.not_made_of("pairs")),
    };
    found.map_err(|error| format!("columns `{}` and `{}`: {error}", names.0, names.1))
}

fn adjusted(request: &TestQuestion<'_>, table: &Table) -> Result<Outcome, String> {
    let sample = Sample::read_complete(table, request.column.unwrap_or_default())?;
    let method = request.method.unwrap_or(AdjustmentMethod::Holm);
    if let Some(row) = sample.values.iter().position(|p| !(0.0..=1.0).contains(p)) {
        let (line, value) = (table.line(row), sample.values[row]);
        return Err(format!("line {line}, column `{}`: {value} is no p-value", sample.name));
    }
    let found = adjust(&sample.values, method.into()).map_err(|error| sample.words(&error))?;
    let below = found.iter().filter(|p| **p < 0.05).count();
    let before = sample.values.iter().filter(|p| **p < 0.05).count();
    let words = format!(
        "{before} of {} p-values are below 0.05 as they stand, {below} after adjustment for their \
         number.",
        found.len()
    );
    Ok(Outcome::without_test(words).with("method", method.name()).with("adjusted", found))
}

fn factorial(request: &TestQuestion<'_>, table: &Table) -> Result<Outcome, String> {
    let sample = Sample::read_complete(table, request.column.unwrap_or_default())?;
    let words = |error: StatsError| sample.words(&error);
    let effects = two_level_effects(&sample.values).map_err(words)?;
    let margins = lenth(&effects).map_err(words)?;
    Ok(Outcome::lenth(&effects, &margins))
}

fn power(request: &TestQuestion<'_>, table: &Table) -> Result<Outcome, String> {
    let text = match (request.formula, request.column) {
        (Some(formula), _) => formula.to_owned(),
        (None, column) => format!("{} ~ 1", column.unwrap_or_default()),
    };
    let words = |error: AnalysisError| error.to_string();
    let formula = Formula::parse(&text, TermOrder::Formula).map_err(words)?;
    let (found, n) = box_cox_of_table(table, &formula).map_err(words)?;
    let outcome = Outcome::without_test(outcome::power_in_words(&found));
    let fields = json!({ "lambda": found.lambda, "low": found.low, "high": found.high, "n": n });
    Ok(outcome.with_all(fields).left_out_count(table.rows() - n))
}
