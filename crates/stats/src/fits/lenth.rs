//! Which effects of an unreplicated two-level design stand out (Lenth, "Quick and easy analysis
//! of unreplicated factorials", Technometrics 31, 1989).

use crate::distributions::StudentT;
use crate::error::StatsError;
use crate::sample;

/// Lenth's yardsticks for effects that have no independent error estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lenth {
    /// Pseudo standard error of an effect.
    pub pse: f64,
    /// Margin that one inactive effect stays within 95 times in 100.
    pub me: f64,
    /// Margin that all inactive effects together stay within 95 times in 100.
    pub sme: f64,
}

/// Pseudo standard error and margins of a list of effects.
///
/// # Errors
/// Fewer than three effects, a non-finite one, or effects more than half of which are zero.
pub fn lenth(effects: &[f64]) -> Result<Lenth, StatsError> {
    sample::check(effects, "Lenth's method", 3)?;
    let sizes: Vec<f64> = effects.iter().map(|e| e.abs()).collect();
    let first = 1.5 * sample::median_of(&sizes);
    let inactive: Vec<f64> = sizes.into_iter().filter(|&s| s < 2.5 * first).collect();
    if inactive.is_empty() {
        let reason = "more than half of the effects are zero";
        return Err(StatsError::Undefined { what: "Lenth's pseudo standard error", reason });
    }
    let pse = 1.5 * sample::median_of(&inactive);
    let count = effects.len() as f64;
    let t = StudentT::new(count / 3.0)?;
    let simultaneous = 0.5 * (1.0 + 0.95f64.powf(1.0 / count));
    Ok(Lenth { pse, me: t.quantile(0.975)? * pse, sme: t.quantile(simultaneous)? * pse })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_that_are_mostly_zero_are_refused() {
        assert!(lenth(&[0.0, 0.0, 0.0, 5.0]).is_err());
        assert!(lenth(&[1.0, 2.0]).is_err());
    }

    #[test]
    fn one_large_effect_does_not_widen_the_margin() {
        let small = [0.1, -0.2, 0.3, -0.1, 0.2, 0.15];
        let mut with_large = small.to_vec();
        with_large.push(50.0);
        let (a, b) = (lenth(&small).unwrap(), lenth(&with_large).unwrap());
        assert!((a.pse / b.pse - 1.0).abs() < 0.5 && b.sme < 50.0);
    }
}
