//! The columns that effects of a study's factors have over rows of configurations.
//!
//! Numbers run from -1 at a factor's lowest level to +1 at its highest, on the factor's scale; two
//! texts are -1 and +1; more texts get columns that sum to zero over the levels.

use trainwright_study::{Configuration, Factor, Level, Study};

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
pub(crate) struct Coding<'a> {
    study: &'a Study,
}

impl<'a> Coding<'a> {
    pub(crate) fn new(study: &'a Study) -> Self {
        Self { study }
    }

    /// The values of an effect in a row; zeros where one of its factors is absent.
    pub(crate) fn values(&self, effect: &Effect, row: &Configuration) -> Vec<f64> {
        let mut product = vec![1.0];
        for &(index, power) in effect {
            let factor = &self.study.factors[index];
            let own = match row.get(&factor.name) {
                Some(level) => coded(factor, level),
                None => vec![0.0; columns(factor)],
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
}

/// Columns that a factor takes.
fn columns(factor: &Factor) -> usize {
    if factor.is_numeric() { 1 } else { factor.levels.len() - 1 }
}

fn coded(factor: &Factor, level: &Level) -> Vec<f64> {
    if let (Some((low, high)), Some(value)) = (factor.ends(), level.number()) {
        let place = |value: f64| factor.scale.position(value);
        let number = |level: &Level| level.number().expect("the ends are numbers");
        let (low, high) = (place(number(low)), place(number(high)));
        return vec![(2.0 * place(value) - low - high) / (high - low)];
    }
    let code = factor.levels.iter().position(|own| own.same_as(level));
    let last = factor.levels.len() - 1;
    match (code, last) {
        (Some(code), 1) => vec![if code == 0 { -1.0 } else { 1.0 }],
        (Some(code), _) if code == last => vec![-1.0; last],
        _ => (0..last).map(|own| if Some(own) == code { 1.0 } else { 0.0 }).collect(),
    }
}
