//! The file read back by a small reader, and its graph run by a slow and obvious interpreter of
//! the operators that it uses.

use std::collections::BTreeMap;

use crate::network::Network;
use crate::network::description::NetworkDescription;

/// A field of a message: its number, and what it holds.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Float(f32),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (own, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(own)
            }
            5 => {
                let (own, rest) = bytes.split_at(4);
                bytes = rest;
                Field::Float(f32::from_le_bytes(own.try_into().unwrap()))
            }
            other => panic!("wire type {other}"),
        };
        all.push((key >> 3, field));
    }
    all
}

/// The sub-messages, texts or bytes under a field.
fn bytes_of(message: &[u8], number: u64) -> Vec<&[u8]> {
    let under = fields(message).into_iter().filter(|(found, _)| *found == number);
    under.map(|(_, field)| if let Field::Bytes(own) = field { own } else { panic!() }).collect()
}

fn numbers_of(message: &[u8], number: u64) -> Vec<usize> {
    let under = fields(message).into_iter().filter(|(found, _)| *found == number);
    under
        .map(|(_, field)| if let Field::Number(own) = field { own as usize } else { panic!() })
        .collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[derive(Debug, Clone)]
struct Tensor {
    shape: Vec<usize>,
    values: Vec<f32>,
}

/// Runs the graph of a file on one picture or row.
fn run(model: &[u8], input: Tensor) -> BTreeMap<String, Tensor> {
    let graph = bytes_of(model, 7)[0];
    let mut values = BTreeMap::from([("input".to_owned(), input)]);
    for tensor in bytes_of(graph, 5) {
        let raw = bytes_of(tensor, 9)[0].chunks_exact(4);
        let numbers = raw.map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
        let name = text(bytes_of(tensor, 8)[0]);
        values.insert(name, Tensor { shape: numbers_of(tensor, 1), values: numbers });
    }
    for node in bytes_of(graph, 1) {
        let names: Vec<String> = bytes_of(node, 1).into_iter().map(text).collect();
        let inputs: Vec<&Tensor> = names.iter().map(|name| &values[name]).collect();
        let mut integers = BTreeMap::new();
        let mut epsilon = 0.0;
        for attribute in bytes_of(node, 5) {
            let numbers = [numbers_of(attribute, 3), numbers_of(attribute, 8)].concat();
            integers.insert(text(bytes_of(attribute, 1)[0]), numbers);
            for (_, field) in fields(attribute) {
                if let Field::Float(value) = field {
                    epsilon = value;
                }
            }
        }
        let operator = text(bytes_of(node, 4)[0]);
        let output = apply(&operator, &inputs, &integers, epsilon);
        values.insert(text(bytes_of(node, 2)[0]), output);
    }
    values
}

fn apply(
    operator: &str,
    inputs: &[&Tensor],
    integers: &BTreeMap<String, Vec<usize>>,
    epsilon: f32,
) -> Tensor {
    let first = inputs[0];
    let each = |change: &dyn Fn(usize, f32) -> f32| Tensor {
        shape: first.shape.clone(),
        values: first.values.iter().enumerate().map(|(at, &value)| change(at, value)).collect(),
    };
    let area: usize = first.shape.iter().skip(1).product();
    match operator {
        "Relu" => each(&|_, value| value.max(0.0)),
        "Clip" => each(&|_, value| value.clamp(inputs[1].values[0], inputs[2].values[0])),
        "Add" => each(&|at, value| value + inputs[1].values[at]),
        "Flatten" => Tensor { shape: vec![first.values.len()], values: first.values.clone() },
        "Softmax" => {
            let total: f32 = first.values.iter().map(|value| value.exp()).sum();
            each(&|_, value| value.exp() / total)
        }
        "BatchNormalization" => each(&|at, value| {
            let [scale, bias, mean, variance] =
                [1, 2, 3, 4].map(|which| inputs[which].values[at / area]);
            (value - mean) / (variance + epsilon).sqrt() * scale + bias
        }),
        "GlobalAveragePool" => {
            let means = first.values.chunks_exact(area);
            let values = means.map(|one| one.iter().sum::<f32>() / area as f32).collect();
            Tensor { shape: vec![first.shape[0], 1, 1], values }
        }
        "Gemm" => {
            let rows = inputs[1].values.chunks_exact(first.values.len()).zip(&inputs[2].values);
            let dot = |row: &[f32]| -> f32 {
                row.iter().zip(&first.values).map(|(weight, value)| weight * value).sum()
            };
            let values: Vec<f32> = rows.map(|(row, bias)| dot(row) + bias).collect();
            Tensor { shape: vec![values.len()], values }
        }
        "Conv" | "MaxPool" | "AveragePool" => windows(operator, inputs, integers),
        other => panic!("operator {other}"),
    }
}

fn windows(operator: &str, inputs: &[&Tensor], integers: &BTreeMap<String, Vec<usize>>) -> Tensor {
    let &[channels, height, width] = inputs[0].shape.as_slice() else { panic!("no picture") };
    let (kernel, stride, pad) =
        (integers["kernel_shape"][0], integers["strides"][0], integers["pads"][0]);
    let places = |size: usize| (size + 2 * pad - kernel) / stride + 1;
    let (down, across) = (places(height), places(width));
    let at = |channel: usize, row: usize, column: usize| {
        let inside = (pad..height + pad).contains(&row) && (pad..width + pad).contains(&column);
        let place = (channel * height + row.wrapping_sub(pad)) * width + column.wrapping_sub(pad);
        if inside { inputs[0].values[place] } else { 0.0 }
    };
    let outputs = inputs.get(1).map_or(channels, |weights| weights.shape[0]);
    let groups = integers.get("group").map_or(1, |group| group[0]);
    let mut values = Vec::new();
    for output in 0..outputs {
        for (row, column) in (0..down).flat_map(|row| (0..across).map(move |it| (row, it))) {
            let taps = (0..kernel).flat_map(|y| (0..kernel).map(move |x| (y, x)));
            let own = |channel| {
                taps.clone().map(move |(y, x)| at(channel, row * stride + y, column * stride + x))
            };
            values.push(match operator {
                "MaxPool" => own(output).fold(f32::MIN, f32::max),
                "AveragePool" => own(output).sum::<f32>() / (kernel * kernel) as f32,
                _ => {
                    let (weights, inner) = (inputs[1], inputs[1].shape[1]);
                    let size = inner * kernel * kernel;
                    let weights = &weights.values[output * size..(output + 1) * size];
                    let start = output * groups / outputs * inner;
                    let pixels = (start..start + inner).flat_map(own);
                    let sum: f32 = pixels.zip(weights).map(|(pixel, weight)| pixel * weight).sum();
                    sum + inputs.get(2).map_or(0.0, |bias| bias.values[output])
                }
            });
        }
    }
    Tensor { shape: vec![outputs, down, across], values }
}

/// Channels before rows and columns.
fn channels_first(shape: &[usize], values: &[f32]) -> Tensor {
    let &[rows, columns, channels] = shape else {
        return Tensor { shape: shape.to_vec(), values: values.to_vec() };
    };
    let all = (0..channels).flat_map(|channel| values[channel..].iter().step_by(channels));
    Tensor { shape: vec![channels, rows, columns], values: all.copied().collect() }
}

#[track_caller]
fn check(description: &NetworkDescription) {
    let network = Network::new(description).unwrap();
    let parameters = network.initial_parameters(3);
    let mut state = network.initial_state();
    // Running statistics that are not those of the start, and positive, as variances are.
    for (index, value) in state.iter_mut().enumerate() {
        *value += 0.01 * (index % 13) as f32;
    }
    let size: usize = description.input.iter().product();
    let input: Vec<f32> = (0..size).map(|at| ((at * 37) % 101) as f32 / 101.0).collect();
    let mut workspace = network.workspace(1, 1).unwrap();
    let expected = network.probabilities(&parameters, &state, &input, &mut workspace).to_vec();
    let model = network.to_onnx(&parameters, &state).unwrap();
    let values = run(&model, channels_first(&description.input, &input));
    let found = &values["probabilities"].values;
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        // Two orders of summation in single precision.
        assert!((found - expected).abs() < 2e-5, "{}: {found} {expected}", description.name);
    }
    assert_eq!(values["logits"].values.len(), expected.len());
}

#[test]
fn feed_forward_networks_come_out_as_they_are() {
    let of =
        |text: &str, shape: &[usize]| NetworkDescription::of(text, Some(shape), Some(4)).unwrap();
    check(&of("mlp:12-7-4", &[12]));
    check(&of("cnn:flowers", &[22, 24, 3]));
    check(&of("mobilenet-v2:0.35", &[32, 40, 3]));
}

#[test]
fn every_layer_of_pictures_has_its_operator() {
    let description = NetworkDescription::from_toml(
        r#"
        name = "all"
        input = [9, 8, 2]
        [[layer]]
        kind = "convolution"
        filters = 4
        kernel = 3
        stride = 2
        padding = 1
        activation = "relu"
        [[layer]]
        kind = "batch-norm"
        activation = "relu6"
        [[layer]]
        kind = "average-pool"
        size = 2
        [[layer]]
        kind = "relu6"
        [[layer]]
        kind = "flatten"
        [[layer]]
        kind = "dropout"
        rate = 0.5
        [[layer]]
        kind = "dense"
        outputs = 6
        [[layer]]
        kind = "batch-norm"
        [[layer]]
        kind = "relu"
        [[layer]]
        kind = "dense"
        outputs = 3
        "#,
    );
    check(&description.unwrap());
}

#[test]
fn what_is_not_feed_forward_is_refused() {
    let description = NetworkDescription::of("bilstm:4", Some(&[5, 3]), Some(2)).unwrap();
    let network = Network::new(&description).unwrap();
    let parameters = network.initial_parameters(1);
    let message = network.to_onnx(&parameters, &[]).unwrap_err().to_string();
    assert!(message.starts_with("layer `0` cannot be written to an ONNX file"), "{message}");
}

/// Names under a field of a graph's messages, such as the outputs of its nodes.
fn names(graph: &[u8], messages: u64, field: u64) -> Vec<String> {
    bytes_of(graph, messages).into_iter().flat_map(|it| bytes_of(it, field)).map(text).collect()
}

#[test]
fn a_small_network_is_written_field_by_field() {
    let network = Network::perceptron(2, &[], 3).unwrap();
    // Weights lie inputs by outputs here, outputs by inputs there; biases follow.
    let parameters = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.1, 0.2, 0.3];
    let model = network.to_onnx(&parameters, &[]).unwrap();
    assert_eq!(numbers_of(&model, 1), [8], "version of the format");
    assert_eq!(text(bytes_of(&model, 2)[0]), "trainwright");
    let opset = bytes_of(&model, 8)[0];
    assert_eq!((text(bytes_of(opset, 1)[0]), numbers_of(opset, 2)), (String::new(), vec![17]));
    let graph = bytes_of(&model, 7)[0];
    assert_eq!(names(graph, 1, 4), ["Gemm", "Softmax"]);
    assert_eq!(names(graph, 1, 1), ["input", "0.weight", "0.bias", "logits"]);
    assert_eq!(names(graph, 1, 2), ["logits", "probabilities"]);
    assert_eq!(
        (names(graph, 11, 1), names(graph, 12, 1)),
        (vec!["input".to_owned()], names(graph, 1, 2))
    );
    let [weight, bias] = bytes_of(graph, 5)[..] else { panic!("two tensors") };
    let floats =
        |values: &[f32]| values.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    assert_eq!((numbers_of(weight, 1), numbers_of(weight, 2)), (vec![3, 2], vec![1]));
    assert_eq!(bytes_of(weight, 9)[0], floats(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    assert_eq!(
        (numbers_of(bias, 1), bytes_of(bias, 9)[0]),
        (vec![3], &floats(&[0.1, 0.2, 0.3])[..])
    );
    let attribute = bytes_of(bytes_of(graph, 1)[0], 5)[0];
    let read =
        (text(bytes_of(attribute, 1)[0]), numbers_of(attribute, 3), numbers_of(attribute, 20));
    assert_eq!(read, ("transB".to_owned(), vec![1], vec![2]));
}

#[test]
fn an_input_is_any_number_of_pictures_with_their_channels_first() {
    let description = NetworkDescription::of("cnn:flowers", Some(&[22, 24, 3]), Some(4)).unwrap();
    let network = Network::new(&description).unwrap();
    let model = network.to_onnx(&network.initial_parameters(1), &network.initial_state()).unwrap();
    let graph = bytes_of(&model, 7)[0];
    let dimensions = |value: &[u8]| {
        let tensor = bytes_of(bytes_of(value, 2)[0], 1)[0];
        assert_eq!(numbers_of(tensor, 1), [1], "32 bit floats");
        let shape = bytes_of(tensor, 2)[0];
        let dimensions = bytes_of(shape, 1).into_iter();
        dimensions
            .map(|it| {
                numbers_of(it, 1).first().map_or_else(|| text(bytes_of(it, 2)[0]), usize::to_string)
            })
            .collect::<Vec<String>>()
    };
    assert_eq!(dimensions(bytes_of(graph, 11)[0]), ["examples", "3", "22", "24"]);
    assert_eq!(dimensions(bytes_of(graph, 12)[1]), ["examples", "4"]);
}

/// A network of dense layers of three outputs each, with these names, and a ReLU6 after each.
fn called(layers: &[&str]) -> NetworkDescription {
    let mut toml = "name = \"n\"\ninput = [3]\n".to_owned();
    for name in layers {
        toml += &format!("[[layer]]\nname = \"{name}\"\nkind = \"dense\"\noutputs = 3\n");
        toml += "activation = \"relu6\"\n";
    }
    NetworkDescription::from_toml(&toml).unwrap()
}

#[test]
fn no_name_of_a_layer_is_mistaken_for_another_value() {
    let description = called(&["zero", "six", "logits", "probabilities", "a", "a/Clip", "last"]);
    check(&description);
    let network = Network::new(&description).unwrap();
    let model = network.to_onnx(&network.initial_parameters(1), &[]).unwrap();
    let graph = bytes_of(&model, 7)[0];
    let mut all = [names(graph, 1, 2), names(graph, 5, 8), names(graph, 11, 1)].concat();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count, "{all:?}");
}

#[test]
fn sums_and_left_out_values_go_on_from_the_right_value() {
    let description = NetworkDescription::from_toml(
        r#"
        name = "residual"
        input = [5]
        [[layer]]
        name = "nothing"
        kind = "dropout"
        rate = 0.5
        [[layer]]
        name = "one"
        kind = "dense"
        outputs = 5
        activation = "relu"
        [[layer]]
        kind = "dense"
        outputs = 5
        [[layer]]
        kind = "add"
        with = "one"
        [[layer]]
        name = "again"
        kind = "add"
        with = "nothing"
        [[layer]]
        kind = "dense"
        outputs = 3
        [[layer]]
        kind = "dropout"
        rate = 0.5
        "#,
    );
    check(&description.unwrap());
}

#[test]
fn one_output_is_judged_by_a_sigmoid() {
    let toml = "name = \"two\"\ninput = [2]\nloss = \"logistic\"\n\
        [[layer]]\nkind = \"dense\"\noutputs = 1\n";
    let network = Network::new(&NetworkDescription::from_toml(toml).unwrap()).unwrap();
    let model = network.to_onnx(&[1.0, 2.0, 3.0], &[]).unwrap();
    assert_eq!(names(bytes_of(&model, 7)[0], 1, 4), ["Gemm", "Sigmoid"]);
}

#[track_caller]
fn refused(layers: &str, message: &str) {
    let head = "[[layer]]\nkind = \"flatten\"\n[[layer]]\nkind = \"dense\"\noutputs = 2\n";
    let toml = format!("name = \"n\"\ninput = [4, 3]\n{layers}{head}");
    let network = Network::new(&NetworkDescription::from_toml(&toml).unwrap()).unwrap();
    let (parameters, state) = (network.initial_parameters(1), network.initial_state());
    assert_eq!(network.to_onnx(&parameters, &state).unwrap_err().to_string(), message);
}

#[test]
fn layers_without_a_counterpart_are_named_with_the_reason() {
    refused(
        "[[layer]]\nname = \"norm\"\nkind = \"batch-norm\"\n",
        "layer `norm` cannot be written to an ONNX file: batch norm is written after pictures or \
         dense layers",
    );
    refused(
        "[[layer]]\nname = \"words\"\nkind = \"embedding\"\nrows = 9\nwidth = 2\n",
        "layer `words` cannot be written to an ONNX file: only layers of feed-forward networks are \
         written",
    );
}
