//! What a job needs of memory, compared with what there is before any of it is allocated.

use std::fmt;

use trainwright_networks::Network;

use crate::error::TrainError;

/// What is allowed where the machine does not tell its memory.
const WITHOUT_A_MACHINE: u64 = 64 << 30;

/// Most bytes that a job may need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryLimit {
    /// All that the machine, or what confines the program on it, has.
    Machine(u64),
    /// A fixed number, because the machine does not tell.
    Fixed(u64),
}

impl MemoryLimit {
    /// The limit here and now.
    pub(crate) fn here() -> Self {
        trainwright_probe::memory_limit().map_or(Self::Fixed(WITHOUT_A_MACHINE), Self::Machine)
    }

    /// How many bytes it is.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Machine(bytes) | Self::Fixed(bytes) => bytes,
        }
    }
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(bytes) => write!(f, "the {} of this machine", bytes_in_words(*bytes)),
            Self::Fixed(bytes) => bytes_in_words(*bytes).fmt(f),
        }
    }
}

/// Whether this machine holds a network, that many vectors of the length of its parameters, and
/// batches of so many examples.
///
/// # Errors
/// When it does not.
pub(crate) fn check_memory(
    network: &Network,
    batch: usize,
    threads: usize,
    vectors: u64,
) -> Result<(), TrainError> {
    check_against(MemoryLimit::here(), network, (batch, threads), vectors)
}

fn check_against(
    limit: MemoryLimit,
    network: &Network,
    (batch, threads): (usize, usize),
    vectors: u64,
) -> Result<(), TrainError> {
    let learning = network.parameter_bytes().saturating_mul(vectors);
    let inputs =
        network.input_shape().iter().fold(4, |bytes: u64, &size| bytes.saturating_mul(size as u64));
    let of_inputs = inputs.saturating_mul(batch as u64);
    let of_batch = network.workspace_bytes(batch, threads).saturating_add(of_inputs);
    if learning.saturating_add(of_batch) <= limit.bytes() {
        return Ok(());
    }
    let network = network.name().to_owned();
    Err(TrainError::TooLarge { network, learning, of_batch, batch, limit })
}

/// A number of bytes as people say it.
pub(crate) fn bytes_in_words(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    match unit {
        0 => format!("{bytes} {}", units[0]),
        _ => format!("{value:.1} {}", units[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_the_largest_unit_that_fits() {
        let told = [0, 1023, 1024, 3 << 29, u64::MAX].map(bytes_in_words);
        assert_eq!(told, ["0 bytes", "1023 bytes", "1.0 KiB", "1.5 GiB", "16.0 EiB"]);
    }

    #[test]
    fn what_fits_is_allowed_to_the_last_byte() {
        let network = Network::perceptron(784, &[128], 10).unwrap();
        let parameters = 4 * (785 * 128 + 129 * 10);
        let of_batch = network.workspace_bytes(32, 1) + 4 * 784 * 32;
        let needed = 3 * parameters + of_batch;
        let check = |limit| check_against(MemoryLimit::Fixed(limit), &network, (32, 1), 3);
        assert!(check(needed).is_ok());
        let error = check(needed - 1).unwrap_err().to_string();
        assert!(error.starts_with("network `mlp:784-128-10` needs about 1.3 MiB of"), "{error}");
        assert!(error.contains("for batches of 32; the limit is 1.3 MiB"), "{error}");
    }

    #[test]
    fn a_network_beyond_the_machine_is_refused_with_both_figures() {
        let network = Network::perceptron(784, &[1 << 28], 10).unwrap();
        let limit = MemoryLimit::Machine(8 << 30);
        let error = check_against(limit, &network, (32, 1), 3).unwrap_err().to_string();
        assert!(error.contains("needs about 2.") && error.contains("TiB of memory"), "{error}");
        assert!(error.contains("the limit is the 8.0 GiB of this machine"), "{error}");
        assert!(check_memory(&network, 1, 1, 1 << 30).is_err());
    }
}
