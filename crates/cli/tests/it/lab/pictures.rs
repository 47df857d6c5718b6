//! Picture files for tests, made by other encoders than the program's own.

use jpeg_encoder::{ColorType, Encoder};

/// A picture of three colours.
pub(crate) struct Picture {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) pixels: Vec<u8>,
}

impl Picture {
    fn size(&self) -> (u16, u16) {
        (u16::try_from(self.columns).unwrap(), u16::try_from(self.rows).unwrap())
    }

    pub(crate) fn jpeg(&self) -> Vec<u8> {
        let (mut file, (columns, rows)) = (Vec::new(), self.size());
        let encoder = Encoder::new(&mut file, 90);
        encoder.encode(&self.pixels, columns, rows, ColorType::Rgb).unwrap();
        file
    }

    pub(crate) fn png(&self) -> Vec<u8> {
        let (mut file, (columns, rows)) = (Vec::new(), self.size());
        let mut encoder = png::Encoder::new(&mut file, columns.into(), rows.into());
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&self.pixels).unwrap();
        writer.finish().unwrap();
        file
    }
}
