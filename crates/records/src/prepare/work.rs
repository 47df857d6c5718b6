//! Records out of items: what one thread does, with memory that it keeps.

use std::io::Read;
use std::sync::Arc;

use super::memory::MemoryLimit;
use super::plan::Run;
use super::result::CorruptItem;
use super::{PrepareOptions, Storage};
use crate::error::RecordsError;
use crate::files::regular_file::open_regular;
use crate::messages::example::{Example, Feature};
use crate::pictures::{
    Decoder, Framing, JpegWriter, Picture, PixelLimit, Scaler, read_picture_header,
};
use crate::sources::{IdxSet, LibsvmFile, PictureFolder, Source};

/// Side of pictures when none is asked for.
pub(super) const DEFAULT_SIZE: usize = 192;

/// The records of a run, one after another in one buffer.
pub(super) struct Made {
    pub(super) shard: String,
    pub(super) last: bool,
    pub(super) items: usize,
    pub(super) corrupt: Vec<CorruptItem>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Made {
    pub(super) fn records(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }
}

/// One thread's tools.
pub(super) struct Worker {
    source: Arc<Source>,
    memory: Arc<MemoryLimit>,
    pixels: PixelLimit,
    size: Option<usize>,
    framing: Framing,
    decoder: Decoder,
    scaler: Scaler,
    encoder: Option<JpegWriter>,
    file: Vec<u8>,
    decoded: Picture,
    square: Picture,
    encoded: Vec<u8>,
}

impl Worker {
    pub(super) fn new(
        source: Arc<Source>,
        memory: Arc<MemoryLimit>,
        options: &PrepareOptions,
    ) -> Result<Self, RecordsError> {
        let encoder = match options.storage {
            Storage::Jpeg(quality) => Some(JpegWriter::new(quality)?),
            Storage::Pixels => None,
        };
        Ok(Self {
            source,
            memory,
            pixels: options.max_pixels,
            size: options.size,
            framing: options.framing,
            decoder: Decoder::new(options.max_pixels)?,
            scaler: Scaler::new(),
            encoder,
            file: Vec::new(),
            decoded: Picture::default(),
            square: Picture::default(),
            encoded: Vec::new(),
        })
    }

    /// Makes the records of a run; pictures that cannot be decoded are listed instead.
    pub(super) fn make(&mut self, run: Run) -> Result<Made, RecordsError> {
        let items = run.items.len();
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(items));
        let mut corrupt = Vec::new();
        let source = Arc::clone(&self.source);
        for item in run.items {
            let item = item as usize;
            let made = match &*source {
                Source::Pictures(folder) => self.picture(folder, item, &mut bytes)?,
                Source::Idx(set) => self.idx(set, item, &mut bytes),
                Source::Libsvm(file) => sparse(file, item, &mut bytes).map(Ok)?,
                Source::Csv(table) => table.encode(item, &mut bytes).map(Ok)?,
            };
            match made {
                Ok(()) => ends.push(bytes.len()),
                Err(problem) => corrupt.push(CorruptItem {
                    name: source.name(item).into_owned(),
                    problem: problem.to_string(),
                }),
            }
        }
        Ok(Made { shard: run.shard, last: run.last, items, corrupt, bytes, ends })
    }

    /// The outer error is the disk's, the inner one the picture's.
    fn picture(
        &mut self,
        folder: &PictureFolder,
        item: usize,
        out: &mut Vec<u8>,
    ) -> Result<Result<(), RecordsError>, RecordsError> {
        let path = folder.path(item);
        self.file.clear();
        open_regular(&path)
            .and_then(|mut file| file.read_to_end(&mut self.file))
            .map_err(|error| RecordsError::from(error).in_file(path))?;
        if let Err(problem) = self.make_square() {
            return Ok(Err(problem));
        }
        Ok(self.encode(folder.label(item).into(), Some(folder.name(item)), out))
    }

    fn make_square(&mut self) -> Result<(), RecordsError> {
        let header = read_picture_header(&self.file)?;
        self.pixels.check(&header)?;
        let _share = self.memory.share(&header);
        self.decoder.decode(&self.file, &mut self.decoded)?;
        let size = self.size.unwrap_or(DEFAULT_SIZE);
        self.scaler.square(&self.decoded, size, self.framing, &mut self.square);
        // A huge picture must not go on holding its memory after its share is given back.
        self.decoded.forget_if_huge();
        Ok(())
    }

    /// Pictures of IDX sets are tiny and would only lose by JPEG: their pixels are stored.
    fn idx(&mut self, set: &IdxSet, item: usize, out: &mut Vec<u8>) -> Result<(), RecordsError> {
        let (pixels, label) = set.picture(item);
        let (rows, columns) = set.shape();
        let picture = Picture { rows, columns, channels: 1, pixels: pixels.to_vec() };
        match self.size {
            Some(size) => self.scaler.square(&picture, size, self.framing, &mut self.square),
            None => self.square = picture,
        }
        encode_picture(&self.square, ("image/raw", &self.square.pixels), label.into(), None, out);
        Ok(())
    }

    fn encode(
        &mut self,
        label: i64,
        name: Option<&str>,
        out: &mut Vec<u8>,
    ) -> Result<(), RecordsError> {
        match &mut self.encoder {
            Some(encoder) => {
                self.encoded.clear();
                encoder.encode(&self.square, &mut self.encoded)?;
                encode_picture(&self.square, ("image/encoded", &self.encoded), label, name, out);
            }
            None => {
                let pixels = ("image/raw", &self.square.pixels[..]);
                encode_picture(&self.square, pixels, label, name, out);
            }
        }
        Ok(())
    }
}

/// Appends a picture's example; its features are listed in `dataset.json`.
fn encode_picture(
    picture: &Picture,
    (feature, content): (&str, &[u8]),
    label: i64,
    name: Option<&str>,
    out: &mut Vec<u8>,
) {
    let mut example = Example::from([
        (feature, Feature::Bytes(vec![content])),
        ("image/height", Feature::Ints(vec![picture.rows as i64])),
        ("image/width", Feature::Ints(vec![picture.columns as i64])),
        ("image/channels", Feature::Ints(vec![picture.channels as i64])),
        ("label", Feature::Ints(vec![label])),
    ]);
    if let Some(name) = name {
        example.features.insert("image/name", Feature::Bytes(vec![name.as_bytes()]));
    }
    out.extend_from_slice(&example.encode());
}

/// A label that is a class is stored as its number, any other as a float.
fn sparse(file: &LibsvmFile, item: usize, out: &mut Vec<u8>) -> Result<(), RecordsError> {
    let row = file.row(item)?;
    let label = match file.class(row.label) {
        Some(class) => Feature::Ints(vec![class as i64]),
        None => Feature::Floats(vec![row.label as f32]),
    };
    let example = Example::from([
        ("indices", Feature::Ints(row.features.iter().map(|it| it.0.into()).collect())),
        ("values", Feature::Floats(row.features.iter().map(|it| it.1).collect())),
        ("label", label),
    ]);
    out.extend_from_slice(&example.encode());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::data_sets::published::{TEST_IMAGES, TEST_LABELS, TRAIN_IMAGES, TRAIN_LABELS};
    use crate::pictures::encode_png;
    use crate::prepare::OnCorrupt;

    fn options() -> PrepareOptions {
        PrepareOptions {
            size: Some(2),
            framing: Framing::Crop,
            storage: Storage::Pixels,
            shards: 1,
            seed: 1,
            split: None,
            threads: 1,
            corrupt: OnCorrupt::Refuse,
            max_pixels: PixelLimit::default(),
        }
    }

    fn worker(path: &Path, options: &PrepareOptions) -> Worker {
        let source = Arc::new(Source::open(path).unwrap());
        Worker::new(source, Arc::new(MemoryLimit::new()), options).unwrap()
    }

    fn run(items: &[u32]) -> Run {
        Run { shard: "s".to_owned(), items: items.to_vec(), last: true }
    }

    fn make(path: &Path, options: &PrepareOptions, items: &[u32]) -> Made {
        worker(path, options).make(run(items)).unwrap()
    }

    fn examples(made: &Made) -> Vec<Example<'_>> {
        made.records().map(|record| Example::parse(record).unwrap()).collect()
    }

    /// Pictures of 4 x 6 pixels in one class, each of one shade.
    fn pictures(shades: &[u8]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("rose")).unwrap();
        for (number, &shade) in shades.iter().enumerate() {
            let picture = Picture { rows: 4, columns: 6, channels: 3, pixels: vec![shade; 72] };
            let path = folder.path().join(format!("rose/{number}.png"));
            fs::write(path, encode_png(&picture).unwrap()).unwrap();
        }
        folder
    }

    #[test]
    fn sparse_rows_come_in_the_order_of_the_run_with_the_number_of_their_class() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "5 9:0.5 2:1\n-3 1:2\n5\n").unwrap();
        let made = make(file.path(), &PrepareOptions { size: None, ..options() }, &[2, 0, 1]);
        let row = |indices: &[i64], values: &[f32], class: i64| {
            Example::from([
                ("indices", Feature::Ints(indices.to_vec())),
                ("values", Feature::Floats(values.to_vec())),
                ("label", Feature::Ints(vec![class])),
            ])
        };
        let expected = [row(&[], &[], 1), row(&[2, 9], &[1.0, 0.5], 1), row(&[1], &[2.0], 0)];
        assert_eq!(examples(&made), expected);
        assert_eq!((made.items, made.corrupt.len()), (3, 0));
    }

    #[test]
    fn labels_that_are_no_classes_are_stored_as_they_are() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "0.25 1:1\n3 1:1\n").unwrap();
        let made = make(file.path(), &PrepareOptions { size: None, ..options() }, &[0, 1]);
        let labels: Vec<_> =
            examples(&made).iter().map(|it| it.features["label"].clone()).collect();
        assert_eq!(labels, [Feature::Floats(vec![0.25]), Feature::Floats(vec![3.0])]);
    }

    #[test]
    fn pictures_of_an_idx_set_are_pixels_whatever_the_storage() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
        let one = [0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3];
        write(TRAIN_IMAGES, &[&one[..], &[7, 8, 9]].concat());
        write(TRAIN_LABELS, &[0, 0, 8, 1, 0, 0, 0, 1, 4]);
        write(TEST_IMAGES, &[&one[..], &[5, 5, 5]].concat());
        write(TEST_LABELS, &[0, 0, 8, 1, 0, 0, 0, 1, 2]);
        let picture = |pixels: &'static [u8], [rows, columns]: [i64; 2], label: i64| {
            Example::from([
                ("image/raw", Feature::Bytes(vec![pixels])),
                ("image/height", Feature::Ints(vec![rows])),
                ("image/width", Feature::Ints(vec![columns])),
                ("image/channels", Feature::Ints(vec![1])),
                ("label", Feature::Ints(vec![label])),
            ])
        };
        let storage = Storage::Jpeg(90);
        let made =
            make(folder.path(), &PrepareOptions { size: None, storage, ..options() }, &[0, 1]);
        let expected = [picture(&[7, 8, 9], [1, 3], 4), picture(&[5, 5, 5], [1, 3], 2)];
        assert_eq!(examples(&made), expected);
        let scaled = make(folder.path(), &options(), &[1]);
        assert_eq!(examples(&scaled), [picture(&[5; 4], [2, 2], 2)]);
    }

    #[test]
    fn a_picture_has_its_name_its_size_and_its_pixels_in_one_form() {
        let folder = pictures(&[100]);
        let made = make(folder.path(), &options(), &[0]);
        let example = &examples(&made)[0];
        assert_eq!(example.bytes("image/name").unwrap(), b"rose/0.png");
        assert_eq!(example.bytes("image/raw").unwrap(), [100; 12]);
        assert_eq!((example.int("image/height").unwrap(), example.int("label").unwrap()), (2, 0));
        assert!(!example.features.contains_key("image/encoded"));

        let jpeg = PrepareOptions { storage: Storage::Jpeg(95), size: None, ..options() };
        let made = make(folder.path(), &jpeg, &[0]);
        let example = &examples(&made)[0];
        let header = read_picture_header(example.bytes("image/encoded").unwrap()).unwrap();
        assert_eq!((header.rows, header.columns), (DEFAULT_SIZE, DEFAULT_SIZE));
        assert_eq!(example.int("image/width").unwrap(), DEFAULT_SIZE as i64);
        assert!(!example.features.contains_key("image/raw"));
    }

    #[test]
    fn what_cannot_be_decoded_is_listed_and_leaves_no_gap() {
        let folder = pictures(&[10, 20, 30]);
        fs::write(folder.path().join("rose/1.png"), "GIF8").unwrap();
        let made = make(folder.path(), &options(), &[0, 1, 2]);
        let shades: Vec<u8> =
            examples(&made).iter().map(|it| it.bytes("image/raw").unwrap()[0]).collect();
        assert_eq!((made.items, shades), (3, vec![10, 30]));
        let problem = "neither JPEG nor PNG: it starts with [47, 49, 46, 38]".to_owned();
        assert_eq!(made.corrupt, [CorruptItem { name: "rose/1.png".to_owned(), problem }]);
    }

    #[test]
    fn a_picture_beyond_the_limit_counts_as_corrupt() {
        let folder = pictures(&[10]);
        let max_pixels = PixelLimit::new(23).unwrap();
        let made = make(folder.path(), &PrepareOptions { max_pixels, ..options() }, &[0]);
        assert_eq!(made.records().count(), 0);
        let problem = &made.corrupt[0].problem;
        let expected = "the picture claims 4 x 6 = 24 pixels, over the limit of 23; ";
        assert!(problem.starts_with(expected), "{problem}");
    }

    #[test]
    fn a_file_that_is_gone_ends_the_work_and_is_no_corrupt_picture() {
        let folder = pictures(&[10, 20]);
        let mut worker = worker(folder.path(), &options());
        let gone = folder.path().join("rose/1.png");
        fs::remove_file(&gone).unwrap();
        let message = worker.make(run(&[0, 1])).err().unwrap().to_string();
        assert!(message.starts_with(&format!("{}: ", gone.display())), "{message}");
    }

    #[test]
    fn a_run_without_items_is_an_empty_piece_of_its_shard() {
        let folder = pictures(&[10]);
        let made = make(folder.path(), &options(), &[]);
        assert_eq!((made.records().count(), made.items, made.last), (0, 0, true));
        assert_eq!(made.shard, "s");
    }
}
