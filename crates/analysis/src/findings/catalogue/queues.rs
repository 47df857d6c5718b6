//! Findings about queues and load tests.

use super::{CatalogueEntry, entry};
use crate::findings::Severity::{Info, Serious, Warning};

const KLEINROCK: &str = "Kleinrock, Queueing Systems, volume 1, 1975";
const ALLEN: &str = "Allen, Probability, Statistics and Queueing Theory, 2nd edition, 1990";
const JAIN: &str = "Jain, The Art of Computer Systems Performance Analysis, 1991";

pub(super) const ENTRIES: &[CatalogueEntry] = &[
    entry(
        "queue-unstable",
        Serious,
        "More work arrives than the servers can do, so the queue grows for ever.",
        "Add servers, make jobs shorter or let fewer come.",
        KLEINROCK,
    ),
    entry(
        "queue-nearly-full",
        Warning,
        "The servers are busy nine tenths of the time or more: small changes have large effects.",
        "Plan with room to spare; waits grow as the reciprocal of what is left.",
        KLEINROCK,
    ),
    entry(
        "queue-not-exponential",
        Serious,
        "Service times do not vary as exponential ones do, so an M/M model is the wrong one.",
        "Use M/G/1 or G/G/c with the measured squared coefficient of variation.",
        ALLEN,
    ),
    entry(
        "queue-approximation",
        Info,
        "The figures come from an approximation rather than a closed form.",
        "Compare with `queue simulate`.",
        ALLEN,
    ),
    entry(
        "queue-few-times",
        Warning,
        "Few service times were measured, which say little about rare long ones.",
        "Measure more jobs.",
        JAIN,
    ),
    entry(
        "queue-mixed-configurations",
        Warning,
        "Service times of several configurations are taken for one stream of jobs.",
        "Choose one configuration, unless the stream to plan for is mixed.",
        JAIN,
    ),
    entry(
        "load-model-disagrees",
        Warning,
        "The measured jobs are none that the fitted queue would give: their mean response is too \
         far off, or service goes with how busy the servers are.",
        "Look whether service depends on how busy the machine is, or on the job before.",
        JAIN,
    ),
    entry(
        "load-cut-short",
        Warning,
        "A load test ended before all jobs were through, and those left out are the long ones.",
        "Let it run longer, or let fewer jobs come.",
        JAIN,
    ),
    entry(
        "load-failed-jobs",
        Serious,
        "Jobs of a load test failed, so their times are not those of the work.",
        "Mend the cause and test again.",
        JAIN,
    ),
    entry(
        "load-few-jobs",
        Warning,
        "Few jobs came, and means of queues vary slowly.",
        "Let some hundreds come.",
        JAIN,
    ),
];
