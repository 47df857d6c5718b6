//! Logistic regression on sparse examples, updated batch by batch or by threads that do not wait.
//!
//! The probability of an example is `1 / (1 + exp(-m))` with the margin `m` the sum of its
//! features' weights times their values, plus a bias. Features are those of a [`FeatureOrder`].

use crate::losses::area_under_curve::area_under_curve;
use crate::losses::logistic::log_loss;
use crate::losses::loss::BatchScore;
use crate::sparse::examples::{FeatureOrder, SparseSet};
use crate::sparse::update_rules::{Descent, Ftrl, SparseAdaGrad, SparseUpdate};
use crate::sparse::weight_table::{SparseBatch, Table};
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// How gradients change the weights of a sparse model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SparseRule {
    /// Plain stochastic gradient descent.
    Sgd,
    /// AdaGrad.
    AdaGrad,
    /// FTRL-Proximal with its smoothing `beta` and its penalties; the rate is its `alpha`.
    Ftrl {
        /// Smooths the first steps.
        beta: f32,
        /// Penalty on the absolute value of weights, which keeps many at 0.
        l1: f32,
        /// Penalty on the square of weights.
        l2: f32,
    },
}

/// Whether updates wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SparseMode {
    /// Each batch is one update from the weights before it; the thread count changes no bit.
    Sync,
    /// Each example is an update; threads share the weights without locks (Hogwild, Niu et al.
    /// 2011), and each computes with the next example while it brings in an update. With more
    /// than one thread no two runs are alike.
    Async,
}

/// A sparse model and what its rule remembers.
///
/// ```
/// use trainwright_networks::*;
///
/// let draft = SparseDraft {
///     starts: vec![0, 1, 2], ids: vec![3, 5], values: None, positive: vec![true, false],
/// };
/// let order = FeatureOrder::of(&draft, 8);
/// let set = draft.ordered(&order);
/// let (mut model, mut team) = (SparseLogistic::new(SparseRule::AdaGrad, order), Team::new(1)?);
/// for _ in 0..20 {
///     let batch = SparseBatch { set: &set, chosen: &[0, 1], next: &[] };
///     model.train(batch, 0.1, SparseMode::Sync, &mut team);
/// }
/// assert_eq!(model.evaluate(&set, &mut team).score.correct, 2);
/// # Ok::<(), NetworksError>(())
/// ```
#[derive(Debug)]
pub struct SparseLogistic {
    order: FeatureOrder,
    pub(super) table: AnyTable,
}

/// How well a set is predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseEvaluation {
    /// Loss in nats and right answers.
    pub score: BatchScore,
    /// Area under the curve of hits over false alarms; `None` when a class has no example.
    pub auc: Option<f64>,
}

/// One table for each rule.
#[derive(Debug)]
pub(super) enum AnyTable {
    Sgd(Table<Descent>),
    AdaGrad(Table<SparseAdaGrad>),
    Ftrl(Table<Ftrl>),
}

/// Does the same with whichever table there is.
macro_rules! with_table {
    ($any:expr, $table:ident => $work:expr) => {
        match $any {
            AnyTable::Sgd($table) => $work,
            AnyTable::AdaGrad($table) => $work,
            AnyTable::Ftrl($table) => $work,
        }
    };
}
pub(super) use with_table;

impl AnyTable {
    /// The table of a rule, with so many zeros.
    pub(super) fn new(rule: SparseRule, features: usize) -> Self {
        match rule {
            SparseRule::Sgd => Self::Sgd(Table::new(Descent, features)),
            SparseRule::AdaGrad => Self::AdaGrad(Table::new(SparseAdaGrad, features)),
            SparseRule::Ftrl { beta, l1, l2 } => {
                Self::Ftrl(Table::new(Ftrl { beta, l1, l2 }, features))
            }
        }
    }
}

/// Examples that are scored at a time by one thread, unless that makes too many chunks.
const CHUNK: usize = 1024;
const MOST_CHUNKS: usize = 1024;

impl SparseLogistic {
    /// A model whose weights are 0.
    pub fn new(rule: SparseRule, order: FeatureOrder) -> Self {
        let table = AnyTable::new(rule, order.features());
        Self { order, table }
    }

    /// Learns from the chosen examples and tells how well each was predicted before its update:
    /// one update of their mean loss in sync mode, one of each example's loss in async mode.
    ///
    /// # Panics
    /// When a chosen example does not exist.
    pub fn train(
        &mut self,
        batch: SparseBatch<'_>,
        rate: f64,
        mode: SparseMode,
        team: &mut Team,
    ) -> BatchScore {
        with_table!(&mut self.table, table => match mode {
            SparseMode::Sync => table.train_batch(batch, rate as f32, team),
            SparseMode::Async => table.train_freely(batch, rate as f32, team),
        })
    }

    /// Predicts all examples of a set.
    pub fn evaluate(&self, set: &SparseSet, team: &mut Team) -> SparseEvaluation {
        let margins = self.margins(set, team);
        let truths: Vec<f32> = set.positive.iter().map(|&it| f32::from(u8::from(it))).collect();
        SparseEvaluation {
            score: log_loss(&margins, &truths),
            auc: area_under_curve(&margins, &set.positive),
        }
    }

    /// The margin of each example; above 0 the predicted class is positive.
    pub fn margins(&self, set: &SparseSet, team: &mut Team) -> Vec<f32> {
        let mut margins = vec![0.0; set.len()];
        let chunk = CHUNK.max(set.len().div_ceil(MOST_CHUNKS));
        let parts = Parts::new(&mut margins, Cut::Every(chunk));
        with_table!(&self.table, table => team.run(set.len().div_ceil(chunk), &|part| {
            table.margins(set, part * chunk, parts.take(part));
        }));
        margins
    }

    /// The weight of each feature in the order of their ids, then the bias.
    pub fn weights(&self) -> Vec<f32> {
        self.memory().swap_remove(0).1
    }

    /// Everything that is remembered, by name, the weights first; each with one number a feature
    /// in the order of their ids, then the bias's.
    pub fn memory(&self) -> Vec<(&'static str, Vec<f32>)> {
        with_table!(&self.table, table => memory(&self.order, table))
    }

    /// Puts back what [`Self::memory`] told.
    ///
    /// # Panics
    /// When the vectors are not those of this model.
    pub fn restore(&mut self, memory: &[Vec<f32>]) {
        with_table!(&self.table, table => restore(&self.order, table, memory));
    }
}

fn memory<U: SparseUpdate>(
    order: &FeatureOrder,
    table: &Table<U>,
) -> Vec<(&'static str, Vec<f32>)> {
    let cells = (0..order.features()).map(|feature| table.cell(order.rank(feature)));
    let parts: Vec<[f32; 3]> = cells.chain([table.bias()]).map(U::parts).collect();
    let names = ["weights"].into_iter().chain(U::MEMORY.iter().copied());
    let column = |index: usize| parts.iter().map(|parts| parts[index]).collect();
    names.enumerate().map(|(index, name)| (name, column(index))).collect()
}

fn restore<U: SparseUpdate>(order: &FeatureOrder, table: &Table<U>, memory: &[Vec<f32>]) {
    assert_eq!(memory.len(), 1 + U::MEMORY.len(), "one vector a part");
    assert!(memory.iter().all(|vector| vector.len() == order.features() + 1), "one a feature");
    let part = |index: usize, feature: usize| memory.get(index).map_or(0.0, |all| all[feature]);
    let parts = |feature: usize| [0, 1, 2].map(|index| part(index, feature));
    for feature in 0..order.features() {
        U::restore(table.cell(order.rank(feature)), parts(feature));
    }
    U::restore(table.bias(), parts(order.features()));
}

#[cfg(test)]
mod tests;
