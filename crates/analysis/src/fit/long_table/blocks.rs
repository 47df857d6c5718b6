//! A file cut into blocks of whole lines.

use std::io::Read;

use crate::error::AnalysisError;

/// Bytes of a block, up to the line that goes over.
const BLOCK: usize = 1 << 20;

/// Bytes of one record; more is a file that is not a table.
const LONGEST_RECORD: usize = 1 << 28;

/// Some whole lines of the file.
pub(super) struct Block {
    /// Place among the blocks, from 0.
    pub(super) index: usize,
    /// Line of the file on which it starts, from 1.
    pub(super) line: u64,
    pub(super) bytes: Vec<u8>,
}

/// Hands out the blocks of a file in order.
pub(super) struct BlockReader<R> {
    source: R,
    /// Bytes after the last cut.
    left: Vec<u8>,
    /// Bytes still to be passed over.
    skip: usize,
    index: usize,
    line: u64,
    ended: bool,
}

impl<R: Read> BlockReader<R> {
    /// Starts at a byte of the source, which is the start of a line of this number.
    pub(super) fn new(source: R, start: usize, line: u64) -> Self {
        Self { source, left: Vec::new(), skip: start, index: 0, line, ended: false }
    }

    fn block(&mut self) -> Result<Option<Block>, AnalysisError> {
        let mut bytes = std::mem::take(&mut self.left);
        let mut wanted = BLOCK + self.skip;
        let cut = loop {
            let missing = wanted.saturating_sub(bytes.len()) as u64;
            let read = self.source.by_ref().take(missing).read_to_end(&mut bytes);
            let read = read.map_err(AnalysisError::Unreadable)?;
            if self.skip > 0 {
                bytes.drain(..self.skip.min(bytes.len()));
                wanted -= self.skip;
                self.skip = 0;
            }
            if (read as u64) < missing {
                self.ended = true;
                break bytes.len();
            }
            match last_record_end(&bytes) {
                Some(end) => break end,
                None if bytes.len() > LONGEST_RECORD => {
                    return Err(AnalysisError::LongRecord { line: self.line });
                }
                None => wanted += BLOCK,
            }
        };
        self.left = bytes.split_off(cut);
        if bytes.is_empty() {
            return Ok(None);
        }
        let block = Block { index: self.index, line: self.line, bytes };
        self.index += 1;
        self.line += memchr::memchr_iter(b'\n', &block.bytes).count() as u64;
        Ok(Some(block))
    }
}

impl<R: Read> Iterator for BlockReader<R> {
    type Item = Result<Block, AnalysisError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let found = self.block();
        if found.is_err() {
            self.ended = true;
        }
        found.transpose()
    }
}

/// End of the last line break that is not inside quotes.
fn last_record_end(bytes: &[u8]) -> Option<usize> {
    if memchr::memchr(b'"', bytes).is_none() {
        return memchr::memrchr(b'\n', bytes).map(|at| at + 1);
    }
    let mut quoted = false;
    let mut end = None;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => end = Some(at + 1),
            _ => {}
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_whole_records_and_know_their_lines() {
        let mut text = "head\n".to_owned();
        for i in 0..400_000 {
            text.push_str(&format!("{i},\"two\nlines\"\n"));
        }
        let blocks: Vec<Block> =
            BlockReader::new(text.as_bytes(), 5, 2).collect::<Result<_, _>>().unwrap();
        assert!(blocks.len() > 3);
        let mut line = 2;
        for block in &blocks {
            assert_eq!(block.line, line);
            assert_eq!(block.bytes.iter().filter(|b| **b == b'"').count() % 2, 0);
            line += block.bytes.iter().filter(|b| **b == b'\n').count() as u64;
        }
        let joined: Vec<u8> = blocks.into_iter().flat_map(|b| b.bytes).collect();
        assert_eq!(joined, text.as_bytes()[5..]);
    }
}
