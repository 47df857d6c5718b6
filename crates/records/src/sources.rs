//! What `prepare` reads: picture folders, IDX sets, libsvm files and CSV tables.
//!
//! A source is a numbered list of items. Listing it touches names, sizes and line starts only, so
//! that memory does not grow with the pictures.

mod class_names;
mod csv_table;
mod idx_set;
mod libsvm_file;
mod picture_folder;
mod text_file;

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

pub use csv_table::CsvTable;
pub use idx_set::IdxSet;
pub use libsvm_file::LibsvmFile;
pub use picture_folder::PictureFolder;

use crate::error::RecordsError;

/// Where records are made from.
pub enum Source {
    /// A folder of pictures, one folder a class.
    Pictures(PictureFolder),
    /// A folder with four IDX files, which have their own train and test part.
    Idx(IdxSet),
    /// A text file of sparse rows.
    Libsvm(LibsvmFile),
    /// A table with a header.
    Csv(CsvTable),
}

impl Source {
    /// Finds out what a path holds and lists it.
    ///
    /// A folder with the IDX files is an IDX set, any other a picture folder; a file that ends in
    /// `.csv` is a table, any other a libsvm file.
    ///
    /// # Errors
    /// When nothing is there, or it is none of these; file and line are named.
    pub fn open(path: &Path) -> Result<Self, RecordsError> {
        let metadata = fs::metadata(path)
            .map_err(|source| RecordsError::NoSource { path: path.to_owned(), source })?;
        if metadata.is_dir() {
            return if IdxSet::is_at(path) {
                IdxSet::open(path).map(Self::Idx)
            } else {
                PictureFolder::open(path).map(Self::Pictures)
            };
        }
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) {
            CsvTable::open(path).map(Self::Csv)
        } else {
            LibsvmFile::open(path).map(Self::Libsvm)
        }
    }

    /// The kind in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Pictures(_) => "pictures",
            Self::Idx(_) => "idx",
            Self::Libsvm(_) => "libsvm",
            Self::Csv(_) => "csv",
        }
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        match self {
            Self::Pictures(folder) => folder.items(),
            Self::Idx(set) => set.items(),
            Self::Libsvm(file) => file.items(),
            Self::Csv(table) => table.items(),
        }
    }

    /// Names of the classes in the order of their labels; none when labels are no classes.
    pub fn classes(&self) -> Vec<String> {
        match self {
            Self::Pictures(folder) => folder.classes().to_vec(),
            Self::Idx(set) => set.classes(),
            Self::Libsvm(file) => file.classes(),
            Self::Csv(table) => table.classes().to_vec(),
        }
    }

    /// The name of an item, which no other item of the source has.
    pub fn name(&self, item: usize) -> Cow<'_, str> {
        match self {
            Self::Pictures(folder) => Cow::Borrowed(folder.name(item)),
            Self::Idx(set) => Cow::Owned(set.name(item)),
            Self::Libsvm(file) => Cow::Owned(format!("line {}", file.line(item))),
            Self::Csv(table) => Cow::Owned(format!("row {}", table.row_number(item))),
        }
    }

    /// The part that the source itself puts an item into.
    pub fn own_part(&self, item: usize) -> Option<&'static str> {
        match self {
            Self::Idx(set) => Some(set.part(item)),
            _ => None,
        }
    }

    /// Files that lie in the source and are not read.
    pub fn passed_over(&self) -> &[String] {
        match self {
            Self::Pictures(folder) => folder.passed_over(),
            _ => &[],
        }
    }

    /// A SHA-256 over names, sizes and times of change of everything that is read.
    pub fn fingerprint(&self) -> String {
        match self {
            Self::Pictures(folder) => folder.fingerprint().to_owned(),
            Self::Idx(set) => set.fingerprint().to_owned(),
            Self::Libsvm(file) => file.fingerprint().to_owned(),
            Self::Csv(table) => table.fingerprint().to_owned(),
        }
    }
}

/// Collects what pins the content of files without reading it.
#[derive(Default)]
struct Fingerprint(Sha256);

impl Fingerprint {
    fn add(&mut self, name: &str, metadata: &fs::Metadata) {
        let changed = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let changed = changed.map_or(0, |since| since.as_nanos());
        for part in [name.as_bytes(), &metadata.len().to_le_bytes(), &changed.to_le_bytes()] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    fn of_file(path: &Path) -> Result<String, RecordsError> {
        let metadata = fs::metadata(path).map_err(|e| RecordsError::from(e).in_file(path))?;
        let mut fingerprint = Self::default();
        fingerprint.add(&path.file_name().unwrap_or_default().to_string_lossy(), &metadata);
        Ok(fingerprint.finish())
    }

    fn finish(self) -> String {
        crate::data_sets::published::hex(&self.0.finalize())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::data_sets::published::{TEST_IMAGES, TEST_LABELS, TRAIN_IMAGES, TRAIN_LABELS};

    fn write(folder: &Path, name: &str, content: &[u8]) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn write_idx(folder: &Path) {
        for (images, labels, count) in
            [(TRAIN_IMAGES, TRAIN_LABELS, 2_u8), (TEST_IMAGES, TEST_LABELS, 1)]
        {
            let pixels = vec![1; count.into()];
            let header = [0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 1, 0, 0, 0, 1];
            write(folder, images, &[&header[..], &pixels].concat());
            write(folder, labels, &[&[0, 0, 8, 1, 0, 0, 0, count][..], &pixels].concat());
        }
    }

    /// A folder with one source of each kind, and their paths.
    fn all_kinds() -> (tempfile::TempDir, [(&'static str, std::path::PathBuf); 4]) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, "flowers/tulip/b.PNG", b"");
        write(root, "flowers/rose/a.jpg", b"");
        write(root, "flowers/README", b"");
        write_idx(&root.join("digits"));
        write(root, "rows.txt", b"# two rows\n1 4:1\n\n2 4:1\n");
        write(root, "table.CSV", b"label,x\nrose,1\ntulip,2\n");
        let kinds = [
            ("pictures", "flowers"),
            ("idx", "digits"),
            ("libsvm", "rows.txt"),
            ("csv", "table.CSV"),
        ];
        let paths = kinds.map(|(kind, name)| (kind, root.join(name)));
        (folder, paths)
    }

    #[test]
    fn what_a_path_holds_is_told_by_its_files_and_its_ending() {
        let (_folder, kinds) = all_kinds();
        for (kind, path) in kinds {
            assert_eq!(Source::open(&path).unwrap().kind(), kind);
        }
    }

    #[test]
    fn items_have_names_parts_and_classes_of_their_own() {
        let (_folder, kinds) = all_kinds();
        let [pictures, idx, rows, table] = kinds.map(|(_, path)| Source::open(&path).unwrap());
        let names = |source: &Source| -> Vec<String> {
            (0..source.items()).map(|item| source.name(item).into_owned()).collect()
        };
        assert_eq!(names(&pictures), ["rose/a.jpg", "tulip/b.PNG"]);
        assert_eq!(names(&idx), ["train/0", "train/1", "test/0"]);
        assert_eq!(names(&rows), ["line 2", "line 4"]);
        assert_eq!(names(&table), ["row 2", "row 3"]);
        let classes = [&pictures, &idx, &rows, &table].map(Source::classes);
        assert_eq!(
            classes,
            [vec!["rose", "tulip"], vec!["0", "1"], vec!["1", "2"], vec!["rose", "tulip"]]
        );
        let parts: Vec<_> = (0..3).map(|item| idx.own_part(item)).collect();
        assert_eq!(parts, [Some("train"), Some("train"), Some("test")]);
        assert_eq!((pictures.own_part(0), table.own_part(1)), (None, None));
        assert_eq!(
            (pictures.passed_over(), rows.passed_over()),
            (&["README".to_owned()][..], &[][..])
        );
    }

    #[test]
    fn a_path_that_holds_nothing_is_told() {
        let error = Source::open(Path::new("no/such/data")).err().unwrap();
        assert!(error.to_string().starts_with("cannot read no/such/data: No such file"), "{error}");
        assert!(error.is_bad_input());
    }

    #[test]
    fn any_change_of_a_source_changes_its_fingerprint() {
        let (_folder, kinds) = all_kinds();
        for (kind, path) in kinds {
            let fingerprint = || Source::open(&path).unwrap().fingerprint();
            let before = fingerprint();
            assert_eq!(fingerprint(), before, "{kind}");
            // The same bytes, written at another time, may be other bytes next time.
            let file = match kind {
                "pictures" => path.join("tulip/b.PNG"),
                "idx" => path.join(TEST_LABELS),
                _ => path.clone(),
            };
            let later = SystemTime::now() + Duration::from_secs(100);
            File::options().append(true).open(&file).unwrap().set_modified(later).unwrap();
            assert_ne!(fingerprint(), before, "{kind}");
        }
    }

    #[test]
    fn names_and_sizes_of_a_fingerprint_do_not_run_together() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"content").unwrap();
        file.as_file().set_modified(UNIX_EPOCH).unwrap();
        let metadata = fs::metadata(file.path()).unwrap();
        let of = |names: &[&str]| {
            let mut fingerprint = Fingerprint::default();
            names.iter().for_each(|name| fingerprint.add(name, &metadata));
            fingerprint.finish()
        };
        assert_ne!(of(&["a", "b"]), of(&["b", "a"]));
        // A name that holds the bytes of a size of 7, of the time 0, and of another name.
        let both = format!("a\u{7}{}b", "\0".repeat(7 + 16));
        assert_ne!(of(&["a", "b"]), of(&[&both]));
        assert_eq!(of(&["a"]).len(), 64);
    }
}
