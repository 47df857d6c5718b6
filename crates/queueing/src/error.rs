//! Why a question about a queue has no answer.

/// Why a question about a queue has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum QueueingError {
    #[error("the {what} is {}; it must be {range}", shown(*value))]
    OutOfRange { what: &'static str, value: f64, range: &'static str },
    #[error("the number of {what} is {value}; it must be {least} to {most}")]
    Count { what: &'static str, value: u64, least: u64, most: u64 },
    #[error(
        "the queue would grow for ever: jobs arrive at rate {}, {servers} at rate {} can serve \
         {limit}; it is stable with arrivals below {limit}{}",
        shown(*arrival_rate),
        shown(*service_rate),
        or_servers(*needed),
        servers = servers_in_words(*servers),
        limit = shown(*limit),
    )]
    Unstable { arrival_rate: f64, service_rate: f64, servers: u32, limit: f64, needed: Option<u32> },
    #[error(
        "a queue with {capacity} places cannot seat {servers} servers; jobs in service take \
         places too, so the capacity must be at least {servers}"
    )]
    TooSmall { capacity: u32, servers: u32 },
    #[error("`{kind}` needs {what}")]
    Missing { kind: &'static str, what: &'static str },
    #[error("`{kind}` has no {what}; {instead}")]
    NotOfThisKind { kind: &'static str, what: &'static str, instead: &'static str },
    #[error(
        "quantiles of {queue} depend on more than rates and variations, so a target for one has \
         no answer; ask for a mean, or use exponential times"
    )]
    NoQuantiles { queue: &'static str },
    #[error(
        "a {what} of {} cannot be reached at any load: without any waiting it is already {}",
        shown(*limit),
        shown(*floor)
    )]
    Unreachable { what: String, limit: f64, floor: f64 },
    #[error("no number of servers up to {most} brings the {what} to {}", shown(*limit))]
    TooManyServers { what: String, limit: f64, most: u32 },
    #[error("no service rate up to 1e100 brings the {what} to {}", shown(*limit))]
    TooFast { what: String, limit: f64 },
    #[error(
        "priorities on {servers} servers have a closed form only where every class has the same \
         exponential service; use one server, or simulate"
    )]
    UnequalClasses { servers: u32 },
    #[error("{what} lists {found} values for {classes} classes; give one for all or one for each")]
    PerClass { what: &'static str, found: usize, classes: usize },
    #[error(
        "there is no class {class}; classes are numbered 1 to {classes}, the most urgent first"
    )]
    NoSuchClass { class: usize, classes: usize },
    #[error("{what} needs at least {needed} values but has {found}")]
    TooFew { what: &'static str, needed: usize, found: usize },
    #[error(
        "none of {arrivals} arrivals in a row was accepted, so that times of accepted jobs have no \
         interval; simulate more jobs, or let fewer come"
    )]
    NothingAccepted { arrivals: u32 },
    #[error("measured time {position} is {}; times must be positive and finite", shown(*value))]
    BadTime { position: usize, value: f64 },
    #[error(
        "job {number} comes at {}, begins at {} and ends at {}; a job comes, begins and ends in \
         this order, and takes some time",
        shown(*arrival),
        shown(*start),
        shown(*end)
    )]
    BadJob { number: usize, arrival: f64, start: f64, end: f64 },
    #[error("job {number} does not come after those before it; list jobs by arrival")]
    OutOfOrder { number: usize },
    #[error("all jobs come at the moment {}, so that they have no rate", shown(*moment))]
    AllAtOnce { moment: f64 },
    #[error("class {class} has an arrival rate of {}; it must be {range}", shown(*value))]
    BadClass { class: usize, value: f64, range: &'static str },
}

/// A number as messages show it: very large and very small ones with an exponent, whole ones
/// without a fraction.
fn shown(value: f64) -> String {
    let size = value.abs();
    if value.is_finite() && size != 0.0 && !(1e-9..1e16).contains(&size) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

fn or_servers(needed: Option<u32>) -> String {
    match needed {
        Some(needed) => format!(", or with at least {needed} servers"),
        None => String::new(),
    }
}

fn servers_in_words(servers: u32) -> String {
    if servers == 1 { "1 server".to_owned() } else { format!("{servers} servers") }
}

#[cfg(test)]
mod tests {
    use crate::{Mmc, QueueingError};

    #[test]
    fn an_unstable_queue_says_what_would_be_stable() {
        let error = Mmc::new(20.0, 3.0, 4).unwrap_err();
        let expected = "the queue would grow for ever: jobs arrive at rate 20, 4 servers at rate 3 \
                        can serve 12; it is stable with arrivals below 12, or with at least 7 servers";
        assert_eq!(error.to_string(), expected);
        let error = Mmc::new(3.0, 3.0, 1).unwrap_err();
        assert!(matches!(error, QueueingError::Unstable { needed: Some(2), .. }));
        assert!(error.to_string().contains("1 server at rate 3"), "{error}");
        let many = Mmc::new(1e50, 1e-3, 2).unwrap_err();
        assert!(matches!(many, QueueingError::Unstable { needed: None, .. }));
    }

    #[test]
    fn numbers_are_shown_as_people_write_them() {
        for (value, expected) in
            [(-3.0, "-3"), (0.0, "0"), (-0.25, "-0.25"), (-1e300, "-1e300"), (f64::NAN, "NaN")]
        {
            let error =
                QueueingError::OutOfRange { what: "arrival rate", value, range: "positive" };
            assert_eq!(
                error.to_string(),
                format!("the arrival rate is {expected}; it must be positive")
            );
        }
        let error = Mmc::new(1e300, 1e280, 1).unwrap_err().to_string();
        assert!(error.len() < 250, "{error}");
    }
}
