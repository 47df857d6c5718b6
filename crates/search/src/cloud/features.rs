//! Candidates as numbers that a method can compare.

use super::candidate::{Candidate, Machine};

/// What a row of the table holds: one column a property that is known of all candidates and
/// differs between some.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    names: Vec<&'static str>,
    rows: Vec<Vec<f64>>,
    units: Vec<Vec<f64>>,
}

type Property = (&'static str, fn(&Candidate) -> Option<f64>);

/// Sizes go by their logarithm: twice as much is one step, wherever it begins.
const PROPERTIES: [Property; 8] = [
    ("log2_vcpus", |own| Some(own.machine.vcpus.log2())),
    ("log2_memory_per_vcpu", |own| Some((own.machine.memory_gib / own.machine.vcpus).log2())),
    ("log2_nodes", |own| Some(f64::from(own.nodes).log2())),
    ("cpu_ghz", |own| own.machine.cpu_ghz),
    ("generation", |own| own.machine.generation),
    ("log2_local_disk", |own| own.machine.local_disk_gb.map(log2_or_none)),
    ("log2_network", |own| own.machine.network_gbps.map(log2_or_none)),
    ("log2_gpus", |own| own.machine.gpus.map(log2_or_none)),
];

/// None at all is one step below one.
fn log2_or_none(amount: f64) -> f64 {
    if amount >= 1.0 { amount.log2() } else { amount - 1.0 }
}

impl Features {
    /// The features of a table of candidates.
    pub fn of(candidates: &[Candidate]) -> Self {
        let column = |property: fn(&Candidate) -> Option<f64>| {
            let values: Option<Vec<f64>> = candidates.iter().map(property).collect();
            values.filter(|own| own.iter().any(|value| (value - own[0]).abs() > 1e-9))
        };
        let columns: Vec<(&'static str, Vec<f64>)> = PROPERTIES
            .iter()
            .filter_map(|(name, property)| Some((*name, column(*property)?)))
            .collect();
        let row = |at: usize| columns.iter().map(|(_, values)| values[at]).collect();
        let scaled: Vec<Vec<f64>> = columns.iter().map(|(_, values)| to_unit(values)).collect();
        let unit = |at: usize| scaled.iter().map(|values| values[at]).collect();
        Self {
            names: columns.iter().map(|(name, _)| *name).collect(),
            rows: (0..candidates.len()).map(row).collect(),
            units: (0..candidates.len()).map(unit).collect(),
        }
    }

    /// Names of the columns.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// The numbers of a candidate.
    pub fn row(&self, candidate: usize) -> &[f64] {
        &self.rows[candidate]
    }

    /// The same on a scale from 0 to 1.
    pub fn unit(&self, candidate: usize) -> &[f64] {
        &self.units[candidate]
    }
}

fn to_unit(values: &[f64]) -> Vec<f64> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter().map(|value| (value - low) / (high - low)).collect()
}

impl Machine {
    /// A machine of which only what every catalogue has is known.
    pub fn plain(vm_type: &str, vcpus: f64, memory_gib: f64, price_usd_per_hour: f64) -> Self {
        Self {
            vm_type: vm_type.to_owned(),
            vcpus,
            memory_gib,
            price_usd_per_hour,
            cpu_ghz: None,
            generation: None,
            local_disk_gb: None,
            network_gbps: None,
            gpus: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(vcpus: f64, memory_gib: f64, ghz: Option<f64>) -> Candidate {
        let machine = Machine { cpu_ghz: ghz, ..Machine::plain("m", vcpus, memory_gib, 0.1) };
        Candidate { machine, nodes: 1 }
    }

    #[test]
    fn a_column_is_known_of_all_and_differs() {
        let features =
            Features::of(&[candidate(2.0, 4.0, Some(2.0)), candidate(8.0, 16.0, Some(3.0))]);
        assert_eq!(features.names(), ["log2_vcpus", "cpu_ghz"]);
        assert_eq!(features.row(1), [3.0, 3.0]);
        assert_eq!(features.unit(0), [0.0, 0.0]);
        assert_eq!(features.unit(1), [1.0, 1.0]);
        let partly = Features::of(&[candidate(2.0, 4.0, Some(2.0)), candidate(8.0, 32.0, None)]);
        assert_eq!(partly.names(), ["log2_vcpus", "log2_memory_per_vcpu"]);
    }

    #[test]
    fn no_disk_is_one_step_below_the_smallest() {
        assert_eq!([0.0, 1.0, 4.0].map(log2_or_none), [-1.0, 0.0, 2.0]);
    }
}
