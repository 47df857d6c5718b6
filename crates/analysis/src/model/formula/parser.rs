//! Reads formulas by recursive descent.

use trainwright_stats::Intercept;

use super::Transform;
use crate::error::AnalysisError;
use crate::model::derived_columns::{CATEGORY, Computed, FUNCTIONS, POLYNOMIAL, polynomial_name};

/// Pairs of terms that one operator may join; beyond that a formula is a mistake.
const MOST_TERMS: usize = 4096;

/// Parentheses that may be open at once.
const MOST_NESTED: usize = 64;

/// What a formula says.
pub(super) struct Parsed {
    pub(super) left: (String, Transform),
    /// Terms without the intercept.
    pub(super) terms: Terms,
    pub(super) intercept: Intercept,
    /// Terms inside `Error(...)`.
    pub(super) strata: Terms,
    pub(super) variables: Vec<String>,
}

/// Terms of a part of the formula.
type Terms = Vec<Vec<usize>>;

/// Reads a formula from left to right.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Parentheses open at the moment.
    depth: usize,
    intercept: Intercept,
    strata: Terms,
    variables: Vec<String>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let (at, depth, intercept) = (0, 0, Intercept::First);
        Self { text, at, depth, intercept, strata: Vec::new(), variables: Vec::new() }
    }

    /// The response, the terms, and the variables they point to.
    pub(super) fn formula(mut self) -> Result<Parsed, AnalysisError> {
        let left = self.left_side()?;
        let terms = self.sum()?;
        self.expect_end()?;
        if terms.is_empty() && self.intercept == Intercept::Absent {
            return Err(self.refuse("neither a term nor the intercept is left"));
        }
        let Self { intercept, strata, variables, .. } = self;
        Ok(Parsed { left, terms, intercept, strata, variables })
    }

    fn left_side(&mut self) -> Result<(String, Transform), AnalysisError> {
        let name = self.name()?;
        let side = if self.peek() == Some('(') {
            self.transformed(&name)?
        } else {
            (name, Transform::Identity)
        };
        self.require('~')?;
        Ok(side)
    }

    /// A function of the response, whose name has just been read.
    fn transformed(&mut self, function: &str) -> Result<(String, Transform), AnalysisError> {
        if [POLYNOMIAL, CATEGORY].contains(&function) {
            return Err(self.refuse(format!("`{function}(...)` cannot wrap the response")));
        }
        let start = self.at;
        let text = self.computed(function)?;
        let Some(Ok(computed)) = Computed::parse(&text) else {
            unreachable!("the function was read just now");
        };
        let names: Vec<String> = computed.names().into_iter().map(str::to_owned).collect();
        let [column] = names.as_slice() else {
            self.at = start;
            let problem = format!("`{text}` must use one column, but it uses {}", names.len());
            return Err(self.refuse(problem));
        };
        let plain = text == format!("log({column})");
        let transform = if plain { Transform::Log } else { Transform::Computed(text) };
        Ok((column.clone(), transform))
    }

    fn sum(&mut self) -> Result<Terms, AnalysisError> {
        let mut terms = Terms::new();
        let mut taking = !self.accept('-');
        if taking {
            self.accept('+');
        }
        loop {
            let constant = self.peek().filter(|c| matches!(c, '0' | '1'));
            match constant {
                Some(digit) => {
                    self.at += 1;
                    let present = (digit == '1') == taking;
                    self.intercept = if present { Intercept::First } else { Intercept::Absent };
                }
                None if taking => {
                    let more = self.product()?;
                    extend(&mut terms, more);
                }
                None => {
                    let less = self.product()?;
                    terms.retain(|term| !less.contains(term));
                }
            }
            taking = match self.peek() {
                Some('+') => true,
                Some('-') => false,
                _ => return Ok(terms),
            };
            self.at += 1;
        }
    }

    /// `a*b`, and `a/b`, which stands for `a + a:b`: levels of b within each of a.
    fn product(&mut self) -> Result<Terms, AnalysisError> {
        let mut terms = self.nested()?;
        loop {
            if self.accept('*') {
                let right = self.nested()?;
                let both = self.crossed(&terms, &right)?;
                extend(&mut terms, right);
                extend(&mut terms, both);
            } else if self.accept('/') {
                let right = self.nested()?;
                let mut outer = terms.concat();
                outer.sort_unstable();
                outer.dedup();
                let inside = self.crossed(&vec![outer], &right)?;
                extend(&mut terms, inside);
            } else {
                return Ok(terms);
            }
        }
    }

    /// `a %in% b` spans the same as `a:b`.
    fn nested(&mut self) -> Result<Terms, AnalysisError> {
        let mut terms = self.interaction()?;
        while self.peek() == Some('%') {
            if !self.text[self.at..].starts_with("%in%") {
                return Err(self.refuse("only `%in%` is known among the operators with %"));
            }
            self.at += 4;
            let right = self.interaction()?;
            terms = self.crossed(&terms, &right)?;
        }
        Ok(terms)
    }

    fn interaction(&mut self) -> Result<Terms, AnalysisError> {
        let mut terms = self.power()?;
        while self.accept(':') {
            let right = self.power()?;
            terms = self.crossed(&terms, &right)?;
        }
        Ok(terms)
    }

    fn power(&mut self) -> Result<Terms, AnalysisError> {
        let base = self.atom()?;
        if !self.accept('^') {
            return Ok(base);
        }
        let digits = self.take_while(|c| c.is_ascii_digit());
        let degree = match digits.parse::<usize>() {
            Ok(degree) if degree >= 1 => degree,
            _ => return Err(self.refuse("`^` must be followed by a whole number above 0")),
        };
        if let ([term], 2..) = (base.as_slice(), degree) {
            return self.raised(term, degree);
        }
        let mut terms = base.clone();
        for _ in 1..degree.min(base.len()) {
            let both = self.crossed(&terms, &base)?;
            extend(&mut terms, both);
        }
        terms.sort_by_key(Vec::len);
        Ok(terms)
    }

    /// A power of one column. R drops it, since there `^` only crosses terms; what was written is a
    /// power of the values.
    fn raised(&mut self, term: &[usize], degree: usize) -> Result<Terms, AnalysisError> {
        let &[index] = term else {
            return Err(self.refuse("`^` raises one column or a sum of terms"));
        };
        let base = self.variables[index].clone();
        let is_special = [POLYNOMIAL, CATEGORY]
            .iter()
            .any(|own| base.strip_prefix(own).is_some_and(|rest| rest.starts_with('(')));
        if is_special {
            return Err(self.refuse(format!("`{base}` cannot be raised to a power")));
        }
        let plain = base.chars().all(|c| c.is_alphanumeric() || c == '_');
        let inside = match base.strip_prefix("I(").and_then(|rest| rest.strip_suffix(')')) {
            Some(inner) => format!("({inner})"),
            None if plain || base.ends_with(')') => base,
            None => format!("`{base}`"),
        };
        let name = format!("I({inside}^{degree})");
        if let Some(Err(problem)) = Computed::parse(&name) {
            return Err(self.refuse(problem));
        }
        Ok(vec![vec![self.index_of(name)]])
    }

    /// Place of a variable, which is added if it is new.
    fn index_of(&mut self, name: String) -> usize {
        self.variables.iter().position(|own| *own == name).unwrap_or_else(|| {
            self.variables.push(name);
            self.variables.len() - 1
        })
    }

    fn atom(&mut self) -> Result<Terms, AnalysisError> {
        if self.accept('(') {
            self.depth += 1;
            if self.depth > MOST_NESTED {
                return Err(self.refuse(format!("more than {MOST_NESTED} parentheses are open")));
            }
            let terms = self.sum()?;
            self.require(')')?;
            self.depth -= 1;
            return Ok(terms);
        }
        let name = self.name()?;
        if name == "Error" && self.peek() == Some('(') {
            return self.error_strata();
        }
        let name = if self.peek() == Some('(') { self.computed(&name)? } else { name };
        Ok(vec![vec![self.index_of(name)]])
    }

    /// `Error(...)`: what is inside groups the observations that share a source of error.
    fn error_strata(&mut self) -> Result<Terms, AnalysisError> {
        if self.depth > 0 || !self.strata.is_empty() {
            return Err(self.refuse("`Error(...)` may stand once, outside of parentheses"));
        }
        self.require('(')?;
        self.depth += 1;
        let intercept = self.intercept;
        self.strata = self.sum()?;
        self.intercept = intercept;
        self.require(')')?;
        self.depth -= 1;
        if self.strata.is_empty() {
            return Err(self.refuse("`Error(...)` names no column"));
        }
        Ok(Terms::new())
    }

    /// A computed column such as `I(x^2)`, whose function's name has just been read.
    fn computed(&mut self, function: &str) -> Result<String, AnalysisError> {
        if !FUNCTIONS.contains(&function) {
            let known = FUNCTIONS.join(", ");
            return Err(self.refuse(format!(
                "`{function}(...)` is not supported, only {known} are; put the values into a column"
            )));
        }
        let start = self.at;
        let mut open = 0;
        let closing = self.text[start..].char_indices().find(|(_, c)| {
            open += i32::from(*c == '(') - i32::from(*c == ')');
            open == 0
        });
        let Some((length, _)) = closing else {
            return Err(self.refuse("`)` is expected at the end of this function"));
        };
        let inside = &self.text[start + 1..start + length];
        let name = match function {
            POLYNOMIAL => polynomial_name(inside).map_err(|problem| self.refuse(problem))?,
            CATEGORY => format!("{CATEGORY}({})", inside.trim()),
            _ => format!("{function}({inside})"),
        };
        if let Some(Err(problem)) = Computed::parse(&name) {
            return Err(self.refuse(problem));
        }
        self.at = start + length + 1;
        Ok(name)
    }

    /// A column name: letters, digits, dots and underscores, or anything between backticks.
    fn name(&mut self) -> Result<String, AnalysisError> {
        if self.accept('`') {
            let name = self.take_while(|c| c != '`');
            self.require('`')?;
            return Ok(name);
        }
        match self.peek() {
            Some(c) if c.is_alphabetic() || c == '.' || c == '_' => {}
            _ => return Err(self.refuse("a column name is expected")),
        }
        Ok(self.take_while(|c| c.is_alphanumeric() || c == '.' || c == '_'))
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> String {
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !keep(c)).unwrap_or(rest.len());
        self.at += end;
        rest[..end].to_owned()
    }

    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn accept(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn require(&mut self, wanted: char) -> Result<(), AnalysisError> {
        if self.accept(wanted) {
            Ok(())
        } else {
            Err(self.refuse(format!("`{wanted}` is expected")))
        }
    }

    fn expect_end(&mut self) -> Result<(), AnalysisError> {
        match self.peek() {
            None => Ok(()),
            Some(c) => Err(self.refuse(format!("`{c}` is not understood"))),
        }
    }

    /// Every term of `left` joined with every term of `right`.
    fn crossed(&self, left: &Terms, right: &Terms) -> Result<Terms, AnalysisError> {
        if left.len() * right.len() > MOST_TERMS {
            return Err(self.refuse(format!("the formula expands to more than {MOST_TERMS} terms")));
        }
        let mut found = Terms::new();
        for b in right {
            for a in left {
                let mut term = [a.as_slice(), b].concat();
                term.sort_unstable();
                term.dedup();
                extend(&mut found, vec![term]);
            }
        }
        Ok(found)
    }

    fn refuse(&self, problem: impl Into<String>) -> AnalysisError {
        let position = self.text[..self.at].chars().count() + 1;
        AnalysisError::Formula { formula: self.text.to_owned(), position, problem: problem.into() }
    }
}

fn extend(terms: &mut Terms, more: Terms) {
    for term in more {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
}
