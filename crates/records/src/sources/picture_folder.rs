//! A folder of pictures: each folder in it is a class, whatever lies below that belongs to it.

use std::fs;
use std::path::{Path, PathBuf};

use super::Fingerprint;
use super::class_names::check_class_names;
use crate::error::RecordsError;

/// The pictures of a folder in the order of their names.
pub struct PictureFolder {
    root: PathBuf,
    classes: Vec<String>,
    /// All names relative to the root, one after another: a million of them fit in memory.
    names: String,
    /// For each picture the end of its name, and its class.
    pictures: Vec<(usize, u32)>,
    passed_over: Vec<String>,
    fingerprint: String,
}

impl PictureFolder {
    /// Lists the files that end in `.jpg`, `.jpeg` or `.png`; others, and what is no regular file
    /// (a pipe, a device), are remembered as passed over, hidden ones are not.
    ///
    /// # Errors
    /// When a folder cannot be read, a name is not UTF-8, that of a class has a line break, or there
    /// is no picture in any class.
    pub fn open(root: &Path) -> Result<Self, RecordsError> {
        let mut folder = Self {
            root: root.to_owned(),
            classes: Vec::new(),
            names: String::new(),
            pictures: Vec::new(),
            passed_over: Vec::new(),
            fingerprint: String::new(),
        };
        let mut fingerprint = Fingerprint::default();
        for (name, metadata) in entries(root)? {
            if metadata.is_dir() {
                folder.add(&name, &mut fingerprint)?;
            } else {
                folder.passed_over.push(name);
            }
        }
        check_class_names(&folder.classes).map_err(|error| error.in_file(root))?;
        folder.fingerprint = fingerprint.finish();
        if folder.pictures.is_empty() {
            return Err(RecordsError::NoPictures { folder: root.to_owned() });
        }
        Ok(folder)
    }

    /// How many pictures there are.
    pub fn items(&self) -> usize {
        self.pictures.len()
    }

    /// Names of the classes, sorted.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// A picture's path below the root.
    ///
    /// # Panics
    /// When there is no such picture.
    pub fn name(&self, item: usize) -> &str {
        let start = if item == 0 { 0 } else { self.pictures[item - 1].0 };
        &self.names[start..self.pictures[item].0]
    }

    /// A picture's path.
    pub fn path(&self, item: usize) -> PathBuf {
        self.root.join(self.name(item))
    }

    /// A picture's class.
    pub fn label(&self, item: usize) -> u32 {
        self.pictures[item].1
    }

    /// Files that are no pictures by their names, and what is no regular file.
    pub fn passed_over(&self) -> &[String] {
        &self.passed_over
    }

    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Adds a class, unless it has no pictures.
    fn add(&mut self, class: &str, fingerprint: &mut Fingerprint) -> Result<(), RecordsError> {
        let (before, label) = (self.pictures.len(), self.classes.len() as u32);
        self.add_below(class, label, fingerprint)?;
        if self.pictures.len() > before {
            self.classes.push(class.to_owned());
        } else {
            self.passed_over.push(format!("{class}/"));
        }
        Ok(())
    }

    fn add_below(
        &mut self,
        below: &str,
        label: u32,
        fingerprint: &mut Fingerprint,
    ) -> Result<(), RecordsError> {
        for (name, metadata) in entries(&self.root.join(below))? {
            let name = format!("{below}/{name}");
            if metadata.is_dir() {
                self.add_below(&name, label, fingerprint)?;
            } else if is_picture(&name) && !metadata.is_file() {
                self.passed_over.push(format!("{name} (no regular file)"));
            } else if is_picture(&name) {
                fingerprint.add(&name, &metadata);
                self.names.push_str(&name);
                self.pictures.push((self.names.len(), label));
            } else {
                self.passed_over.push(name);
            }
        }
        Ok(())
    }
}

fn is_picture(name: &str) -> bool {
    let ending = Path::new(name).extension();
    ending
        .is_some_and(|ending| ["jpg", "jpeg", "png"].iter().any(|e| ending.eq_ignore_ascii_case(e)))
}

/// What a folder holds but hidden files, sorted by name; symbolic links are followed.
fn entries(folder: &Path) -> Result<Vec<(String, fs::Metadata)>, RecordsError> {
    let in_folder = |error: std::io::Error| RecordsError::from(error).in_file(folder);
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(in_folder)? {
        let path = entry.map_err(in_folder)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name else { return Err(RecordsError::NameNotText { path }) };
        if !name.starts_with('.') {
            let metadata = fs::metadata(&path).map_err(|e| RecordsError::from(e).in_file(&path))?;
            entries.push((name.to_owned(), metadata));
        }
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_the_folders_and_names_are_sorted() {
        let root = tempfile::tempdir().unwrap();
        for name in ["b/2.JPG", "b/1.png", "a/deep/x.jpeg", "a/notes.txt", "LICENSE", "empty/.x"] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let folder = PictureFolder::open(root.path()).unwrap();
        assert_eq!(folder.classes(), ["a", "b"]);
        let list: Vec<_> =
            (0..folder.items()).map(|item| (folder.name(item), folder.label(item))).collect();
        assert_eq!(list, [("a/deep/x.jpeg", 0), ("b/1.png", 1), ("b/2.JPG", 1)]);
        assert_eq!(folder.passed_over(), ["LICENSE", "a/notes.txt", "empty/"]);
    }

    #[test]
    fn a_pipe_with_the_name_of_a_picture_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(root.path().join("a/1.png"), "1").unwrap();
        let pipe = root.path().join("a/2.jpg");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let folder = PictureFolder::open(root.path()).unwrap();
        assert_eq!(folder.items(), 1);
        assert_eq!(folder.passed_over(), ["a/2.jpg (no regular file)"]);
    }

    #[test]
    fn a_class_with_a_line_break_in_its_name_is_refused() {
        let root = tempfile::tempdir().unwrap();
        for class in ["a", "b\nc", "d"] {
            fs::create_dir(root.path().join(class)).unwrap();
            fs::write(root.path().join(class).join("1.png"), "1").unwrap();
        }
        let message = PictureFolder::open(root.path()).err().unwrap().to_string();
        let expected = "class `b\\nc` has a line break in its name; rename it";
        assert!(message.ends_with(expected), "{message}");
    }

    #[test]
    fn a_changed_file_changes_the_fingerprint() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(root.path().join("a/1.png"), "1").unwrap();
        let before = PictureFolder::open(root.path()).unwrap().fingerprint;
        assert_eq!(PictureFolder::open(root.path()).unwrap().fingerprint, before);
        fs::write(root.path().join("a/1.png"), "22").unwrap();
        assert_ne!(PictureFolder::open(root.path()).unwrap().fingerprint, before);
    }

    #[test]
    fn a_folder_without_pictures_says_how_they_should_lie() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("1.png"), "1").unwrap();
        let message = PictureFolder::open(root.path()).err().unwrap().to_string();
        assert!(message.ends_with("put them into one folder a class"), "{message}");
    }
}
