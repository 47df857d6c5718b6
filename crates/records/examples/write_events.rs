//! Writes an event file with every kind of value, for TensorBoard to show.
//!
//! `cargo run --release -p trainwright-records --example write_events -- OUT_FOLDER`

use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use trainwright_records::event_writer::{
    EventWriter, HparamKind, HparamValue, Moment, SessionStatus, event_file_name,
};
use trainwright_records::pictures::Picture;

const BEGIN: f64 = 1_700_000_000.0;

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args().nth(1).ok_or("usage: write_events OUT_FOLDER")?;
    fs::create_dir_all(&out)?;
    let path = Path::new(&out).join(event_file_name(BEGIN as u64, "example", 1));
    let mut writer = EventWriter::new(BufWriter::new(File::create(path)?), BEGIN)?;
    let columns = [("lr", HparamKind::Number), ("optimizer", HparamKind::Text)];
    writer.hparams_columns(BEGIN, &columns, &["loss"])?;
    let values = [("lr", HparamValue::Number(0.01)), ("optimizer", HparamValue::Text("adam"))];
    writer.session_start(BEGIN, "trial-1", &values)?;
    let pixels = (0..24 * 40).flat_map(|at| [(at / 4) as u8, (at % 40 * 6) as u8, 99]).collect();
    let picture = Picture { rows: 24, columns: 40, channels: 3, pixels };
    for step in 0..5 {
        let at = Moment { step, wall_time: BEGIN + step as f64 };
        writer.scalar(at, "loss", 1.0 / (step + 1) as f32)?;
        let weights: Vec<f64> = (0..100).map(|n| f64::from(n) / 10.0 * step as f64).collect();
        writer.histogram(at, "weights", &weights)?;
    }
    let at = Moment { step: 4, wall_time: BEGIN + 4.0 };
    writer.images(at, "sample", &[picture.clone(), picture])?;
    writer.session_end(BEGIN + 5.0, SessionStatus::Success)?;
    writer.flush()?;
    Ok(())
}
