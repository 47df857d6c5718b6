//! Which of several processes this is, where a launcher has started them all.

use std::env;

/// Variables that hold the rank: of torchrun, Open MPI, MPICH and Slurm.
const VARIABLES: [&str; 4] = ["RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"];

/// The rank that `torchrun`, `mpirun` or `srun` gave to this process; nothing without them.
pub fn launched_rank() -> Option<usize> {
    rank(|name| env::var(name).ok())
}

fn rank(variable: impl Fn(&str) -> Option<String>) -> Option<usize> {
    VARIABLES.iter().find_map(|name| variable(name)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<usize> {
        let value = |name: &str| variables.iter().find(|own| own.0 == name).map(|own| own.1);
        rank(|name| value(name).map(str::to_owned))
    }

    #[test]
    fn each_launcher_tells_the_rank_by_its_own_variable() {
        assert_eq!(of(&[("RANK", "3"), ("WORLD_SIZE", "4")]), Some(3));
        assert_eq!(of(&[("OMPI_COMM_WORLD_RANK", "2")]), Some(2));
        assert_eq!(of(&[("PMI_RANK", "1")]), Some(1));
        assert_eq!(of(&[("SLURM_PROCID", "0")]), Some(0));
        assert_eq!(of(&[("HOME", "1")]), None);
    }

    #[test]
    fn what_is_no_number_is_passed_over() {
        assert_eq!(of(&[("RANK", "first"), ("PMI_RANK", "1")]), Some(1));
        assert_eq!(of(&[("RANK", "-1")]), None);
    }
}
