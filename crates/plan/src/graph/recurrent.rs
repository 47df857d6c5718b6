//! Recurrent networks, unrolled: RNNTC (text classification), RNNLM (language model) and NMT
//! (translation with attention).
//!
//! Sizes are those that Jia, Zaharia and Aiken (SysML 2019, table 3 and section 8.1) give: 40 steps,
//! vocabularies of 10 to 32 thousand words, layers of 1024 and 2048. An operator holds ten steps, as
//! the recurrent part of their published code does; operators of one layer share their weights.

use crate::graph::builder::{dimension, plain};
use crate::graph::{GraphBuilder, Input, Operator, OperatorGraph, Read, Role, Weights};

/// Steps in one operator.
const STEPS: u64 = 10;

/// A graph in the making, of steps in stretches.
struct Unrolled {
    own: GraphBuilder,
    batch: u64,
    steps: u64,
}

impl Unrolled {
    fn new(name: &str, batch: u64, steps: u64) -> Self {
        Self { own: GraphBuilder::new(name, batch), batch, steps }
    }

    fn dims(&self, name: &str, width: u64, role: Role) -> Vec<crate::graph::Dimension> {
        vec![
            dimension("sample", self.batch, Role::Sample),
            dimension("length", self.steps, Role::Whole),
            dimension(name, width, role),
        ]
    }

    /// Rows of a table, one a word.
    fn embedding(&mut self, name: &str, group: usize, (words, width): (u64, u64)) -> usize {
        let dims = self.dims("channel", width, Role::Parameter);
        let own = plain(name, "embedding", dims, Vec::new());
        self.own.add(Operator {
            backward: 1.0,
            read_per_output: 1.0,
            contracted: Some(dimension("word", words, Role::Parameter)),
            weights: Some(Weights { group, cut_by: Some(2), cut_by_contracted: true }),
            ..own
        })
    }

    /// Some steps of a layer of memories over `below`, after the steps `before`.
    fn lstm(
        &mut self,
        name: &str,
        group: usize,
        (below, before): (usize, Option<usize>),
        width: u64,
    ) -> usize {
        let inputs_wide = self.own.dims(below)[2].size;
        let below_name = self.own.dims(below)[2].name.clone();
        let called = if below_name == "channel" { "hidden" } else { "channel" };
        let dims = self.dims(called, width, Role::Parameter);
        let mut inputs =
            vec![Input { from: below, reads: vec![Read::Same(0), Read::Full, Read::Full] }];
        if let Some(from) = before {
            let last = Read::Fixed { from: self.steps - 1, to: self.steps };
            inputs.push(Input { from, reads: vec![Read::Same(0), last, Read::Full] });
        }
        let own = plain(name, "lstm", dims, inputs);
        self.own.add(Operator {
            flops_per_output: 8.0 * (inputs_wide + width) as f64,
            backward: 2.0,
            // The output, four gates and the state.
            kept_per_output: 24.0,
            weights: Some(Weights { group, cut_by: Some(2), cut_by_contracted: false }),
            ..own
        })
    }

    /// Attention of decoder steps over all stretches of the encoder, and a dense layer after it.
    fn attention(&mut self, name: &str, group: usize, decoder: usize, encoder: &[usize]) -> usize {
        let width = self.own.dims(decoder)[2].size;
        let dims = self.dims("hidden", width, Role::Parameter);
        let reads = || vec![Read::Same(0), Read::Full, Read::Full];
        let all = [&[decoder], encoder].concat();
        let inputs = all.into_iter().map(|from| Input { from, reads: reads() }).collect();
        let long = self.steps * encoder.len() as u64;
        let own = plain(name, "attention", dims, inputs);
        self.own.add(Operator {
            // Scores and mixture over the encoder's steps, then the product with the weights.
            flops_per_output: (4 * long + 4 * width) as f64,
            backward: 2.0,
            kept_per_output: 8.0,
            weights: Some(Weights { group, cut_by: Some(2), cut_by_contracted: false }),
            ..own
        })
    }
}

/// Numbers of a layer of memories: four gates over inputs, outputs and a bias.
const fn lstm_elements(inputs: u64, width: u64) -> u64 {
    4 * width * (inputs + width + 1)
}

/// Stretches of a layer of memories that share their weights.
fn layer(own: &mut Unrolled, name: &str, below: &[usize], width: u64) -> Vec<usize> {
    let inputs = own.own.dims(below[0])[2].size;
    let group = own.own.group(name, lstm_elements(inputs, width));
    let mut made: Vec<usize> = Vec::new();
    for (number, &below) in below.iter().enumerate() {
        let before = made.last().copied();
        made.push(own.lstm(&format!("{name}.{number}"), group, (below, before), width));
    }
    made
}

fn embeddings(
    own: &mut Unrolled,
    name: &str,
    count: u64,
    (words, width): (u64, u64),
) -> Vec<usize> {
    let group = own.own.group(name, words * width);
    (0..count)
        .map(|number| own.embedding(&format!("{name}.{number}"), group, (words, width)))
        .collect()
}

/// A classifier of words over each stretch.
fn words_out(own: &mut Unrolled, below: &[usize], words: u64) {
    let inputs = own.own.dims(below[0])[2].size;
    let group = own.own.group("softmax", words * (inputs + 1));
    for (number, &below) in below.iter().enumerate() {
        own.own.dense_of(&format!("softmax.{number}"), "dense", below, (words, group));
    }
}

/// Text classification: an embedding, four layers of memories, a classifier on the last step.
pub(super) fn rnntc(batch: u64) -> OperatorGraph {
    let mut own = Unrolled::new("rnntc", batch, STEPS);
    let mut below = embeddings(&mut own, "embedding", 4, (32_000, 1024));
    for number in 1..=4 {
        below = layer(&mut own, &format!("lstm{number}"), &below, 1024);
    }
    let (last, classes) = (*below.last().expect("there are four stretches"), 2);
    let group = own.own.group("classifier", classes * 1025);
    let dims = vec![
        dimension("sample", batch, Role::Sample),
        dimension("channel", classes, Role::Parameter),
    ];
    let reads = vec![Read::Same(0), Read::Fixed { from: STEPS - 1, to: STEPS }, Read::Full];
    let classifier = plain("classifier", "dense", dims, vec![Input { from: last, reads }]);
    own.own.add(Operator {
        flops_per_output: 2048.0,
        backward: 2.0,
        weights: Some(Weights { group, cut_by: Some(1), cut_by_contracted: false }),
        ..classifier
    });
    own.own.finish()
}

/// A language model: an embedding, two layers of memories, a classifier of words.
pub(super) fn rnnlm(batch: u64, steps: u64) -> OperatorGraph {
    let mut own = Unrolled::new("rnnlm", batch, STEPS);
    let below = embeddings(&mut own, "embedding", steps / STEPS, (10_000, 2048));
    let below = layer(&mut own, "lstm1", &below, 2048);
    let below = layer(&mut own, "lstm2", &below, 2048);
    words_out(&mut own, &below, 10_000);
    own.own.finish()
}

/// The same with two operators of one step each, one layer and fewer numbers: small enough to try
/// every plan.
pub(super) fn rnnlm_short(batch: u64) -> OperatorGraph {
    let mut own = Unrolled::new("rnnlm-2", batch, 1);
    let below = embeddings(&mut own, "embedding", 2, (10_000, 1024));
    let below = layer(&mut own, "lstm1", &below, 1024);
    words_out(&mut own, &below, 10_000);
    own.own.finish()
}

/// Translation: encoder and decoder of two layers each, attention, a classifier of words.
pub(super) fn nmt(batch: u64) -> OperatorGraph {
    let mut own = Unrolled::new("nmt", batch, STEPS);
    let source = embeddings(&mut own, "source", 4, (32_000, 1024));
    let encoder = layer(&mut own, "encoder1", &source, 1024);
    let encoder = layer(&mut own, "encoder2", &encoder, 1024);
    let target = embeddings(&mut own, "target", 4, (32_000, 1024));
    let decoder = layer(&mut own, "decoder1", &target, 1024);
    let decoder = layer(&mut own, "decoder2", &decoder, 1024);
    // What the decoder begins with is part of what it attends to.
    let group = own.own.group("attention", 2 * 1024 * 1025);
    let attended: Vec<usize> = decoder
        .iter()
        .enumerate()
        .map(|(number, &at)| own.attention(&format!("attention.{number}"), group, at, &encoder))
        .collect();
    words_out(&mut own, &attended, 32_000);
    own.own.finish()
}
