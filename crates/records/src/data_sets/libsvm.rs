//! Sparse examples in the text format of LIBSVM and SVMlight: `label id:value id:value ...`, one
//! example a line.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use crate::data_sets::idx::unpacked;
use crate::error::RecordsError;

/// Memory that training takes at least for each feature: a count, a rank and a place.
const FEATURE_BYTES: u64 = 16;

/// Most memory that features may take by the ids of a file alone.
const FEATURES_LIMIT_BYTES: u64 = 4 << 30;

/// Examples of which most features are 0, row after row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseExamples {
    /// The label of each example, as the file has it.
    pub labels: Vec<f32>,
    /// Where each example starts among the ids, and where the last one ends.
    pub starts: Vec<usize>,
    /// Ids of the features that are not 0, rising within an example.
    pub ids: Vec<u32>,
    /// Value of each; `None` when every one is 1.
    pub values: Option<Vec<f32>>,
}

impl SparseExamples {
    /// How many examples there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no example.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Whether ids are small enough to keep something for each up to the largest, as training does
    /// unless it hashes them.
    ///
    /// # Errors
    /// When that would take more than 4 GiB; the id and the estimate are named.
    pub fn check_largest_id(&self) -> Result<(), RecordsError> {
        let id = self.largest_id().unwrap_or(0);
        let (bytes, limit) = (FEATURE_BYTES * (u64::from(id) + 1), FEATURES_LIMIT_BYTES);
        if bytes > limit {
            return Err(RecordsError::LargestId { id, bytes, limit });
        }
        Ok(())
    }

    /// The largest id; `None` when no example has a feature.
    pub fn largest_id(&self) -> Option<u32> {
        self.ids.iter().copied().max()
    }
}

/// Reads a file, plain or gzip-compressed.
///
/// A feature without `:value` has value 1. Ids in any order are sorted; an id that comes twice in
/// an example is an error. `#` starts a comment; empty lines are passed over.
///
/// # Errors
/// When the file cannot be read or a line is no example; file and line are named.
pub fn read_libsvm(path: &Path) -> Result<SparseExamples, RecordsError> {
    let read = || -> Result<SparseExamples, RecordsError> {
        let mut text = Vec::new();
        unpacked(File::open(path)?)?.read_to_end(&mut text)?;
        parse_libsvm(&text)
    };
    read().map_err(|problem| problem.in_file(path))
}

/// Reads the text of a file; see [`read_libsvm`].
///
/// # Errors
/// When a line is no example.
pub fn parse_libsvm(text: &[u8]) -> Result<SparseExamples, RecordsError> {
    let mut examples = SparseExamples { starts: vec![0], ..SparseExamples::default() };
    let mut row = SparseRow::default();
    for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
        if row.read(line).map_err(|error| error.in_line(index as u64 + 1))? {
            examples.add(&row);
        }
    }
    if examples.is_empty() {
        return Err(RecordsError::NoExamples);
    }
    Ok(examples)
}

/// One example.
///
/// ```
/// use trainwright_records::SparseRow;
///
/// let mut row = SparseRow::default();
/// assert!(row.read(b"-1 7:0.5 2 # a comment")?);
/// assert_eq!((row.label, &row.features[..]), (-1.0, &[(2, 1.0), (7, 0.5)][..]));
/// assert!(!row.read(b"# nothing but a comment")?);
/// # Ok::<(), trainwright_records::RecordsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseRow {
    /// The label as written.
    pub label: f64,
    /// Id and value of the features that are not 0, ids rising.
    pub features: Vec<(u32, f32)>,
}

impl SparseRow {
    /// Reads a line into this row, whose memory it keeps; gives whether the line has an example.
    ///
    /// # Errors
    /// When the line is no example; the row is then of no use.
    pub fn read(&mut self, line: &[u8]) -> Result<bool, RecordsError> {
        let line = line.split(|&byte| byte == b'#').next().unwrap_or(line);
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let Some(label) = words.next() else { return Ok(false) };
        // Labels that are no classes are kept as `f32`.
        self.label = number(label)
            .filter(|&label: &f64| (label as f32).is_finite())
            .ok_or_else(|| fault(label, "a label is a number"))?;
        self.features.clear();
        let mut rises = true;
        for word in words {
            let feature = feature(word)?;
            rises &= self.features.last().is_none_or(|last| last.0 < feature.0);
            self.features.push(feature);
        }
        if !rises {
            self.features.sort_by_key(|feature| feature.0);
            if self.features.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(fault(line, "an id comes twice in one example"));
            }
        }
        Ok(true)
    }
}

impl SparseExamples {
    fn add(&mut self, row: &SparseRow) {
        self.labels.push(row.label as f32);
        if self.values.is_none() && row.features.iter().any(|feature| feature.1 != 1.0) {
            self.values = Some(vec![1.0; self.ids.len()]);
        }
        self.ids.extend(row.features.iter().map(|feature| feature.0));
        if let Some(values) = &mut self.values {
            values.extend(row.features.iter().map(|feature| feature.1));
        }
        self.starts.push(self.ids.len());
    }
}

fn feature(word: &[u8]) -> Result<(u32, f32), RecordsError> {
    let (id, value) = match word.iter().position(|&byte| byte == b':') {
        Some(colon) => (&word[..colon], Some(&word[colon + 1..])),
        None => (word, None),
    };
    let id = id_number(id).ok_or_else(|| fault(word, "an id is a whole number below 2^32"))?;
    let value = value.map_or(Some(1.0), number);
    Ok((id, value.ok_or_else(|| fault(word, "a value is a finite number"))?))
}

fn id_number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u32, |sum, &digit| {
        let digit = digit.is_ascii_digit().then(|| u32::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

fn number<T: FromStr + From<u8> + Into<f64> + Copy>(text: &[u8]) -> Option<T> {
    if text == b"1" {
        return Some(T::from(1));
    }
    let number: T = std::str::from_utf8(text).ok()?.parse().ok()?;
    number.into().is_finite().then_some(number)
}

fn fault(word: &[u8], problem: &'static str) -> RecordsError {
    let word = String::from_utf8_lossy(word).chars().take(40).collect();
    RecordsError::LibsvmWord { word, problem }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_become_examples() {
        let text = b"-1 3:1 11:1 \n\n+1 2:0.5 # a comment\r\n0\n2.5 7 4:1e1\n";
        let examples = parse_libsvm(text).unwrap();
        assert_eq!(examples.labels, [-1.0, 1.0, 0.0, 2.5]);
        assert_eq!(examples.starts, [0, 2, 3, 3, 5]);
        assert_eq!(examples.ids, [3, 11, 2, 4, 7]);
        assert_eq!(examples.values.as_deref(), Some(&[1.0, 1.0, 0.5, 10.0, 1.0][..]));
        assert_eq!((examples.len(), examples.largest_id()), (4, Some(11)));
        assert_eq!(parse_libsvm(b"1 4:1 9").unwrap().values, None);
    }

    #[track_caller]
    fn check(text: &str, message: &str) {
        let error = parse_libsvm(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, message);
    }

    #[test]
    fn a_bad_line_is_named() {
        check("1 2:1\nx 3:1", "line 2: `x`: a label is a number");
        check("1 2:1\n\n1 3:y", "line 3: `3:y`: a value is a finite number");
        check("1e39 3:1", "line 1: `1e39`: a label is a number");
        check("1 3:nan", "line 1: `3:nan`: a value is a finite number");
        check("1 -3:1", "line 1: `-3:1`: an id is a whole number below 2^32");
        check("1 4294967296:1", "line 1: `4294967296:1`: an id is a whole number below 2^32");
        check("1 :1", "line 1: `:1`: an id is a whole number below 2^32");
        check("1 qid:4", "line 1: `qid:4`: an id is a whole number below 2^32");
        check("1 5:1 2:1 5:1", "line 1: `1 5:1 2:1 5:1`: an id comes twice in one example");
        check("\n \n", "the data set has no examples");
    }

    #[test]
    fn an_id_that_would_take_too_much_memory_is_refused_with_the_way_out() {
        let largest = |id: u32| parse_libsvm(format!("1 {id}:1\n0 1:1").as_bytes()).unwrap();
        assert!(largest((1 << 28) - 1).check_largest_id().is_ok());
        assert!(largest(1 << 28).check_largest_id().is_err());
        assert_eq!(
            largest(u32::MAX).check_largest_id().unwrap_err().to_string(),
            "feature id 4294967295 is too large: what is kept for each id up to it would take \
             68719476736 bytes, over the limit of 4294967296; hash the ids into fewer by hash_bits, \
             such as 22"
        );
    }

    #[test]
    fn errors_name_the_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "1 2:1\n1 2:z\n").unwrap();
        let message = read_libsvm(file.path()).unwrap_err().to_string();
        let expected =
            format!("{}: line 2: `2:z`: a value is a finite number", file.path().display());
        assert_eq!(message, expected);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            rows in prop::collection::vec(
                (-3.0_f32..3.0, prop::collection::btree_map(any::<u32>(), -9.0_f32..9.0, 0..9)),
                1..20,
            ),
        ) {
            let mut text = String::new();
            for (label, features) in &rows {
                write!(text, "{label}").unwrap();
                features.iter().for_each(|(id, value)| write!(text, " {id}:{value}").unwrap());
                text.push('\n');
            }
            let examples = parse_libsvm(text.as_bytes()).unwrap();
            for (index, (label, features)) in rows.iter().enumerate() {
                prop_assert_eq!(examples.labels[index], *label);
                let range = examples.starts[index]..examples.starts[index + 1];
                let ids: Vec<u32> = features.keys().copied().collect();
                prop_assert_eq!(&examples.ids[range.clone()], &ids[..]);
                let values: Vec<f32> = features.values().copied().collect();
                let found = examples.values.as_ref().map(|all| all[range.clone()].to_vec());
                prop_assert_eq!(found.unwrap_or(vec![1.0; range.len()]), values);
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse_libsvm(&bytes);
        }
    }
}
