//! Formulas such as `y ~ a*b + c`, and the shorthand `main + 2fi`.
//!
//! `a*b` stands for `a + b + a:b`, `a/b` for `a + a:b`, `a %in% b` for `a:b` and `(a + b)^2` for
//! all products of up to two of its terms; `- a:b` takes a term away, `0 +` or `- 1` the
//! intercept. `I(x^2)`, `log(x)`, `poly(x, 3)` and `factor(x)` make variables of columns,
//! `Error(block/a)` names groups of observations that share a source of error. On the left,
//! `log(y)`, `log10(y)`, `log2(y)`, `sqrt(y)`, `exp(y)`, `abs(y)` and `I(1/y)` transform the
//! response.

mod parser;

use trainwright_stats::Intercept;

use crate::error::AnalysisError;
use crate::model::model_matrix::Equation;
use parser::{Parsed, Parser};

/// In which order the terms of `a*b*c` enter the equation; it matters to type I sums of squares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TermOrder {
    /// As the formula spells them: a, b, a:b, c, a:c, b:c, a:b:c.
    #[default]
    Formula,
    /// By degree, as R does: a, b, c, a:b, a:c, b:c, a:b:c.
    Degree,
}

/// A parsed formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    /// Name of the column to explain.
    pub response: String,
    /// How its values enter the fit.
    pub transform: Transform,
    /// Columns that appear on the right, in order of appearance.
    pub variables: Vec<String>,
    /// Terms as indices into `variables`, each ascending.
    pub terms: Vec<Vec<usize>>,
    /// Whether the equation has a constant.
    pub intercept: Intercept,
    /// Terms of `Error(...)`; empty where all observations have the same error.
    pub strata: Vec<Vec<usize>>,
    /// The formula as written.
    pub text: String,
}

/// How the response enters the fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transform {
    /// As it is.
    Identity,
    /// As its natural logarithm.
    Log,
    /// As another function of it, as the formula spells it: `sqrt(y)`, `log10(y)`, `I(1/y)`.
    Computed(String),
}

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// A formula that is malformed or uses something not supported, with the place.
    ///
    /// ```
    /// use trainwright_analysis::{Formula, TermOrder};
    ///
    /// let formula = Formula::parse("cost ~ lr*batch", TermOrder::Formula)?;
    /// assert_eq!(formula.term_names(), ["lr", "batch", "lr:batch"]);
    /// # Ok::<(), trainwright_analysis::AnalysisError>(())
    /// ```
    pub fn parse(text: &str, order: TermOrder) -> Result<Self, AnalysisError> {
        let Parsed { left, mut terms, intercept, strata, variables } =
            Parser::new(text).formula()?;
        if order == TermOrder::Degree {
            terms.sort_by_key(Vec::len);
        }
        let ((response, transform), text) = (left, text.to_owned());
        let formula = Self { response, transform, variables, terms, intercept, strata, text };
        match formula.variables.iter().find(|v| **v == formula.response) {
            Some(name) => Err(AnalysisError::Formula {
                position: formula.text.rfind(name.as_str()).map_or(1, |at| at + 1),
                problem: format!("the response `{name}` also stands on the right"),
                formula: formula.text,
            }),
            None => Ok(formula),
        }
    }

    /// Builds a formula from a study's `terms`: a shorthand (`main`, `main + 2fi`,
    /// `main + 2fi + 3fi`) over its factors, `quadratic` for `main + 2fi` and the squares of the
    /// factors in `bending`, or the right side of a formula. A degree above the number of factors
    /// adds nothing.
    ///
    /// # Errors
    /// Terms that are neither.
    pub fn from_terms(
        response: &str,
        terms: &str,
        factors: &[String],
        bending: &[String],
    ) -> Result<Self, AnalysisError> {
        if terms.trim() == "quadratic" {
            let mut formula = Self::from_terms(response, "main + 2fi", factors, &[])?;
            for factor in bending {
                formula.terms.push(vec![formula.variables.len()]);
                formula.variables.push(format!("I({factor}^2)"));
            }
            return Ok(Self { text: format!("{response} ~ {terms}"), ..formula });
        }
        let Some(degrees) = shorthand(terms) else {
            return Self::parse(&format!("{response} ~ {terms}"), TermOrder::Formula);
        };
        let mut found: Vec<Vec<usize>> = Vec::new();
        for degree in degrees {
            let new = subsets(factors.len(), degree);
            found.extend(new.into_iter().filter(|t| !found.contains(t)).collect::<Vec<_>>());
        }
        Ok(Self {
            response: response.to_owned(),
            transform: Transform::Identity,
            variables: factors.to_vec(),
            terms: found,
            intercept: Intercept::First,
            strata: vec![],
            text: format!("{response} ~ {terms}"),
        })
    }

    /// Names of the terms, as R spells them: `a:b`.
    pub fn term_names(&self) -> Vec<String> {
        self.terms.iter().map(|term| self.name_of(term)).collect()
    }

    /// The right side.
    pub(crate) fn equation(&self) -> Equation<'_> {
        Equation { terms: &self.terms, intercept: self.intercept }
    }

    /// Name of one term.
    pub(crate) fn name_of(&self, term: &[usize]) -> String {
        term.iter().map(|&v| self.variables[v].as_str()).collect::<Vec<_>>().join(":")
    }

    /// Whether the response enters as a logarithm of any base.
    pub(crate) fn is_logarithmic(&self) -> bool {
        match &self.transform {
            Transform::Identity => false,
            Transform::Log => true,
            Transform::Computed(text) => text.starts_with("log"),
        }
    }

    /// The response as it enters the fit.
    pub fn response_name(&self) -> String {
        match &self.transform {
            Transform::Identity => self.response.clone(),
            Transform::Log => format!("log({})", self.response),
            Transform::Computed(text) => text.clone(),
        }
    }
}

/// Degrees of the terms that a shorthand such as `main + 2fi` stands for; nothing for a formula.
pub(crate) fn shorthand(terms: &str) -> Option<Vec<usize>> {
    terms.split('+').map(|word| shorthand_degree(word.trim())).collect()
}

fn shorthand_degree(word: &str) -> Option<usize> {
    match word {
        "main" => Some(1),
        _ => word.strip_suffix("fi")?.parse().ok().filter(|d| (2..10).contains(d)),
    }
}

/// All subsets of `degree` of `count` things, in lexical order.
fn subsets(count: usize, degree: usize) -> Vec<Vec<usize>> {
    let mut found = vec![vec![]];
    for _ in 0..degree {
        found = found
            .into_iter()
            .flat_map(|t: Vec<usize>| {
                let first = t.last().map_or(0, |l| l + 1);
                (first..count).map(move |v| [t.as_slice(), &[v]].concat())
            })
            .collect();
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, order: TermOrder, expected: &str) {
        let formula = Formula::parse(text, order).unwrap();
        assert_eq!(formula.term_names().join(" "), expected, "{text}");
    }

    #[test]
    fn products_expand_in_the_order_asked_for() {
        check("y ~ a*b*c", TermOrder::Formula, "a b a:b c a:c b:c a:b:c");
        check("y ~ a*b*c", TermOrder::Degree, "a b c a:b a:c b:c a:b:c");
        check("y ~ n + a*b", TermOrder::Formula, "n a b a:b");
        check("y ~ b:a + a", TermOrder::Degree, "a b:a");
    }

    #[test]
    fn powers_parentheses_and_the_intercept_are_understood() {
        check("y ~ (a+b+c)^2", TermOrder::Formula, "a b c a:b a:c b:c");
        check("y ~ (a+b)^9", TermOrder::Formula, "a b a:b");
        check("y ~ (a + b):c + 1", TermOrder::Formula, "a:c b:c");
        check("y ~ 1", TermOrder::Formula, "");
        check("y ~ a + a + a:a", TermOrder::Formula, "a");
        check("y ~ lr + lr^2", TermOrder::Formula, "lr I(lr^2)");
        check("y ~ g*x^2 + x^10", TermOrder::Formula, "g I(x^2) g:I(x^2) I(x^10)");
        check(
            "y ~ partner.status*`odd name`",
            TermOrder::Formula,
            "partner.status odd name partner.status:odd name",
        );
    }

    #[test]
    fn terms_and_the_intercept_can_be_taken_away() {
        check("y ~ a*b*c - a:b:c - b:c", TermOrder::Formula, "a b a:b c a:c");
        check("y ~ (a + b + c)^2 - a:b", TermOrder::Formula, "a b c a:c b:c");
        for (text, intercept) in [
            ("y ~ a - 1", Intercept::Absent),
            ("y ~ 0 + a", Intercept::Absent),
            ("y ~ -1 + a", Intercept::Absent),
            ("y ~ a + 0 + 1", Intercept::First),
            ("y ~ a - 0", Intercept::First),
        ] {
            check(text, TermOrder::Formula, "a");
            let formula = Formula::parse(text, TermOrder::Formula).unwrap();
            assert_eq!(formula.intercept, intercept, "{text}");
        }
    }

    #[test]
    fn nested_terms_expand_as_in_r() {
        check("y ~ a/b", TermOrder::Formula, "a a:b");
        check("y ~ a/b/c", TermOrder::Formula, "a a:b a:b:c");
        check("y ~ (a + b)/c", TermOrder::Formula, "a b a:b:c");
        check("y ~ a + b %in% a", TermOrder::Formula, "a a:b");
    }

    #[test]
    fn strata_are_kept_apart_from_the_terms() {
        let formula = Formula::parse("y ~ A*B + Error(block/A)", TermOrder::Formula).unwrap();
        assert_eq!(formula.term_names().join(" "), "A B A:B");
        let strata: Vec<String> = formula.strata.iter().map(|t| formula.name_of(t)).collect();
        assert_eq!(strata, ["block", "A:block"]);
    }

    #[test]
    fn computed_columns_keep_their_spelling() {
        check("y ~ x + I(x^2) + log(x)", TermOrder::Formula, "x I(x^2) log(x)");
        check(
            "y ~ poly( x,2 )*factor(d)",
            TermOrder::Formula,
            "poly(x, 2) factor(d) poly(x, 2):factor(d)",
        );
        check("y ~ a*I((x + 1)^2)", TermOrder::Formula, "a I((x + 1)^2) a:I((x + 1)^2)");
    }

    #[test]
    fn a_function_may_wrap_the_response() {
        let formula = Formula::parse("log(cost) ~ a", TermOrder::Formula).unwrap();
        assert_eq!((formula.response.as_str(), &formula.transform), ("cost", &Transform::Log));
        assert_eq!(formula.response_name(), "log(cost)");
        for text in ["log10(y)", "log2(y)", "sqrt(y)", "I(1/y)", "I(y^2)", "log(1 + y)"] {
            let formula = Formula::parse(&format!("{text} ~ a"), TermOrder::Formula).unwrap();
            assert_eq!((formula.response.as_str(), formula.response_name().as_str()), ("y", text));
            assert_eq!(formula.transform, Transform::Computed(text.to_owned()));
        }
    }

    #[track_caller]
    fn refused(text: &str, message: &str) {
        let error = Formula::parse(text, TermOrder::Formula).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn what_is_not_supported_is_said_with_its_place() {
        refused("y ~ 0", "neither a term nor the intercept is left");
        refused("y ~ poly(x, 0)", "the degree `0` of `poly` must be a whole number from 1 to 25");
        refused("y ~ sin(x)", "`sin(...)` is not supported");
        refused("y ~ a %of% b", "only `%in%` is known");
        refused("y ~ a + Error(b) + Error(c)", "`Error(...)` may stand once");
        refused("y ~ a + (b + Error(c))", "`Error(...)` may stand once");
        refused("y ~ I(x^)", "a value is missing at the end");
        refused("y ~ I(x^2", "`)` is expected at the end of this function");
        refused("poly(y, 2) ~ x", "`poly(...)` cannot wrap the response");
        refused("sin(y) ~ x", "`sin(...)` is not supported");
        refused("I(y/z) ~ x", "`I(y/z)` must use one column, but it uses 2 at character 2");
        refused("sqrt(2) ~ x", "`sqrt(2)` must use one column, but it uses 0");
        refused("y ~ ", "a column name is expected at character 5");
        refused("y a", "`~` is expected");
        refused("y ~ a b", "`b` is not understood");
        refused("y ~ (a", "`)` is expected");
        refused("y ~ x + y", "the response `y` also stands on the right");
        refused("y ~ a^0", "whole number above 0");
        refused("y ~ (a:b)^2", "`^` raises one column or a sum of terms");
        refused("y ~ `odd name`^2", "has no meaning here");
        refused("y ~ factor(a)^2", "`factor(a)` cannot be raised to a power");
        refused(&format!("y ~ {}a", "(".repeat(1000)), "more than 64 parentheses");
        let many: Vec<String> = (0..20).map(|i| format!("x{i}")).collect();
        refused(&format!("y ~ {}", many.join("*")), "expands to more than 4096 terms");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[ab.y~+*:^()0-9 `µ/%-]{0,24}") {
            if let Ok(formula) = Formula::parse(&format!("r ~ {text}"), TermOrder::Degree) {
                prop_assert!(formula.terms.iter().all(|t| !t.is_empty() && t.is_sorted()));
            }
            drop(Formula::parse(&text, TermOrder::Formula));
        }
    }

    #[test]
    fn shorthand_covers_the_factors_by_degree() {
        let factors: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        let names =
            |terms| Formula::from_terms("y", terms, &factors, &factors).unwrap().term_names();
        assert_eq!(names("main").join(" "), "a b c");
        assert_eq!(names("main + 2fi").join(" "), "a b c a:b a:c b:c");
        assert_eq!(names("main + 2fi + 3fi").len(), 7);
        assert_eq!(names("a*c").join(" "), "a c a:c");
        assert_eq!(names("main + 4fi").join(" "), "a b c");
        assert_eq!(names("quadratic").join(" "), "a b c a:b a:c b:c I(a^2) I(b^2) I(c^2)");
        assert!(Formula::from_terms("y", "main + quadratic(a)", &factors, &[]).is_err());
    }
}
