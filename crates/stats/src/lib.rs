//! Numbers in, numbers out: distributions, least squares, analysis of variance and tests.
//!
//! Nothing here knows of studies, factors or files. Input that cannot give an answer is a
//! [`StatsError`]; a quantity that the input leaves undefined (the standard error of a
//! saturated fit, say) is `None`; NaN is never returned.
//!
//! Read [`mod@least_squares`] first: analysis of variance, Box-Cox and the tests of residuals all
//! stand on its orthogonal decomposition.

mod anderson_darling;
pub mod anova;
pub mod bootstrap;
pub mod box_cox;
mod breusch_pagan;
mod condition;
pub mod correlation;
pub mod distribution;
mod durbin_watson;
mod durbin_watson_exact;
pub mod equal_variance;
mod error;
mod fligner_killeen;
mod incomplete_beta;
mod influence;
mod jarque_bera;
mod kendall;
mod kruskal_wallis;
pub mod lack_of_fit;
mod lanes;
pub mod least_squares;
pub mod lenth;
mod lilliefors;
mod mann_whitney;
mod non_negative;
pub mod one_way;
pub mod orthogonal;
pub mod p_adjustment;
mod polynomial;
pub mod power;
mod ranks;
mod ratio;
pub mod reduced;
mod root;
pub mod sample;
pub mod shapiro_wilk;
mod spearman;
mod strata;
mod studentised_range;
mod symmetric;
mod t_test;
mod tall;
mod tukey;
mod welch;
mod wilcoxon;
mod yates;

pub use anderson_darling::{AndersonDarling, anderson_darling};
pub use anova::{AnovaRow, SumOfSquares, TermStructure, anova};
pub use bootstrap::{
    Bootstrap, BootstrapOptions, Contrast, Location, bootstrap_pairs, bootstrap_two_samples,
};
pub use box_cox::{BoxCox, box_cox};
pub use breusch_pagan::BreuschPagan;
pub use correlation::{Correlation, pearson};
pub use distribution::{ChiSquared, FisherF, Normal, StudentT};
pub use durbin_watson::DurbinWatson;
pub use equal_variance::{Bartlett, bartlett, brown_forsythe, levene};
pub use error::StatsError;
pub use fligner_killeen::{FlignerKilleen, fligner_killeen};
pub use influence::Influence;
pub use jarque_bera::{ShapeTest, dagostino, jarque_bera};
pub use kendall::{Kendall, kendall};
pub use kruskal_wallis::{KruskalWallis, kruskal_wallis};
pub use lack_of_fit::{LackOfFit, lack_of_fit};
pub use least_squares::{Coefficient, Fit, FitTest, least_squares, least_squares_through_origin};
pub use lenth::{Lenth, lenth};
pub use lilliefors::{Lilliefors, lilliefors};
pub use mann_whitney::{MannWhitney, mann_whitney};
pub use non_negative::{NonNegative, non_negative_least_squares};
pub use one_way::{OneWay, one_way};
pub use orthogonal::{Columns, Orthogonal};
pub use p_adjustment::{PAdjustment, adjust, bonferroni, holm};
pub use polynomial::orthogonal_polynomials;
pub use power::{power, smallest_effect};
pub use ranks::TailMethod;
pub use ratio::{MeanRatio, paired_ratio, ratio_of_means};
pub use reduced::{Intercept, Reduced};
pub use shapiro_wilk::{ShapiroWilk, shapiro_wilk};
pub use spearman::{Spearman, spearman};
pub use strata::{Stratum, StratumTerm, strata};
pub use studentised_range::StudentisedRange;
pub use symmetric::{Eigen, symmetric_eigen};
pub use t_test::{TTest, paired_t, welch_t};
pub use tall::Tall;
pub use tukey::{Tukey, TukeyPair, tukey};
pub use welch::{Welch, welch};
pub use wilcoxon::{Wilcoxon, wilcoxon};
pub use yates::two_level_effects;
