//! Libsvm files: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::{SparseRow, parse_libsvm};

fuzz_target!(|bytes: &[u8]| {
    let mut row = SparseRow::default();
    if let Ok(true) = row.read(bytes) {
        assert!(row.label.is_finite());
        assert!(row.features.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(row.features.iter().all(|feature| feature.1.is_finite()));
    }
    if let Ok(examples) = parse_libsvm(bytes) {
        assert_eq!(examples.starts.len(), examples.len() + 1);
        assert_eq!(examples.starts.last(), Some(&examples.ids.len()));
    }
});
