//! A batch out of a list of records: what one thread does.

use std::sync::Arc;

use super::origin::PictureReader;
use super::{Batch, Images, PictureUse, PixelKind, Shared};
use crate::error::RecordsError;
use crate::example_view::ExampleView;
use crate::pictures::{Decoder, Picture};
use crate::random::Stream;

/// Purpose of the random stream of a picture's changes.
const AUGMENT: u64 = 3;

/// One thread's tools.
pub(super) struct Filler {
    shared: Arc<Shared>,
    wanted: PictureUse,
    reader: PictureReader,
    picture: Picture,
    changed: Picture,
}

impl Filler {
    pub(super) fn new(shared: Arc<Shared>, wanted: PictureUse) -> Result<Self, RecordsError> {
        let (picture, changed) = (Picture::default(), Picture::default());
        Ok(Self { shared, wanted, reader: PictureReader::new()?, picture, changed })
    }

    pub(super) fn fill(&mut self, records: &[u32]) -> Result<Batch, RecordsError> {
        let shared = Arc::clone(&self.shared);
        let spare = shared.spare.lock().expect("nobody panics while holding it").pop();
        let mut batch = emptied(spare, shared.options.pixels);
        for &record in records {
            let record = record as usize;
            self.add(record, records.len(), &mut batch)
                .map_err(|error| shared.origin.placed(record, error))?;
        }
        Ok(batch)
    }

    fn add(&mut self, record: usize, count: usize, batch: &mut Batch) -> Result<(), RecordsError> {
        let label = self.decoded(record)?;
        let options = &self.shared.options;
        let picture = match self.wanted {
            PictureUse::Learning { epoch } if !options.augment.is_nothing() => {
                let mut stream = Stream::new(options.seed, &[epoch, AUGMENT, record as u64]);
                options.augment.apply(&self.picture, &mut stream, &mut self.changed)?;
                &self.changed
            }
            PictureUse::Judging if options.augment.crop.is_some() => {
                options.augment.centre(&self.picture, &mut self.changed)?;
                &self.changed
            }
            PictureUse::Learning { .. } | PictureUse::Judging => &self.picture,
        };
        let shape = [picture.rows, picture.columns, picture.channels];
        if batch.labels.is_empty() {
            batch.shape = shape;
            batch.images.reserve(count * picture.pixels.len());
        } else if batch.shape != shape {
            return Err(RecordsError::BatchShape { expected: batch.shape, found: shape });
        }
        batch.labels.push(label);
        batch.images.extend(&picture.pixels);
        Ok(())
    }

    /// Gets the pixels of a record from the cache or by decoding; gives the label.
    fn decoded(&mut self, record: usize) -> Result<i64, RecordsError> {
        let cache = &self.shared.cache;
        if let Some(label) = cache.get(record, &mut self.picture)? {
            return Ok(label);
        }
        let label = self.reader.read(&self.shared.origin, record, &mut self.picture)?;
        cache.put(record, label, &self.picture)?;
        Ok(label)
    }
}

/// The picture of an example, encoded or as pixels.
pub(crate) fn picture_of(
    example: &ExampleView<'_>,
    decoder: &mut Decoder,
    picture: &mut Picture,
) -> Result<(), RecordsError> {
    match example.bytes("image/encoded") {
        Ok(encoded) => decoder.decode(encoded, picture).map(drop),
        Err(RecordsError::FeatureMissing { .. }) => raw(example, picture),
        Err(other) => Err(other),
    }
}

fn raw(example: &ExampleView<'_>, picture: &mut Picture) -> Result<(), RecordsError> {
    let pixels = example.bytes("image/raw")?;
    let side = |feature| {
        let expected = "size of a picture";
        usize::try_from(example.int(feature)?)
            .map_err(|_| RecordsError::FeatureShape { feature, expected })
    };
    let (rows, columns) = (side("image/height")?, side("image/width")?);
    let channels = side("image/channels")?;
    let expected = rows.checked_mul(columns).and_then(|it| it.checked_mul(channels));
    if expected != Some(pixels.len()) {
        return Err(RecordsError::PixelCount { bytes: pixels.len(), rows, columns });
    }
    picture.reshape(rows, columns, channels);
    picture.pixels.copy_from_slice(pixels);
    Ok(())
}

/// An empty batch, in memory of an old one where there is one of the right kind.
fn emptied(spare: Option<Batch>, pixels: PixelKind) -> Batch {
    let mut batch = spare.unwrap_or_else(|| Batch {
        images: Images::U8(Vec::new()),
        labels: Vec::new(),
        shape: [0; 3],
    });
    batch.labels.clear();
    match (&mut batch.images, pixels) {
        (Images::U8(pixels), PixelKind::U8) => pixels.clear(),
        (Images::F32(pixels), PixelKind::F32) => pixels.clear(),
        (images, PixelKind::U8) => *images = Images::U8(Vec::new()),
        (images, PixelKind::F32) => *images = Images::F32(Vec::new()),
    }
    batch
}

impl Images {
    fn reserve(&mut self, count: usize) {
        match self {
            Self::U8(all) => all.reserve(count),
            Self::F32(all) => all.reserve(count),
        }
    }

    fn extend(&mut self, pixels: &[u8]) {
        match self {
            Self::U8(all) => all.extend_from_slice(pixels),
            Self::F32(all) => {
                all.extend(pixels.iter().map(|&pixel| f32::from(pixel) * (1.0 / 255.0)));
            }
        }
    }
}
