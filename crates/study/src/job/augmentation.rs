//! Random changes of training pictures, as text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Random changes of training pictures; the default makes none.
///
/// ```
/// use trainwright_study::Augmentation;
///
/// let augmentation: Augmentation = "flip,crop:64,contrast:0.8-1.2".parse()?;
/// assert_eq!(augmentation.crop, Some(64));
/// assert_eq!(augmentation.to_string(), "flip,crop:64,contrast:0.8-1.2");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Augmentation {
    /// Mirrors every second picture: `flip`.
    pub flip: bool,
    /// Cuts out a square of this side, at a random place to learn from and from the middle to
    /// judge by: `crop:64`.
    pub crop: Option<u32>,
    /// Takes a stretch of at least this share of the area and scales it: `zoom:0.5`.
    pub zoom: Option<f64>,
    /// Scales the contrast by a factor between these: `contrast:0.8-1.2`.
    pub contrast: Option<(f64, f64)>,
}

const FORMS: &str =
    "write none, or some of flip, crop:64, zoom:0.5 and contrast:0.8-1.2 with commas between them";

impl Augmentation {
    /// Whether every picture stays as it is.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl FromStr for Augmentation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::default();
        if text == "none" {
            return Ok(all);
        }
        for word in text.split(',').map(str::trim) {
            let (name, value) = match word.split_once(':') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            let again = match (name, value) {
                ("flip", None) => std::mem::replace(&mut all.flip, true),
                ("crop", Some(value)) => all.crop.replace(side(value)?).is_some(),
                ("zoom", Some(value)) => all.zoom.replace(share(value)?).is_some(),
                ("contrast", Some(value)) => all.contrast.replace(factors(value)?).is_some(),
                _ => return Err(format!("`{word}` is no change of pictures; {FORMS}")),
            };
            if again {
                return Err(format!("`{name}` is there twice in `{text}`"));
            }
        }
        Ok(all)
    }
}

fn side(text: &str) -> Result<u32, String> {
    let side: u32 = text.parse().unwrap_or(0);
    (side > 0).then_some(side).ok_or_else(|| format!("`{text}` is no side of a picture"))
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}

fn share(text: &str) -> Result<f64, String> {
    let share = number(text)?;
    let inside = share > 0.0 && share <= 1.0;
    inside
        .then_some(share)
        .ok_or_else(|| format!("a share lies above 0 and up to 1, this is {share}"))
}

fn factors(text: &str) -> Result<(f64, f64), String> {
    let (low, high) =
        text.split_once('-').ok_or_else(|| format!("`{text}` is no range such as 0.8-1.2"))?;
    let (low, high) = (number(low)?, number(high)?);
    let rises = low >= 0.0 && low <= high && high.is_finite();
    rises.then_some((low, high)).ok_or_else(|| format!("`{text}` is no range of factors from 0 up"))
}

impl fmt::Display for Augmentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            self.flip.then(|| "flip".to_owned()),
            self.crop.map(|side| format!("crop:{side}")),
            self.zoom.map(|least| format!("zoom:{least}")),
            self.contrast.map(|(low, high)| format!("contrast:{low}-{high}")),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        f.write_str(if words.is_empty() { "none" } else { "" })?;
        f.write_str(&words.join(","))
    }
}

impl TryFrom<String> for Augmentation {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Augmentation> for String {
    fn from(augmentation: Augmentation) -> Self {
        augmentation.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_written_alike() {
        for text in ["none", "flip", "crop:64", "flip,crop:96,zoom:0.5,contrast:0.8-1.2"] {
            assert_eq!(text.parse::<Augmentation>().unwrap().to_string(), text);
        }
    }

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        let error = text.parse::<Augmentation>().unwrap_err();
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn what_is_no_change_is_told() {
        check_refused("turn", "`turn` is no change of pictures; write none, or some of flip,");
        check_refused("flip:2", "`flip:2` is no change");
        check_refused("crop:0", "`0` is no side");
        check_refused("flip,flip", "`flip` is there twice");
        check_refused("zoom:1.5", "up to 1, this is 1.5");
        check_refused("contrast:0.8", "no range such as");
        check_refused("contrast:1.2-0.8", "no range of factors");
    }
}
