//! A space in which only some factors still vary.

use super::{Candidate, Shape, Space};
use crate::Dimension;

/// Some factors of a wider space; the others stay where they are.
#[derive(Debug, Clone)]
pub(super) struct Focus {
    wide: Box<Space>,
    /// Factors that vary, by their places in the wider space.
    columns: Vec<usize>,
    /// Those factors.
    pub(super) dimensions: Vec<Dimension>,
    /// The point of the wider space round which they vary.
    centre: Vec<f64>,
}

impl Focus {
    /// The candidate at a point of the factors that vary.
    pub(super) fn candidate(&self, point: &[f64]) -> Option<Candidate> {
        let mut whole = self.centre.clone();
        self.columns.iter().zip(point).for_each(|(&column, place)| whole[column] = *place);
        let own = self.wide.candidate(&whole)?;
        Some(Candidate { features: self.seen(&own.features), ..own })
    }

    /// The wider space.
    pub(super) fn wide(&self) -> &Space {
        &self.wide
    }

    /// What is left of the wider space's features or points.
    pub(super) fn seen(&self, wide: &[f64]) -> Vec<f64> {
        self.columns.iter().map(|&column| wide[column]).collect()
    }
}

impl Space {
    /// The space in which only these factors vary, by their places, and all others stay as at a
    /// point of the unit cube. What was tried elsewhere is seen by the factors that vary.
    ///
    /// # Panics
    /// Where the space is a table, or the point is none of it.
    pub(crate) fn focused(&self, columns: &[usize], centre: &[f64]) -> Self {
        let dimensions: Vec<Dimension> =
            columns.iter().map(|&column| self.dimensions()[column].clone()).collect();
        let distances = columns.iter().map(|&column| self.distances[column]).collect();
        let (wide, columns, centre) = (Box::new(self.clone()), columns.to_vec(), centre.to_vec());
        let focus = Focus { wide, columns, dimensions, centre };
        let mut own = Self { shape: Shape::Focused(focus), distances, listed: None };
        own.listed = own.list();
        own
    }
}

#[cfg(test)]
mod tests {
    use trainwright_random::Random;
    use trainwright_study::Study;

    use super::*;

    const STUDY: &str = r#"
schema = 1
[study]
name = "focused"
[factors.lr]
range = { from = 0.001, to = 1.0 }
scale = "log"
[factors.batch]
levels = [16, 32, 64]
[factors.kind]
levels = ["a", "b"]
[[constraint]]
expr = "lr * batch <= 16"
[metrics.loss]
"#;

    fn wide() -> Space {
        Space::of(&Study::from_text(STUDY).unwrap()).unwrap()
    }

    #[test]
    fn factors_outside_the_focus_stay_and_constraints_are_kept() {
        let wide = wide();
        let centre = wide.random(&mut Random::new(3)).unwrap().configuration;
        let own = wide.focused(&[0], &wide.point(&centre).unwrap());
        assert_eq!((own.width(), own.distances().len(), own.dimensions()[0].name()), (1, 1, "lr"));
        let mut random = Random::new(5);
        for _ in 0..200 {
            let found = own.random(&mut random).unwrap().configuration;
            assert_eq!(found.get("batch"), centre.get("batch"));
            assert_eq!(found.get("kind"), centre.get("kind"));
            let point = wide.point(&found).unwrap();
            assert!(wide.candidate(&point).is_some(), "{found}");
        }
    }

    #[test]
    fn what_is_seen_is_the_wider_space_without_the_other_factors() {
        let wide = wide();
        let mut random = Random::new(9);
        let centre = wide.random(&mut random).unwrap().configuration;
        let own = wide.focused(&[2, 0], &wide.point(&centre).unwrap());
        for _ in 0..50 {
            let any = wide.random(&mut random).unwrap();
            let seen = own.features(&any.configuration).unwrap();
            assert_eq!(seen, [any.features[2], any.features[0]]);
            let inside = own.random(&mut random).unwrap();
            let point = own.point(&inside.configuration).unwrap();
            assert_eq!(own.candidate(&point).unwrap().features, inside.features);
            assert_eq!(own.features_at(&point).unwrap(), inside.features);
        }
    }

    #[test]
    fn few_configurations_are_listed() {
        let wide = wide();
        let centre = wide.random(&mut Random::new(1)).unwrap().configuration;
        let own = wide.focused(&[2], &wide.point(&centre).unwrap());
        let kinds: Vec<String> = own
            .listed()
            .unwrap()
            .iter()
            .map(|own| own.configuration.get("kind").unwrap().to_string())
            .collect();
        assert_eq!(kinds, ["a", "b"]);
    }
}
