//! `trainwright predict` on pictures and records, and what training changes pictures to.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::pictures::Picture;
use crate::program::Lab;

/// Pictures of two classes: light above and dark below, and the other way round.
fn write_pictures(folder: &Path, each: usize) {
    for number in 0..2 * each {
        let (class, shade) = (number % 2, (number * 7 % 40) as u8);
        let row = |row: usize| if (row < 8) == (class == 0) { 200 + shade } else { shade };
        let pixels = (0..16).flat_map(|at| [row(at); 60]).collect();
        let picture = Picture { rows: 16, columns: 20, pixels };
        let path = folder.join(["dawn", "dusk"][class]).join(format!("{number}.png"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, picture.png()).unwrap();
    }
}

/// A lab with pictures, shards of them in parts, and a network that has learned them.
fn lab() -> Lab {
    let lab = Lab::new();
    write_pictures(&lab.path("photos"), 60);
    let prepare = ["data", "prepare", "photos", "--out", "shards", "--size", "12", "--shards", "2"];
    lab.expect(0, &[&prepare[..], &["--split", "0.7,0,0.3", "--pixels"]].concat());
    lab
}

const TRAIN: [&str; 11] = [
    "train",
    "--network",
    "mlp:300-8-2",
    "--data",
    "shards",
    "--augment",
    "crop:10,flip",
    "--epochs",
    "6",
    "--batch",
    "8",
];

#[test]
fn pictures_records_and_their_classes_are_told() {
    let lab = lab();
    lab.expect(0, &[&TRAIN[..], &["--lr", "0.01", "--checkpoint", "kept"]].concat());
    let words = ["predict", "kept", "--data", "photos", "--json", "--report", "page.html"];
    let found = lab.json(&[&words[..], &["--output", "each.csv"]].concat());
    assert_eq!((&found["examples"], &found["accuracy"]), (&120.into(), &1.0.into()));
    assert_eq!(found["confusion"], serde_json::json!([[60, 0], [0, 60]]));
    let class = &found["classes"][1];
    assert_eq!(
        (&class["name"], &class["accuracy"], &class["precision"]),
        (&"dusk".into(), &1.0.into(), &1.0.into())
    );
    assert!(found["loss"].as_f64().unwrap() < 0.3, "{found}");
    let table = lab.read("each.csv");
    assert!(table.starts_with("example,class,predicted,probability,name\n"), "{table}");
    assert!(table.contains("\"dawn/0.png\""), "{table}");
    let page = lab.read("page.html");
    assert!(page.contains("<section id=\"confusion\"") && page.contains("dusk"));

    let test = lab.json(&["predict", "kept", "--json"]);
    let records = lab.json(&["predict", "kept", "--data", "shards/test", "--json"]);
    for key in ["examples", "accuracy", "confusion"] {
        assert_eq!(test[key], records[key], "{key}");
    }
    let [test, records] = [test, records].map(|found| found["loss"].as_f64().unwrap());
    assert!((test - records).abs() < 1e-5, "{test} {records}");
}

#[test]
fn pictures_without_a_class_are_predicted_all_the_same() {
    let lab = lab();
    lab.expect(0, &[&TRAIN[..], &["--lr", "0.01", "--checkpoint", "kept"]].concat());
    let one = lab.json(&["predict", "kept", "--data", "photos/dusk/1.png", "--json"]);
    assert_eq!(
        (&one["examples"], &one["accuracy"], &one["loss"]),
        (&1.into(), &Value::Null, &Value::Null)
    );
    assert_eq!(
        (&one["classes"][1]["taken"], &one["classes"][1]["name"]),
        (&1.into(), &"dusk".into())
    );
    let text = lab.expect(0, &["predict", "kept", "--data", "photos/dawn"]).stdout;
    assert!(text.contains("60 examples of photos/dawn: their classes are not known"), "{text}");
}

#[test]
fn what_does_not_fit_the_network_is_refused() {
    let lab = lab();
    lab.expect(0, &[&TRAIN[..], &["--checkpoint", "kept"]].concat());
    lab.expect(2, &["predict", "kept", "--data", "nowhere"]).says(&["nowhere"]);
    fs::create_dir_all(lab.path("strange/noon")).unwrap();
    fs::copy(lab.path("photos/dawn/0.png"), lab.path("strange/noon/0.png")).unwrap();
    let refused = lab.expect(2, &["predict", "kept", "--data", "strange"]);
    refused.says(&["strange/noon is none of the classes dawn, dusk"]);
    let large = ["data", "prepare", "photos", "--out", "large", "--size", "20", "--shards", "1"];
    lab.expect(0, &large);
    lab.expect(2, &["predict", "kept", "--data", "large"]).says(&["[20, 20, 3]", "[12, 12, 3]"]);
    lab.write("photos/dawn/broken.png", "no picture");
    lab.expect(2, &["predict", "kept", "--data", "photos"]).says(&["dawn/broken.png"]);
}

#[test]
fn changed_pictures_are_the_same_for_any_threads() {
    let lab = lab();
    let changes = ["--augment", "flip,crop:10,zoom:0.5,contrast:0.7-1.3"];
    let words = ["train", "--network", "mlp:300-8-2", "--data", "shards", "--json"];
    let words = [&words[..], &["--epochs", "4", "--batch", "8"], &changes].concat();
    let hash = |more: &[&str]| {
        let end = lab.expect(0, &[&words[..], more].concat()).stdout;
        let done: Value = serde_json::from_str(end.lines().last().unwrap()).unwrap();
        done["parameters_hash"].as_str().unwrap().to_owned()
    };
    let whole = hash(&["--threads", "1"]);
    assert_eq!(whole, hash(&["--threads", "2"]));
    assert_ne!(whole, hash(&["--seed", "3"]));
    lab.expect(2, &["train", "--augment", "crop:40"]).says(&["crop 40 of 28 x 28 pixels"]);
    lab.expect(2, &["train", "--augment", "turn"]).says(&["--augment", "`turn`"]);
}
