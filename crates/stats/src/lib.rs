//! Numbers in, numbers out: distributions, least squares, analysis of variance and tests.
//!
//! Nothing here knows of studies, factors or files. Input that cannot give an answer is a
//! [`StatsError`]; a quantity that the input leaves undefined (the standard error of a
//! saturated fit, say) is `None`; NaN is never returned.
//!
//! Read [`mod@least_squares`] first: analysis of variance, Box-Cox and the tests of residuals all
//! stand on its orthogonal decomposition.

pub mod anova;
pub mod box_cox;
pub mod correlation;
pub mod distribution;
mod durbin_watson;
pub mod equal_variance;
mod error;
mod incomplete_beta;
mod influence;
pub mod lack_of_fit;
pub mod least_squares;
pub mod lenth;
pub mod one_way;
pub mod orthogonal;
pub mod p_adjustment;
pub mod power;
mod root;
pub mod sample;
pub mod shapiro_wilk;

pub use anova::{AnovaRow, SumOfSquares, TermStructure, anova};
pub use box_cox::{BoxCox, box_cox};
pub use correlation::{Correlation, pearson};
pub use distribution::{ChiSquared, FisherF, Normal, StudentT};
pub use durbin_watson::DurbinWatson;
pub use equal_variance::{Bartlett, bartlett, brown_forsythe, levene};
pub use error::StatsError;
pub use influence::Influence;
pub use lack_of_fit::{LackOfFit, lack_of_fit};
pub use least_squares::{Coefficient, Fit, FitTest, least_squares};
pub use lenth::{Lenth, lenth};
pub use one_way::{OneWay, one_way};
pub use orthogonal::{Columns, Orthogonal};
pub use p_adjustment::{PAdjustment, adjust};
pub use power::{power, smallest_effect};
pub use shapiro_wilk::{ShapiroWilk, shapiro_wilk};
