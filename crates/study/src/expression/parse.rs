//! Reading an expression: a tokeniser and a precedence climber.

use std::ops::Range;

use super::{Binary, Function, Node, Unary, Value};

/// Where and why an expression does not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// What is wrong.
    pub message: String,
    /// Bytes of the source it concerns.
    pub span: Range<usize>,
}

/// Deeper nesting than any person writes; it keeps hostile input off the end of the stack.
const DEEPEST: usize = 100;

/// Longer than any person writes, for the same reason.
const LONGEST: usize = 4_096;

pub(super) fn parse(source: &str) -> Result<Node, ParseError> {
    if source.len() > LONGEST {
        let message = format!("longer than {LONGEST} bytes");
        return Err(ParseError { message, span: 0..source.len() });
    }
    let mut parser = Parser { tokens: tokens(source)?, next: 0, end: source.len(), depth: 0 };
    let node = parser.climb(0)?;
    match parser.peek() {
        None => Ok(node),
        Some(token) => Err(unexpected(token)),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum TokenKind {
    Number(f64),
    Text(String),
    Word(String),
    Sign(&'static str),
}

#[derive(Debug, Clone, PartialEq)]
struct Token {
    kind: TokenKind,
    span: Range<usize>,
}

const SIGNS: [&str; 14] =
    ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", ","];

fn tokens(source: &str) -> Result<Vec<Token>, ParseError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = token(&source[at..], first)
            .map_err(|(message, length)| ParseError { message, span: at..at + length })?;
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    Ok(tokens)
}

/// The token at the start of `rest` and its length, or a message and the length it is about.
fn token(rest: &str, first: char) -> Result<(TokenKind, usize), (String, usize)> {
    if first.is_ascii_digit() || first == '.' {
        let length = number_length(rest);
        let text = &rest[..length];
        return match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((TokenKind::Number(value), length)),
            _ => Err((format!("`{text}` is not a number"), length)),
        };
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        return Ok((TokenKind::Word(rest[..length].to_owned()), length));
    }
    if first == '\'' || first == '"' {
        return match rest[1..].find(first) {
            Some(end) => Ok((TokenKind::Text(rest[1..=end].to_owned()), end + 2)),
            None => Err(("this text has no closing quote".to_owned(), rest.len())),
        };
    }
    match SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
        Some(sign) => Ok((TokenKind::Sign(sign), sign.len())),
        None if first == '=' => Err(("compare with `==`".to_owned(), 1)),
        None => Err((format!("`{first}` has no meaning here"), first.len_utf8())),
    }
}

fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digits = |from: usize| {
        from + bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count()
    };
    let end = digits(0);
    if !matches!(bytes.get(end), Some(b'e' | b'E')) {
        return end;
    }
    let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
    match bytes.get(end + 1 + signed) {
        Some(b) if b.is_ascii_digit() => digits(end + 1 + signed),
        _ => end,
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    end: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    /// Reads operators that bind at least as tightly as `tightness`.
    fn climb(&mut self, tightness: u8) -> Result<Node, ParseError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let span = self.peek().map_or(self.end..self.end, |token| token.span.clone());
            return Err(ParseError { message: "too deeply nested".to_owned(), span });
        }
        let mut left = self.operand()?;
        while let Some((operation, own, right_side)) = self.peek().and_then(operator) {
            if own < tightness {
                break;
            }
            self.next += 1;
            let right = self.climb(right_side)?;
            left = Node::Binary(operation, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Node, ParseError> {
        let Some(token) = self.peek().cloned() else {
            let message = "a value is missing at the end".to_owned();
            return Err(ParseError { message, span: self.end..self.end });
        };
        self.next += 1;
        match &token.kind {
            TokenKind::Number(value) => Ok(Node::Constant(Value::Number(*value))),
            TokenKind::Text(text) => Ok(Node::Constant(Value::Text(text.clone()))),
            TokenKind::Sign("-") => {
                Ok(Node::Unary(Unary::Minus, Box::new(self.climb(UNARY_MINUS)?)))
            }
            TokenKind::Sign("(") => {
                let inner = self.climb(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Word(word) => match word.as_str() {
                "not" => Ok(Node::Unary(Unary::Not, Box::new(self.climb(NOT)?))),
                "true" => Ok(Node::Constant(Value::Truth(true))),
                "false" => Ok(Node::Constant(Value::Truth(false))),
                "and" | "or" => Err(unexpected(&token)),
                _ if self.peek().is_some_and(|t| t.kind == TokenKind::Sign("(")) => {
                    self.call(word, &token)
                }
                _ => Ok(Node::Name(word.clone())),
            },
            TokenKind::Sign(_) => Err(unexpected(&token)),
        }
    }

    fn call(&mut self, word: &str, token: &Token) -> Result<Node, ParseError> {
        let Some(function) = Function::ALL.into_iter().find(|f| f.word() == word) else {
            let known = Function::ALL.map(Function::word).join(", ");
            let message = format!("no function `{word}`; there are {known}");
            return Err(ParseError { message, span: token.span.clone() });
        };
        self.expect("(")?;
        let mut arguments = vec![self.climb(0)?];
        while self.peek().is_some_and(|t| t.kind == TokenKind::Sign(",")) {
            self.next += 1;
            arguments.push(self.climb(0)?);
        }
        self.expect(")")?;
        if !function.accepts(arguments.len()) {
            let message = format!("`{word}` does not take {} arguments", arguments.len());
            return Err(ParseError { message, span: token.span.clone() });
        }
        Ok(Node::Call(function, arguments))
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), ParseError> {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Sign(sign) => {
                self.next += 1;
                Ok(())
            }
            Some(token) => {
                Err(ParseError { message: format!("expected `{sign}`"), span: token.span.clone() })
            }
            None => Err(ParseError {
                message: format!("`{sign}` is missing at the end"),
                span: self.end..self.end,
            }),
        }
    }
}

/// `-2^2` is -4 and `2^-1` is 0.5, as in mathematics: minus binds looser than power on its left.
const UNARY_MINUS: u8 = 6;
const NOT: u8 = 3;

/// An operator, how tightly it binds, and how tightly its right side must bind.
fn operator(token: &Token) -> Option<(Binary, u8, u8)> {
    use Binary as B;
    let word = match &token.kind {
        TokenKind::Sign(sign) => *sign,
        TokenKind::Word(word) => word.as_str(),
        _ => return None,
    };
    Some(match word {
        "or" => (B::Or, 1, 2),
        "and" => (B::And, 2, 3),
        "==" => (B::Equal, 4, 5),
        "!=" => (B::NotEqual, 4, 5),
        "<" => (B::Less, 4, 5),
        "<=" => (B::LessOrEqual, 4, 5),
        ">" => (B::Greater, 4, 5),
        ">=" => (B::GreaterOrEqual, 4, 5),
        "+" => (B::Add, 5, 6),
        "-" => (B::Subtract, 5, 6),
        "*" => (B::Multiply, 6, 7),
        "/" => (B::Divide, 6, 7),
        "^" => (B::Power, 8, 7),
        _ => return None,
    })
}

fn unexpected(token: &Token) -> ParseError {
    let what = match &token.kind {
        TokenKind::Number(value) => value.to_string(),
        TokenKind::Text(text) => format!("'{text}'"),
        TokenKind::Word(word) => word.clone(),
        TokenKind::Sign(sign) => (*sign).to_owned(),
    };
    ParseError { message: format!("`{what}` is not expected here"), span: token.span.clone() }
}
