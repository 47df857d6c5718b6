//! Why a question about a queue has no answer.

/// Why a question about a queue has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum QueueingError {
    #[error("the {what} is {value:?}; it must be {range}")]
    OutOfRange { what: &'static str, value: f64, range: &'static str },
    #[error("the number of {what} is {value}; it must be {least} to {most}")]
    Count { what: &'static str, value: u64, least: u64, most: u64 },
    #[error(
        "the queue would grow for ever: jobs arrive at rate {arrival_rate}, {servers} at rate \
         {service_rate} can serve {limit}; it is stable with arrivals below {limit}{}",
        or_servers(*needed),
        servers = servers_in_words(*servers),
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
        "a {what} of {limit} cannot be reached at any load: without any waiting it is already \
         {floor}"
    )]
    Unreachable { what: String, limit: f64, floor: f64 },
    #[error("no number of servers up to {most} brings the {what} to {limit}")]
    TooManyServers { what: String, limit: f64, most: u32 },
    #[error("no service rate up to 1e100 brings the {what} to {limit}")]
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
    #[error("measured time {position} is {value:?}; times must be positive and finite")]
    BadTime { position: usize, value: f64 },
    #[error(
        "job {number} comes at {arrival}, begins at {start} and ends at {end}; a job comes, begins \
         and ends in this order, and takes some time"
    )]
    BadJob { number: usize, arrival: f64, start: f64, end: f64 },
    #[error("job {number} does not come after those before it; list jobs by arrival")]
    OutOfOrder { number: usize },
    #[error("all jobs come at the moment {moment}, so that they have no rate")]
    AllAtOnce { moment: f64 },
    #[error("class {class} has an arrival rate of {value:?}; it must be {range}")]
    BadClass { class: usize, value: f64, range: &'static str },
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
}
