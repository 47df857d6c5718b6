//! What the names of classes must be like.

use crate::error::RecordsError;

/// `classes.txt` keeps one name a line: a line break in one would give all after it a wrong number.
///
/// # Errors
/// Names the class that has one.
pub(super) fn check_class_names(classes: &[String]) -> Result<(), RecordsError> {
    match classes.iter().find(|class| class.contains(['\n', '\r'])) {
        Some(class) => Err(RecordsError::ClassName { class: class.clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_kind_of_line_break_is_refused_and_the_first_such_class_named() {
        let check = |classes: &[&str]| {
            check_class_names(&classes.iter().map(|&class| class.to_owned()).collect::<Vec<_>>())
        };
        assert!(check(&[]).is_ok());
        assert!(check(&["rose", "tulip, red", "", "\t\u{2028}"]).is_ok());
        assert_eq!(
            check(&["rose", "a\rb", "c\n"]).unwrap_err().to_string(),
            "class `a\\rb` has a line break in its name; rename it"
        );
        assert!(check(&["a\n"]).is_err());
    }
}
