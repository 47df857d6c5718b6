//! Findings about fitted equations.

use super::{CatalogueEntry, entry};
use crate::findings::Severity::{Info, Warning};

const MONTGOMERY: &str = "Montgomery, Design and Analysis of Experiments, 8th edition";

pub(super) const ENTRIES: &[CatalogueEntry] = &[
    entry(
        "effect-ranking",
        Info,
        "Which terms matter, by their share of the variation, with the change from low to high and \
         the p-value of each, allowing for the number of terms.",
        "Act on the first ones; leave the settings without evidence at whatever is cheapest.",
        "Box, Hunter and Hunter, Statistics for Experimenters, 2nd edition, chapter 5",
    ),
    entry(
        "nothing-matters",
        Info,
        "No term shows an effect that can be told from noise.",
        "Choose by cost, or repeat more and widen the levels if a difference would matter to you.",
        "Montgomery, Design and Analysis of Experiments, 8th edition, section 3.7",
    ),
    entry(
        "curves-allowed",
        Info,
        "Numeric factors with three or more levels enter with polynomials of their levels, so that a \
         peak between the ends is seen; says up to which degree, and what products with other \
         factors hold.",
        "Nothing; write `terms` as a formula, such as `lr + batch`, to fit straight lines instead.",
        "Montgomery, Design and Analysis of Experiments, 8th edition, section 3.3.3",
    ),
    entry(
        "small-effect",
        Info,
        "A term is surely there by its p-value but explains less than 1 % of the variation.",
        "Do not let a small p-value stand for a large effect; look at the interval.",
        "Wasserstein and Lazar, The ASA's statement on p-values, American Statistician 70, 2016",
    ),
    entry(
        "type-one-order",
        Info,
        "The terms overlap, so that a type I table depends on their order and judges some terms \
         otherwise than type II does.",
        "Read type II, or make the design balanced.",
        "Langsrud, ANOVA for unbalanced data, Statistics and Computing 13, 2003",
    ),
    entry(
        "aliased-terms",
        Warning,
        "Terms cannot be told apart from earlier ones in these data and have no estimate.",
        "Drop them from the equation, or run the fold-over that separates them.",
        "Box, Hunter and Hunter, Statistics for Experimenters, 2nd edition, chapter 6",
    ),
    entry(
        "optimum-at-edge",
        Info,
        "The best value lies at the edge of what was tried, so a better one may lie beyond.",
        "Study levels beyond the edge before calling it the optimum.",
        "Myers, Montgomery and Anderson-Cook, Response Surface Methodology, 4th edition, chapter 5",
    ),
    entry(
        "residuals-not-normal",
        Warning,
        "A small p-value of Shapiro and Wilk's test is evidence against normal residuals.",
        "Take intervals and p-values as approximate; try the logarithm if `log-scale` says so.",
        "Shapiro and Wilk, Biometrika 52, 1965",
    ),
    entry(
        "unequal-variances",
        Warning,
        "A small p-value is evidence that the spread differs: by Brown and Forsythe's test of \
         cells of three runs and more, by the distances from the mean of small cells, or of pairs, \
         between the levels of factors, or by the residuals. Of small samples the p-value is simulated.",
        "Transform the response, or compare means by Welch's test.",
        "Brown and Forsythe, Journal of the American Statistical Association 69, 1974",
    ),
    entry(
        "dependent-residuals",
        Warning,
        "Neighbours in run order resemble or oppose each other, by the two-sided p-value: \
         something drifts or alternates.",
        "Randomise the run order, and look for heat, caches or other users of the machine.",
        "Durbin and Watson, Biometrika 38, 1951",
    ),
    entry(
        "lack-of-fit",
        Warning,
        "Configurations differ from the equation by more than repeats of one configuration differ \
         from each other: the equation misses terms.",
        "Add interactions or squares, or change the scale of the response.",
        "Montgomery, Design and Analysis of Experiments, 8th edition, section 6.8",
    ),
    entry(
        "log-scale",
        Warning,
        "Box and Cox's power of the response leaves out 1 and comes near 0: the logarithm is the \
         better scale.",
        "Analyse the logarithm: effects are then ratios.",
        "Box and Cox, Journal of the Royal Statistical Society B 26, 1964",
    ),
    entry(
        "outlier",
        Warning,
        "An observation lies further from the equation than chance allows among so many.",
        "Look at what happened there; never leave it out in silence.",
        "Cook and Weisberg, Residuals and Influence in Regression, 1982, section 2.2",
    ),
    entry(
        "collinearity",
        Warning,
        "Columns move together in these data, so their separate coefficients are uncertain.",
        "Vary the factors independently of each other, as a design does.",
        "Belsley, Kuh and Welsch, Regression Diagnostics, 1980, chapter 3",
    ),
    entry(
        "collinearity-is-coding",
        Info,
        "Large variance inflation comes from products of uncoded units, not from the data.",
        "Code the levels -1 and +1; then it disappears, and effects can be compared.",
        "Marquardt and Snee, Ridge regression in practice, American Statistician 29, 1975",
    ),
    entry(
        "raw-coefficients",
        Warning,
        "In raw units a coefficient has the opposite sign of what raising its factor does on \
         average, because in an equation with products it is the slope where other factors are 0.",
        "Compare effects from low to high in coded units, not raw coefficients, and never those of \
         different equations.",
        MONTGOMERY,
    ),
    entry(
        "missing-response",
        Warning,
        "Rows without a value, or without a partner, are left out.",
        "Find out why they have none: levels that fail often look better than they are.",
        "Little and Rubin, Statistical Analysis with Missing Data, 3rd edition, chapter 1",
    ),
    entry(
        "missing-predictor",
        Warning,
        "Rows with an empty cell in a column of the equation are left out, though the response \
         was measured there.",
        "Fill the cells in, or leave that column out of the formula; ask whether they are empty \
         for a reason that also moves the response.",
        "Little and Rubin, Statistical Analysis with Missing Data, 3rd edition, chapter 3",
    ),
    entry(
        "large-table",
        Info,
        "The table is long: coefficients and tables use all rows, checks a random sample.",
        "Analyse a part of the table for figures of single rows.",
        "Demmel, Grigori, Hoemmen and Langou, SIAM Journal on Scientific Computing 34, 2012",
    ),
    entry(
        "error-strata",
        Info,
        "Terms are tested against the error between or within groups, each in its own stratum.",
        "Nothing: intervals of effects, coefficients and means have the error of their stratum too.",
        MONTGOMERY,
    ),
    entry(
        "unbalanced-strata",
        Warning,
        "The groups of an `Error(...)` are not balanced, so a term shows in several strata.",
        "Complete the missing observations, or read the strata one by one.",
        MONTGOMERY,
    ),
];
