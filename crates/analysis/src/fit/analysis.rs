//! What an analysis says; field names are the contract of `analyze --json`.

mod best_configuration;
mod level_means;

use serde::Serialize;
use trainwright_stats::{BreuschPagan, DurbinWatson};
use trainwright_study::Level;

pub use best_configuration::{Alike, Best, PredictedBest};
pub use level_means::{
    CellMean, Interaction, LevelDifference, LevelDifferences, LevelMean, MainEffect,
};

use crate::bottleneck::ConfigurationBottleneck;
use crate::findings::Finding;
use crate::model::model_matrix::Coding;
use crate::questions::comparison::Comparison;
use crate::questions::surface::Surface;
use crate::wording::list;

/// A fitted equation with its tests, checks and findings.
#[derive(Debug, Clone, Serialize)]
pub struct Analysis {
    /// What is explained.
    pub response: String,
    /// The equation as written.
    pub formula: String,
    /// How numbers entered the equation.
    pub coding: Coding,
    /// Largest p-value called evidence.
    pub alpha: f64,
    /// Observations in the fit.
    pub n: usize,
    /// The fitted equation.
    pub fit: FitSummary,
    /// Analysis-of-variance tables, one a type asked for.
    pub anova: Vec<AnovaTable>,
    /// The terms tested each against the error of its stratum; empty without `Error(...)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strata: Vec<StratumTable>,
    /// Assumptions checked.
    pub checks: Vec<Check>,
    /// The most likely power of the response; absent where it is undefined.
    pub box_cox: Option<BoxCoxSummary>,
    /// What the data support, in words.
    pub findings: Vec<Finding>,
    /// Each term's effect from low to high.
    pub effects: Vec<Effect>,
    /// Terms that the equation lacks, where there is evidence that it lacks some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_terms: Vec<MissingTerm>,
    /// Lack of fit against pure error; absent without replication.
    pub lack_of_fit: Option<LackOfFitSummary>,
    /// Margins of Lenth's method; only without replication.
    pub lenth: Option<LenthSummary>,
    /// Effects by size against half-normal quantiles.
    pub half_normal: Vec<HalfNormal>,
    /// Residuals in the order of the observations.
    pub residuals: Vec<Residual>,
    /// Means by level of each factor.
    pub main_effects: Vec<MainEffect>,
    /// Means by pairs of levels, for each two-factor term.
    pub interactions: Vec<Interaction>,
    /// Which levels differ, for factors with more than two in balanced data.
    pub level_differences: Vec<LevelDifferences>,
    /// The best configuration seen; absent where no direction is asked for.
    pub best: Option<Best>,
    /// The same equation for the logarithm, where that is the better scale.
    pub log_scale: Option<LogScale>,
    /// Levels against their baselines, in one-factor studies.
    pub comparisons: Vec<Comparison>,
    /// The quadratic surface, where a study's design supports one.
    pub surface: Option<Surface>,
    /// What binds each configuration of a study, where its trials' use of the machine is known.
    pub bottlenecks: Vec<ConfigurationBottleneck>,
}

/// Figures of a fitted equation.
#[derive(Debug, Clone, Serialize)]
pub struct FitSummary {
    /// Share of the variation explained.
    pub r2: f64,
    /// The same, penalised for the number of columns.
    pub adj_r2: Option<f64>,
    /// Residual standard deviation.
    pub sigma: Option<f64>,
    /// F of the whole equation.
    pub f: Option<f64>,
    /// Its p-value.
    pub p: Option<f64>,
    /// Independent columns beside the intercept.
    pub df_model: usize,
    /// Residual degrees of freedom.
    pub df_residual: usize,
    /// Sum of squared residuals.
    pub ss_residual: f64,
    /// Gaussian log-likelihood.
    pub log_likelihood: Option<f64>,
    /// Akaike's criterion.
    pub aic: Option<f64>,
    /// Bayes criterion.
    pub bic: Option<f64>,
    /// Largest over smallest singular value of the model matrix.
    pub condition_number: f64,
    /// Serial correlation of the residuals; absent where it cannot be tested.
    pub durbin_watson: Option<DurbinWatsonSummary>,
    /// Whether the spread follows the equation's columns; absent where it cannot be tested.
    pub breusch_pagan: Option<BreuschPaganSummary>,
    /// One entry a column of the model matrix.
    pub coefficients: Vec<CoefficientRow>,
}

/// The Durbin-Watson test of the residuals in the order of the observations.
#[derive(Debug, Clone, Serialize)]
pub struct DurbinWatsonSummary {
    /// 2 without serial correlation, less where neighbours resemble each other.
    pub statistic: f64,
    /// One-sided p-value against neighbours that resemble each other.
    pub p: f64,
    /// Two-sided p-value.
    pub p_two_sided: f64,
    /// `exact` below 100 observations, `normal approximation` beyond.
    pub p_method: &'static str,
}

impl From<DurbinWatson> for DurbinWatsonSummary {
    fn from(found: DurbinWatson) -> Self {
        let p_method = found.method.name();
        let DurbinWatson { statistic, p_positive: p, p: p_two_sided, .. } = found;
        Self { statistic, p, p_two_sided, p_method }
    }
}

/// The Breusch-Pagan test in Koenker's form.
#[derive(Debug, Clone, Serialize)]
pub struct BreuschPaganSummary {
    /// The statistic, compared with chi-squared.
    pub statistic: f64,
    /// Its degrees of freedom.
    pub df: usize,
    /// Its p-value.
    pub p: f64,
}

impl From<BreuschPagan> for BreuschPaganSummary {
    fn from(found: BreuschPagan) -> Self {
        Self { statistic: found.statistic, df: found.df, p: found.p }
    }
}

/// One coefficient; all figures are absent where the column is aliased.
#[derive(Debug, Clone, Serialize)]
pub struct CoefficientRow {
    /// Name of the column.
    pub name: String,
    /// Estimate.
    pub estimate: Option<f64>,
    /// Standard error.
    pub std_error: Option<f64>,
    /// Estimate over standard error.
    pub t: Option<f64>,
    /// Two-sided p-value.
    pub p: Option<f64>,
    /// Lower end of the interval at the analysis' confidence.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Variance inflation.
    pub vif: Option<f64>,
    /// True where earlier columns already determine this one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub aliased: bool,
}

/// An analysis-of-variance table.
#[derive(Debug, Clone, Serialize)]
pub struct AnovaTable {
    /// 1, 2 or 3.
    #[serde(rename = "type")]
    pub kind: AnovaType,
    /// Terms in order, `Residuals` last.
    pub rows: Vec<AnovaLine>,
}

/// Type of the sums of squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "u8")]
pub enum AnovaType {
    /// Each term after those before it.
    One,
    /// Each term after all that do not contain it.
    Two,
    /// Each term after all others.
    Three,
}

impl From<AnovaType> for u8 {
    fn from(kind: AnovaType) -> Self {
        match kind {
            AnovaType::One => 1,
            AnovaType::Two => 2,
            AnovaType::Three => 3,
        }
    }
}

/// The part of an analysis of variance that has one error.
#[derive(Debug, Clone, Serialize)]
pub struct StratumTable {
    /// Groups between which the variation lies, or `Within`.
    pub stratum: String,
    /// Terms in order, `Residuals` last.
    pub rows: Vec<AnovaLine>,
}

/// One line of an analysis-of-variance table.
#[derive(Debug, Clone, Serialize)]
pub struct AnovaLine {
    /// Name of the term, `(Intercept)` or `Residuals`.
    pub term: String,
    /// Degrees of freedom.
    pub df: usize,
    /// Sum of squares.
    pub sum_sq: Option<f64>,
    /// Sum of squares over degrees of freedom.
    pub mean_sq: Option<f64>,
    /// Ratio to the residual mean square.
    pub f: Option<f64>,
    /// Its p-value.
    pub p: Option<f64>,
    /// The same, adjusted for the number of terms by Holm's method.
    pub p_adjusted: Option<f64>,
    /// Share of the total variation in percent.
    pub percent: Option<f64>,
    /// Share of what the other terms leave: SS / (SS + SS residual).
    pub partial_eta_sq: Option<f64>,
    /// Share of the variation less what chance gives:
    /// (SS - df MS residual) / (SS total + MS residual).
    pub omega_sq: Option<f64>,
    /// True where other terms already determine this one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub aliased: bool,
}

/// An assumption and whether the data contradict it.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// `normality`, `equal-variance`, `independence`, `lack-of-fit` or `balance`.
    pub name: &'static str,
    /// Test statistic.
    pub statistic: Option<f64>,
    /// Its p-value.
    pub p: Option<f64>,
    /// False where the data contradict the assumption, absent where it cannot be checked.
    pub holds: Option<bool>,
    /// What that means, in one sentence.
    pub verdict: String,
}

/// The most likely power of the response, with its 95 % interval.
#[derive(Debug, Clone, Serialize)]
pub struct BoxCoxSummary {
    /// 1 stands for no change, 0 for the logarithm.
    pub lambda: f64,
    /// Lower end; absent if beyond the powers searched.
    pub low: Option<f64>,
    /// Upper end; absent if beyond the powers searched.
    pub high: Option<f64>,
    /// Likelihood about the maximum; empty where only the power was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profile: Vec<PowerLikelihood>,
}

/// How likely a power of the response is.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PowerLikelihood {
    /// The power.
    pub lambda: f64,
    /// Its profile log-likelihood, without constants.
    pub log_likelihood: f64,
}

/// Change of the response from the low to the high level of a term's factors.
#[derive(Debug, Clone, Serialize)]
pub struct Effect {
    /// Name of the term.
    pub term: String,
    /// What going from low to high does on average, over all terms of the variable; absent for
    /// categories of several levels and for products of several columns.
    pub effect: Option<f64>,
    /// Lower end of its interval.
    pub ci_low: Option<f64>,
    /// Upper end of its interval.
    pub ci_high: Option<f64>,
    /// p-value of the term after all others, in coded units; of a variable whose powers or functions
    /// are terms too, that of all of them together.
    pub p: Option<f64>,
    /// The same, adjusted for the number of terms by Holm's method.
    pub p_adjusted: Option<f64>,
    /// Share of the variation in percent, by type II sums of squares; of a variable with its powers
    /// and functions, where they are terms too.
    pub percent: Option<f64>,
    /// The term with which it is told, where it is a power or function of that one's variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// Where the data cannot tell it from other effects: all that it may be, the likeliest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// Effects that are the same column in these runs and are taken for nothing, since no factor of
    /// theirs matters by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken_for_none: Vec<String>,
    /// Where the response turns between the ends, if the data are sure of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
}

impl Effect {
    /// The term, or every effect that it may be: `a:b or c:d`.
    pub fn told_as(&self) -> String {
        if self.candidates.is_empty() { self.term.clone() } else { self.candidates.join(" or ") }
    }

    /// A clause on the effects that are the same column: `, if b:c does nothing (...)`.
    pub fn taken_for_nothing(&self) -> String {
        match self.taken_for_none.as_slice() {
            [] => String::new(),
            [one] => format!(", if {one} does nothing (it is the same column in these runs)"),
            more => {
                format!(", if {} do nothing (they are the same column in these runs)", list(more))
            }
        }
    }
}

/// The level of a factor at which the predicted response is beyond that at both ends.
#[derive(Debug, Clone, Serialize)]
pub struct Turn {
    /// Whether it is the highest or the lowest there.
    pub kind: TurnKind,
    /// The level.
    pub level: Level,
    /// Predicted response there, averaged over the observations' other levels.
    pub mean: f64,
    /// How far it lies beyond the nearer of the two ends.
    pub beyond_both_ends: f64,
}

/// Which way a response turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TurnKind {
    /// It rises, then falls.
    Highest,
    /// It falls, then rises.
    Lowest,
}

impl TurnKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Highest => "highest",
            Self::Lowest => "lowest",
        }
    }

    /// How the mean there compares with others.
    pub fn compared(self) -> &'static str {
        match self {
            Self::Highest => "higher",
            Self::Lowest => "lower",
        }
    }
}

/// A term that the equation lacks.
#[derive(Debug, Clone, Serialize)]
pub struct MissingTerm {
    /// Its name, as a formula spells it.
    pub term: String,
    /// Share of the lack of fit that it would take up, in percent; where there are no repeats, of what
    /// the equation leaves.
    pub percent: f64,
    /// Terms that would take up exactly as much, so that the rows cannot tell which is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

/// Residual variation split into lack of fit and pure error.
#[derive(Debug, Clone, Serialize)]
pub struct LackOfFitSummary {
    /// Sum of squares of cell means about the equation.
    pub sum_sq: f64,
    /// Its degrees of freedom.
    pub df: usize,
    /// Sum of squares within cells.
    pub pure_error_sum_sq: f64,
    /// Its degrees of freedom.
    pub pure_error_df: usize,
    /// Ratio of mean squares.
    pub f: Option<f64>,
    /// Its p-value.
    pub p: Option<f64>,
    /// Terms that would take up most of it, where there is evidence of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_terms: Vec<MissingTerm>,
}

impl MissingTerm {
    /// The term, or all that it may be: `I(a^2) or I(b^2)`.
    pub fn told_as(&self) -> String {
        let all: Vec<&str> = [self.term.as_str()]
            .into_iter()
            .chain(self.others.iter().map(String::as_str))
            .collect();
        all.join(" or ")
    }
}

/// Lenth's margins.
#[derive(Debug, Clone, Serialize)]
pub struct LenthSummary {
    /// Pseudo standard error.
    pub pse: f64,
    /// Margin for one effect.
    pub me: f64,
    /// Margin for all effects together.
    pub sme: f64,
    /// Terms whose effect exceeds the simultaneous margin.
    pub active: Vec<String>,
}

/// A point of the half-normal plot.
#[derive(Debug, Clone, Serialize)]
pub struct HalfNormal {
    /// Name of the term.
    pub term: String,
    /// Size of its effect, without sign.
    pub effect: f64,
    /// Half-normal quantile of its rank.
    pub quantile: f64,
}

/// One observation about the fitted equation.
#[derive(Debug, Clone, Serialize)]
pub struct Residual {
    /// Which observation.
    pub label: String,
    /// Position in the run order, from 1.
    pub order: usize,
    /// Value on the equation.
    pub fitted: f64,
    /// Measured less fitted.
    pub residual: f64,
    /// Residual over its standard deviation.
    pub standardised: Option<f64>,
    /// The same with the deviation of the other observations.
    pub studentised: Option<f64>,
    /// Pull of the observation on its own fitted value.
    pub leverage: f64,
    /// Cook's distance.
    pub cook: Option<f64>,
    /// Normal quantile of the residual's rank.
    pub normal_quantile: f64,
}

/// The same equation for the logarithm of the response.
#[derive(Debug, Clone, Serialize)]
pub struct LogScale {
    /// Share of the variation explained.
    pub r2: f64,
    /// The same, penalised for the number of columns.
    pub adj_r2: Option<f64>,
    /// Effects on the logarithm.
    pub effects: Vec<Effect>,
    /// Shapiro-Wilk W of the residuals.
    pub shapiro_w: Option<f64>,
    /// Its p-value.
    pub shapiro_p: Option<f64>,
}
