//! Every layer's gradients against differences of the slow version.

use trainwright_networks::{Batch, Learned, Network, NetworkDescription, StepOptions};

use crate::gradients::{random_batch, wide};
use crate::reference::Reference;
use crate::step::learn;

const HEAD: &str = r#"
    [[layer]]
    kind = "flatten"
    [[layer]]
    kind = "dense"
    outputs = 3
"#;

fn network(input: &str, layers: &str) -> (NetworkDescription, Network) {
    let text = format!("name = \"test\"\ninput = {input}\n{layers}");
    let description = NetworkDescription::from_toml(&text).unwrap();
    let network = Network::new(&description).unwrap();
    (description, network)
}

/// Compares the gradients of a network with differences of the reference.
#[track_caller]
fn check(input: &str, layers: &str, examples: usize) {
    let (description, network) = network(input, layers);
    let mut parameters = network.initial_parameters(5);
    for (index, parameter) in parameters.iter_mut().enumerate() {
        *parameter += 0.02 * (1 + index % 7) as f32;
    }
    let size = description.input.iter().product();
    let (mut values, labels) = random_batch(examples, size, 3, 7);
    if layers.contains("embedding") {
        values.iter_mut().for_each(|value| *value = (*value * 2.0 + 2.0).floor());
    }
    let mut state = network.initial_state();
    let mut found = vec![f32::NAN; network.parameter_count()];
    let mut workspace = network.workspace(examples, 2).unwrap();
    let batch = Batch { inputs: &values, labels: &labels };
    let options = StepOptions::default();
    let score =
        learn(&network, (&parameters, &mut state), batch, options, &mut found, &mut workspace);

    let (parameters, values) = (wide(&parameters), wide(&values));
    let reference = Reference::new(&description, &network);
    let loss = reference.mean_loss(&parameters, &values, &labels);
    assert!((score.loss_sum / examples as f64 - loss).abs() < 1e-5, "{} {loss}", score.loss_sum);
    let differences = reference.differences(&parameters, &values, &labels);
    let mut corners = 0;
    for tensor in network.tensors() {
        for index in tensor.range.clone() {
            let [right, left] = differences[index];
            if (right - left).abs() > 1e-4 {
                corners += 1;
                continue;
            }
            let (found, expected) = (f64::from(found[index]), (right + left) / 2.0);
            // Single precision through a few small layers keeps about five digits.
            let close = (found - expected).abs() < 3e-5 * (1.0 + expected.abs());
            assert!(close, "{} of {}: {found} not {expected}", index, tensor.name);
        }
    }
    assert!(corners * 20 <= differences.len(), "{corners} corners");
}

/// A convolution of the given words, then the head.
#[track_caller]
fn check_layer(input: &str, words: &str, examples: usize) {
    check(input, &format!("[[layer]]\n{}\n{HEAD}", words.replace("; ", "\n")), examples);
}

#[test]
fn convolutions_agree_with_differences() {
    check_layer("[6, 5, 2]", "kind = \"convolution\"; filters = 3; kernel = 3", 4);
    let padded = "kind = \"convolution\"; filters = 4; kernel = 3; stride = 2; padding = 1";
    check_layer("[5, 6, 3]", &format!("{padded}; activation = \"relu\""), 5);
    let pointwise = "kind = \"convolution\"; filters = 9; kernel = 1; activation = \"relu6\"";
    check_layer("[3, 3, 5]", pointwise, 20);
}

#[test]
fn convolutions_with_batch_norm_agree_with_differences() {
    for activation in ["linear", "relu", "relu6"] {
        let norm = format!("batch_norm = true; activation = \"{activation}\"");
        let words = "kind = \"convolution\"; filters = 10; kernel = 3; padding = 1";
        check_layer("[4, 4, 2]", &format!("{words}; {norm}"), 6);
        let words = "kind = \"convolution\"; filters = 17; kernel = 1";
        check_layer("[3, 4, 3]", &format!("{words}; {norm}"), 7);
        let words = "kind = \"depthwise\"; kernel = 3; padding = 1";
        check_layer("[4, 4, 9]", &format!("{words}; {norm}"), 6);
    }
}

#[test]
fn depthwise_convolutions_agree_with_differences() {
    for channels in [1, 8, 35] {
        for (stride, padding) in [(1, 1), (2, 1), (2, 0), (1, 2), (3, 2)] {
            let words = format!("kernel = 3; stride = {stride}; padding = {padding}");
            let input = format!("[5, 6, {channels}]");
            check_layer(&input, &format!("kind = \"depthwise\"; {words}"), 2);
        }
    }
}

#[test]
fn layers_before_others_agree_with_differences() {
    // Something that learns comes first, so that the second layer's input gradients count.
    let first = "[[layer]]\nkind = \"convolution\"\nfilters = 4\nkernel = 3\npadding = 1\n";
    let seconds = [
        "kind = \"max-pool\"\nsize = 2",
        "kind = \"average-pool\"\nsize = 2",
        "kind = \"average-pool\"",
        "kind = \"relu\"",
        "kind = \"relu6\"",
        "kind = \"batch-norm\"",
        "kind = \"batch-norm\"\nactivation = \"relu\"",
        "kind = \"convolution\"\nfilters = 3\nkernel = 3\nstride = 2",
        "kind = \"convolution\"\nfilters = 3\nkernel = 1",
        "kind = \"depthwise\"\nkernel = 3\nstride = 2\npadding = 1",
    ];
    for second in seconds {
        check("[5, 5, 2]", &format!("{first}[[layer]]\n{second}\n{HEAD}"), 5);
    }
}

#[test]
fn residual_blocks_agree_with_differences() {
    let block = r#"
        [[layer]]
        name = "first"
        kind = "convolution"
        filters = 4
        kernel = 1
        [[layer]]
        name = "expand"
        kind = "convolution"
        filters = 8
        kernel = 1
        batch_norm = true
        activation = "relu6"
        [[layer]]
        name = "spread"
        kind = "depthwise"
        kernel = 3
        padding = 1
        batch_norm = true
        activation = "relu6"
        [[layer]]
        name = "project"
        kind = "convolution"
        filters = 4
        kernel = 1
        batch_norm = true
        [[layer]]
        name = "sum"
        kind = "add"
        with = "first"
    "#;
    check("[4, 4, 3]", &format!("{block}{HEAD}"), 5);
    for kind in
        ["relu\"", "relu6\"", "batch-norm\"", "max-pool\"\nsize = 1", "depthwise\"\nkernel = 1"]
    {
        // The sum's value goes on twice, so that each kind of layer adds to gradients.
        let twice = format!(
            "{block}[[layer]]\nkind = \"{kind}\n[[layer]]\nkind = \"add\"\nwith = \"sum\"\n{HEAD}"
        );
        check("[4, 4, 3]", &twice, 5);
    }
}

#[test]
fn sequences_agree_with_differences() {
    for words in ["", "bidirectional = true"] {
        check_layer("[4, 3]", &format!("kind = \"lstm\"; units = 5; {words}"), 6);
        check_layer("[1, 3]", &format!("kind = \"lstm\"; units = 5; {words}"), 3);
        let embedding = "[[layer]]\nkind = \"embedding\"\nrows = 4\nwidth = 3\n";
        let lstm = format!("[[layer]]\nkind = \"lstm\"\nunits = 4\n{words}\n");
        check("[5]", &format!("{embedding}{lstm}{HEAD}"), 4);
    }
    check_layer("[2, 2]", "kind = \"lstm\"; units = 2; bidirectional = true", 70);
}

#[test]
fn stacked_sequences_agree_with_differences() {
    let lstm = |units: usize, words: &str| {
        format!("[[layer]]\nkind = \"lstm\"\nunits = {units}\n{words}\n")
    };
    let both = "bidirectional = true\n";
    for (first, second) in [("", ""), (both, ""), (both, both)] {
        let first = lstm(3, &format!("{first}returns = \"sequence\""));
        check("[4, 2]", &format!("{first}{}{HEAD}", lstm(2, second)), 5);
        check("[3, 2]", &format!("{first}{HEAD}"), 5);
    }
    let first = lstm(2, &format!("{both}returns = \"sequence\""));
    check("[2, 2]", &format!("{first}{}{HEAD}", lstm(2, both)), 70);
}

#[test]
fn what_is_no_row_of_a_table_is_told() {
    let embedding = "[[layer]]\nkind = \"embedding\"\nrows = 4\nwidth = 3\n";
    let (_, table) = network("[5]", &format!("{embedding}{HEAD}"));
    assert_eq!(table.check_inputs(&[0.0, 3.0]), Ok(()));
    for (input, told) in [(4.0, "4"), (-1.0, "-1"), (0.5, "0.5"), (f32::NAN, "NaN")] {
        let message = table.check_inputs(&[1.0, input]).unwrap_err().to_string();
        let expected = format!("input {told} is no row of the network's table, which has 4 from 0");
        assert_eq!(message, expected);
    }
    let relu = "[[layer]]\nkind = \"relu\"\n";
    let text = format!("name = \"late\"\ninput = [5]\n{relu}{embedding}{HEAD}");
    let error = Network::new(&NetworkDescription::from_toml(&text).unwrap()).unwrap_err();
    assert!(error.to_string().contains("can only come first"), "{error}");
}

#[test]
fn dropout_agrees_with_differences_of_its_own_loss() {
    let layers = format!(
        "[[layer]]\nkind = \"dense\"\noutputs = 6\n[[layer]]\nkind = \"dropout\"\nrate = 0.4\n{HEAD}"
    );
    let (_, network) = network("[4]", &layers);
    let parameters = network.initial_parameters(5);
    let (values, labels) = random_batch(8, 4, 3, 7);
    let batch = Batch { inputs: &values, labels: &labels };
    let mut workspace = network.workspace(8, 1).unwrap();
    let mut loss = |parameters: &[f32], seed: u64, found: &mut [f32]| {
        let options = StepOptions { dropout_seed: seed, ..StepOptions::default() };
        let score = network.gradients(
            parameters,
            &[],
            batch,
            options,
            Learned { gradients: found, statistics: &mut [] },
            &mut workspace,
        );
        score.loss_sum / 8.0
    };
    let mut found = vec![0.0; parameters.len()];
    let here = loss(&parameters, 3, &mut found);
    let mut unused = found.clone();
    assert_eq!(here, loss(&parameters, 3, &mut unused));
    assert_ne!(here, loss(&parameters, 4, &mut unused));
    for index in 0..parameters.len() {
        let mut at = |step: f32| {
            let mut changed = parameters.clone();
            changed[index] += step;
            loss(&changed, 3, &mut unused)
        };
        let expected = (at(1e-2) - at(-1e-2)) / 2e-2;
        // Steps of 0.01 in single precision: rounding 1e-5, curvature 1e-4.
        assert!((f64::from(found[index]) - expected).abs() < 3e-4, "{index}");
    }
}

#[test]
fn logistic_loss_agrees_with_softmax_of_two() {
    let text = "name = \"one\"\ninput = [4]\nloss = \"logistic\"\n[[layer]]\nkind = \"dense\"\noutputs = 1\n";
    let network = Network::new(&NetworkDescription::from_toml(text).unwrap()).unwrap();
    assert_eq!(network.classes(), 2);
    let parameters = network.initial_parameters(1);
    let (values, labels) = random_batch(9, 4, 2, 3);
    let batch = Batch { inputs: &values, labels: &labels };
    let (mut workspace, mut found) = (network.workspace(9, 1).unwrap(), vec![0.0; 5]);
    let options = StepOptions::default();
    let one = network.gradients(
        &parameters,
        &[],
        batch,
        options,
        Learned { gradients: &mut found, statistics: &mut [] },
        &mut workspace,
    );
    let pair = Network::perceptron(4, &[], 2).unwrap();
    let mut both = vec![0.0; 10];
    for input in 0..4 {
        both[2 * input + 1] = parameters[input];
    }
    both[9] = parameters[4];
    let (mut workspace, mut expected) = (pair.workspace(9, 1).unwrap(), vec![0.0; 10]);
    let two = pair.gradients(
        &both,
        &[],
        batch,
        options,
        Learned { gradients: &mut expected, statistics: &mut [] },
        &mut workspace,
    );
    assert!((one.loss_sum - two.loss_sum).abs() < 1e-5 && one.correct == two.correct);
    for input in 0..5 {
        assert!((found[input] - expected[2 * input + 1]).abs() < 1e-6);
    }
}
