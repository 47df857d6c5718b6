//! Templates of shell commands: values go in as data, never as commands.

use super::Part;
use crate::Template;

impl Template {
    /// The text as a script for `sh`, with every placeholder replaced by a value that the shell
    /// takes as it is, whatever is in it.
    ///
    /// Values become variables at the head of the script, and placeholders refer to them in the
    /// quoting of their place: what a shell finds in a variable it does not read as commands.
    ///
    /// ```
    /// use trainwright_study::Template;
    ///
    /// let script = Template::parse("touch {name}").shell_script(|_| Some("$(reboot)".into()));
    /// assert_eq!(script.unwrap(), "TRAINWRIGHT_VALUE_1='$(reboot)'\ntouch \"${TRAINWRIGHT_VALUE_1}\"");
    /// ```
    ///
    /// # Errors
    /// The first name that `lookup` does not know.
    pub fn shell_script(&self, lookup: impl Fn(&str) -> Option<String>) -> Result<String, String> {
        let (mut head, mut body) = (String::new(), String::new());
        let mut names: Vec<&str> = Vec::new();
        let mut quoting = Quoting::default();
        for part in self.parts() {
            match part {
                Part::Literal(text) => {
                    quoting.read(text);
                    body.push_str(text);
                }
                Part::Placeholder(name) => {
                    let known = names.iter().position(|own| own == name);
                    let place = known.unwrap_or(names.len());
                    let variable = format!("TRAINWRIGHT_VALUE_{}", place + 1);
                    if known.is_none() {
                        names.push(name);
                        let value = lookup(name).ok_or_else(|| name.clone())?;
                        head.push_str(&format!("{variable}={}\n", quoted(&value)));
                    }
                    if quoting.escaped {
                        // The value is quoted anyway; the backslash would spoil our own quote.
                        body.pop();
                        quoting.escaped = false;
                    }
                    body.push_str(&quoting.reference(&variable));
                }
            }
        }
        Ok(head + &body)
    }
}

/// A text as one word of a shell command.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// How the shell reads the place that a script has come to.
#[derive(Default)]
struct Quoting {
    /// What is open here, the innermost last.
    open: Vec<Open>,
    /// A backslash stands right before.
    escaped: bool,
    last: Option<char>,
}

#[derive(Clone, Copy, PartialEq)]
enum Open {
    Single,
    Double,
    Parenthesis,
    Comment,
}

impl Quoting {
    fn read(&mut self, text: &str) {
        for letter in text.chars() {
            let was_escaped = std::mem::take(&mut self.escaped);
            if !was_escaped {
                self.step(letter);
            }
            self.last = Some(letter);
        }
    }

    fn step(&mut self, letter: char) {
        let top = self.open.last().copied();
        let plain = matches!(top, None | Some(Open::Parenthesis));
        let word_begins =
            self.last.is_none_or(|last| last.is_whitespace() || ";&|(".contains(last));
        match (letter, top) {
            ('\'', Some(Open::Single))
            | ('"', Some(Open::Double))
            | ('\n', Some(Open::Comment)) => {
                self.open.pop();
            }
            ('\\', _) if plain || top == Some(Open::Double) => self.escaped = true,
            ('\'', _) if plain => self.open.push(Open::Single),
            ('"', _) if plain => self.open.push(Open::Double),
            ('#', _) if plain && word_begins => self.open.push(Open::Comment),
            ('(', _) if plain || (top == Some(Open::Double) && self.last == Some('$')) => {
                self.open.push(Open::Parenthesis);
            }
            (')', Some(Open::Parenthesis)) => {
                self.open.pop();
            }
            _ => {}
        }
    }

    /// What stands for a variable's value here.
    fn reference(&mut self, variable: &str) -> String {
        self.last = Some('}');
        match self.open.last() {
            Some(Open::Single) => format!("'\"${{{variable}}}\"'"),
            Some(Open::Double) => format!("${{{variable}}}"),
            // Nobody reads a comment: it says where the value would be.
            Some(Open::Comment) => variable.to_owned(),
            None | Some(Open::Parenthesis) => format!("\"${{{variable}}}\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    /// What a real shell prints for a template with `{x}` filled in.
    fn printed(template: &str, value: &str) -> String {
        let script = Template::parse(template).shell_script(|_| Some(value.to_owned())).unwrap();
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{script}");
        String::from_utf8(output.stdout).unwrap()
    }

    const PLACES: [(&str, &str, &str); 9] = [
        ("printf %s {x}", "", ""),
        ("printf %s a{x}b", "a", "b"),
        ("printf %s \"a {x} b\"", "a ", " b"),
        ("printf %s 'a $HOME {x} b'", "a $HOME ", " b"),
        ("# don't {x}\nprintf %s {x}", "", ""),
        ("printf %s \\{x}", "", ""),
        ("printf %s \"$(printf %s \"{x}\"; printf e)\"", "", "e"),
        ("printf %s \"$(printf %s {x}; printf e)\"", "", "e"),
        ("v={x}; (printf %s \"$v\")", "", ""),
    ];

    #[test]
    fn values_that_look_like_commands_stay_values() {
        let hostile = "$(echo no) `echo no` ${HOME} \"; echo no; ' \\ * ~ # {x}\n&& echo no";
        for (template, before, after) in PLACES {
            assert_eq!(
                printed(template, hostile),
                format!("{before}{hostile}{after}"),
                "{template}"
            );
        }
    }

    #[test]
    fn a_text_without_placeholders_is_the_script() {
        let script = Template::parse("sync; echo 3").shell_script(|_| None);
        assert_eq!(script.unwrap(), "sync; echo 3");
        let unknown =
            Template::parse("echo {x} {y}").shell_script(|n| (n == "x").then(String::new));
        assert_eq!(unknown, Err("y".to_owned()));
    }

    #[test]
    fn a_value_is_set_once_however_often_it_is_used() {
        let script = Template::parse("{x} {x} {y}").shell_script(|name| Some(name.to_owned()));
        assert_eq!(script.unwrap().matches("='").count(), 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn a_shell_sees_every_value_as_it_is(
            value in "[ -~\n\tä]{0,30}",
            place in 0..PLACES.len(),
        ) {
            let (template, before, after) = PLACES[place];
            prop_assert_eq!(printed(template, &value), format!("{before}{value}{after}"));
        }
    }
}
