//! The base Transformer's encoder as a language model (Vaswani et al. 2017, table 3): six layers of
//! 512 with inner layers of 2048, 8 heads, 128 positions, 32 thousand words.

use crate::graph::builder::{dimension, plain};
use crate::graph::{GraphBuilder, Input, Operator, OperatorGraph, Read, Role, Weights};

const LENGTH: u64 = 128;
const WIDTH: u64 = 512;
const INNER: u64 = 2048;
const WORDS: u64 = 32_000;

pub(super) fn transformer(batch: u64) -> OperatorGraph {
    let mut own = GraphBuilder::new("transformer", batch);
    let group = own.group("embedding", WORDS * WIDTH);
    let dims = vec![
        dimension("sample", batch, Role::Sample),
        dimension("length", LENGTH, Role::Attribute),
        dimension("channel", WIDTH, Role::Parameter),
    ];
    let embedding = plain("embedding", "embedding", dims.clone(), Vec::new());
    let mut at = own.add(Operator {
        read_per_output: 1.0,
        contracted: Some(dimension("word", WORDS, Role::Parameter)),
        weights: Some(Weights { group, cut_by: Some(2), cut_by_contracted: true }),
        ..embedding
    });
    for layer in 0..6 {
        let name = |part: &str| format!("layer{layer}.{part}");
        let projected = own.dense(&name("qkv"), at, 3 * WIDTH);
        // Heads are cut by channels; queries of some positions need keys and values of all.
        let reads = vec![Read::Same(0), Read::Full, Read::Same(2)];
        let input = Input { from: projected, reads };
        let mut attention = plain(&name("attention"), "attention", dims.clone(), vec![input]);
        attention.dims[2].role = Role::Attribute;
        attention.dims[2].name = "hidden".to_owned();
        attention.flops_per_output = 4.0 * LENGTH as f64;
        attention.backward = 2.0;
        // Its output and its share of the scores: 8 heads of 64 channels have LENGTH scores each.
        attention.kept_per_output = 4.0 * (1.0 + 2.0 * LENGTH as f64 / 64.0);
        let attended = own.add(attention);
        let attended = own.dense(&name("out"), attended, WIDTH);
        let added = own.elementwise(&name("add1"), "add", &[attended, at]);
        let inner = own.dense(&name("inner"), added, INNER);
        let outer = own.dense(&name("outer"), inner, WIDTH);
        at = own.elementwise(&name("add2"), "add", &[outer, added]);
    }
    own.dense("words", at, WORDS);
    own.finish()
}
