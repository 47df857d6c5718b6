//! Files against records, timed by the real program.

use std::fs;

use crate::pictures::Picture;
use crate::program::Lab;

fn with_pictures() -> Lab {
    let lab = Lab::new();
    write_pictures(&lab, (90, 120));
    lab
}

/// Twelve pictures of two classes in `photos`.
pub(crate) fn write_pictures(lab: &Lab, (rows, columns): (usize, usize)) {
    for number in 0..12_usize {
        let pixels = (0..rows * columns * 3).map(|at| (at * (number + 3) / 50) as u8).collect();
        let picture = Picture { rows, columns, pixels };
        let class = ["rose", "tulip"][number % 2];
        lab.write(&format!("photos/{class}/{number}.jpg"), picture.jpeg());
    }
}

const SMALL: [&str; 9] = [
    "data",
    "speedtest",
    "photos",
    "--size",
    "16",
    "--batch-size",
    "2,4,6",
    "--batch-number",
    "1,2",
];

#[test]
fn one_command_gives_rows_fits_ratio_and_verdict() {
    let lab = with_pictures();
    let more = ["--json", "--report", "speed.html", "-o", "rows.csv", "--latency", "200us"];
    let test = lab.json(&[&SMALL[..], &more[..]].concat());
    assert_eq!(test["schema"], "trainwright/data-speedtest/1");
    let rows = test["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 3 * 2 * 3);
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        assert_eq!(number("images"), number("batch_size") * number("batch_number"));
        assert!((number("images_per_s") * number("seconds") / number("images") - 1.0).abs() < 1e-9);
        assert!(["files", "records"].contains(&row["source"].as_str().unwrap()));
        assert!(number("repetition") >= 1.0 && number("bytes") > 0.0);
    }
    let fits = test["fits"].as_array().unwrap();
    let linear = fits.iter().filter(|fit| fit["model"] == "linear");
    let names: Vec<_> = linear.map(|fit| fit["parameter"].as_str().unwrap()).collect();
    let each = ["batch_size", "batch_number", "repetition", "data_size"];
    assert_eq!(names, [each, each].concat());
    // A wait before each of the files and only one before the shard.
    assert!(test["ratio"]["estimate"].as_f64().unwrap() > 1.0);
    assert!(test["verdict"][0].as_str().unwrap().starts_with("Records are read "));

    let wanted = ["data", "speedtest", "photos", "--size", "16", "--batch-size", "2,4", "--json"];
    lab.write("speed.json", lab.expect(0, &wanted).stdout);
    let kept = trainwright::find_speedtests(&[lab.folder().to_owned()]);
    assert_eq!(kept, [lab.path("speed.json")], "live pages find what the verb printed");
    assert!(!trainwright::read_speedtest(&kept[0]).unwrap().rows.is_empty());

    let table = fs::read_to_string(lab.path("rows.csv")).unwrap();
    assert!(
        table.starts_with("run,source,batch_size,batch_number,threads,repetition,images,bytes,")
    );
    assert_eq!(table.lines().count(), rows.len() + 1);
    assert!(fs::read_to_string(lab.path("speed.html")).unwrap().contains("speed-batch_size-files"));

    // The general verb finds the same slope in the same readings.
    let formula = "images_per_s ~ source*images";
    let again = lab.json(&["analyze", "--data", "rows.csv", "--formula", formula, "--json"]);
    let coefficients = again["fit"]["coefficients"].as_array().unwrap();
    let theirs = coefficients.iter().find(|own| own["name"] == "images").unwrap();
    let ours = fits.iter().find(|fit| fit["model"] == "linear" && fit["parameter"] == "data_size");
    let ours = ours.unwrap()["coefficients"][1]["estimate"].as_f64().unwrap();
    assert!((theirs["estimate"].as_f64().unwrap() / ours - 1.0).abs() < 1e-6);
}

#[test]
fn prepared_records_are_read_cold_and_shown_as_text() {
    let lab = with_pictures();
    let prepare =
        ["data", "prepare", "photos", "--out", "shards", "--size", "16", "--shards", "2", "--json"];
    lab.json(&prepare);
    let more = ["--records", "shards", "--cold", "--threads", "1,2", "--repetitions", "2"];
    let text = lab.expect(0, &[&SMALL[..], &more[..]].concat()).stdout;
    for expected in ["with a cold cache", "Mean speed", "data size", "threads", "with squares"] {
        assert!(text.contains(expected), "no `{expected}` in:\n{text}");
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    let lab = with_pictures();
    let check = |words: &[&str], expected: &str| {
        let message = lab.expect(2, words).stderr;
        assert!(message.contains(expected), "{message}");
    };
    check(&["data", "speedtest", "photos", "--latency", "20"], "is not a latency such as 20ms");
    check(&["data", "speedtest", "photos", "--batch-size", "0"], "0");
    check(&["data", "speedtest", "missing"], "missing");
    check(&["data", "speedtest", "photos", "--records", "photos"], "holds no shards (.tfrecord)");
    lab.write("photos/rose/bad.jpg", b"no picture");
    check(&["data", "speedtest", "photos"], "bad.jpg");
    if !cfg!(feature = "object-stores") {
        check(&["data", "verify", "s3://b/x*.tfrecord"], "--features object-stores");
    }
}
