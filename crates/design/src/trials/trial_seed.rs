//! The seed of a trial, which follows from what the trial is: its configuration and replicate.
//!
//! Rows may be added to a design, or stand in another order: a trial keeps its seed.

use std::collections::{HashMap, HashSet};

use trainwright_study::{Configuration, PlannedTrial, Seed};

/// Part of the study's randomness; the number never changes, so planned trials stay planned.
const TRIAL_SEEDS: u64 = 4;

/// Seeds have 31 bits, as many programs want.
const MASK: u32 = (1 << 31) - 1;

/// The seed of the trial that runs a configuration for the `replicate`-th time, counted from 1.
///
/// It is the same however the numbers are spelled and in whichever order the factors stand. No two
/// replicates of a configuration share one, up to 2^31 of them; trials of different configurations
/// do by chance, one pair in 2^31.
pub fn trial_seed(study: Seed, configuration: &Configuration, replicate: u32) -> u32 {
    seed_of(study, &configuration.identity(), replicate)
}

fn seed_of(study: Seed, identity: &str, replicate: u32) -> u32 {
    let own = study.derive(TRIAL_SEEDS).derive(identity.len() as u64);
    let own = identity.as_bytes().chunks(8).fold(own, |seed, bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        seed.derive(u64::from_le_bytes(word))
    });
    let (start, step) = ((own.value() >> 33) as u32, own.derive(1).value() as u32);
    // Each step can be undone within 31 bits, so that different replicates stay different: adding,
    // multiplying by an odd number, and mixing in the upper bits (as MurmurHash3 ends).
    let mut mixed = replicate.wrapping_mul(step | 1).wrapping_add(start) & MASK;
    for odd in [0x85eb_ca6b_u32, 0xc2b2_ae35] {
        mixed ^= mixed >> 15;
        mixed = mixed.wrapping_mul(odd) & MASK;
    }
    mixed ^ mixed >> 15
}

/// Which seeds the trials of each configuration have.
pub(crate) struct SeedsGiven(HashMap<String, OfConfiguration>);

#[derive(Default)]
struct OfConfiguration {
    seeds: HashSet<u32>,
    /// All replicates up to this one have been looked at for a free seed.
    looked_at: u32,
}

impl SeedsGiven {
    /// The seeds of these trials.
    pub(crate) fn to(trials: &[PlannedTrial]) -> Self {
        let mut given: HashMap<String, OfConfiguration> = HashMap::new();
        for trial in trials {
            given.entry(trial.configuration.identity()).or_default().seeds.insert(trial.seed);
        }
        Self(given)
    }

    /// The seed of the configuration's trial that appears as that one in the design; the first
    /// free one of the configuration where another trial has it.
    pub(crate) fn next(&mut self, study: Seed, identity: &str, appearance: u32) -> u32 {
        if !self.0.contains_key(identity) {
            self.0.insert(identity.to_owned(), OfConfiguration::default());
        }
        let OfConfiguration { seeds, looked_at } =
            self.0.get_mut(identity).expect("it was put there above");
        let mut seed = seed_of(study, identity, appearance);
        while !seeds.insert(seed) {
            *looked_at += 1;
            seed = seed_of(study, identity, *looked_at);
        }
        seed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(json: &str) -> Configuration {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_seed_is_frozen() {
        // Recorded once; a change here would reseed the trials that existing studies still plan.
        let own = configuration(r#"{"lr":0.1,"batch":32,"optimizer":"adam"}"#);
        let seeds = [1, 2, 3].map(|replicate| trial_seed(Seed::new(7), &own, replicate));
        assert_eq!(seeds, FROZEN);
    }

    const FROZEN: [u32; 3] = [1_404_679_006, 1_974_497_524, 63_774_792];

    #[test]
    fn spelling_and_order_of_factors_do_not_matter() {
        let seed = |json| trial_seed(Seed::new(7), &configuration(json), 1);
        let one = seed(r#"{"lr":0.1,"batch":32}"#);
        assert_eq!(seed(r#"{"batch":32.0,"lr":1e-1}"#), one);
        assert_ne!(seed(r#"{"batch":32.0,"lr":1e-2}"#), one);
        assert_ne!(seed(r#"{"batch":"32","lr":0.1}"#), one);
        assert_ne!(trial_seed(Seed::new(8), &configuration(r#"{"lr":0.1,"batch":32}"#), 1), one);
    }

    #[test]
    fn replicates_of_a_configuration_never_share_a_seed() {
        let own = configuration(r#"{"lr":0.1}"#);
        let seeds: HashSet<u32> =
            (1..=1_000_000).map(|replicate| trial_seed(Seed::new(7), &own, replicate)).collect();
        assert_eq!(seeds.len(), 1_000_000);
        assert!(seeds.iter().all(|seed| seed & MASK == *seed));
    }

    #[test]
    fn seeds_of_different_configurations_are_apart() {
        let seeds: HashSet<u32> = (0..2_000)
            .map(|batch| {
                trial_seed(Seed::new(7), &configuration(&format!("{{\"batch\":{batch}}}")), 1)
            })
            .collect();
        // A pair in 2^31 agrees by chance: 0.001 of the 2 million pairs.
        assert_eq!(seeds.len(), 2_000);
    }
}
