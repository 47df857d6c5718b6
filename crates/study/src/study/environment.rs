//! Which values of variables may be kept and shown.

use std::collections::BTreeMap;

use toml::de::DeTable;

use crate::file::locate::{Step, locate};
use crate::{Study, Task};

impl Study {
    /// The variables of a trial as they may be kept and shown: those that `[run.env]` sets have no
    /// value unless `keep_env` names them, all others have theirs.
    pub fn kept_environment(
        &self,
        environment: &BTreeMap<String, String>,
    ) -> BTreeMap<String, Option<String>> {
        let kept = |name: &String, value: &String| (!self.hides(name)).then(|| value.clone());
        environment.iter().map(|(name, value)| (name.clone(), kept(name, value))).collect()
    }

    /// The text of the study file as it may be kept and shown: without the values of variables
    /// that [`kept_environment`](Self::kept_environment) leaves out.
    pub fn shown_source(&self) -> String {
        let text = &self.source.text;
        let (Some(Task::Command(command)), Ok(document)) = (&self.task, DeTable::parse(text))
        else {
            return text.clone();
        };
        let hidden = command.env.keys().filter(|name| self.hides(name));
        let place = |name: &String| {
            let path = [Step::from("run"), Step::from("env"), Step::from(name)];
            locate(document.get_ref(), &path)
        };
        let mut places: Vec<_> = hidden.map(place).collect();
        places.sort_by_key(|place| place.start);
        let mut shown = text.clone();
        for place in places.into_iter().rev() {
            shown.replace_range(place, "\"(not kept)\"");
        }
        shown
    }

    fn hides(&self, name: &str) -> bool {
        match &self.task {
            Some(Task::Command(command)) => {
                command.env.contains_key(name) && !command.keep_env.contains(name)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = "schema = 1\n[study]\nname = \"s\"\n[factors.x]\nlevels = [1, 2]\n\
        [run]\ncommand = [\"sh\", \"{x}\"]\nkeep_env = [\"MODE\"]\n\
        env = { MODE = \"fast\", KEY = 'hidden word', Z = \"another\" }\n[metrics.y]\n";

    #[test]
    fn only_values_that_the_study_names_are_kept() {
        let study = Study::from_text(STUDY).unwrap();
        let text = |text: &str| text.to_owned();
        let pairs = [("KEY", "hidden word"), ("MODE", "fast"), ("TRAINWRIGHT_TRIAL", "3")];
        let environment = pairs.map(|(name, value)| (text(name), text(value))).into();
        let kept = study.kept_environment(&environment);
        let expected =
            [("KEY", None), ("MODE", Some(text("fast"))), ("TRAINWRIGHT_TRIAL", Some(text("3")))];
        assert_eq!(kept, expected.map(|(name, value)| (text(name), value)).into());
    }

    #[test]
    fn the_shown_file_has_no_hidden_value_and_still_reads() {
        let shown = Study::from_text(STUDY).unwrap().shown_source();
        let expected = STUDY
            .replace("'hidden word'", "\"(not kept)\"")
            .replace("\"another\"", "\"(not kept)\"");
        assert_eq!(shown, expected);
        assert!(Study::from_text(&shown).is_ok());
    }

    #[test]
    fn a_study_cannot_keep_what_it_does_not_set() {
        let error = Study::from_text(&STUDY.replace("[\"MODE\"]", "[\"MOOD\"]")).unwrap_err();
        let words = "`MOOD` is no variable of [run.env] (there are KEY, MODE, Z)";
        assert!(error.to_string().ends_with(words), "{error}");
    }
}
