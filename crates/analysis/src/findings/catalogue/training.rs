//! Findings about tables of training runs, by the names of their columns.

use super::{CatalogueEntry, entry};
use crate::findings::Severity::{Info, Serious, Warning};

pub(super) const ENTRIES: &[CatalogueEntry] = &[
    entry(
        "epoch-is-not-a-pass",
        Serious,
        "Steps times batch is not what epochs times examples make: an epoch is not one pass over \
         the data.",
        "Divide the steps of an epoch by the batch, or say how many passes an epoch is.",
        "Goodfellow, Bengio and Courville, Deep Learning, 2016, section 8.1",
    ),
    entry(
        "no-validation-split",
        Info,
        "There are training and test figures but no validation figures, so a configuration chosen by \
         test figures looks better than it is.",
        "Hold out a validation part, choose by it, and use the test part once.",
        "Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 2nd edition, section 7.2",
    ),
    entry(
        "batch-at-unscaled-rate",
        Warning,
        "Accuracy falls at a larger batch while the learning rate stays: fewer updates of the same \
         size, not the batch itself.",
        "Scale the rate with the batch and warm it up, then compare again.",
        "Goyal et al., Accurate, large minibatch SGD, 2017",
    ),
    entry(
        "evaluation-inside-the-time",
        Warning,
        "Steps times the time of a step make up only part of the time: the rest is evaluation, \
         checkpoints or start-up.",
        "Report the time of training without evaluation, and compare rates of steps.",
        "Coleman et al., DAWNBench, 2017",
    ),
    entry(
        "network-not-the-limit",
        Info,
        "The bytes moved are a small share of what the link carries, so bandwidth is not what binds.",
        "Look at round trips, stragglers and the processor before buying bandwidth.",
        "Ousterhout et al., Making sense of performance in data analytics frameworks, NSDI 2015",
    ),
    entry(
        "bottleneck",
        Info,
        "Which resource binds: by how much the time would shrink if it were free. Nothing is said \
         to bind that would save less than a tenth.",
        "Improve that resource first; another would save less.",
        "Ousterhout et al., Making sense of performance in data analytics frameworks, NSDI 2015",
    ),
    entry(
        "shared-cores",
        Warning,
        "Threads were ready to run and had no core for a tenth of the time or more, so times say \
         something about the rest of the machine too.",
        "Use fewer threads than cores, end other programs, and measure again.",
        "Jain, The Art of Computer Systems Performance Analysis, 1991, chapter 2",
    ),
    entry(
        "bytes-per-step-alike",
        Info,
        "Runs differ in bytes because they differ in steps; per step they move the same.",
        "Compare bytes a step, not bytes a run or a second.",
        "Li et al., Scaling distributed machine learning with the parameter server, OSDI 2014",
    ),
];
