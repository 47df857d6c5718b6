//! Numbers and lists in sentences and tables: the one place that decides how they look.

mod figures;

pub use figures::{
    brief, bytes, figure, five_digits, p_figure, p_value, percent, significant, to_spread,
};

/// Names joined as in a sentence: `a`, `a and b`, `a, b and c`.
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A count with its noun, in the singular for one.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_with_and() {
        let names = |n: usize| ["a", "b", "c"][..n].iter().map(|s| (*s).to_owned()).collect();
        let of = |n| list(&Vec::<String>::from_iter::<Vec<String>>(names(n)));
        assert_eq!([of(1), of(2), of(3)], ["a", "a and b", "a, b and c"]);
        assert_eq!((count(1, "row"), count(2, "row")), ("1 row".into(), "2 rows".into()));
    }
}
