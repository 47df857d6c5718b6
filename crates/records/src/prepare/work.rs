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
