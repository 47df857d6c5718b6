//! The tests by name, and the options that each needs.

use std::str::FromStr;

use trainwright_stats::PAdjustment;

use super::TestQuestion;
use crate::error::AnalysisError;

/// A statistical test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is documented by the function of `stats` it names")]
pub enum StatsTest {
    ShapiroWilk,
    AndersonDarling,
    Lilliefors,
    JarqueBera,
    DAgostino,
    Bartlett,
    Levene,
    BrownForsythe,
    Fligner,
    Kruskal,
    Welch,
    Anova,
    Tukey,
    WelchT,
    MannWhitney,
    PairedT,
    Wilcoxon,
    Bootstrap,
    Pearson,
    Spearman,
    Kendall,
    BoxCox,
    PAdjust,
    Lenth,
}

/// The data that a test works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// One column.
    Sample,
    /// One column and another that names the groups.
    Groups,
    /// The same with two groups.
    TwoGroups,
    /// Two columns, compared row by row.
    Pairs,
    /// Two groups, or two columns compared row by row.
    TwoSamples,
    /// One column of p-values.
    PValues,
    /// One column of responses in standard order.
    Factorial,
    /// A formula, or a column for a formula without terms.
    Formula,
}

impl StatsTest {
    const NAMED: [(&'static str, Self, Needs); 24] = [
        ("shapiro-wilk", Self::ShapiroWilk, Needs::Sample),
        ("anderson-darling", Self::AndersonDarling, Needs::Sample),
        ("lilliefors", Self::Lilliefors, Needs::Sample),
        ("jarque-bera", Self::JarqueBera, Needs::Sample),
        ("dagostino", Self::DAgostino, Needs::Sample),
        ("bartlett", Self::Bartlett, Needs::Groups),
        ("levene", Self::Levene, Needs::Groups),
        ("brown-forsythe", Self::BrownForsythe, Needs::Groups),
        ("fligner", Self::Fligner, Needs::Groups),
        ("kruskal", Self::Kruskal, Needs::Groups),
        ("welch", Self::Welch, Needs::Groups),
        ("anova", Self::Anova, Needs::Groups),
        ("tukey", Self::Tukey, Needs::Groups),
        ("welch-t", Self::WelchT, Needs::TwoGroups),
        ("mann-whitney", Self::MannWhitney, Needs::TwoGroups),
        ("paired-t", Self::PairedT, Needs::Pairs),
        ("wilcoxon", Self::Wilcoxon, Needs::Pairs),
        ("bootstrap", Self::Bootstrap, Needs::TwoSamples),
        ("pearson", Self::Pearson, Needs::Pairs),
        ("spearman", Self::Spearman, Needs::Pairs),
        ("kendall", Self::Kendall, Needs::Pairs),
        ("box-cox", Self::BoxCox, Needs::Formula),
        ("p-adjust", Self::PAdjust, Needs::PValues),
        ("lenth", Self::Lenth, Needs::Factorial),
    ];

    /// Names of all tests.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMED.into_iter().map(|(name, _, _)| name)
    }

    /// Name of the test, as the command line has it.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    pub(super) fn needs(self) -> Needs {
        self.entry().2
    }

    /// Why a test listed with the needs of others cannot be made as they are.
    pub(super) fn not_made_of(self, data: &str) -> String {
        format!("`{}` is listed as a test of {data}, but none is made under that name", self.name())
    }

    fn entry(self) -> (&'static str, Self, Needs) {
        let found = Self::NAMED.into_iter().find(|(_, test, _)| *test == self);
        found.expect("every test has a name")
    }
}

impl FromStr for StatsTest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::NAMED.into_iter().find(|(name, _, _)| *name == text);
        found.map(|(_, test, _)| test).ok_or_else(|| format!("there is no test `{text}`"))
    }
}

/// How p-values are adjusted for their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is documented by the method of `stats` it names")]
pub enum AdjustmentMethod {
    Bonferroni,
    Holm,
    Hochberg,
    Hommel,
    Bh,
    By,
}

impl AdjustmentMethod {
    const NAMED: [(&'static str, Self); 6] = [
        ("bonferroni", Self::Bonferroni),
        ("holm", Self::Holm),
        ("hochberg", Self::Hochberg),
        ("hommel", Self::Hommel),
        ("bh", Self::Bh),
        ("by", Self::By),
    ];

    /// Names of all methods.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMED.into_iter().map(|(name, _)| name)
    }

    pub(super) fn name(self) -> &'static str {
        let found = Self::NAMED.into_iter().find(|(_, method)| *method == self);
        found.expect("every method has a name").0
    }
}

impl FromStr for AdjustmentMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::NAMED.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, method)| method).ok_or_else(|| format!("there is no method `{text}`"))
    }
}

impl From<AdjustmentMethod> for PAdjustment {
    fn from(method: AdjustmentMethod) -> Self {
        match method {
            AdjustmentMethod::Bonferroni => Self::Bonferroni,
            AdjustmentMethod::Holm => Self::Holm,
            AdjustmentMethod::Hochberg => Self::Hochberg,
            AdjustmentMethod::Hommel => Self::Hommel,
            AdjustmentMethod::Bh => Self::BenjaminiHochberg,
            AdjustmentMethod::By => Self::BenjaminiYekutieli,
        }
    }
}

impl TestQuestion<'_> {
    /// Refuses options that the test lacks, and those that it would not look at.
    ///
    /// # Errors
    /// The first such option, by its name on the command line.
    pub fn check(&self) -> Result<(), AnalysisError> {
        let given = [
            ("--column", self.column.is_some()),
            ("--by", self.by.is_some()),
            ("--with", self.with.is_some()),
            ("--formula", self.formula.is_some()),
            ("--method", self.method.is_some()),
            ("--statistic", self.statistic.is_some()),
            ("--ratio", self.ratio),
            ("--seed", self.seed.is_some()),
        ];
        let (needed, allowed): (&[(&str, &str)], &[&str]) = match self.test.needs() {
            Needs::Sample | Needs::Factorial => (&[COLUMN], &[]),
            Needs::PValues => (&[COLUMN], &["--method"]),
            Needs::Groups | Needs::TwoGroups => (&[COLUMN, BY], &[]),
            Needs::Pairs => (&[COLUMN, WITH], &[]),
            Needs::TwoSamples if self.with.is_some() => (&[COLUMN, WITH], &RESAMPLING),
            Needs::TwoSamples => (&[COLUMN, BY_OR_WITH], &RESAMPLING),
            Needs::Formula if self.formula.is_some() => (&[], &["--formula"]),
            Needs::Formula => (&[FORMULA], &[]),
        };
        let name = self.test.name();
        for (option, is_given) in given {
            let wanted = needed.iter().find(|(needed, _)| needed.starts_with(option));
            match (wanted, is_given) {
                (Some((example, why)), false) => {
                    let message = format!("`stats {name}` needs {example}: {why}");
                    return Err(AnalysisError::TestOptions { message });
                }
                (None, true) if !allowed.contains(&option) => {
                    let message = format!("`stats {name}` makes no use of {option}");
                    return Err(AnalysisError::TestOptions { message });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

const COLUMN: (&str, &str) = ("--column NAME", "the column of the values");
const BY: (&str, &str) = ("--by NAME", "the column that names the groups");
const WITH: (&str, &str) = ("--with NAME", "the column to compare with, row by row");
const BY_OR_WITH: (&str, &str) =
    ("--by NAME", "the column that names the two groups, or --with NAME for pairs in each row");
const RESAMPLING: [&str; 3] = ["--statistic", "--ratio", "--seed"];
const FORMULA: (&str, &str) =
    ("--column NAME", "the column of the values, or --formula 'y ~ a*b' with its factors");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_is_found_by_its_name() {
        for name in StatsTest::names() {
            assert_eq!(name.parse::<StatsTest>().map(StatsTest::name), Ok(name));
        }
        for name in AdjustmentMethod::names() {
            assert_eq!(name.parse::<AdjustmentMethod>().map(AdjustmentMethod::name), Ok(name));
        }
        assert!("students".parse::<StatsTest>().is_err());
    }
}
