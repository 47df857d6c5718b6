//! What a machine can do, as it was measured once.

use serde::{Deserialize, Serialize};

/// A figure that was measured several times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Repeated {
    /// The middle one.
    pub median: f64,
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// How often it was measured.
    pub repetitions: u32,
}

impl Repeated {
    /// The figure of these measurements; nothing without any, or where one is no number.
    ///
    /// ```
    /// use trainwright_study::Repeated;
    ///
    /// let speed = Repeated::of(&[4.0, 9.0, 5.0]).expect("there are three");
    /// assert_eq!((speed.low, speed.median, speed.high), (4.0, 5.0, 9.0));
    /// ```
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (count, middle) = (sorted.len(), sorted.len() / 2);
        let median = match count % 2 {
            0 => 0.5 * (sorted[middle - 1] + sorted[middle]),
            _ => sorted[middle],
        };
        let repetitions = u32::try_from(count).unwrap_or(u32::MAX);
        Some(Self { median, low: sorted[0], high: sorted[count - 1], repetitions })
    }
}

/// What a machine can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacities {
    /// When it was measured, in milliseconds since 1970.
    pub measured_ms: i64,
    /// Host name of the machine.
    pub host: String,
    /// Its processor.
    pub cpu: String,
    /// Logical cores that the measurement could use.
    pub cores: u32,
    /// Operations a second of a product of matrices of `f32` on one core.
    pub product_one_core_per_s: Repeated,
    /// The same on all cores together.
    pub product_all_cores_per_s: Repeated,
    /// Bytes a second that one core copies from memory to memory.
    pub copy_one_core_bytes_per_s: Repeated,
    /// The same for all cores together.
    pub copy_all_cores_bytes_per_s: Repeated,
    /// Bytes a second over one TCP connection to the machine itself.
    pub loopback_bytes_per_s: Repeated,
    /// Time of a byte there and back over such a connection.
    pub round_trip_s: Repeated,
    /// The disk, where a folder to measure it in was there.
    pub disk: Option<DiskCapacity>,
}

impl Capacities {
    /// Whether these are figures of that machine.
    pub fn are_of(&self, machine: &super::machine::Machine) -> bool {
        (&self.host, &self.cpu, self.cores) == (&machine.host, &machine.cpu, machine.cores)
    }
}

/// What the disk under a folder can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskCapacity {
    /// The folder.
    pub folder: String,
    /// Bytes a second written and flushed.
    pub write_bytes_per_s: Repeated,
    /// Bytes a second read.
    pub read_bytes_per_s: Repeated,
    /// Where the bytes that were read came from.
    pub read_from: ReadFrom,
}

/// Where bytes of a file came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadFrom {
    /// The disk.
    Storage,
    /// Memory: the system would not forget the file, so nothing is known of the disk's reading.
    PageCache,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;

    #[test]
    fn the_middle_of_an_even_number_lies_between_the_two() {
        let even = Repeated::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((even.low, even.median, even.high, even.repetitions), (1.0, 2.5, 4.0, 4));
        assert_eq!(Repeated::of(&[]), None);
        assert_eq!(Repeated::of(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn figures_belong_to_one_machine() {
        let figure = Repeated::of(&[1.0]).unwrap();
        let own = Capacities {
            measured_ms: 0,
            host: "a".into(),
            cpu: "c".into(),
            cores: 2,
            product_one_core_per_s: figure,
            product_all_cores_per_s: figure,
            copy_one_core_bytes_per_s: figure,
            copy_all_cores_bytes_per_s: figure,
            loopback_bytes_per_s: figure,
            round_trip_s: figure,
            disk: None,
        };
        let machine = Machine { host: "a".into(), cpu: "c".into(), cores: 2, ..Machine::default() };
        assert!(own.are_of(&machine));
        assert!(!own.are_of(&Machine { cores: 4, ..machine.clone() }));
        assert!(!own.are_of(&Machine { host: "b".into(), ..machine }));
        let text = serde_json::to_string(&own).unwrap();
        assert_eq!(serde_json::from_str::<Capacities>(&text).unwrap(), own);
    }
}
