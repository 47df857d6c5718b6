//! Copies the records of a file into another one, compressed by its ending (`.gz`, `.zlib`), or
//! prints the SHA-256 of every payload of a file.
//!
//! `cargo run --release -p trainwright-records --example pack_records -- FROM [INTO]`

use std::error::Error;
use std::path::Path;

use sha2::{Digest, Sha256};
use trainwright_records::{
    Compression, IndexFile, RecordReader, RecordSlices, ShardBytes, ShardWriter, open_shard,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let from = arguments.next().ok_or("usage: pack_records FROM [INTO]")?;
    let bytes = ShardBytes::open(Path::new(&from))?;
    let Some(into) = arguments.next() else {
        // Both ways of reading, to be compared by whoever calls.
        let mut stream = RecordReader::new(open_shard(Path::new(&from))?.0);
        for record in RecordSlices::new(&bytes) {
            let record = record?;
            assert_eq!(stream.next_record()?, Some(record));
            let hex: String =
                Sha256::digest(record).iter().map(|byte| format!("{byte:02x}")).collect();
            println!("{hex}");
        }
        return Ok(());
    };
    let compression = match Path::new(&into).extension().and_then(|it| it.to_str()) {
        Some("gz") => Compression::Gzip,
        Some("zlib") => Compression::Zlib,
        _ => Compression::None,
    };
    let mut writer = ShardWriter::create(Path::new(&into), compression, IndexFile::None)?;
    for record in RecordSlices::new(&bytes) {
        writer.write(record?)?;
    }
    writer.finish()?;
    Ok(())
}
