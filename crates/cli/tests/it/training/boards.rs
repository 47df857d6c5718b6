//! TensorBoard event files and ONNX files of trainings.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::event_files::scalars;
use crate::program::Lab;

fn epochs(text: &str) -> Vec<Value> {
    let events = text.lines().map(|line| serde_json::from_str(line).unwrap());
    events.filter(|event: &Value| event["event"] == "epoch").collect()
}

#[test]
fn tensorboard_is_told_what_the_program_tells() {
    let lab = Lab::new();
    let words = ["train", "--neurons", "8", "--batch", "100", "--epochs", "3", "--json"];
    let told = lab.expect(0, &[&words[..], &["--tensorboard", "board/first"]].concat()).stdout;
    let scalars = scalars(&lab.path("board"));
    assert!(scalars.iter().all(|scalar| scalar.run == "first"), "{scalars:?}");
    let of = |tag: &str| -> Vec<(i64, f64)> {
        let own = scalars.iter().filter(|scalar| scalar.tag == tag);
        own.map(|scalar| (scalar.step, scalar.value)).collect()
    };
    for (tag, key) in [
        ("accuracy/test", "test_accuracy"),
        ("loss/train", "train_loss"),
        ("rate", "lr"),
        ("batch", "batch"),
    ] {
        let expected: Vec<(i64, f64)> = epochs(&told)
            .iter()
            .map(|end| {
                let value = end[key].as_f64().unwrap();
                // Event files keep single precision.
                (end["step"].as_i64().unwrap(), f64::from(value as f32))
            })
            .collect();
        assert_eq!(of(tag), expected, "{tag}");
    }
    let steps: Vec<i64> = of("step/loss").into_iter().map(|(step, _)| step).collect();
    assert_eq!(steps, [1, 20, 40, 60, 80, 100, 120, 140, 160, 180]);
    let file = fs::read_dir(lab.path("board/first")).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(file).unwrap();
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for text in ["parameters/0.weight", "inputs", "_hparams_/session_start_info", "optimizer"] {
        assert!(holds(text), "{text}");
    }
}

#[test]
fn trials_of_a_study_lie_side_by_side() {
    let lab = Lab::with_study(
        r#"
schema = 1
[study]
name = "rates"
[factors.lr]
levels = [0.001, 0.01]
[design]
type = "full"
[job]
network = "mlp"
data = "fashion-mnist-sample"
neurons = 4
batch = 500
tensorboard = "board"
[metrics.accuracy]
from = "jsonl"
unit = "fraction"
"#,
    );
    lab.expect(0, &["run", "study.toml"]);
    let scalars = scalars(&lab.path("board"));
    let names: BTreeSet<&str> = scalars.iter().map(|scalar| scalar.run.as_str()).collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["trial-1", "trial-2"]);
    let rates: BTreeSet<String> = scalars
        .iter()
        .filter(|scalar| scalar.tag == "rate")
        .map(|scalar| format!("{:.3}", scalar.value))
        .collect();
    assert_eq!(rates.into_iter().collect::<Vec<_>>(), ["0.001", "0.010"]);
}

#[test]
fn a_trained_network_is_written_for_other_programs() {
    let lab = Lab::new();
    let words = ["train", "--neurons", "8", "--batch", "500", "--export", "net.onnx"];
    lab.expect(0, &[&words[..], &["--export", "net.safetensors"]].concat());
    let onnx = fs::read(lab.path("net.onnx")).unwrap();
    // The version of the format in field 1, then the program's name in field 2.
    assert_eq!(onnx[..5], [8, 8, 0x12, 11, b't']);
    // 784 x 8 and 8 x 10 weights with their biases, and little besides.
    let parameters = 4 * (784 * 8 + 8 + 8 * 10 + 10);
    assert!((parameters..parameters + 2000).contains(&onnx.len()), "{}", onnx.len());
    assert!(lab.path("net.safetensors").is_file());
    let refused = lab.expect(2, &["train", "--network", "bilstm:4", "--export", "net.onnx"]);
    refused.says(&["layer `0` cannot be written to an ONNX file"]);
    lab.expect(3, &["train", "--batch", "3000", "--export", "no/such/net.onnx"])
        .says(&["no/such/net.onnx"]);
}

#[test]
fn a_table_without_a_row_for_an_input_is_refused() {
    let lab = Lab::new();
    let text = |rows: usize| {
        format!(
            "name = \"table\"\ninput = [784]\n[[layer]]\nkind = \"embedding\"\nrows = {rows}\n\
             width = 2\n[[layer]]\nkind = \"flatten\"\n[[layer]]\nkind = \"dense\"\noutputs = 10\n"
        )
    };
    lab.write("small.toml", text(16));
    let refused = lab.expect(2, &["train", "--network", "small.toml"]);
    refused.says(&["input 255 is no row of the network's table, which has 16"]);
    lab.write("bytes.toml", text(256));
    let told = lab.expect(0, &["train", "--network", "bytes.toml", "--batch", "100"]).stdout;
    assert!(told.contains("done: test accuracy 0."), "{told}");
}
