//! The variance of a function over the unit cube, split into what single coordinates and pairs of
//! them cause.
//!
//! All parts are sums of squares over one set of points, an orthogonal array of strength 3 (Bush,
//! "Orthogonal arrays of index unity", 1952) with a random place in each of its cells (Tang,
//! "Orthogonal array-based Latin hypercubes", 1993). Over such points the parts of single
//! coordinates are orthogonal to each other and to every pair, so that all of them and any one pair
//! never add up to more than the whole. Pairs of other coordinates may share a little.

use trainwright_random::Random;

/// Strata along each coordinate where there are not more coordinates: a prime.
const LEAST_STRATA: usize = 17;

/// Points of the unit cube that tell coordinates apart.
pub(super) struct Array {
    strata: usize,
    /// Stratum of each coordinate of each point.
    cells: Vec<Vec<usize>>,
    /// The points themselves.
    pub(super) points: Vec<Vec<f64>>,
}

impl Array {
    pub(super) fn new(width: usize, random: &mut Random) -> Self {
        let strata = (LEAST_STRATA.max(width.saturating_sub(1))..)
            .find(|own| (2..*own).all(|factor| own % factor > 0))
            .unwrap_or(LEAST_STRATA);
        // A polynomial of degree 2 is known by its values at any three places; the last column
        // is its leading coefficient, its value at infinity as it were.
        let row = |number: usize| -> Vec<usize> {
            let (a, b, c) =
                (number % strata, number / strata % strata, number / strata / strata % strata);
            let at = |place: usize| {
                if place == strata { c } else { (a + b * place + c * place * place) % strata }
            };
            (0..width).map(at).collect()
        };
        let cells: Vec<Vec<usize>> = (0..strata.pow(3)).map(row).collect();
        let place =
            |own: &usize, random: &mut Random| (*own as f64 + random.unit()) / strata as f64;
        let point = |row: &Vec<usize>| row.iter().map(|own| place(own, random)).collect();
        let points = cells.iter().map(point).collect();
        Self { strata, cells, points }
    }

    /// The variance of values at the points.
    pub(super) fn total(&self, values: &[f64]) -> f64 {
        let centre = mean(values);
        values.iter().map(|own| (own - centre) * (own - centre)).sum::<f64>() / values.len() as f64
    }

    /// The part of the variance that one coordinate causes.
    pub(super) fn single(&self, values: &[f64], coordinate: usize) -> f64 {
        let cell = |point: usize| self.cells[point][coordinate];
        self.between(values, self.strata, cell)
    }

    /// The part that two coordinates cause together, beyond each alone.
    pub(super) fn pair(&self, values: &[f64], first: usize, second: usize) -> f64 {
        let cell = |at: usize| self.cells[at][first] * self.strata + self.cells[at][second];
        let joint = self.between(values, self.strata * self.strata, cell);
        let beyond = joint - self.single(values, first) - self.single(values, second);
        // What is left within cells makes their means differ too, as chance would.
        let (points, strata) = (values.len() as f64, self.strata as f64);
        let within = (self.total(values) - joint) / (points - strata * strata);
        (beyond - (strata - 1.0).powi(2) * within).max(0.0)
    }

    /// The variance of the means of cells that hold equally many points.
    fn between(&self, values: &[f64], cells: usize, cell: impl Fn(usize) -> usize) -> f64 {
        let centre = mean(values);
        let mut sums = vec![0.0; cells];
        for (point, value) in values.iter().enumerate() {
            sums[cell(point)] += value - centre;
        }
        let each = values.len() as f64 / cells as f64;
        sums.iter().map(|own| (own / each).powi(2)).sum::<f64>() / cells as f64
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn array(width: usize) -> Array {
        Array::new(width, &mut Random::new(3))
    }

    #[test]
    fn any_three_coordinates_meet_in_every_combination_once() {
        let own = array(5);
        for columns in [[0, 1, 2], [0, 2, 4], [1, 3, 4]] {
            let mut seen: Vec<[usize; 3]> =
                own.cells.iter().map(|row| columns.map(|column| row[column])).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 17 * 17 * 17, "{columns:?}");
        }
        let wide = array(20);
        assert_eq!((wide.strata, wide.points[0].len()), (19, 20));
    }

    #[test]
    fn parts_are_those_that_are_known_of_a_function() {
        // Ishigami and Homma, "An importance quantification technique", 1990, with a = 7, b = 0.1:
        // variances b pi^4 / 5 + b^2 pi^8 / 50 + 1/2, a^2 / 8, 0 and 8 b^2 pi^8 / 225.
        let own = array(3);
        let pi = std::f64::consts::PI;
        let ishigami = |at: &Vec<f64>| {
            let [x, y, z] = [at[0], at[1], at[2]].map(|own| pi * (2.0 * own - 1.0));
            x.sin() + 7.0 * y.sin().powi(2) + 0.1 * z.powi(4) * x.sin()
        };
        let values: Vec<f64> = own.points.iter().map(ishigami).collect();
        let first = 0.1 * pi.powi(4) / 5.0 + 0.01 * pi.powi(8) / 50.0 + 0.5;
        let both = 8.0 * 0.01 * pi.powi(8) / 225.0;
        let whole = first + 49.0 / 8.0 + both;
        assert!((own.total(&values) / whole - 1.0).abs() < 0.03);
        for (part, expected) in [
            (own.single(&values, 0), first),
            (own.single(&values, 1), 49.0 / 8.0),
            (own.single(&values, 2), 0.0),
            (own.pair(&values, 0, 2), both),
            (own.pair(&values, 0, 1), 0.0),
        ] {
            // What varies within a stratum counts as nobody's, so that parts come out a little low.
            assert!((-0.05..0.02).contains(&((part - expected) / whole)), "{part} {expected}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn parts_never_add_up_to_more_than_the_whole(
            centre in proptest::collection::vec(0.0..1.0f64, 4),
            width in 0.005..0.5f64,
        ) {
            // A narrow peak is the hardest: few points see it.
            let own = array(4);
            let peak = |at: &Vec<f64>| {
                let apart: f64 = at.iter().zip(&centre).map(|(a, b)| (a - b) * (a - b)).sum();
                (-apart / (width * width)).exp() + at[0]
            };
            let values: Vec<f64> = own.points.iter().map(peak).collect();
            let singles: f64 = (0..4).map(|at| own.single(&values, at)).sum();
            let pair = own.pair(&values, 0, 1).max(own.pair(&values, 2, 3));
            prop_assert!(singles + pair <= own.total(&values) * (1.0 + 1e-9));
        }
    }
}
