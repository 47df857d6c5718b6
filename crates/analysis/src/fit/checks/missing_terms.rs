//! Which terms would take up what an equation leaves unexplained.

use trainwright_stats::{FisherF, Fit, LackOfFit, Orthogonal, bonferroni};

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
    let mut equation = Extended::of(problem);
    let noise = lack.pure_error_ss / lack.pure_error_df as f64;
    let (mut squares, mut df) = (lack.ss, lack.df);
    let mut found = Vec::new();
    while found.len() < MOST_NAMED && df > 0 && problem.y.len() <= MOST_ROWS {
        let significant = FisherF::new(df as f64, lack.pure_error_df as f64)
            .is_ok_and(|f| f.upper_tail(squares / df as f64 / noise) < problem.alpha);
        let Some(best) = equation.best(problem).filter(|_| significant) else { break };
        if best.p(noise, lack.pure_error_df) >= problem.alpha {
            break;
        }
        found.push(best.told_of(lack.ss));
        (squares, df) = ((squares - best.sum_sq).max(0.0), df.saturating_sub(best.df));
        equation.add(best.candidate);
    }
    found
}

/// The same without repeats, where neighbours tell that something is left: each term is held to what
/// the equation leaves with it, and to the number of terms that were tried.
pub(crate) fn terms_in_residuals(problem: &Problem, fit: &Fit) -> Vec<MissingTerm> {
    let mut equation = Extended::of(problem);
    let (mut squares, mut df) = (fit.ss_residual, fit.df_residual);
    let mut found = Vec::new();
    while found.len() < MOST_NAMED && problem.y.len() <= MOST_ROWS {
        let tried = equation.candidates(problem).len();
        let Some(best) = equation.best(problem).filter(|own| own.df < df) else { break };
        (squares, df) = ((squares - best.sum_sq).max(0.0), df - best.df);
        if squares > 0.0 && bonferroni(best.p(squares / df as f64, df), tried) >= problem.alpha {
            break;
        }
        found.push(best.told_of(fit.ss_residual));
        equation.add(best.candidate);
    }
    found
}

/// What the best candidate would take up.
struct Gain {
    candidate: Candidate,
    sum_sq: f64,
    df: usize,
    /// Names of candidates that are the same beside the equation's terms.
    others: Vec<String>,
}

impl Gain {
    fn mean_sq(&self) -> f64 {
        self.sum_sq / self.df as f64
    }

    /// Its p-value against noise of a mean square with degrees of freedom.
    fn p(&self, noise: f64, df: usize) -> f64 {
        FisherF::new(self.df as f64, df as f64)
            .map_or(1.0, |f| f.upper_tail(self.mean_sq() / noise))
    }

    fn told_of(&self, whole: f64) -> MissingTerm {
        MissingTerm {
            term: self.candidate.name.clone(),
            percent: (100.0 * self.sum_sq / whole).min(100.0),
            others: self.others.clone(),
        }
    }
}

/// Difference of sums of squares, as a share, within which candidates are the same columns.
const SAME: f64 = 1e-9;

impl Extended {
    fn of(problem: &Problem) -> Self {
        Self { variables: problem.variables.clone(), terms: problem.terms.clone() }
    }

    fn add(&mut self, candidate: Candidate) {
        self.variables.extend(candidate.new);
        self.terms.push(candidate.term);
    }

    /// The candidate with the largest mean square, the first of those that are the same.
    fn best(&self, problem: &Problem) -> Option<Gain> {
        let mut gains: Vec<Gain> = self
            .candidates(problem)
            .into_iter()
            .filter_map(|candidate| {
                let (sum_sq, df) = self.gain(&candidate, problem).filter(|gain| gain.1 > 0)?;
                Some(Gain { candidate, sum_sq, df, others: vec![] })
            })
            .collect();
        let most = gains.iter().map(Gain::mean_sq).max_by(f64::total_cmp)?;
        gains.retain(|own| own.mean_sq() >= most * (1.0 - SAME));
        let mut best = gains.remove(0);
        let same = gains.into_iter().filter(|own| own.df == best.df);
        best.others = same.map(|own| own.candidate.name).collect();
        Some(best)
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

    /// Every variable that stands in no term by itself, the next power of every number, and every
    /// product of two variables; products of a bent one where only its straight part is in the
    /// equation.
    fn candidates(&self, problem: &Problem) -> Vec<Candidate> {
        let mut found = self.all_candidates(problem);
        let known: Vec<String> = self.terms.iter().map(|term| self.name_of(term)).collect();
        found.retain(|own| !known.contains(&own.name));
        found
    }

    fn name_of(&self, term: &[usize]) -> String {
        let names: Vec<&str> = term.iter().map(|&v| self.variables[v].name.as_str()).collect();
        names.join(":")
    }

    fn all_candidates(&self, problem: &Problem) -> Vec<Candidate> {
        let places = 0..self.variables.len();
        let mut found: Vec<Candidate> = places
            .clone()
            .filter(|&v| v >= problem.variables.len() || !problem.is_group_alone(v))
            .filter_map(|index| self.by_itself(index))
            .chain(places.filter_map(|index| self.next_power(index)))
            .collect();
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

    /// A variable without a term of its own: one of the equation's, or the column behind one.
    fn by_itself(&self, index: usize) -> Option<Candidate> {
        let own = &self.variables[index];
        let lacks = |name: &str| {
            let is_it = |term: &Vec<usize>| self.name_of(term) == name;
            !self.terms.iter().any(is_it)
        };
        if own.name == own.source() && !own.is_block() {
            let plain = Candidate { name: own.name.clone(), new: None, term: vec![index] };
            return lacks(&own.name).then_some(plain);
        }
        let known = self.variables.iter().any(|other| other.name == own.source());
        let new = own.column_behind().filter(|_| !known)?;
        Some(Candidate { name: new.name.clone(), new: Some(new), term: vec![self.variables.len()] })
    }

    fn next_power(&self, index: usize) -> Option<Candidate> {
        let is_plain = |own: &&Variable| own.is_numeric() && own.name == own.source();
        // A power before its variable would be read as the variable.
        let own = self.variables.get(index).filter(is_plain)?;
        if !self.terms.contains(&vec![index]) {
            return None;
        }
        let within = own.polynomials.as_ref().map_or(1, |own| own.columns.len());
        let is_power = |v: &&Variable| v.is_power() || v.is_power_of_column();
        let powers = self.variables.iter().filter(is_power).filter(|v| v.source() == own.name);
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
    fn squares_that_are_one_column_are_all_named() {
        let mut rows = Vec::new();
        for run in 0..12_u32 {
            let sign = |bit: u32| if run >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let (a, b) = if run < 8 { (sign(0), sign(1)) } else { (0.0, 0.0) };
            rows.push([a, b, 10.0 + a - 1.5 * b * b + 0.1 * f64::from(run % 3)]);
        }
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 3]>::as_slice).collect();
        let missing = fitted(&table("a,b,y", &rows), "y ~ a * b").1.of_residuals.missing_terms;
        assert_eq!(missing.len(), 1, "{missing:?}");
        assert_eq!(missing[0].told_as(), "I(a^2) or I(b^2)");
    }

    #[test]
    fn a_variable_whose_square_alone_is_in_the_equation_is_what_is_missing() {
        for formula in ["y ~ x^2 + z", "y ~ I(x^2) + z"] {
            let found = found(|x, z| 5.0 * (x + 1.0).powi(2) - 40.0 * x + z, formula);
            let names: Vec<&str> = found.iter().map(|own| own.term.as_str()).collect();
            assert_eq!(names, ["x"], "{formula}");
        }
    }

    #[test]
    fn without_repeats_the_term_is_found_in_what_is_left() {
        let rows: Vec<[f64; 3]> = (0..24_u32)
            .map(|at| {
                let (x, z) = (f64::from(at) / 23.0, f64::from(at * 7 % 24) / 23.0);
                [x, z, 0.9 - 0.6 * (x - 0.5).powi(2) + 0.002 * f64::from(at * 11 % 5)]
            })
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 3]>::as_slice).collect();
        let (problem, fit) = fitted(&table("x,z,y", &rows), "y ~ x + z");
        let found = terms_in_residuals(&problem, &fit.fit);
        assert_eq!(found[0].term, "I(x^2)", "{found:?}");
        assert!(found.len() == 1 && found[0].percent > 95.0, "{found:?}");
    }

    #[test]
    fn a_power_is_a_candidate_only_where_the_levels_can_tell_it() {
        let of = |levels: u32, formula: &str| {
            let rows: Vec<[f64; 2]> =
                (0..20).map(|at| [f64::from(at % levels), f64::from(at)]).collect();
            let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
            let own = problem(&table("x,y", &rows), formula);
            let equation = Extended::of(&own);
            equation.candidates(&own).into_iter().map(|own| own.name).collect::<Vec<_>>()
        };
        assert_eq!(of(20, "y ~ I(x^2)"), ["x"], "what a square is made of");
        assert_eq!(of(20, "y ~ x^2"), ["x"]);
        assert_eq!(of(20, "y ~ x + I(x^2)"), ["I(x^3)"]);
        assert!(of(2, "y ~ x").is_empty(), "two levels have no square");
        assert_eq!(of(3, "y ~ x"), ["I(x^2)"]);
        let own = problem(&table("x,y", &[&[0.0, 1.0], &[1.0, 2.0], &[2.0, 1.0]]), "y ~ x");
        let mut extended = Extended::of(&own);
        let square = extended.next_power(0).unwrap();
        extended.add(square);
        assert!(extended.next_power(0).is_none(), "three levels have no cube");
        assert!(extended.product(0, 1).is_none(), "x times its own square is no product of two");
    }
}
