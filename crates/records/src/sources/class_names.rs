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
