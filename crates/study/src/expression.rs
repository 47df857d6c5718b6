//! Expressions of the study file: derived metrics, constraints, conditions.
//!
//! Arithmetic, `^` for power, comparison, `and or not`, `log exp sqrt min max abs`, numbers,
//! quoted texts and names; nothing else. `expression/parse.rs` reads them.

mod parse;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use parse::ParseError;

use crate::Level;

/// A parsed expression.
///
/// ```
/// use trainwright_study::{Expression, Value};
///
/// let cost = Expression::parse("time / (accuracy * 100)^2").unwrap();
/// let scope = |name: &str| match name {
///     "time" => Some(Value::Number(29.5)),
///     "accuracy" => Some(Value::Number(0.976)),
///     _ => None,
/// };
/// assert!((cost.number(&scope).unwrap() - 0.0030969).abs() < 1e-7);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    source: String,
    root: Node,
}

/// What an expression yields.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A truth value.
    Truth(bool),
    /// A text.
    Text(String),
}

impl From<&Level> for Value {
    fn from(level: &Level) -> Self {
        match level {
            Level::Truth(value) => Self::Truth(*value),
            Level::Integer(value) => Self::Number(*value as f64),
            Level::Number(value) => Self::Number(*value),
            Level::Text(value) => Self::Text(value.clone()),
        }
    }
}

/// Where an expression finds the values of its names.
pub type Scope<'a> = dyn Fn(&str) -> Option<Value> + 'a;

/// Why an expression has no value here.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum EvaluateError {
    #[error("`{name}` has no value in `{expression}`")]
    MissingName { name: String, expression: String },
    #[error("division by zero in `{expression}`")]
    DivisionByZero { expression: String },
    #[error("`{operation}` in `{expression}` wants {wanted}")]
    WrongKind { operation: String, wanted: &'static str, expression: String },
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Constant(Value),
    Name(String),
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Unary {
    Minus,
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Function {
    Log,
    Exp,
    Sqrt,
    Abs,
    Min,
    Max,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// The first place that does not read, with what was expected there.
    pub fn parse(source: &str) -> Result<Self, ParseError> {
        Ok(Self { source: source.to_owned(), root: parse::parse(source)? })
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names it needs.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        collect_names(&self.root, &mut names);
        names
    }

    /// Its value as a number, which may be NaN or infinite by arithmetic such as `log(0)`.
    ///
    /// # Errors
    /// A missing name, a division by zero, or a text where a number belongs.
    pub fn number(&self, scope: &Scope<'_>) -> Result<f64, EvaluateError> {
        match self.evaluate(&self.root, scope)? {
            Value::Number(value) => Ok(value),
            _ => Err(self.wrong_kind("the whole", "a number")),
        }
    }

    /// Its value as a condition.
    ///
    /// # Errors
    /// A missing name, a division by zero, or a number where a condition belongs.
    pub fn truth(&self, scope: &Scope<'_>) -> Result<bool, EvaluateError> {
        match self.evaluate(&self.root, scope)? {
            Value::Truth(value) => Ok(value),
            _ => Err(self.wrong_kind("the whole", "a condition")),
        }
    }

    fn evaluate(&self, node: &Node, scope: &Scope<'_>) -> Result<Value, EvaluateError> {
        match node {
            Node::Constant(value) => Ok(value.clone()),
            Node::Name(name) => scope(name).ok_or_else(|| EvaluateError::MissingName {
                name: name.clone(),
                expression: self.source.clone(),
            }),
            Node::Unary(Unary::Minus, operand) => {
                Ok(Value::Number(-self.operand(operand, scope, "-")?))
            }
            Node::Unary(Unary::Not, operand) => {
                Ok(Value::Truth(!self.condition(operand, scope, "not")?))
            }
            Node::Binary(operation, left, right) => self.binary(*operation, left, right, scope),
            Node::Call(function, arguments) => self.call(*function, arguments, scope),
        }
    }

    fn binary(
        &self,
        operation: Binary,
        left: &Node,
        right: &Node,
        scope: &Scope<'_>,
    ) -> Result<Value, EvaluateError> {
        use Binary as B;
        let word = operation.word();
        match operation {
            B::And => {
                let value =
                    self.condition(left, scope, word)? && self.condition(right, scope, word)?;
                return Ok(Value::Truth(value));
            }
            B::Or => {
                let value =
                    self.condition(left, scope, word)? || self.condition(right, scope, word)?;
                return Ok(Value::Truth(value));
            }
            B::Equal | B::NotEqual => {
                let (a, b) = (self.evaluate(left, scope)?, self.evaluate(right, scope)?);
                if std::mem::discriminant(&a) != std::mem::discriminant(&b) {
                    return Err(self.wrong_kind(word, "two values of one kind"));
                }
                return Ok(Value::Truth((a == b) == (operation == B::Equal)));
            }
            _ => {}
        }
        let (a, b) = (self.operand(left, scope, word)?, self.operand(right, scope, word)?);
        Ok(match operation {
            B::Add => Value::Number(a + b),
            B::Subtract => Value::Number(a - b),
            B::Multiply => Value::Number(a * b),
            B::Divide if b == 0.0 => {
                return Err(EvaluateError::DivisionByZero { expression: self.source.clone() });
            }
            B::Divide => Value::Number(a / b),
            B::Power => Value::Number(a.powf(b)),
            B::Less => Value::Truth(a < b),
            B::LessOrEqual => Value::Truth(a <= b),
            B::Greater => Value::Truth(a > b),
            B::GreaterOrEqual => Value::Truth(a >= b),
            B::And | B::Or | B::Equal | B::NotEqual => unreachable!("handled above"),
        })
    }

    fn call(
        &self,
        function: Function,
        arguments: &[Node],
        scope: &Scope<'_>,
    ) -> Result<Value, EvaluateError> {
        let values = arguments
            .iter()
            .map(|node| self.operand(node, scope, function.word()))
            .collect::<Result<Vec<_>, _>>()?;
        let first = values[0];
        Ok(Value::Number(match function {
            Function::Log => first.ln(),
            Function::Exp => first.exp(),
            Function::Sqrt => first.sqrt(),
            Function::Abs => first.abs(),
            Function::Min => extreme(&values, f64::min),
            Function::Max => extreme(&values, f64::max),
        }))
    }

    fn operand(&self, node: &Node, scope: &Scope<'_>, word: &str) -> Result<f64, EvaluateError> {
        match self.evaluate(node, scope)? {
            Value::Number(value) => Ok(value),
            _ => Err(self.wrong_kind(word, "numbers")),
        }
    }

    fn condition(&self, node: &Node, scope: &Scope<'_>, word: &str) -> Result<bool, EvaluateError> {
        match self.evaluate(node, scope)? {
            Value::Truth(value) => Ok(value),
            _ => Err(self.wrong_kind(word, "conditions")),
        }
    }

    fn wrong_kind(&self, operation: &str, wanted: &'static str) -> EvaluateError {
        EvaluateError::WrongKind {
            operation: operation.to_owned(),
            wanted,
            expression: self.source.clone(),
        }
    }
}

/// NaN in any argument is NaN in the result; `f64::min` alone would hide it.
fn extreme(values: &[f64], choose: fn(f64, f64) -> f64) -> f64 {
    if values.iter().any(|value| value.is_nan()) {
        return f64::NAN;
    }
    values[1..].iter().fold(values[0], |best, &value| choose(best, value))
}

fn collect_names<'a>(node: &'a Node, names: &mut BTreeSet<&'a str>) {
    match node {
        Node::Constant(_) => {}
        Node::Name(name) => {
            names.insert(name);
        }
        Node::Unary(_, operand) => collect_names(operand, names),
        Node::Binary(_, left, right) => {
            collect_names(left, names);
            collect_names(right, names);
        }
        Node::Call(_, arguments) => {
            for argument in arguments {
                collect_names(argument, names);
            }
        }
    }
}

impl Binary {
    fn word(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Power => "^",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::And => "and",
            Self::Or => "or",
        }
    }
}

impl Function {
    const ALL: [Self; 6] = [Self::Log, Self::Exp, Self::Sqrt, Self::Abs, Self::Min, Self::Max];

    fn word(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Exp => "exp",
            Self::Sqrt => "sqrt",
            Self::Abs => "abs",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    fn accepts(self, arguments: usize) -> bool {
        match self {
            Self::Min | Self::Max => arguments >= 2,
            _ => arguments == 1,
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = String::deserialize(deserializer)?;
        Self::parse(&source).map_err(|error| serde::de::Error::custom(error.message))
    }
}

#[cfg(test)]
mod tests;
