//! A batch out of a list of records: what one thread does.

use std::ops::Range;
use std::sync::Arc;

use trainwright_random::Random;

use super::cache::Cache;
use super::origin::PictureReader;
use super::{Batch, Images, PictureUse, PixelKind, Shared};
use crate::error::RecordsError;
use crate::messages::example_view::ExampleView;
use crate::pictures::{Decoder, Picture};

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
        let reader = PictureReader::new(shared.options.max_pixels)?;
        Ok(Self { shared, wanted, reader, picture, changed })
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
        if self.goes_straight() {
            let origin = &self.shared.origin;
            let label = self.reader.read(origin, record, |shape| batch.room(shape, count))?;
            batch.labels.push(label);
            return Ok(());
        }
        let label = self.decoded(record)?;
        let options = &self.shared.options;
        let picture = match self.wanted {
            PictureUse::Learning { epoch } if !options.augment.is_nothing() => {
                let mut random =
                    Random::for_purpose(options.seed, &[epoch, AUGMENT, record as u64]);
                options.augment.apply(&self.picture, &mut random, &mut self.changed)?;
                &self.changed
            }
            PictureUse::Judging if options.augment.crop.is_some() => {
                options.augment.centre(&self.picture, &mut self.changed)?;
                &self.changed
            }
            PictureUse::Learning { .. } | PictureUse::Judging => &self.picture,
        };
        let place = batch.place([picture.rows, picture.columns, picture.channels], count)?;
        batch.images.put(place, &picture.pixels);
        batch.labels.push(label);
        Ok(())
    }

    /// Whether pictures are decoded right into the batch: as bytes, unchanged and not kept.
    fn goes_straight(&self) -> bool {
        let Shared { options, cache, .. } = &*self.shared;
        let unchanged = match self.wanted {
            PictureUse::Learning { .. } => options.augment.is_nothing(),
            PictureUse::Judging => options.augment.crop.is_none(),
        };
        unchanged && options.pixels == PixelKind::U8 && matches!(cache, Cache::None)
    }

    /// Gets the pixels of a record from the cache or by decoding; gives the label.
    fn decoded(&mut self, record: usize) -> Result<i64, RecordsError> {
        let cache = &self.shared.cache;
        if let Some(label) = cache.get(record, &mut self.picture)? {
            return Ok(label);
        }
        let label = self.reader.read(&self.shared.origin, record, self.picture.room())?;
        cache.put(record, label, &self.picture)?;
        Ok(label)
    }
}

/// Puts the picture of an example, encoded or as pixels, where `room` says, given its shape.
pub(crate) fn picture_of<'a>(
    example: &ExampleView<'_>,
    decoder: &mut Decoder,
    room: impl FnOnce([usize; 3]) -> Result<&'a mut [u8], RecordsError>,
) -> Result<(), RecordsError> {
    match example.bytes("image/encoded") {
        Ok(encoded) => decoder.decode_to(encoded, room).map(drop),
        Err(RecordsError::FeatureMissing { .. }) => raw(example, room),
        Err(other) => Err(other),
    }
}

fn raw<'a>(
    example: &ExampleView<'_>,
    room: impl FnOnce([usize; 3]) -> Result<&'a mut [u8], RecordsError>,
) -> Result<(), RecordsError> {
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
    room([rows, columns, channels])?.copy_from_slice(pixels);
    Ok(())
}

/// A batch without labels, in memory of an old one where there is one of the right kind.
fn emptied(spare: Option<Batch>, pixels: PixelKind) -> Batch {
    let mut batch = spare.unwrap_or_else(|| Batch {
        images: Images::U8(Vec::new()),
        labels: Vec::new(),
        shape: [0; 3],
    });
    batch.labels.clear();
    match (&batch.images, pixels) {
        (Images::U8(_), PixelKind::U8) | (Images::F32(_), PixelKind::F32) => {}
        (_, PixelKind::U8) => batch.images = Images::U8(Vec::new()),
        (_, PixelKind::F32) => batch.images = Images::F32(Vec::new()),
    }
    batch
}

impl Batch {
    /// Room for the pixels of the next of `count` pictures as bytes.
    fn room(&mut self, shape: [usize; 3], count: usize) -> Result<&mut [u8], RecordsError> {
        let place = self.place(shape, count)?;
        match &mut self.images {
            Images::U8(all) => Ok(&mut all[place]),
            Images::F32(_) => unreachable!("floats do not go straight into a batch"),
        }
    }

    /// Where the pixels of the next of `count` pictures go; the first decides on the shape.
    fn place(&mut self, shape: [usize; 3], count: usize) -> Result<Range<usize>, RecordsError> {
        let size: usize = shape.iter().product();
        if self.labels.is_empty() {
            self.shape = shape;
            if !self.images.resize(count.saturating_mul(size)) {
                let bytes = (count as u64).saturating_mul(size as u64);
                return Err(RecordsError::BatchTooLarge { pictures: count, shape, bytes });
            }
        } else if self.shape != shape {
            return Err(RecordsError::BatchShape { expected: self.shape, found: shape });
        }
        let start = self.labels.len() * size;
        Ok(start..start + size)
    }
}

impl Images {
    /// Makes room for so many numbers, if there is; they are whatever they were.
    fn resize(&mut self, count: usize) -> bool {
        match self {
            Self::U8(all) => resize(all, count),
            Self::F32(all) => resize(all, count),
        }
    }

    fn put(&mut self, place: Range<usize>, pixels: &[u8]) {
        match self {
            Self::U8(all) => all[place].copy_from_slice(pixels),
            Self::F32(all) => {
                for (into, &pixel) in all[place].iter_mut().zip(pixels) {
                    *into = f32::from(pixel) * (1.0 / 255.0);
                }
            }
        }
    }
}

/// New memory comes zeroed from the system, which costs less than to clear it here. `false` when
/// the system has not so much; to ask for it costs nothing and touches nothing.
fn resize<T: Clone + Default>(all: &mut Vec<T>, count: usize) -> bool {
    if all.capacity() >= count {
        all.resize(count, T::default());
        return true;
    }
    *all = Vec::new();
    let there_is = Vec::<T>::new().try_reserve_exact(count).is_ok();
    if there_is {
        *all = vec![T::default(); count];
    }
    there_is
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::example::{Example, Feature};
    use crate::pictures::{PixelLimit, encode_png};

    #[test]
    fn a_batch_that_no_machine_has_room_for_is_an_error() {
        for pixels in [PixelKind::U8, PixelKind::F32] {
            let mut batch = emptied(None, pixels);
            let error = batch.place([65_535, 65_535, 3], usize::MAX / 4).unwrap_err().to_string();
            assert!(error.starts_with("a batch of 4611686018427387903 pictures"), "{error}");
        }
    }

    /// What a record's picture of 1 x 2 pixels becomes, with one feature put in or left out.
    fn picture(change: (&'static str, Option<Feature<'static>>)) -> Result<Picture, RecordsError> {
        let mut example = Example::from([
            ("image/raw", Feature::Bytes(vec![&[7, 8]])),
            ("image/height", Feature::Ints(vec![1])),
            ("image/width", Feature::Ints(vec![2])),
            ("image/channels", Feature::Ints(vec![1])),
        ]);
        match change {
            (name, Some(feature)) => example.features.insert(name, feature),
            (name, None) => example.features.remove(name),
        };
        let (bytes, mut picture) = (example.encode(), Picture::default());
        let mut decoder = Decoder::new(PixelLimit::default())?;
        picture_of(&ExampleView::new(&bytes), &mut decoder, picture.room())?;
        Ok(picture)
    }

    #[test]
    fn stored_pixels_must_be_as_many_as_their_shape_says() {
        let whole = picture(("other", None)).unwrap();
        assert_eq!(whole, Picture { rows: 1, columns: 2, channels: 1, pixels: vec![7, 8] });
        let fails = |name, feature| picture((name, feature)).unwrap_err().to_string();
        let ints = |number: i64| Some(Feature::Ints(vec![number]));
        assert_eq!(
            fails("image/height", ints(2)),
            "2 bytes of pixels are no whole number of 2 x 2 images"
        );
        assert_eq!(
            fails("image/width", ints(i64::MAX)),
            "2 bytes of pixels are no whole number of 1 x 9223372036854775807 images"
        );
        assert_eq!(
            fails("image/channels", ints(-1)),
            "feature `image/channels` does not hold exactly one size of a picture"
        );
        assert_eq!(fails("image/width", None), "feature `image/width` is missing");
        assert_eq!(fails("image/raw", None), "feature `image/raw` is missing");
    }

    #[test]
    fn an_encoded_picture_goes_before_pixels_and_one_of_a_wrong_kind_is_no_reason_for_them() {
        let shade = Picture { rows: 2, columns: 1, channels: 3, pixels: vec![40; 6] };
        let file: &'static [u8] = encode_png(&shade).unwrap().leak();
        let feature = Some(Feature::Bytes(vec![file]));
        assert_eq!(picture(("image/encoded", feature)).unwrap(), shade);
        let message = picture(("image/encoded", Some(Feature::Ints(vec![1])))).unwrap_err();
        let expected = "feature `image/encoded` does not hold exactly one byte string";
        assert_eq!(message.to_string(), expected);
    }

    #[test]
    fn the_first_picture_of_a_batch_decides_on_its_shape() {
        let mut batch = emptied(None, PixelKind::U8);
        assert_eq!(batch.place([2, 3, 1], 3).unwrap(), 0..6);
        batch.labels.push(0);
        assert_eq!(batch.place([2, 3, 1], 3).unwrap(), 6..12);
        assert_eq!(
            batch.place([3, 2, 1], 3).unwrap_err().to_string(),
            "the picture is [3, 2, 1] (rows, columns, channels) where its batch has [2, 3, 1]"
        );
        // Used again it has no labels, and another shape may come.
        let mut again = emptied(Some(batch), PixelKind::U8);
        assert_eq!(again.place([3, 2, 1], 1).unwrap(), 0..6);
        assert_eq!(again.images, Images::U8(vec![0; 6]));
    }

    #[test]
    fn every_byte_becomes_its_share_of_255() {
        let mut batch = emptied(Some(emptied(None, PixelKind::U8)), PixelKind::F32);
        let place = batch.place([16, 16, 1], 1).unwrap();
        batch.images.put(place, &(0..=255).collect::<Vec<u8>>());
        let Images::F32(floats) = &batch.images else { panic!("floats were asked for") };
        for (byte, &float) in floats.iter().enumerate() {
            // The product with the rounded inverse is off by some units in the last place.
            assert!((f64::from(float) - byte as f64 / 255.0).abs() <= 1e-7, "{byte}: {float}");
        }
        assert_eq!((floats[0], floats[255]), (0.0, 1.0));
    }
}
