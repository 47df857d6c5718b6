//! Which terms would take up what an equation leaves unexplained.

use trainwright_stats::{FisherF, LackOfFit, Orthogonal};

use crate::fit::analysis::MissingTerm;
use crate::model::model_matrix::{Coding, Contrasts, Equation, ModelMatrix, Scheme};
use crate::model::problem::Problem;
use crate::model::variable::{InProducts, Variable};

/// Terms named at most.
const MOST_NAMED: usize = 3;

/// Candidates beyond which only the squares are tried.
const MOST_CANDIDATES: usize = 60;

/// Observations above which no candidate is tried.
const MOST_ROWS: usize = 20_000;

/// An equation under way.
struct Extended {
    variables: Vec<Variable>,
    terms: Vec<Vec<usize>>,
}

/// A term that is not in the equation, with a variable that it may need.
struct Candidate {
    name: String,
    new: Option<Variable>,
    term: Vec<usize>,
}

/// The terms that take up most of a lack of fit, largest first: each is added to those before until
/// repeats give no more evidence that something is missing.
pub(crate) fn missing_terms(problem: &Problem, lack: &LackOfFit) -> Vec<MissingTerm> {
    let mut equation =
        Extended { variables: problem.variables.clone(), terms: problem.terms.clone() };
    let noise = lack.pure_error_ss / lack.pure_error_df as f64;
    let (mut squares, mut df) = (lack.ss, lack.df);
    let mut found = Vec::new();
    while found.len() < MOST_NAMED && df > 0 && problem.y.len() <= MOST_ROWS {
        let significant = FisherF::new(df as f64, lack.pure_error_df as f64)
            .is_ok_and(|f| f.upper_tail(squares / df as f64 / noise) < problem.alpha);
        let Some((candidate, gain)) = equation.best(problem).filter(|_| significant) else { break };
        let p = FisherF::new(gain.1 as f64, lack.pure_error_df as f64)
            .map_or(1.0, |f| f.upper_tail(gain.0 / gain.1 as f64 / noise));
        if p >= problem.alpha {
            break;
        }
        let percent = (100.0 * gain.0 / lack.ss).min(100.0);
        found.push(MissingTerm { term: candidate.name.clone(), percent });
        (squares, df) = ((squares - gain.0).max(0.0), df.saturating_sub(gain.1));
        equation.add(candidate);
    }
    found
}

impl Extended {
    fn add(&mut self, candidate: Candidate) {
        self.variables.extend(candidate.new);
        self.terms.push(candidate.term);
    }

    /// The candidate with the largest mean square, and its sum of squares and degrees of freedom.
    fn best(&self, problem: &Problem) -> Option<(Candidate, (f64, usize))> {
        let gains = self.candidates().into_iter().filter_map(|own| {
            let gain = self.gain(&own, problem).filter(|gain| gain.1 > 0)?;
            Some((own, gain))
        });
        gains.max_by(|a, b| {
            let mean_square = |gain: (f64, usize)| gain.0 / gain.1 as f64;
            mean_square(a.1).total_cmp(&mean_square(b.1))
        })
    }

    /// Sum of squares and degrees of freedom that a candidate adds.
    fn gain(&self, candidate: &Candidate, problem: &Problem) -> Option<(f64, usize)> {
        let variables: Vec<Variable> =
            self.variables.iter().chain(&candidate.new).cloned().collect();
        let terms: Vec<Vec<usize>> = self.terms.iter().chain([&candidate.term]).cloned().collect();
        let equation = Equation { terms: &terms, intercept: problem.intercept };
        let scheme = Scheme { coding: Coding::Coded, contrasts: Contrasts::Sum };
        let matrix = ModelMatrix::new(&variables, equation, scheme, problem.y.len()).ok()?;
        let decomposition = Orthogonal::new(&matrix.columns);
        let effects = decomposition.rotate(&problem.y);
        let of_column = &matrix.structure.term_of_column;
        let own = decomposition.kept().iter().zip(effects);
        let own = own.filter(|(column, _)| of_column[**column] == terms.len());
        Some(own.fold((0.0, 0), |(sum, df), (_, effect)| (sum + effect * effect, df + 1)))
    }

    /// The next power of every number, and every product of two variables; products of a bent one
    /// where only its straight part is in the equation.
    fn candidates(&self) -> Vec<Candidate> {
        let mut found: Vec<Candidate> =
            (0..self.variables.len()).filter_map(|index| self.next_power(index)).collect();
        let factors: Vec<usize> = (0..self.variables.len())
            .filter(|&v| !self.variables[v].is_block() && !self.variables[v].is_power())
            .collect();
        if factors.len() * factors.len() > 2 * MOST_CANDIDATES {
            return found;
        }
        for (place, &a) in factors.iter().enumerate() {
            for &b in &factors[place + 1..] {
                found.extend(self.product(a, b));
            }
        }
        found
    }

    fn next_power(&self, index: usize) -> Option<Candidate> {
        let own =
            self.variables.get(index).filter(|own| own.is_numeric() && own.name == own.source())?;
        let within = own.polynomials.as_ref().map_or(1, |own| own.columns.len());
        let powers = self.variables.iter().filter(|v| v.is_power() && v.source() == own.name);
        let degree = within + powers.count() + 1;
        if own.observed_levels() <= degree || degree > 4 {
            return None;
        }
        let name = format!("I({}^{degree})", own.name);
        let new = own.power(&name, i32::try_from(degree).ok()?)?;
        Some(Candidate { name, new: Some(new), term: vec![self.variables.len()] })
    }

    fn product(&self, a: usize, b: usize) -> Option<Candidate> {
        let (left, right) = (&self.variables[a], &self.variables[b]);
        if left.source() == right.source() {
            return None;
        }
        if !self.terms.contains(&vec![a, b]) {
            let name = format!("{}:{}", left.name, right.name);
            return Some(Candidate { name, new: None, term: vec![a, b] });
        }
        let straight = |own: &Variable| {
            own.polynomials.as_ref().is_some_and(|own| own.in_products == InProducts::Straight)
        };
        let (bent, other) = match (straight(left), straight(right)) {
            (true, _) => (left, b),
            (false, true) => (right, a),
            (false, false) => return None,
        };
        let name = format!("I({}^2)", bent.name);
        let new = bent.power(&name, 2)?;
        let name = format!("{name}:{}", self.variables[other].name);
        Some(Candidate { name, new: Some(new), term: vec![other, self.variables.len()] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fitted, problem, table};

    /// Three levels of two factors, twice each with values 0.2 apart.
    fn found(height: impl Fn(f64, f64) -> f64, formula: &str) -> Vec<MissingTerm> {
        let mut rows = Vec::new();
        for run in 0..18 {
            let (x, z) = (f64::from(run % 3), f64::from(run / 3 % 3));
            rows.push([x, z, height(x, z) + if run < 9 { 0.1 } else { -0.1 }]);
        }
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 3]>::as_slice).collect();
        fitted(&table("x,z,y", &rows), formula).1.of_residuals.missing_terms
    }

    #[test]
    fn the_square_or_the_product_that_is_missing_is_found_first() {
        let square = found(|x, z| 3.0 * x * x + z, "y ~ x + z");
        assert_eq!(square.len(), 1);
        assert_eq!(square[0].term, "I(x^2)");
        assert!((square[0].percent - 100.0).abs() < 1e-6);
        let both = found(|x, z| 3.0 * x * z + z * z, "y ~ x + z");
        let names: Vec<&str> = both.iter().map(|own| own.term.as_str()).collect();
        // Of 3 x z is left 3 (x - 1)(z - 1), whose squares are 9 at eight runs; of z^2 is left 2 / 3
        // over three levels, six times.
        assert_eq!(names, ["x:z", "I(z^2)"]);
        assert!((both[0].percent - 100.0 * 72.0 / 76.0).abs() < 1e-6, "{both:?}");
        assert!((both[1].percent - 100.0 * 4.0 / 76.0).abs() < 1e-6, "{both:?}");
        assert!(found(|x, z| x + z, "y ~ x + z").is_empty(), "nothing is missing");
    }

    #[test]
    fn a_power_is_a_candidate_only_where_the_levels_can_tell_it() {
        let of = |levels: u32, formula: &str| {
            let rows: Vec<[f64; 2]> =
                (0..20).map(|at| [f64::from(at % levels), f64::from(at)]).collect();
            let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
            let own = problem(&table("x,y", &rows), formula);
            let equation = Extended { variables: own.variables, terms: own.terms };
            equation.candidates().into_iter().map(|own| own.name).collect::<Vec<_>>()
        };
        assert!(of(2, "y ~ x").is_empty(), "two levels have no square");
        assert_eq!(of(3, "y ~ x"), ["I(x^2)"]);
        let mut extended = {
            let own = problem(&table("x,y", &[&[0.0, 1.0], &[1.0, 2.0], &[2.0, 1.0]]), "y ~ x");
            Extended { variables: own.variables, terms: own.terms }
        };
        let square = extended.next_power(0).unwrap();
        extended.add(square);
        assert!(extended.next_power(0).is_none(), "three levels have no cube");
        assert!(extended.product(0, 1).is_none(), "x times its own square is no product of two");
    }
}
