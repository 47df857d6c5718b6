//! Numbers in, numbers out: distributions, least squares, analysis of variance and tests.
//!
//! Nothing here knows of studies, factors or files. Input that cannot give an answer is a
//! [`StatsError`]; a quantity that the input leaves undefined (the standard error of a
//! saturated fit, say) is `None`; NaN is never returned.
//!
//! | room | holds |
//! |---|---|
//! | `hypothesis_tests` | one file a test, by what is asked: centres, spreads, relations, normality, residuals |
//! | `fits` | least squares, analysis of variance, Box-Cox, Lenth's margins |
//! | `distributions` | tails and quantiles |
//! | `intervals` | bootstrap, ratios of means |
//! | `linear_algebra` | the orthogonal decomposition that all fits stand on |
//!
//! Beside them: [`sample`] for one sample, `ranks`, `p_adjustment`, `power`.
//!
//! Read [`least_squares()`] first: analysis of variance, Box-Cox and the tests of residuals all
//! stand on its orthogonal decomposition.

mod distributions;
mod error;
mod fits;
mod hypothesis_tests;
mod intervals;
mod linear_algebra;
mod p_adjustment;
mod power;
mod ranks;
mod root;
pub mod sample;

pub use distributions::largest_t::LargestT;
pub use distributions::studentised_range::StudentisedRange;
pub use distributions::{ChiSquared, FisherF, Normal, StudentT};
pub use error::{StatsError, shown};
pub use fits::anova::{AnovaRow, SumOfSquares, TermStructure, anova};
pub use fits::box_cox::{BoxCox, LARGEST_POWER, box_cox, profile as box_cox_profile};
pub use fits::influence::Influence;
pub use fits::least_squares::{
    Coefficient, Fit, FitTest, WeightedSum, least_squares, least_squares_through_origin,
};
pub use fits::lenth::{Lenth, lenth};
pub use fits::non_negative::{NonNegative, non_negative_least_squares};
pub use fits::strata::{ErrorStrata, Stratum, StratumError, StratumTerm};
pub use fits::two_level_effects::two_level_effects;
pub use hypothesis_tests::centres::kruskal_wallis::{KruskalWallis, kruskal_wallis};
pub use hypothesis_tests::centres::mann_whitney::{MannWhitney, mann_whitney};
pub use hypothesis_tests::centres::one_way::{OneWay, one_way};
pub use hypothesis_tests::centres::t_test::{TTest, paired_t, welch_t};
pub use hypothesis_tests::centres::tukey::{Tukey, TukeyPair, tukey};
pub use hypothesis_tests::centres::welch::{Welch, welch};
pub use hypothesis_tests::centres::wilcoxon::{Wilcoxon, wilcoxon};
pub use hypothesis_tests::normality::anderson_darling::{AndersonDarling, anderson_darling};
pub use hypothesis_tests::normality::jarque_bera::{ShapeTest, dagostino, jarque_bera};
pub use hypothesis_tests::normality::lilliefors::{Lilliefors, lilliefors};
pub use hypothesis_tests::normality::shapiro_wilk::{ShapiroWilk, shapiro_wilk};
pub use hypothesis_tests::relations::kendall::{Kendall, kendall};
pub use hypothesis_tests::relations::pearson::{Correlation, pearson};
pub use hypothesis_tests::relations::spearman::{Spearman, spearman};
pub use hypothesis_tests::residuals::breusch_pagan::BreuschPagan;
pub use hypothesis_tests::residuals::durbin_watson::DurbinWatson;
pub use hypothesis_tests::residuals::lack_of_fit::{LackOfFit, lack_of_fit};
pub use hypothesis_tests::residuals::simulated::{simulated_p, simulated_p_of_groups};
pub use hypothesis_tests::spreads::equal_variance::{Bartlett, bartlett, brown_forsythe, levene};
pub use hypothesis_tests::spreads::fligner_killeen::{FlignerKilleen, fligner_killeen};
pub use intervals::bootstrap::{
    Bootstrap, BootstrapOptions, Contrast, Location, bootstrap_pairs, bootstrap_two_samples,
};
pub use intervals::ratio::{MeanRatio, paired_ratio, ratio_of_means};
pub use linear_algebra::orthogonal::{Columns, Orthogonal};
pub use linear_algebra::polynomial::orthogonal_polynomials;
pub use linear_algebra::reduced::{Intercept, Reduced};
pub use linear_algebra::symmetric::{Eigen, symmetric_eigen};
pub use linear_algebra::tall::Tall;
pub use p_adjustment::{PAdjustment, adjust, bonferroni, holm};
pub use power::{power, smallest_effect, smallest_noncentrality};
pub use ranks::TailMethod;
