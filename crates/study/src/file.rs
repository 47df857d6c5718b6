//! From a study file to a study.

mod check;
pub mod draft;
pub(crate) mod duration;
pub(crate) mod locate;
pub(crate) mod ordered;
pub(crate) mod problem;
mod reading;
pub(crate) mod schema;

use std::io;
use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use crate::file::check::{ReadFile, check};
use crate::file::draft::StudyDraft;
use crate::file::locate::{Step, locate};
use crate::file::problem::{FaultyFile, Problem, StudyError};
use crate::file::reading::{Misfit, Reading};
use crate::file::schema::unknown_keys;
use crate::{SourceFile, Study};

impl Study {
    /// Reads and checks a study file.
    ///
    /// # Errors
    /// The file cannot be read, or every fault in it with its place.
    pub fn load(path: &Path) -> Result<Self, StudyError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| StudyError::Unreadable { path: path.to_owned(), source })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let read = move |file: &Path| std::fs::read_to_string(folder.join(file));
        Ok(Self::parse(SourceFile { path: path.to_owned(), text }, &read)?)
    }

    /// Reads and checks the text of a study file that names no other file.
    ///
    /// # Errors
    /// Every fault in it with its place.
    pub fn from_text(text: &str) -> Result<Self, FaultyFile> {
        let file = SourceFile { path: "study.toml".into(), text: text.to_owned() };
        Self::parse(file, &|_| Err(io::Error::other("a text alone has no folder")))
    }

    /// Checks the text of a study file that lies, or once lay, at a path; files that it names are
    /// read from the folder of that path.
    ///
    /// # Errors
    /// Every fault in it with its place.
    pub fn from_source(file: SourceFile) -> Result<Self, FaultyFile> {
        let folder = file.path.parent().unwrap_or(Path::new("")).to_owned();
        Self::parse(file, &move |own| std::fs::read_to_string(folder.join(own)))
    }

    /// Checks a study that was put together in code. Files that it names lie in the working folder.
    ///
    /// ```
    /// use trainwright_study::draft::{DesignDraft, DesignKindDraft, FactorDraft, MetricDraft, StudyDraft};
    /// use trainwright_study::{Level, Study};
    ///
    /// let mut draft = StudyDraft::new("speed");
    /// let levels = vec![Level::Integer(1), Level::Integer(2)];
    /// draft.factors = [("threads".to_owned(), FactorDraft::with_levels(levels))].into_iter().collect();
    /// draft.design = Some(DesignDraft::new(DesignKindDraft::Full));
    /// draft.metrics = [("rate".to_owned(), MetricDraft::default())].into_iter().collect();
    /// assert_eq!(Study::from_draft(draft)?.response().name, "rate");
    /// # Ok::<(), trainwright_study::FaultyFile>(())
    /// ```
    ///
    /// # Errors
    /// Every fault in it; without places, as there is no text.
    pub fn from_draft(draft: StudyDraft) -> Result<Self, FaultyFile> {
        let file = SourceFile::default();
        let document = DeTable::parse(&file.text).expect("an empty text is a document");
        check(draft, &file, document.get_ref(), &|path| std::fs::read_to_string(path))
            .map_err(|problems| FaultyFile { file: file.clone(), problems })
    }

    fn parse(file: SourceFile, read_file: &ReadFile<'_>) -> Result<Self, FaultyFile> {
        let fault = |problems: Vec<Problem>| FaultyFile { file: file.clone(), problems };
        let document =
            DeTable::parse(&file.text).map_err(|error| fault(vec![toml_problem(&error)]))?;
        let unknown = unknown_keys(document.get_ref());
        if !unknown.is_empty() {
            return Err(fault(unknown));
        }
        let root = DeValue::Table(document.get_ref().clone());
        let draft = StudyDraft::deserialize(Reading { value: &root, span: document.span() })
            .map_err(|misfit| fault(vec![misfit_problem(misfit)]))?;
        check(draft, &file, document.get_ref(), read_file).map_err(fault)
    }

    /// A fault of this study found elsewhere, such as an impossible design, at its place.
    ///
    /// Steps that are whole numbers count into lists.
    pub fn fault_at(&self, path: &[&str], message: String, help: Option<String>) -> FaultyFile {
        let steps: Vec<Step> = path
            .iter()
            .map(|step| step.parse::<usize>().map_or_else(|_| Step::from(*step), Step::from))
            .collect();
        let span = match DeTable::parse(&self.source.text) {
            Ok(document) => locate(document.get_ref(), &steps),
            Err(_) => 0..0,
        };
        FaultyFile { file: self.source.clone(), problems: vec![Problem { message, span, help }] }
    }
}

fn toml_problem(error: &toml::de::Error) -> Problem {
    let message = error.message().trim_end_matches('\n').to_owned();
    Problem { message, span: error.span().unwrap_or(0..0), help: None }
}

fn misfit_problem(Misfit { message, span }: Misfit) -> Problem {
    let help = message
        .strip_prefix("missing field ")
        .map(|field| format!("add the key or table {}", field.trim_matches('`')));
    Problem { message, span: span.unwrap_or(0..0), help }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "schema = 1\n[study]\nname = \"s\"\n[factors.a]\nlevels = [1, 2]\n\
                        [metrics.m]\n";

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Study::load(Path::new("no/such/study.toml")).unwrap_err();
        assert!(error.to_string().starts_with("cannot read no/such/study.toml: "), "{error}");
    }

    #[test]
    fn files_beside_the_study_are_read_from_its_folder() {
        let folder = std::env::temp_dir().join(format!("study-beside-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let text = TEXT
            .replace("[metrics.m]", "[design]\ntype = \"table\"\nfile = \"r.csv\"\n[metrics.m]");
        std::fs::write(folder.join("s.toml"), text).unwrap();
        std::fs::write(folder.join("r.csv"), "a\n2\n1\n").unwrap();
        let study = Study::load(&folder.join("s.toml"));
        std::fs::remove_dir_all(&folder).unwrap();
        let study = study.unwrap();
        assert_eq!(study.folder(), folder);
        assert!(matches!(&study.design.kind, crate::DesignKind::Table { rows } if rows.len() == 2));
    }

    #[test]
    fn a_text_that_is_no_toml_has_one_fault() {
        let faulty = Study::from_text("schema = 1\n[study\n").unwrap_err();
        assert_eq!(faulty.problems.len(), 1);
        assert_eq!(faulty.place(&faulty.problems[0]).0, 2);
    }

    #[test]
    fn unknown_keys_come_before_all_other_faults() {
        let text =
            TEXT.replace("[1, 2]", "[1]").replace("[metrics.m]", "[metrics.m]\nunits = \"s\"");
        let faulty = Study::from_text(&text).unwrap_err();
        assert_eq!(
            faulty.to_string(),
            "study.toml:7:1: unknown key `units` (did you mean `unit`?)"
        );
    }

    #[test]
    fn a_missing_table_is_asked_for() {
        let faulty = Study::from_text(&TEXT.replace("[metrics.m]", "")).unwrap_err();
        let own = &faulty.problems[0];
        assert_eq!(own.message, "missing field `metrics`");
        assert_eq!(own.help.as_deref(), Some("add the key or table metrics"));
    }

    #[test]
    fn a_fault_found_later_is_shown_at_its_place() {
        let study = Study::from_text(TEXT).unwrap();
        let at = |path: &[&str]| {
            let faulty = study.fault_at(path, "bad".to_owned(), Some("mend it".to_owned()));
            faulty.to_string()
        };
        assert_eq!(at(&["factors", "a", "levels", "1"]), "study.toml:5:14: bad (mend it)");
        assert_eq!(at(&["factors", "a"]), "study.toml:4:10: bad (mend it)");
        assert_eq!(at(&["design", "runs"]), "study.toml:1:1: bad (mend it)");
    }

    #[test]
    fn a_fault_of_a_study_whose_text_is_gone_is_still_told() {
        let mut study = Study::from_text(TEXT).unwrap();
        study.source = SourceFile::default();
        assert_eq!(study.fault_at(&["design"], "bad".to_owned(), None).to_string(), "bad");
        study.source.text = "= broken".to_owned();
        assert_eq!(study.fault_at(&["design"], "bad".to_owned(), None).problems[0].span, 0..0);
    }
}
