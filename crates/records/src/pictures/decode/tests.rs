use proptest::prelude::*;

use super::*;
use crate::pictures::{JpegWriter, encode_png};

/// A smooth picture, which JPEG keeps well.
fn smooth(rows: usize, columns: usize) -> Picture {
    let shade = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        [(row * 2) as u8, (column * 2) as u8, ((row + column) / 2) as u8]
    };
    let pixels = (0..rows * columns).flat_map(shade).collect();
    Picture { rows, columns, channels: 3, pixels }
}

fn jpeg(picture: &Picture) -> Vec<u8> {
    let mut bytes = Vec::new();
    JpegWriter::new(95).unwrap().encode(picture, &mut bytes).unwrap();
    bytes
}

fn decoded(bytes: &[u8]) -> Result<Picture, RecordsError> {
    let mut picture = Picture::default();
    Decoder::new(PixelLimit::new(1 << 16)?)?.decode(bytes, &mut picture).map(|_| picture)
}

#[test]
fn a_jpeg_comes_back_nearly_as_it_was() {
    for (rows, columns) in [(64, 96), (33, 17), (1, 1)] {
        let picture = smooth(rows, columns);
        let back = decoded(&jpeg(&picture)).unwrap();
        assert_eq!((back.rows, back.columns, back.channels), (rows, columns, 3));
        // Quantisation at quality 95 and halved colour resolution at the odd edges.
        let off = picture.pixels.iter().zip(&back.pixels).map(|(a, b)| a.abs_diff(*b));
        assert!(off.clone().max().unwrap() <= 16, "{rows} x {columns}: {:?}", off.max());
    }
}

#[test]
fn a_grey_jpeg_gets_three_equal_channels() {
    let grey = Picture { rows: 16, columns: 16, channels: 1, pixels: vec![100; 256] };
    let back = decoded(&jpeg(&grey)).unwrap();
    assert_eq!(back.pixels, vec![100; 3 * 256]);
}

#[test]
fn a_png_comes_back_exactly_whatever_its_channels() {
    let picture = smooth(5, 7);
    assert_eq!(decoded(&encode_png(&picture).unwrap()).unwrap(), picture);
    let grey = Picture { rows: 1, columns: 2, channels: 1, pixels: vec![3, 200] };
    let back = decoded(&encode_png(&grey).unwrap()).unwrap();
    assert_eq!(back.pixels, [3, 3, 3, 200, 200, 200]);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Sixteen);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[1, 0, 2, 0, 3, 0, 0, 0]).unwrap();
    writer.finish().unwrap();
    assert_eq!(decoded(&bytes).unwrap().pixels, [1, 2, 3]);
}

#[test]
fn a_cut_picture_is_an_error() {
    let picture = smooth(64, 96);
    for bytes in [jpeg(&picture), encode_png(&picture).unwrap()] {
        for kept in [bytes.len() / 4, bytes.len() / 2, bytes.len() - 20] {
            assert!(decoded(&bytes[..kept]).is_err(), "{kept} of {}", bytes.len());
        }
    }
}

#[test]
fn bytes_between_segments_change_nothing() {
    let bytes = jpeg(&smooth(64, 96));
    let expected = decoded(&bytes).unwrap();
    let end = bytes.len() - 2;
    let with_more = [&bytes[..end], &[1, 2, 3], &bytes[end..], &[4, 5]].concat();
    let found = decoded(&with_more).unwrap();
    // Another decoder may have done it, which rounds otherwise.
    let off = expected.pixels.iter().zip(&found.pixels).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(off.unwrap() <= 4, "{off:?}");
}

/// A PNG file whose header claims other sides than its 24 x 17 pixels have.
fn claiming_png(rows: u32, columns: u32) -> Vec<u8> {
    let mut bytes = encode_png(&smooth(24, 17)).unwrap();
    bytes[16..20].copy_from_slice(&columns.to_be_bytes());
    bytes[20..24].copy_from_slice(&rows.to_be_bytes());
    let mut crc = flate2::Crc::new();
    crc.update(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&crc.sum().to_be_bytes());
    bytes
}

/// The same as JPEG, whose sides have sixteen bits.
fn claiming_jpeg(rows: u32, columns: u32) -> Vec<u8> {
    let mut bytes = jpeg(&smooth(24, 17));
    let frame = bytes.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    bytes[frame + 5..frame + 7].copy_from_slice(&(rows as u16).to_be_bytes());
    bytes[frame + 7..frame + 9].copy_from_slice(&(columns as u16).to_be_bytes());
    bytes
}

#[test]
fn a_picture_beyond_the_limit_is_refused_with_its_size_and_the_option() {
    for bytes in [claiming_png(1_167_130_070, 1_436_837_913), claiming_jpeg(65_535, 65_535)] {
        let mut picture = Picture::default();
        let mut decoder = Decoder::new(PixelLimit::default()).unwrap();
        let message = decoder.decode(&bytes, &mut picture).unwrap_err().to_string();
        assert!(message.starts_with("the picture claims "), "{message}");
        let end = "over the limit of 100000000; allow more by --max-pixels, or by the \
                   variable TRAINWRIGHT_MAX_PIXELS for the jobs of a study";
        assert!(message.ends_with(end), "{message}");
        assert_eq!(picture.pixels.capacity(), 0);
    }
}

#[test]
fn a_second_frame_header_that_claims_more_is_refused() {
    let bytes = jpeg(&smooth(24, 17));
    let frame = bytes.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    let length = usize::from(bytes[frame + 3]) + 2;
    let mut second = bytes[frame..frame + length].to_vec();
    second[5..9].fill(0xff);
    let twice = [&bytes[..frame + length], &second, &bytes[frame + length..]].concat();
    assert!(decoded(&twice).is_err());
}

#[test]
fn one_decoder_takes_picture_after_picture() {
    let mut decoder = Decoder::new(PixelLimit::default()).unwrap();
    let mut picture = Picture::default();
    for (rows, columns) in [(40, 30), (8, 8), (30, 40)] {
        decoder.decode(&encode_png(&smooth(rows, columns)).unwrap(), &mut picture).unwrap();
        assert_eq!(picture, smooth(rows, columns));
        assert!(decoder.decode(b"nonsense", &mut picture).is_err());
        decoder.decode(&jpeg(&smooth(rows, columns)), &mut picture).unwrap();
        assert_eq!((picture.rows, picture.columns), (rows, columns));
    }
}

proptest! {
    #[test]
    fn a_damaged_picture_never_panics(
        png: bool, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let picture = smooth(24, 17);
        let mut bytes = if png { encode_png(&picture).unwrap() } else { jpeg(&picture) };
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let _ = decoded(&bytes);
    }

    #[test]
    fn any_claim_beyond_the_limit_is_refused_and_asks_for_no_memory(
        png: bool, rows in 1..=u32::MAX >> 1, columns in 1..=u32::MAX >> 1,
    ) {
        let bytes = if png { claiming_png(rows, columns) } else { claiming_jpeg(rows, columns) };
        let Ok(header) = read_picture_header(&bytes) else { return Ok(()) };
        let mut picture = Picture::default();
        let decoded = Decoder::new(PixelLimit::new(5_000).unwrap()).unwrap().decode(&bytes, &mut picture);
        prop_assert!(decoded.is_err());
        if header.pixels() > 5_000 {
            let too_large = matches!(decoded, Err(RecordsError::PictureTooLarge { .. }));
            prop_assert!(too_large);
            prop_assert_eq!(picture.pixels.capacity(), 0);
        }
    }
}
