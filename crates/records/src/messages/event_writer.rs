//! TensorBoard event files: scalars, pictures, histograms and hyperparameter sessions out.
//!
//! An event file is a TFRecord file of `Event` messages that begins with its version. Values are
//! written in the second version's form (a tensor and the name of the plugin that shows it), as
//! TensorFlow 2 does. The clock stays with the caller: times are seconds since 1970. Reading is in
//! [`crate::events`].

mod hparams;
mod tensor;

use std::io::{self, Write};

pub use hparams::{HparamKind, HparamValue, SessionStatus};

use crate::error::RecordsError;
use crate::messages::protobuf::{put_bytes_field, put_double_field, put_varint_field};
use crate::pictures::{Picture, encode_png};
use crate::shards::framing::RecordWriter;
use tensor::{Plugin, histogram_tensor, images_tensor, scalar_tensor};

/// When something was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Training step.
    pub step: i64,
    /// Seconds since 1970.
    pub wall_time: f64,
}

/// Writes one event file.
///
/// ```
/// use trainwright_records::event_writer::{EventWriter, Moment};
/// use trainwright_records::read_scalars;
///
/// let mut writer = EventWriter::new(Vec::new(), 1.7e9)?;
/// writer.scalar(Moment { step: 3, wall_time: 1.7e9 }, "loss", 0.5)?;
/// let scalars = read_scalars(writer.into_inner().as_slice())?;
/// assert_eq!((scalars[0].tag.as_str(), scalars[0].step, scalars[0].value), ("loss", 3, 0.5));
/// # Ok::<(), trainwright_records::RecordsError>(())
/// ```
pub struct EventWriter<W> {
    output: RecordWriter<W>,
}

/// The name that TensorBoard looks for: it contains `tfevents`, and names sort by time.
pub fn event_file_name(seconds: u64, host: &str, process: u32) -> String {
    format!("events.out.tfevents.{seconds:010}.{host}.{process}.0.v2")
}

impl<W: Write> EventWriter<W> {
    /// Begins a file; give it a buffered output.
    ///
    /// # Errors
    /// When the output fails.
    pub fn new(output: W, wall_time: f64) -> io::Result<Self> {
        let mut writer = Self { output: RecordWriter::new(output) };
        let mut event = Vec::new();
        put_double_field(&mut event, 1, wall_time);
        put_bytes_field(&mut event, 3, b"brain.Event:2");
        writer.output.write(&event)?;
        Ok(writer)
    }

    /// Writes a number, which is kept as a 32 bit float, as TensorFlow does.
    ///
    /// # Errors
    /// When the output fails.
    pub fn scalar(&mut self, at: Moment, tag: &str, value: f32) -> io::Result<()> {
        self.value(at, tag, &scalar_tensor(value), Plugin::Scalars)
    }

    /// Writes pictures of one size under one tag.
    ///
    /// # Errors
    /// When there is none or they differ in size, or the output fails.
    pub fn images(
        &mut self,
        at: Moment,
        tag: &str,
        pictures: &[Picture],
    ) -> Result<(), RecordsError> {
        let first = pictures.first().ok_or(RecordsError::NoExamples)?;
        let shape = |picture: &Picture| [picture.rows, picture.columns, picture.channels];
        let mut files = Vec::new();
        for picture in pictures {
            if shape(picture) != shape(first) {
                let (expected, found) = (shape(first), shape(picture));
                return Err(RecordsError::BatchShape { expected, found });
            }
            files.push(encode_png(picture)?);
        }
        let tensor = images_tensor(first.columns, first.rows, &files);
        Ok(self.value(at, tag, &tensor, Plugin::Images)?)
    }

    /// Writes the distribution of some numbers in 30 equal steps; those that are not finite
    /// belong to no step and are not counted.
    ///
    /// # Errors
    /// When the output fails.
    pub fn histogram(&mut self, at: Moment, tag: &str, values: &[f64]) -> io::Result<()> {
        self.value(at, tag, &histogram_tensor(values), Plugin::Histograms)
    }

    /// Says which hyperparameters and metrics TensorBoard shows as columns.
    ///
    /// # Errors
    /// When the output fails.
    pub fn hparams_columns(
        &mut self,
        wall_time: f64,
        hparams: &[(&str, HparamKind)],
        metrics: &[&str],
    ) -> io::Result<()> {
        let content = hparams::experiment(wall_time, hparams, metrics);
        self.hparams(wall_time, "_hparams_/experiment", content)
    }

    /// Says which hyperparameters this run has.
    ///
    /// # Errors
    /// When the output fails.
    pub fn session_start(
        &mut self,
        wall_time: f64,
        group: &str,
        hparams: &[(&str, HparamValue<'_>)],
    ) -> io::Result<()> {
        let content = hparams::session_start(wall_time, group, hparams);
        self.hparams(wall_time, "_hparams_/session_start_info", content)
    }

    /// Says how this run ended.
    ///
    /// # Errors
    /// When the output fails.
    pub fn session_end(&mut self, wall_time: f64, status: SessionStatus) -> io::Result<()> {
        let content = hparams::session_end(wall_time, status);
        self.hparams(wall_time, "_hparams_/session_end_info", content)
    }

    /// Flushes the output, so that a running TensorBoard sees what there is.
    ///
    /// # Errors
    /// When the output fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.output.output_mut().flush()
    }

    /// Hands the output back.
    pub fn into_inner(self) -> W {
        self.output.into_inner()
    }

    fn hparams(&mut self, wall_time: f64, tag: &str, content: Vec<u8>) -> io::Result<()> {
        // The value itself is in the metadata; TensorBoard wants some tensor all the same.
        let at = Moment { step: 0, wall_time };
        self.value(at, tag, &scalar_tensor(0.0), Plugin::Hparams(content))
    }

    fn value(&mut self, at: Moment, tag: &str, tensor: &[u8], plugin: Plugin) -> io::Result<()> {
        let mut value = Vec::with_capacity(tensor.len() + tag.len() + 64);
        put_bytes_field(&mut value, 1, tag.as_bytes());
        put_bytes_field(&mut value, 8, tensor);
        put_bytes_field(&mut value, 9, &plugin.metadata());
        let (mut summary, mut event) = (Vec::new(), Vec::new());
        put_bytes_field(&mut summary, 1, &value);
        put_double_field(&mut event, 1, at.wall_time);
        put_varint_field(&mut event, 2, at.step as u64);
        put_bytes_field(&mut event, 5, &summary);
        self.output.write(&event)
    }
}

#[cfg(test)]
mod tests;
