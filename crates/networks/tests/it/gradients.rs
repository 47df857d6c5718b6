use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use trainwright_networks::{
    Adam, Batch, Learned, Network, NetworkDescription, Optimizer, Sgd, StepOptions,
};

use crate::step::learn;

/// Random inputs in [-1, 1) and labels.
pub(crate) fn random_batch(
    rows: usize,
    inputs: usize,
    classes: usize,
    seed: u64,
) -> (Vec<f32>, Vec<u32>) {
    let mut random = Pcg64::seed_from_u64(seed);
    let number = |_| (random.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0;
    let values = (0..rows * inputs).map(number).collect();
    (values, (0..rows).map(|_| random.next_u32() % classes as u32).collect())
}

pub(crate) fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_part_of_the_workspace_gives_the_same_bits(rows in 1..9_usize, seed: u64) {
        let mlp = Network::perceptron(12, &[9, 5], 4).unwrap();
        let parameters = mlp.initial_parameters(seed);
        let (values, labels) = random_batch(rows, 12, 4, seed);
        let run = |capacity| {
            let mut gradients = vec![f32::NAN; mlp.parameter_count()];
            let batch = Batch { inputs: &values, labels: &labels };
            let mut workspace = mlp.workspace(capacity, 1).unwrap();
            let score =
                mlp.gradients(&parameters, &[], batch, StepOptions::default(), Learned { gradients: &mut gradients, statistics: &mut [] }, &mut workspace);
            (score, gradients)
        };
        prop_assert_eq!(run(rows), run(rows + 20));
    }
}

#[test]
fn scoring_and_gradients_see_the_same_score() {
    let mlp = Network::perceptron(12, &[9], 4).unwrap();
    let parameters = mlp.initial_parameters(3);
    let (values, labels) = random_batch(7, 12, 4, 5);
    let batch = Batch { inputs: &values, labels: &labels };
    let (mut workspace, mut gradients) =
        (mlp.workspace(7, 1).unwrap(), vec![0.0; mlp.parameter_count()]);
    let trained = mlp.gradients(
        &parameters,
        &[],
        batch,
        StepOptions::default(),
        Learned { gradients: &mut gradients, statistics: &mut [] },
        &mut workspace,
    );
    assert_eq!(mlp.score(&parameters, &[], batch, &mut workspace), trained);
}

#[test]
fn thread_count_does_not_change_a_bit_of_training() {
    let mlp = Network::perceptron(784, &[256, 128], 10).unwrap();
    let (dense, labels) = random_batch(64, 784, 10, 9);
    let with_zeros: Vec<f32> = dense.iter().map(|value| value.max(0.0)).collect();
    let train = |values: &[f32], threads| {
        let mut parameters = mlp.initial_parameters(2);
        let mut gradients = vec![0.0; parameters.len()];
        let mut workspace = mlp.workspace(64, threads).unwrap();
        let mut adam = Adam::new(parameters.len());
        for _ in 0..5 {
            let batch = Batch { inputs: values, labels: &labels };
            mlp.gradients(
                &parameters,
                &[],
                batch,
                StepOptions::default(),
                Learned { gradients: &mut gradients, statistics: &mut [] },
                &mut workspace,
            );
            adam.step(&mut parameters, &gradients, 0.01, workspace.team());
        }
        parameters
    };
    for (kind, values) in [("dense", dense), ("half of them 0", with_zeros)] {
        let alone = train(&values, 1);
        assert!(alone == train(&values, 2), "two threads, {kind}");
        assert!(alone == train(&values, 5), "five threads, {kind}");
    }
}

#[test]
fn a_fixed_batch_can_be_learned_by_heart() {
    type Make = fn(usize) -> Box<dyn Optimizer>;
    let optimizers: [(f64, Make); 3] = [
        (0.01, |count| Box::new(Adam::new(count))),
        (0.5, |count| Box::new(Sgd::new(count))),
        (0.05, |count| Box::new(Sgd::with_momentum(count, 0.9))),
    ];
    for (rate, make) in optimizers {
        let mlp = Network::perceptron(10, &[32, 16], 5).unwrap();
        let (values, labels) = random_batch(20, 10, 5, 4);
        let batch = Batch { inputs: &values, labels: &labels };
        let mut parameters = mlp.initial_parameters(1);
        let (mut workspace, mut gradients) =
            (mlp.workspace(20, 1).unwrap(), vec![0.0; parameters.len()]);
        let mut optimizer = make(parameters.len());
        for _ in 0..800 {
            mlp.gradients(
                &parameters,
                &[],
                batch,
                StepOptions::default(),
                Learned { gradients: &mut gradients, statistics: &mut [] },
                &mut workspace,
            );
            optimizer.step(&mut parameters, &gradients, rate, workspace.team());
        }
        let score = mlp.score(&parameters, &[], batch, &mut workspace);
        assert_eq!(score.correct, 20);
        assert!(score.loss_sum / 20.0 < 0.02, "{}", score.loss_sum);
    }
}

#[test]
fn thread_count_does_not_change_a_bit_of_any_network() {
    let cases = [("cnn:flowers", &[24, 24, 3][..], 19), ("mobilenet-v2:0.35", &[40, 40, 3], 9)];
    for (text, shape, examples) in cases.into_iter().chain([("bilstm:24", &[9, 7][..], 70)]) {
        let description = NetworkDescription::of(text, Some(shape), Some(4)).unwrap();
        let network = Network::new(&description).unwrap();
        let (values, labels) = random_batch(examples, shape.iter().product(), 4, 9);
        let train = |threads| {
            let mut parameters = network.initial_parameters(2);
            let (mut state, mut gradients) = (network.initial_state(), vec![0.0; parameters.len()]);
            let mut workspace = network.workspace(examples, threads).unwrap();
            let mut sgd = Sgd::new(parameters.len());
            for step in 0..3 {
                let batch = Batch { inputs: &values, labels: &labels };
                let options =
                    StepOptions { dropout_seed: step, label_smoothing: 0.1, of_examples: None };
                learn(
                    &network,
                    (&parameters, &mut state),
                    batch,
                    options,
                    &mut gradients,
                    &mut workspace,
                );
                sgd.step(&mut parameters, &gradients, 0.01, workspace.team());
            }
            (parameters, state)
        };
        let alone = train(1);
        assert!(alone.0.iter().all(|value| value.is_finite()), "{text}");
        assert!(alone == train(2), "{text} with two threads");
        assert!(alone == train(5), "{text} with five threads");
    }
}

#[test]
fn frozen_layers_stay_and_the_others_learn() {
    let description =
        NetworkDescription::of("mobilenet-v2:0.35", Some(&[32, 32, 3]), Some(4)).unwrap();
    let mut network = Network::new(&description).unwrap();
    assert!(network.freeze("nothing").unwrap_err().to_string().contains("classifier.1"));
    network.freeze("features.").unwrap();
    let parameters = network.initial_parameters(1);
    let (mut state, mut gradients) = (network.initial_state(), vec![f32::NAN; parameters.len()]);
    let before = state.clone();
    let (values, labels) = random_batch(6, 32 * 32 * 3, 4, 9);
    let mut workspace = network.workspace(6, 1).unwrap();
    let batch = Batch { inputs: &values, labels: &labels };
    let options = StepOptions::default();
    learn(&network, (&parameters, &mut state), batch, options, &mut gradients, &mut workspace);
    assert_eq!(state, before);
    for tensor in network.tensors() {
        let own = &gradients[tensor.range.clone()];
        assert_eq!(tensor.trainable, own.iter().any(|&it| it != 0.0), "{}", tensor.name);
    }
}

#[test]
fn the_parts_of_a_batch_teach_what_the_whole_does_and_leave_the_state_alone() {
    let description = NetworkDescription::of("mlp:12-9-4", None, None).unwrap();
    let network = Network::new(&description).unwrap();
    let parameters = network.initial_parameters(4);
    let (values, labels) = random_batch(10, 12, 4, 5);
    let mut workspace = network.workspace(10, 1).unwrap();
    let mut gradients = |range: std::ops::Range<usize>| {
        let inputs = &values[12 * range.start..12 * range.end];
        let batch = Batch { inputs, labels: &labels[range] };
        let options = StepOptions { of_examples: Some(10), ..StepOptions::default() };
        let mut found = vec![f32::NAN; parameters.len()];
        let learned = Learned { gradients: &mut found, statistics: &mut [] };
        network.gradients(&parameters, &[], batch, options, learned, &mut workspace);
        found
    };
    let whole = gradients(0..10);
    let parts = [gradients(0..3), gradients(3..4), gradients(4..10)];
    for (place, whole) in whole.iter().enumerate() {
        let sum: f32 = parts.iter().map(|part| part[place]).sum();
        assert!((sum - whole).abs() < 1e-6, "{sum} {whole}");
    }
}

#[test]
fn statistics_are_taken_in_one_after_the_other_and_by_a_tenth() {
    let description =
        NetworkDescription::of("mobilenet-v2:0.35", Some(&[32, 32, 3]), Some(4)).unwrap();
    let network = Network::new(&description).unwrap();
    let parameters = network.initial_parameters(2);
    let before = network.initial_state();
    let (values, labels) = random_batch(4, 32 * 32 * 3, 4, 9);
    let mut workspace = network.workspace(4, 1).unwrap();
    let (mut gradients, mut statistics) = (vec![0.0; parameters.len()], before.clone());
    let learned = Learned { gradients: &mut gradients, statistics: &mut statistics };
    let batch = Batch { inputs: &values, labels: &labels };
    let options = StepOptions::default();
    network.gradients(&parameters, &before, batch, options, learned, &mut workspace);
    assert_ne!(statistics, before);
    let mut state = before.clone();
    network.fold_statistics(&mut state, &statistics);
    network.fold_statistics(&mut state, &before);
    for ((&found, &before), &new) in state.iter().zip(&before).zip(&statistics) {
        let once = before + 0.1 * (new - before);
        assert_eq!(found, once + 0.1 * (before - once));
    }
}
