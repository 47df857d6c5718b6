//! Configurations that no other one beats in all goals, and how much they reach together.

use crate::{Cell, History};

/// Cells that keep all limits and that no other one beats: better in one goal and no worse in the
/// others.
pub fn front(known: &History) -> Vec<Cell> {
    let goals = known.aims().goals.len();
    let scored: Vec<(Vec<f64>, Cell)> = known
        .cells()
        .into_iter()
        .filter(|own| known.keeps_limits(own))
        .filter_map(|own| {
            let losses = (0..goals).map(|goal| own.loss(goal)).collect::<Option<_>>()?;
            Some((losses, own))
        })
        .collect();
    let beaten = |own: &Vec<f64>| scored.iter().any(|(other, _)| dominates(other, own));
    scored.iter().filter(|(own, _)| !beaten(own)).map(|(_, cell)| cell.clone()).collect()
}

fn dominates(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x <= y) && a.iter().zip(b).any(|(x, y)| x < y)
}

/// The volume of all losses that some point beats and that are no worse than `reference` in any
/// goal, small losses being good (Zitzler and Thiele, 1998). Points beyond the reference count
/// nothing.
///
/// By slices along the last goal; its time grows quickly with the number of goals, and a study
/// has few.
pub fn hypervolume(points: &[Vec<f64>], reference: &[f64]) -> f64 {
    let inside = |own: &&Vec<f64>| own.iter().zip(reference).all(|(x, most)| x < most);
    let mut inside: Vec<&Vec<f64>> = points.iter().filter(inside).collect();
    let Some((&last_most, rest)) = reference.split_last() else { return 0.0 };
    if rest.is_empty() {
        let least = inside.iter().map(|own| own[0]).fold(last_most, f64::min);
        return last_most - least;
    }
    let last = rest.len();
    inside.sort_by(|a, b| a[last].total_cmp(&b[last]));
    let mut volume = 0.0;
    for (place, own) in inside.iter().enumerate() {
        let next = inside.get(place + 1).map_or(last_most, |next| next[last]);
        if next > own[last] {
            let below: Vec<Vec<f64>> =
                inside[..=place].iter().map(|own| own[..last].to_vec()).collect();
            volume += (next - own[last]) * hypervolume(&below, rest);
        }
    }
    volume
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trainwright_random::Random;

    use super::*;

    #[test]
    fn volumes_of_boxes_are_known() {
        assert_eq!(hypervolume(&[vec![1.0]], &[3.0]), 2.0);
        assert_eq!(hypervolume(&[vec![1.0, 2.0]], &[3.0, 3.0]), 2.0);
        let two = [vec![1.0, 2.0], vec![2.0, 1.0]];
        assert_eq!(hypervolume(&two, &[3.0, 3.0]), 3.0, "the overlap counts once");
        assert_eq!(hypervolume(&[vec![0.0, 0.0, 0.0]], &[1.0, 2.0, 3.0]), 6.0);
        assert_eq!(hypervolume(&[vec![4.0, 0.0]], &[3.0, 3.0]), 0.0);
        assert_eq!(hypervolume(&[], &[3.0, 3.0]), 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn volumes_are_what_random_points_give(
            points in proptest::collection::vec(proptest::collection::vec(0.0..1.0f64, 3), 1..7),
        ) {
            let mut random = Random::new(3);
            let draws = 40_000;
            let hits = (0..draws).filter(|_| {
                let at = [random.unit(), random.unit(), random.unit()];
                points.iter().any(|own| own.iter().zip(&at).all(|(x, y)| x <= y))
            });
            let share = hits.count() as f64 / f64::from(draws);
            // Five standard errors of a share.
            prop_assert!((hypervolume(&points, &[1.0; 3]) - share).abs() < 0.0125);
        }
    }

    proptest! {
        /// What is beaten adds nothing, what is not adds something, and the order is all one.
        #[test]
        fn only_points_of_the_front_add_volume(
            points in proptest::collection::vec(proptest::collection::vec(0.0..1.0f64, 2), 1..9),
            extra in proptest::collection::vec(0.0..1.0f64, 2),
        ) {
            let reference = [1.0, 1.0];
            let before = hypervolume(&points, &reference);
            let after = hypervolume(&[points.clone(), vec![extra.clone()]].concat(), &reference);
            let beaten = points.iter().any(|own| own.iter().zip(&extra).all(|(x, y)| x <= y));
            prop_assert!((after > before + 1e-12) != beaten || (after - before).abs() < 1e-9);
            prop_assert!(after >= before - 1e-12 && after <= 1.0);
            let mut turned = points.clone();
            turned.reverse();
            prop_assert!((hypervolume(&turned, &reference) - before).abs() < 1e-12);
        }
    }

    #[test]
    fn one_point_beats_another_only_in_all() {
        assert!(dominates(&[1.0, 1.0], &[1.0, 2.0]));
        assert!(!dominates(&[1.0, 1.0], &[1.0, 1.0]) && !dominates(&[0.0, 2.0], &[1.0, 1.0]));
    }
}
