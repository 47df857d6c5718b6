//! Which parts of an operator share numbers with which parts of its reader.

use crate::graph::OperatorGraph;
use crate::problem::{Choice, DEGREES, Edge, places_of_part, range_of_part, read_range};

/// A part of the source and a part of the reader that share numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) source: u16,
    pub(crate) reader: u16,
    /// Its place among the pairs sorted by reader.
    pub(crate) read_at: u32,
    /// Bytes that go from one to the other where they lie on different devices.
    pub(crate) bytes: u64,
}

/// A pair as its reader sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReadPair {
    /// Its place among the pairs.
    pub(crate) pair: u32,
    pub(crate) source: u16,
}

/// All pairs of an edge for two splits, sorted by source and then by reader.
#[derive(Debug, Clone, Default)]
pub(crate) struct PairTable {
    pub(crate) pairs: Vec<Pair>,
    /// Where the pairs of each source part begin; one more at the end.
    pub(crate) of_source: Vec<u32>,
    /// Pairs sorted by reader and then by source.
    pub(crate) by_reader: Vec<ReadPair>,
    pub(crate) of_reader: Vec<u32>,
}

impl PairTable {
    /// The pairs of an edge.
    ///
    /// Where the source was split along the dimension that it sums over, into r parts, its sum is
    /// what r parts have together. With V numbers of output, of which the readers together want W,
    /// adding up piece by piece and handing out the sums moves V (r-1) + W (r-1)/r numbers, sending
    /// all partial sums to all readers moves W (r-1); the smaller counts, spread over the messages.
    pub(crate) fn new(
        graph: &OperatorGraph,
        edge: &Edge,
        source: &Choice,
        reader: &Choice,
    ) -> Self {
        let from = &graph.operators()[edge.from as usize];
        let to = &graph.operators()[edge.to as usize];
        let reads = &to.inputs[edge.input as usize].reads;
        let copies = source.degrees[from.dims.len()];
        let mut overlaps = Vec::new();
        let mut wanted = 0_u128;
        for reading in 0..reader.parts() {
            let places = places_of_part(&reader.degrees, reading);
            let ranges: Vec<(u64, u64)> = reads
                .iter()
                .zip(&from.dims)
                .map(|(&read, dim)| read_range(read, (to, dim.size), &reader.degrees, &places))
                .collect();
            wanted += ranges.iter().map(|&(from, to)| u128::from(to - from)).product::<u128>();
            for writing in 0..source.parts() {
                let volume = shared(from, &source.degrees, writing, &ranges);
                if volume > 0 {
                    overlaps.push((writing as u16, reading as u16, volume));
                }
            }
        }
        overlaps.sort_unstable();
        let all = u128::from(from.outputs());
        let share = sum_share(copies, all, wanted);
        let pairs: Vec<Pair> = overlaps
            .into_iter()
            .map(|(source, reader, volume)| {
                let bytes = (4.0 * volume as f64 * share).ceil() as u64;
                Pair { source, reader, read_at: 0, bytes }
            })
            .collect();
        Self::indexed(pairs, source.parts(), reader.parts())
    }

    fn indexed(mut pairs: Vec<Pair>, sources: usize, readers: usize) -> Self {
        let mut of_source = vec![0; sources + 1];
        let mut of_reader = vec![0; readers + 1];
        for pair in &pairs {
            of_source[pair.source as usize + 1] += 1;
            of_reader[pair.reader as usize + 1] += 1;
        }
        for offsets in [&mut of_source, &mut of_reader] {
            for at in 1..offsets.len() {
                offsets[at] += offsets[at - 1];
            }
        }
        let mut order: Vec<u32> = (0..pairs.len() as u32).collect();
        order.sort_by_key(|&at| (pairs[at as usize].reader, pairs[at as usize].source));
        for (place, &at) in order.iter().enumerate() {
            pairs[at as usize].read_at = place as u32;
        }
        let read = |pair: u32| ReadPair { pair, source: pairs[pair as usize].source };
        let by_reader = order.into_iter().map(read).collect();
        Self { pairs, of_source, by_reader, of_reader }
    }

    /// Places of the pairs of a source part.
    pub(crate) fn pairs_of_source(&self, part: usize) -> std::ops::Range<usize> {
        self.of_source[part] as usize..self.of_source[part + 1] as usize
    }

    /// Places of the pairs of a reading part.
    pub(crate) fn pairs_of_reader(&self, part: usize) -> &[ReadPair] {
        &self.by_reader[self.of_reader[part] as usize..self.of_reader[part + 1] as usize]
    }
}

/// Share of the bytes of direct messages that partial sums cost.
fn sum_share(copies: u16, all: u128, wanted: u128) -> f64 {
    if copies <= 1 || wanted == 0 {
        return 1.0;
    }
    (all as f64 / wanted as f64 + 1.0 / f64::from(copies)).min(1.0)
}

/// Numbers of the source's output that one of its parts and the ranges share.
fn shared(
    from: &crate::graph::Operator,
    degrees: &[u16; DEGREES],
    part: usize,
    ranges: &[(u64, u64)],
) -> u64 {
    let places = places_of_part(degrees, part);
    let mut volume = 1;
    for (dim, (own, &(begin, end))) in from.dims.iter().zip(ranges).enumerate() {
        let (first, last) = range_of_part(own.size, degrees[dim], places[dim]);
        volume *= last.min(end).saturating_sub(first.max(begin));
    }
    volume
}
