use proptest::prelude::*;

use super::*;
use crate::sparse::examples::SparseDraft;
use crate::sparse::examples::tests::drafts;

const RULES: [SparseRule; 3] =
    [SparseRule::Sgd, SparseRule::AdaGrad, SparseRule::Ftrl { beta: 1.0, l1: 0.01, l2: 0.1 }];

fn batch<'a>(set: &'a SparseSet, chosen: &'a [u32]) -> SparseBatch<'a> {
    SparseBatch { set, chosen, next: &chosen[..chosen.len().min(3)] }
}

fn team(threads: usize) -> Team {
    Team::new(threads).unwrap()
}

/// The model again in `f64`, with one dense gradient a batch.
struct Slow {
    rule: SparseRule,
    weights: Vec<f64>,
    squares: Vec<f64>,
    sums: Vec<f64>,
    /// Whether some gradient nearly cancelled out within a batch, so that its digits, which
    /// AdaGrad blows up to a whole step, are those of rounding.
    delicate: bool,
}

impl Slow {
    fn new(rule: SparseRule, features: usize) -> Self {
        let zeros = vec![0.0; features + 1];
        Self { rule, weights: zeros.clone(), squares: zeros.clone(), sums: zeros, delicate: false }
    }

    /// One batch; its loss.
    fn train(&mut self, draft: &SparseDraft, chosen: &[u32], rate: f64) -> f64 {
        let (gradients, loss) = self.gradients(draft, chosen);
        self.update_all(gradients, rate);
        loss
    }

    fn update_all(&mut self, gradients: Vec<f64>, rate: f64) {
        for (feature, gradient) in gradients.into_iter().enumerate() {
            self.update(feature, gradient, rate);
        }
    }

    /// The gradient of each weight for a batch, and its loss.
    fn gradients(&mut self, draft: &SparseDraft, chosen: &[u32]) -> (Vec<f64>, f64) {
        let bias = self.weights.len() - 1;
        let (mut gradients, mut loss) = (vec![0.0; self.weights.len()], 0.0);
        let mut sizes = gradients.clone();
        for &example in chosen {
            let example = example as usize;
            let places = draft.starts[example]..draft.starts[example + 1];
            let value =
                |place: usize| draft.values.as_ref().map_or(1.0, |values| f64::from(values[place]));
            let margin = places
                .clone()
                .map(|place| self.weights[draft.ids[place] as usize] * value(place))
                .sum::<f64>()
                + self.weights[bias];
            let truth = f64::from(u8::from(draft.positive[example]));
            let residual = (1.0 / (1.0 + (-margin).exp()) - truth) / chosen.len() as f64;
            loss += if truth == 1.0 { -margin } else { margin }.exp().ln_1p();
            places.for_each(|place| {
                let gradient = residual * value(place);
                gradients[draft.ids[place] as usize] += gradient;
                sizes[draft.ids[place] as usize] += f64::abs(gradient);
            });
            gradients[bias] += residual;
            sizes[bias] += residual.abs();
        }
        let mut pairs = gradients.iter().zip(&sizes);
        self.delicate |= pairs.any(|(gradient, size)| gradient.abs() < 1e-2 * size);
        (gradients, loss)
    }

    fn update(&mut self, feature: usize, g: f64, rate: f64) {
        let (weight, n) = (&mut self.weights[feature], &mut self.squares[feature]);
        match self.rule {
            SparseRule::Sgd => *weight -= rate * g,
            SparseRule::AdaGrad => {
                *n += g * g;
                *weight -= rate * g / (n.sqrt() + 1e-10);
            }
            SparseRule::Ftrl { beta, l1, l2 } => {
                let [beta, l1, l2] = [beta, l1, l2].map(f64::from);
                let z = &mut self.sums[feature];
                *z += g - ((*n + g * g).sqrt() - n.sqrt()) / rate * *weight;
                *n += g * g;
                let shrunk = z.signum() * (z.abs() - l1).max(0.0);
                *weight = -shrunk / ((beta + n.sqrt()) / rate + l2);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn batches_agree_with_the_dense_model_in_double_precision(
        draft in drafts(2000), size in 1..20_usize,
    ) {
        let order = FeatureOrder::of(&draft, 2000);
        let set = draft.clone().ordered(&order);
        let chosen: Vec<u32> = (0..set.len() as u32).rev().collect();
        for rule in RULES {
            let mut slow = Slow::new(rule, 2000);
            let mut model = SparseLogistic::new(rule, order.clone());
            'epochs: for _ in 0..3 {
                for chosen in chosen.chunks(size) {
                    let expected = slow.train(&draft, chosen, 0.1);
                    if slow.delicate && rule == SparseRule::AdaGrad {
                        break 'epochs;
                    }
                    let found = model.train(batch(&set, chosen), 0.1, SparseMode::Sync, &mut team(1));
                    prop_assert!((found.loss_sum - expected).abs() < 1e-4 * (1.0 + expected));
                }
            }
            if slow.delicate && rule == SparseRule::AdaGrad {
                continue;
            }
            for (found, expected) in model.weights().into_iter().zip(slow.weights) {
                // Up to 180 steps in single precision, for AdaGrad with gradients that may have
                // lost two digits.
                let error = (f64::from(found) - expected).abs();
                prop_assert!(error < 2e-3, "{rule:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn the_thread_count_changes_no_bit_of_sync_training(draft in drafts(3000)) {
        let order = FeatureOrder::of(&draft, 3000);
        let set = draft.ordered(&order);
        let chosen: Vec<u32> = (0..set.len() as u32).collect();
        for rule in RULES {
            let run = |threads| {
                let mut model = SparseLogistic::new(rule, order.clone());
                let mut team = team(threads);
                let mut scores = Vec::new();
                for chosen in chosen.chunks(50) {
                    scores.push(model.train(batch(&set, chosen), 0.1, SparseMode::Sync, &mut team));
                }
                (model.weights(), scores)
            };
            let alone = run(1);
            prop_assert_eq!(&alone, &run(2));
            prop_assert_eq!(&alone, &run(5));
        }
    }

    #[test]
    fn one_async_thread_misses_no_update_but_that_of_the_example_before(draft in drafts(2000)) {
        let order = FeatureOrder::of(&draft, 2000);
        let set = draft.clone().ordered(&order);
        let chosen: Vec<u32> = (0..set.len() as u32).collect();
        for rule in RULES {
            let (mut slow, mut expected_loss) = (Slow::new(rule, 2000), 0.0);
            let mut under_way = None;
            for &example in &chosen {
                let (gradients, loss) = slow.gradients(&draft, &[example]);
                expected_loss += loss;
                if let Some(before) = under_way.replace(gradients) {
                    slow.update_all(before, 0.1);
                }
            }
            slow.update_all(under_way.unwrap(), 0.1);
            let mut model = SparseLogistic::new(rule, order.clone());
            let score = model.train(batch(&set, &chosen), 0.1, SparseMode::Async, &mut team(1));
            prop_assert!((score.loss_sum - expected_loss).abs() < 1e-4 * (1.0 + expected_loss));
            for (found, expected) in model.weights().into_iter().zip(slow.weights) {
                // Up to 60 steps in single precision.
                let error = (f64::from(found) - expected).abs();
                prop_assert!(error < 1e-4, "{rule:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn memory_put_back_goes_on_alike(draft in drafts(500)) {
        let order = FeatureOrder::of(&draft, 500);
        let set = draft.ordered(&order);
        let chosen: Vec<u32> = (0..set.len() as u32).collect();
        for rule in RULES {
            let step = |model: &mut SparseLogistic| {
                model.train(batch(&set, &chosen), 0.1, SparseMode::Sync, &mut team(1))
            };
            let [mut first, mut second] = [(); 2].map(|()| SparseLogistic::new(rule, order.clone()));
            step(&mut first);
            let memory: Vec<Vec<f32>> = first.memory().into_iter().map(|part| part.1).collect();
            second.restore(&memory);
            prop_assert_eq!(step(&mut first), step(&mut second));
            prop_assert_eq!(first.memory(), second.memory());
        }
    }
}

/// Examples whose class is that of the sum of hidden weights.
fn learnable(examples: u32) -> SparseDraft {
    let mut draft = SparseDraft { starts: vec![0], ..SparseDraft::default() };
    let mix =
        |value: u32| value.wrapping_mul(0x9e37_79b9).rotate_left(13).wrapping_mul(0x85eb_ca6b);
    for example in 0..examples {
        let mut ids: Vec<u32> = (0..10).map(|place| mix(example * 10 + place) % 4000).collect();
        ids.sort_unstable();
        ids.dedup();
        let sum: i32 = ids.iter().map(|&id| if mix(id) & 16 == 0 { 1 } else { -1 }).sum();
        draft.positive.push(sum > 0);
        draft.ids.extend(ids);
        draft.starts.push(draft.ids.len());
    }
    draft
}

/// A batch large enough to be cut into parts, with features that are hot and others.
#[test]
fn large_batches_agree_with_the_dense_model_on_any_number_of_threads() {
    let draft = learnable(3000);
    let values = draft.ids.iter().map(|&id| 0.5 + (id % 7) as f32 * 0.25).collect();
    for draft in [draft.clone(), SparseDraft { values: Some(values), ..draft }] {
        let order = FeatureOrder::of(&draft, 4000);
        let set = draft.clone().ordered(&order);
        let chosen: Vec<u32> = (0..set.len() as u32).rev().collect();
        for rule in RULES {
            let run = |threads| {
                let (mut model, mut team) =
                    (SparseLogistic::new(rule, order.clone()), team(threads));
                let mut train =
                    |chosen| model.train(batch(&set, chosen), 1.0, SparseMode::Sync, &mut team);
                let scores: Vec<BatchScore> = chosen.chunks(1000).map(&mut train).collect();
                (model.weights(), scores)
            };
            let (weights, scores) = run(1);
            for threads in [2, 3, 5] {
                assert_eq!((&weights, &scores), (&run(threads).0, &run(threads).1), "{rule:?}");
            }
            let mut slow = Slow::new(rule, 4000);
            for (chosen, score) in chosen.chunks(1000).zip(scores) {
                let expected = slow.train(&draft, chosen, 1.0);
                assert!((score.loss_sum - expected).abs() < 1e-4 * expected, "{rule:?} {score:?}");
            }
            // AdaGrad makes a whole step of what rounding leaves of gradients that cancel out.
            let far = |(found, expected): (&f32, &f64)| (f64::from(*found) - expected).abs() > 1e-3;
            let count = weights.iter().zip(&slow.weights).filter(|pair| far(*pair)).count();
            let allowed = if rule == SparseRule::AdaGrad { 8 } else { 0 };
            assert!(count <= allowed, "{rule:?}: {count}");
        }
    }
}

#[test]
fn every_rule_learns_in_every_mode_on_any_number_of_threads() {
    let draft = learnable(20_000);
    let order = FeatureOrder::of(&draft, 4000);
    let set = draft.ordered(&order);
    let chosen: Vec<u32> = (0..set.len() as u32).collect();
    for (rule, waiting, free) in [
        (RULES[0], 12.0, 0.1),
        (RULES[1], 0.2, 0.2),
        (SparseRule::Ftrl { beta: 1.0, l1: 1e-4, l2: 1e-4 }, 10.0, 0.3),
    ] {
        for threads in [1, 2, 3] {
            for (mode, rate) in [(SparseMode::Sync, waiting), (SparseMode::Async, free)] {
                let mut model = SparseLogistic::new(rule, order.clone());
                let mut team = team(threads);
                for _ in 0..4 {
                    for chosen in chosen.chunks(if mode == SparseMode::Sync { 100 } else { 20_000 })
                    {
                        let score = model.train(batch(&set, chosen), rate, mode, &mut team);
                        assert_eq!(score.examples, chosen.len());
                    }
                }
                let found = model.evaluate(&set, &mut team);
                let accuracy = found.score.correct as f64 / 20_000.0;
                assert!(accuracy > 0.9, "{rule:?} {mode:?} {threads}: {accuracy}");
                assert!(found.auc.unwrap() > 0.96, "{rule:?} {mode:?} {threads}: {found:?}");
            }
        }
    }
}
