//! Shards of the very pictures that a speed test reads, for when nobody has prepared any.

use std::path::Path;

use crate::error::RecordsError;
use crate::files::bucket::{Bucket, Object};
use crate::messages::example::{Example, Feature};
use crate::pictures::{Decoder, Framing, JpegWriter, Picture, PixelLimit, Scaler};
use crate::shards::compression::Compression;
use crate::shards::writer::{IndexFile, ShardWriter};

/// Pictures a shard, as in the field reports: 3,670 pictures in 16 shards.
const SHARD_PICTURES: usize = 230;

/// Quality of the pictures in records, that of `data prepare`.
const QUALITY: u8 = 95;

/// Writes the pictures, cut and scaled to `size`, as shards in a local folder.
///
/// # Errors
/// When a picture cannot be read or a shard cannot be written; the file is named.
pub fn prepare_for_speed(
    bucket: &dyn Bucket,
    files: &[Object],
    size: usize,
    limit: PixelLimit,
    folder: &Path,
) -> Result<(), RecordsError> {
    let (mut decoder, mut scaler, mut writer) =
        (Decoder::new(limit)?, Scaler::new(), JpegWriter::new(QUALITY)?);
    let (mut decoded, mut square) = (Picture::default(), Picture::default());
    let (mut encoded, mut jpeg) = (Vec::new(), Vec::new());
    let shards = files.len().div_ceil(SHARD_PICTURES);
    for (number, pictures) in files.chunks(SHARD_PICTURES).enumerate() {
        let path = folder.join(format!("pictures-{number:05}-of-{shards:05}.tfrecord"));
        let mut shard = ShardWriter::create(&path, Compression::None, IndexFile::None)?;
        for file in pictures {
            bucket.read(&file.address, &mut encoded)?;
            let found = decoder.decode(&encoded, &mut decoded);
            found.map_err(|error| error.in_file(&file.address))?;
            scaler.square(&decoded, size, Framing::Crop, &mut square);
            jpeg.clear();
            writer.encode(&square, &mut jpeg)?;
            let example = Example::from([("image/encoded", Feature::Bytes(vec![&jpeg]))]);
            shard.write(&example.encode())?;
        }
        shard.finish()?;
    }
    Ok(())
}
