//! The columns that effects of a study's factors have over rows of configurations.
//!
//! Numbers run from -1 at a factor's lowest level to +1 at its highest, on the factor's scale; two
//! texts are -1 and +1; more texts get columns that sum to zero over the levels.

use std::collections::HashMap;

use trainwright_study::{Configuration, Factor, Level, Scale, Study};

/// A product of powers of factors: position in the study's list and power.
pub(crate) type Effect = Vec<(usize, u32)>;

/// The name of an effect, such as `lr`, `lr:batch` or `lr^2`.
pub(crate) fn name(study: &Study, effect: &Effect) -> String {
    let one = |&(factor, power): &(usize, u32)| {
        let name = &study.factors[factor].name;
        if power == 1 { name.clone() } else { format!("{name}^{power}") }
    };
    effect.iter().map(one).collect::<Vec<_>>().join(":")
}

/// Every main effect, then every two-factor interaction.
pub(crate) fn short_effects(factors: usize) -> Vec<Effect> {
    let mains = (0..factors).map(|one| vec![(one, 1)]);
    let pairs = (0..factors)
        .flat_map(|one| (one + 1..factors).map(move |other| vec![(one, 1), (other, 1)]));
    mains.chain(pairs).collect()
}

/// How the factors of a study become numbers.
pub(crate) struct Coding {
    factors: Vec<FactorCoding>,
}

/// What is known of a factor before any row is looked at.
struct FactorCoding {
    name: String,
    scale: Scale,
    /// Lowest and highest position on the scale; nothing for texts.
    ends: Option<(f64, f64)>,
    /// Places of the levels by identity.
    places: HashMap<String, usize>,
}

impl Coding {
    pub(crate) fn new(study: &Study) -> Self {
        Self { factors: study.factors.iter().map(FactorCoding::of).collect() }
    }

    /// The values of an effect in a row; zeros where one of its factors is absent.
    pub(crate) fn values(&self, effect: &Effect, row: &Configuration) -> Vec<f64> {
        let mut product = vec![1.0];
        for &(index, power) in effect {
            let factor = &self.factors[index];
            let own = match row.get_at(index, &factor.name) {
                Some(level) => factor.coded(level),
                None => vec![0.0; factor.columns()],
            };
            let powers: Vec<f64> =
                own.iter().map(|value| value.powi(power.cast_signed())).collect();
            product = powers
                .iter()
                .flat_map(|right| product.iter().map(move |left| left * right))
                .collect();
        }
        product
    }

    /// A row of the model matrix: the constant, then every effect.
    pub(crate) fn model_row(&self, effects: &[Effect], row: &Configuration) -> Vec<f64> {
        let values = effects.iter().flat_map(|effect| self.values(effect, row));
        std::iter::once(1.0).chain(values).collect()
    }

    /// Columns that an effect takes.
    pub(crate) fn columns(&self, effect: &Effect) -> usize {
        let own = effect.iter().map(|&(index, _)| self.factors[index].columns());
        own.fold(1, usize::saturating_mul)
    }
}

impl FactorCoding {
    fn of(factor: &Factor) -> Self {
        let number = |level: &Level| level.number().expect("the ends are numbers");
        let place = |level: &Level| factor.scale.position(number(level));
        Self {
            name: factor.name.clone(),
            scale: factor.scale,
            ends: factor.ends().map(|(low, high)| (place(low), place(high))),
            places: factor.levels.iter().map(Level::identity).zip(0..).collect(),
        }
    }

    /// Columns that the factor takes.
    fn columns(&self) -> usize {
        if self.ends.is_some() { 1 } else { self.places.len() - 1 }
    }

    fn coded(&self, level: &Level) -> Vec<f64> {
        if let (Some((low, high)), Some(value)) = (self.ends, level.number()) {
            return vec![(2.0 * self.scale.position(value) - low - high) / (high - low)];
        }
        let code = self.places.get(&level.identity()).copied();
        let last = self.places.len() - 1;
        match (code, last) {
            (Some(code), 1) => vec![if code == 0 { -1.0 } else { 1.0 }],
            (Some(code), _) if code == last => vec![-1.0; last],
            _ => (0..last).map(|own| if Some(own) == code { 1.0 } else { 0.0 }).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{configuration, study};

    fn mixed() -> Study {
        study(
            &[
                ("lr", "levels = [0.01, 1.0, 0.1]\nscale = \"log\""),
                ("n", "levels = [2, 6]"),
                ("kind", "levels = [\"x\", \"y\", \"z\"]"),
            ],
            "type = \"full\"",
        )
    }

    #[test]
    fn numbers_are_coded_on_their_scale_and_texts_sum_to_zero() {
        let study = mixed();
        let coding = Coding::new(&study);
        let at = |effect: Effect, row: &str| coding.values(&effect, &configuration(row));
        assert!(at(vec![(0, 1)], "lr=0.1 n=2 kind=x")[0].abs() < 1e-12, "the middle of the logs");
        assert_eq!(at(vec![(1, 1)], "lr=0.1 n=2 kind=x"), [-1.0]);
        assert_eq!(at(vec![(1, 1)], "lr=0.1 n=5 kind=x"), [0.5], "between the levels");
        assert_eq!(at(vec![(1, 2)], "lr=0.1 n=5 kind=x"), [0.25]);
        let kinds = ["x", "y", "z"].map(|own| at(vec![(2, 1)], &format!("lr=0.1 n=2 kind={own}")));
        assert_eq!(kinds, [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]);
        for column in 0..2 {
            assert_eq!(kinds.iter().map(|own| own[column]).sum::<f64>(), 0.0);
        }
    }

    #[test]
    fn a_product_has_all_products_of_columns_and_none_where_a_factor_is_absent() {
        let study = mixed();
        let coding = Coding::new(&study);
        let product = vec![(1, 1), (2, 1)];
        assert_eq!(coding.columns(&product), 2);
        assert_eq!(coding.values(&product, &configuration("lr=1.0 n=2 kind=z")), [1.0, 1.0]);
        assert_eq!(coding.values(&product, &configuration("lr=1.0 n=2")), [0.0, 0.0]);
        let row = coding.model_row(&[vec![(1, 1)], product], &configuration("lr=1.0 n=6 kind=x"));
        assert_eq!(row, [1.0, 1.0, 1.0, 0.0], "the constant first");
    }

    #[test]
    fn effects_are_named_and_listed_mains_first() {
        let study = mixed();
        assert_eq!(name(&study, &vec![(0, 2)]), "lr^2");
        assert_eq!(name(&study, &vec![(0, 1), (2, 1)]), "lr:kind");
        let names: Vec<String> = short_effects(3).iter().map(|own| name(&study, own)).collect();
        assert_eq!(names, ["lr", "n", "kind", "lr:n", "lr:kind", "n:kind"]);
        assert!(short_effects(0).is_empty());
    }
}
