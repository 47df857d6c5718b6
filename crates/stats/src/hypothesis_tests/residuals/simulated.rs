//! P-values of any statistic of residuals, by simulating normal errors under the same equation.
//!
//! Residuals of a fit are not independent: with few degrees of freedom their sizes are tied to
//! each other, and tables made for independent values reject too often or always. Under normal
//! errors the residuals of a given equation have one known distribution up to their scale, so a
//! statistic without scale can be compared with draws from it.

use trainwright_random::Random;

use crate::linear_algebra::orthogonal::Orthogonal;

/// Most draws.
const MOST_DRAWS: usize = 999;
/// Draws beyond the statistic seen at which the p-value is known well enough to stop (Besag and
/// Clifford, Biometrika 78, 1991).
const ENOUGH: usize = 20;
/// Draws whose statistic never changes show that it cannot.
const SAME: usize = 20;

/// Chance that residuals of an equation with normal errors have a statistic at least as large as
/// those seen; `None` where it is undefined, or the same for all errors, so that it can show
/// nothing. The same input gives the same answer.
pub fn simulated_p(
    decomposition: &Orthogonal,
    residuals: &[f64],
    statistic: impl Fn(&[f64]) -> Option<f64>,
) -> Option<f64> {
    let rank = decomposition.rank();
    let draw = |random: &mut Random| {
        let mut rotated = vec![0.0; residuals.len()];
        rotated[rank..].iter_mut().for_each(|v| *v = normal(random));
        statistic(&decomposition.rotate_back(&rotated))
    };
    simulated_tail(statistic(residuals)?, draw)
}

/// The same for groups of independent values about means of their own.
pub fn simulated_p_of_groups(
    groups: &[Vec<f64>],
    statistic: impl Fn(&[Vec<f64>]) -> Option<f64>,
) -> Option<f64> {
    let draw = |random: &mut Random| {
        let group = |own: &Vec<f64>| own.iter().map(|_| normal(random)).collect();
        statistic(&groups.iter().map(group).collect::<Vec<Vec<f64>>>())
    };
    simulated_tail(statistic(groups)?, draw)
}

fn simulated_tail(seen: f64, mut draw: impl FnMut(&mut Random) -> Option<f64>) -> Option<f64> {
    let mut random = Random::new(1);
    let rounding = 1e-9 * seen.abs().max(1.0);
    let (mut beyond, mut varies) = (0, false);
    for draws in 1..=MOST_DRAWS {
        let own = draw(&mut random)?;
        varies |= (own - seen).abs() > rounding;
        beyond += usize::from(own >= seen - rounding);
        if draws == SAME && !varies {
            return None;
        }
        if beyond == ENOUGH {
            return Some(beyond as f64 / draws as f64);
        }
    }
    Some((beyond + 1) as f64 / (MOST_DRAWS + 1) as f64)
}

/// A standard normal number (Box and Muller, Annals of Mathematical Statistics 29, 1958).
fn normal(random: &mut Random) -> f64 {
    let radius = (2.0 * random.exponential()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Columns, brown_forsythe, least_squares, shapiro_wilk};

    /// Columns of a two-level design of three factors with products of two, run `repeats` times.
    fn design(repeats: usize) -> Columns {
        let sign = |row: usize, bit: usize| if row >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let rows = 0..8 * repeats;
        let mut columns = vec![vec![1.0; 8 * repeats]];
        columns.extend((0..3).map(|bit| rows.clone().map(|row| sign(row, bit)).collect()));
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            columns.push(rows.clone().map(|row| sign(row, a) * sign(row, b)).collect());
        }
        Columns::new(columns).unwrap()
    }

    fn normality(residuals: &[f64]) -> Option<f64> {
        shapiro_wilk(residuals).ok().map(|found| 1.0 - found.w)
    }

    #[test]
    fn one_degree_of_freedom_shows_nothing() {
        let y = [3.1, 4.7, 2.2, 9.4, 1.1, 5.5, 7.3, 2.9];
        let fit = least_squares(&design(1), &y).unwrap();
        assert!(shapiro_wilk(&fit.residuals).unwrap().p < 0.01, "the table cries wolf");
        assert_eq!(simulated_p(fit.decomposition(), &fit.residuals, normality), None);
    }

    #[test]
    fn clean_residuals_are_rejected_as_often_as_said() {
        let (mut random, rounds, mut low) = (Random::new(5), 600, 0);
        for _ in 0..rounds {
            let y: Vec<f64> = (0..16).map(|_| normal(&mut random)).collect();
            let fit = least_squares(&design(2), &y).unwrap();
            let p = simulated_p(fit.decomposition(), &fit.residuals, normality).unwrap();
            low += u32::from(p < 0.05);
        }
        // Four standard errors of the simulation.
        let share = f64::from(low) / f64::from(rounds);
        assert!((share - 0.05).abs() < 0.036, "{share}");
    }

    #[test]
    fn groups_of_three_are_rejected_as_often_as_said() {
        let (mut random, rounds, mut low) = (Random::new(6), 600, 0);
        let spread = |groups: &[Vec<f64>]| brown_forsythe(groups).ok().map(|found| found.f);
        for _ in 0..rounds {
            let groups: Vec<Vec<f64>> =
                (0..4).map(|_| (0..3).map(|_| normal(&mut random)).collect()).collect();
            low += u32::from(simulated_p_of_groups(&groups, spread).unwrap() < 0.05);
        }
        let share = f64::from(low) / f64::from(rounds);
        assert!((share - 0.05).abs() < 0.036, "{share}");
    }

    #[test]
    fn unequal_groups_are_seen() {
        let wide = [vec![-9.0, 8.0, 3.0, -4.0], vec![10.0, -7.0, 2.0, -5.0]];
        let groups =
            [&wide[..], &[vec![0.1, 0.2, 0.15, 0.12], vec![0.3, 0.25, 0.2, 0.28]]].concat();
        let spread = |groups: &[Vec<f64>]| brown_forsythe(groups).ok().map(|found| found.f);
        assert!(simulated_p_of_groups(&groups, spread).unwrap() < 0.05);
    }
}
