//! The records of a block and their cells.

use crate::error::AnalysisError;

use super::blocks::Block;

/// Calls `take` with the line and the trimmed cells of every record.
///
/// A block without quotes is split at commas and line ends; another goes through the CSV reader.
pub(super) fn each_record(
    block: &Block,
    width: usize,
    mut take: impl FnMut(u64, &[&[u8]]) -> Result<(), AnalysisError>,
) -> Result<(), AnalysisError> {
    let check = |line: u64, found: usize| {
        if found == width { Ok(()) } else { Err(AnalysisError::Ragged { line, found, width }) }
    };
    if memchr::memchr(b'"', &block.bytes).is_some() {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(block.bytes.as_slice());
        let mut record = csv::ByteRecord::new();
        let (mut line, mut counted) = (block.line, 0);
        while reader.read_byte_record(&mut record)? {
            // The reader's own place may lie before line ends that it passes over.
            let from = record.position().map_or(0, csv::Position::byte) as usize;
            let ends = |b: &&u8| matches!(**b, b'\n' | b'\r');
            let start = from + block.bytes[from..].iter().take_while(ends).count();
            line += memchr::memchr_iter(b'\n', &block.bytes[counted..start]).count() as u64;
            counted = start;
            check(line, record.len())?;
            let cells: Vec<&[u8]> = record.iter().collect();
            take(line, &cells)?;
        }
        return Ok(());
    }
    let mut cells: Vec<&[u8]> = Vec::with_capacity(width);
    let mut rest = block.bytes.as_slice();
    let mut line = block.line;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let record = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
        rest = rest.get(end + 1..).unwrap_or_default();
        if !record.is_empty() {
            cells.clear();
            let mut start = 0;
            for comma in memchr::memchr_iter(b',', record) {
                cells.push(record[start..comma].trim_ascii());
                start = comma + 1;
            }
            cells.push(record[start..].trim_ascii());
            check(line, cells.len())?;
            take(line, &cells)?;
        }
        line += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<(u64, String)> {
        let block = Block { index: 0, line: 2, bytes: text.as_bytes().to_vec() };
        let mut found = Vec::new();
        each_record(&block, 2, |line, cells| {
            let text: Vec<String> =
                cells.iter().map(|c| String::from_utf8_lossy(c).into_owned()).collect();
            found.push((line, text.join("|")));
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn both_ways_of_splitting_agree() {
        let plain = records("1, a\r\n 2,b\n3,c");
        assert_eq!(plain, [(2, "1|a".into()), (3, "2|b".into()), (4, "3|c".into())]);
        assert_eq!(plain, records("1,\"a\"\r\n\" 2\" ,b\n3,c"));
        assert_eq!(records("\"1\",a\n\n2,b"), [(2, "1|a".into()), (4, "2|b".into())]);
        assert_eq!(records("1,a\n\n2,b"), [(2, "1|a".into()), (4, "2|b".into())]);
    }

    #[test]
    fn a_row_of_another_length_is_refused_with_its_line() {
        let block = Block { index: 0, line: 7, bytes: b"1,2\n3\n".to_vec() };
        let error = each_record(&block, 2, |_, _| Ok(())).unwrap_err().to_string();
        assert_eq!(error, "line 8 has 1 cell where the header has 2");
    }
}
