//! Makes the embedded Fashion-MNIST sample from the full set.
//!
//! `cargo run --release -p trainwright-records --example make_sample -- OUT_FOLDER [DATA_DIR]`

use std::error::Error;
use std::fs;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use trainwright_records::{Example, Feature, LabelledImages, RecordWriter, load};

const SEED: u64 = 20_170_825;
const TRAIN_PER_CLASS: usize = 600;
const TEST_PER_CLASS: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments.next().ok_or("usage: make_sample OUT_FOLDER [DATA_DIR]")?;
    let data_dir = arguments.next();
    let splits = load("fashion-mnist", data_dir.as_deref().map(Path::new))?;
    let mut random = Pcg64::seed_from_u64(SEED);
    for (part, images, per_class) in
        [("train", splits.train(), TRAIN_PER_CLASS), ("test", splits.test(), TEST_PER_CLASS)]
    {
        let chosen = stratified(images, per_class, &mut random);
        let path = Path::new(&out).join(format!("fashion-mnist-sample-{part}.tfrecord.gz"));
        let bytes = encode(images, &chosen)?;
        eprintln!("{}: {} pictures, {} bytes", path.display(), chosen.len(), bytes.len());
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// The first `per_class` pictures of each class in a shuffled order, which stays shuffled.
fn stratified(images: &LabelledImages, per_class: usize, random: &mut Pcg64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..images.len()).collect();
    for last in (1..order.len()).rev() {
        let other = (random.next_u64() % (last as u64 + 1)) as usize;
        order.swap(last, other);
    }
    let mut taken = vec![0; images.classes()];
    order.retain(|&index| {
        let count = &mut taken[usize::from(images.labels()[index])];
        *count += 1;
        *count <= per_class
    });
    order
}

fn encode(images: &LabelledImages, chosen: &[usize]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut writer = RecordWriter::new(GzEncoder::new(Vec::new(), Compression::best()));
    for &index in chosen {
        let example = Example::from([
            ("image/raw", Feature::Bytes(vec![images.image(index)])),
            ("label", Feature::Ints(vec![images.labels()[index].into()])),
        ]);
        writer.write(&example.encode())?;
    }
    Ok(writer.into_inner().finish()?)
}
