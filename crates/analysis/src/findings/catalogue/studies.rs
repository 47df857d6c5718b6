//! Findings about designs and trials.

use super::{CatalogueEntry, entry};
use crate::findings::Severity::{Info, Serious, Warning};

pub(super) const ENTRIES: &[CatalogueEntry] = &[
    entry(
        "missing-cells",
        Serious,
        "Planned rows, or cells of an evident pattern, have no observation; effects are mixed, and \
         the cells that are missing may be the ones that matter.",
        "Run them, or say that the conclusions leave them out.",
        "Searle, Linear Models for Unbalanced Data, 1987, chapter 5",
    ),
    entry(
        "unbalanced",
        Warning,
        "Combinations were not observed equally often, so effects mix and the types of sums of \
         squares differ.",
        "Complete the design, or read type II.",
        "Langsrud, ANOVA for unbalanced data, Statistics and Computing 13, 2003",
    ),
    entry(
        "no-replication",
        Warning,
        "Nothing was measured twice, so the spread is unknown: means without spread support no \
         difference.",
        "Repeat every setting at least 3 times; without repeats only Lenth's margins help.",
        "Lenth, Quick and easy analysis of unreplicated factorials, Technometrics 31, 1989",
    ),
    entry(
        "values-outside-range",
        Warning,
        "Values of a metric lie outside the range that the study states: 97 where accuracies go from \
         0 to 1, for instance.",
        "Correct the values (percent or shares?) or the range; until then no interval ends there.",
        "Wickham, Tidy data, Journal of Statistical Software 59, 2014",
    ),
    entry(
        "command-changed",
        Warning,
        "Some trials ran another command, or another job, than the others: the change was accepted \
         by name, and what it does is mixed with the effects.",
        "Run the earlier trials again in a store of their own, or show that the change is harmless.",
        "Montgomery, Design and Analysis of Experiments, 8th edition, section 4.1 (blocking what \
         cannot be held constant)",
    ),
    entry(
        "excluded-trials",
        Warning,
        "Somebody marked trials as excluded, so that they are in no mean and no fit. Leaving out \
         what looks wrong is how a wanted result is made.",
        "Keep the reason with the conclusion; `trainwright exclude STUDY TRIAL --undo` takes a trial \
         in again.",
        "Montgomery, Design and Analysis of Experiments, 8th edition, section 3.4 (outliers are \
         left out for a known cause only)",
    ),
    entry(
        "curvature",
        Warning,
        "The centre points of a two-level design lie off the equation of its corners: some effect is \
         no straight line between its levels.",
        "Add runs on the axes (a central composite design) and fit squares before trusting values \
         between the levels.",
        "Montgomery, Design and Analysis of Experiments, 8th edition, section 6.8",
    ),
    entry(
        "blocks",
        Info,
        "Runs were made in blocks, and the block is a term of the equation.",
        "Read the factors' lines; the block's line only tells how much the blocks differed.",
        "Montgomery, Design and Analysis of Experiments, 8th edition, section 4.1",
    ),
    entry(
        "not-in-design",
        Warning,
        "Trials are in the fit that are no row of the design.",
        "Check that they were meant.",
        "Montgomery, Design and Analysis of Experiments, 8th edition, section 1.4",
    ),
    entry(
        "diverged-trials",
        Warning,
        "Trials ended in NaN or infinity and are left out of the fit.",
        "Treat the levels that cause it as failures, not as missing.",
        "Goodfellow, Bengio and Courville, Deep Learning, 2016, section 11.4",
    ),
    entry(
        "failed-trials",
        Warning,
        "Trials failed and are left out of the fit; levels that cause this look better than they are.",
        "Read their output, mend the cause and run them again.",
        "Little and Rubin, Statistical Analysis with Missing Data, 3rd edition, chapter 1",
    ),
    entry(
        "overlapping-timing",
        Warning,
        "Times were measured while trials shared the machine.",
        "Measure times with one slot.",
        "Georges, Buytaert and Eeckhout, Statistically rigorous Java performance evaluation, OOPSLA 2007",
    ),
    entry(
        "oversubscribed",
        Warning,
        "Levels ask for more threads or workers than the machine has cores.",
        "Read those levels as time sharing, not as scaling; use more machines.",
        "Gunther, Guerrilla Capacity Planning, 2007, chapter 4",
    ),
    entry(
        "sign-table-misprint",
        Serious,
        "The table of signs breaks its own defining relation in single cells.",
        "Correct the sign that the finding names, and run that row again if it ran as printed.",
        "Box, Hunter and Hunter, Statistics for Experimenters, 2nd edition, chapter 6",
    ),
];
