//! The parsers of what programs and browsers send, for fuzz targets alone.

/// Reads bytes as every kind of text and message that a request can carry: each is taken or
/// refused, and what becomes lines of a trial's file stays within its lines.
pub fn read_requests(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        crate::mlflow::fuzzing::read_texts(text);
        crate::api::fuzzing::read_filter(text);
    }
    crate::mlflow::fuzzing::read_call(bytes);
    crate::api::fuzzing::read_messages(bytes);
}
