//! Reads parameters back from a trial's output: a setting that did not arrive fails the trial.

use trainwright_study::{Configuration, Echo, Level};

use crate::metrics::{shown, text_in_words};
use crate::output::Output;
use crate::output::text::each_line;

/// What the first echo says that does not agree with the configuration.
///
/// An echo of a factor that this configuration does not have is not asked for.
pub(crate) fn disagreement(
    echoes: &[Echo],
    configuration: &Configuration,
    output: &Output<'_>,
) -> Option<String> {
    let asked = echoes.iter().filter_map(|echo| Some((echo, configuration.get(&echo.factor)?)));
    asked.into_iter().find_map(|(echo, level)| {
        let factor = &echo.factor;
        match last_echo(echo, output) {
            Ok(Some(text)) if agrees(level, &text) => None,
            Ok(Some(text)) => Some(format!(
                "the program says that `{factor}` was {text}, but this trial is one with {level}; \
                 the setting did not arrive"
            )),
            Ok(None) => Some(format!(
                "the program did not say what `{factor}` was: no line of {} matches `{}`",
                text_in_words(&echo.file),
                echo.pattern.regex()
            )),
            Err(reason) => Some(format!("cannot read `{factor}` back: {reason}")),
        }
    })
}

fn last_echo(echo: &Echo, output: &Output<'_>) -> Result<Option<String>, String> {
    let path = output.text(&echo.file)?;
    let mut last = None;
    each_line(&path, |_, line| {
        let value = echo
            .pattern
            .regex()
            .captures(line)
            .and_then(|found| Some(shown(found.name("value")?.as_str())));
        last = value.or_else(|| last.take());
    })
    .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(last)
}

/// Numbers agree to nine digits, as a program may print fewer than it was given; truth values
/// whatever their case, as in Python.
fn agrees(level: &Level, text: &str) -> bool {
    match (level, level.number(), text.parse::<f64>()) {
        (_, Some(a), Ok(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        (Level::Truth(value), _, _) => text.eq_ignore_ascii_case(&value.to_string()),
        _ => level.to_string() == text,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use trainwright_study::{Pattern, TextFile};

    use super::*;

    #[test]
    fn values_agree_as_numbers_or_letter_by_letter() {
        assert!(agrees(&Level::Number(0.001), "1e-3"));
        assert!(agrees(&Level::Integer(32), "32.0"));
        assert!(!agrees(&Level::Number(9.011), "1.024"));
        assert!(agrees(&Level::Number(0.1), "0.10000000001"));
        assert!(!agrees(&Level::Number(0.1), "0.1000001"));
        assert!(agrees(&Level::Truth(true), "True"));
        assert!(agrees(&Level::Text("adam".into()), "adam"));
        assert!(!agrees(&Level::Text("adam".into()), "Adam"));
        assert!(!agrees(&Level::Integer(1), "NaN"));
    }

    #[track_caller]
    fn check(log: &str, expected: Option<&str>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(log.as_bytes()).unwrap();
        let pattern = Pattern::parse(r"lr=(?P<value>\S+)").unwrap();
        let echoes = ["lr", "absent"].map(|factor| Echo {
            factor: factor.to_owned(),
            file: TextFile::Stdout,
            pattern: pattern.clone(),
        });
        let configuration = Configuration::new(vec![("lr".to_owned(), Level::Number(0.5))]);
        let found = disagreement(&echoes, &configuration, &Output::of_log(file.path()));
        match expected {
            None => assert_eq!(found, None, "{log}"),
            Some(words) => assert!(found.as_ref().unwrap().contains(words), "{found:?}"),
        }
    }

    #[test]
    fn the_last_echo_counts() {
        check("lr=0.1\nlr=0.5\nbye\n", None);
        check("lr=0.5\nlr=0.1\n", Some("`lr` was 0.1, but this trial is one with 0.5"));
        check("nothing\n", Some("did not say what `lr` was"));
    }
}
