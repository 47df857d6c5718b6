//! Findings about ratios, scaling, correlations and surfaces.

use super::{CatalogueEntry, entry};
use crate::findings::Severity::{Info, Warning};

const AMDAHL: &str = "Amdahl, Validity of the single processor approach, AFIPS 1967";
const GUNTHER: &str = "Gunther, Guerrilla Capacity Planning, 2007, chapters 4 and 5";
const ERNEST: &str = "Venkataraman et al., Ernest, NSDI 2016";

pub(super) const ENTRIES: &[CatalogueEntry] = &[
    entry(
        "no-speed-up",
        Warning,
        "No number of workers is faster than the smallest by more than noise.",
        "Use the fewest workers, or give them more work each.",
        AMDAHL,
    ),
    entry(
        "slowdown",
        Warning,
        "Beyond some number of workers the time rises again.",
        "Use no more workers than the fastest setting, or look for what they contend for.",
        GUNTHER,
    ),
    entry(
        "law-does-not-fit",
        Warning,
        "Means of repeats lie off even the best law of scaling by more than the repeats differ.",
        "Do not predict by laws; measure where you want to know.",
        GUNTHER,
    ),
    entry(
        "low-efficiency",
        Info,
        "At the largest number of workers less than half of what is paid for works.",
        "Use fewer workers, or look for what they wait for.",
        AMDAHL,
    ),
    entry(
        "superlinear-speed-up",
        Warning,
        "The speed-up is larger than the number of workers.",
        "Check that all settings do the same work and that the first was not held back.",
        "Gustafson, Reevaluating Amdahl's law, Communications of the ACM 31, 1988",
    ),
    entry(
        "fewer-points-than-terms",
        Warning,
        "A law has as many terms as there are settings, so that nothing is left to check it by.",
        "Measure more settings.",
        ERNEST,
    ),
    entry(
        "terms-not-separable",
        Warning,
        "The settings measured do not tell the terms of a law apart: only their sum is known.",
        "Vary workers and size independently of each other.",
        ERNEST,
    ),
    entry(
        "extrapolation",
        Warning,
        "A prediction lies beyond twice the measured range, where laws part that agree on the data.",
        "Measure there, or trust only where the laws agree.",
        ERNEST,
    ),
    entry(
        "step-overhead",
        Info,
        "Most of the time at the smallest batch is a fixed cost a step.",
        "Make fewer steps by a bigger batch, or make steps cheaper; do not credit the batch itself.",
        "Goyal et al., Accurate, large minibatch SGD, 2017",
    ),
    entry(
        "per-sample-cost-dominates",
        Info,
        "With few steps nearly all of the time is spent on the samples themselves.",
        "Make reading and computing faster; a still bigger batch gains nothing.",
        "Mohan et al., Analyzing and mitigating data stalls in DNN training, VLDB 2021",
    ),
    entry(
        "linear-fit-inadequate",
        Warning,
        "A parabola fits surely better than a straight line, or the means of repeats lie off it: the \
         correlation coefficient does not describe the relation.",
        "Plot it; add squares or logarithms, or treat the column as levels.",
        "Anscombe, Graphs in statistical analysis, American Statistician 27, 1973",
    ),
    entry(
        "data-size-is-product",
        Warning,
        "A column is the product of others, so their correlations with the response are not separate \
         facts.",
        "Vary the parts independently and leave the product out, or use it alone.",
        "Belsley, Kuh and Welsch, Regression Diagnostics, 1980, chapter 3",
    ),
    entry(
        "flat-surface",
        Info,
        "The curvature of the surface along some direction cannot be told from none, so the kind and \
         the place of the stationary point are uncertain.",
        "Move along that direction at no loss, or repeat more to see its curvature.",
        "Bisgaard and Ankenman, Standard errors for the eigenvalues, Technometrics 38, 1996",
    ),
    entry(
        "stationary-point-outside",
        Info,
        "The stationary point of the surface lies outside what was tried.",
        "Use the best point of the region, and move the region towards it.",
        "Myers, Montgomery and Anderson-Cook, Response Surface Methodology, 4th edition, chapter 6",
    ),
];
