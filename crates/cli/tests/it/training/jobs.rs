//! The built-in trainer and its data.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::data::speedtest::write_pictures;
use crate::program::{Lab, until};

const INSTALLED: &str = "/usr/share/datasets/fashion-mnist";

/// The whole set where some package installed it; tells when there is none.
fn installed() -> Option<&'static Path> {
    let folder = Path::new(INSTALLED);
    if !folder.is_dir() {
        eprintln!("SKIPPED: no {INSTALLED}, so the whole set was not fetched");
        return None;
    }
    Some(folder)
}

#[test]
fn training_is_told_in_json_lines_and_repeats_itself() {
    let lab = Lab::new();
    let words =
        ["train", "--neurons", "8", "--batch", "500", "--epochs", "2", "--seed", "3", "--json"];
    let first = lab.expect(0, &words);
    let lines: Vec<Value> =
        first.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |event: &str| lines.iter().filter(|line| line["event"] == event).count();
    assert_eq!((count("step"), count("epoch"), count("done")), (24, 2, 1));
    let done = lines.last().unwrap();
    assert_eq!(done["event"], "done");
    let fields = [
        "time_s",
        "train_accuracy",
        "train_loss",
        "test_accuracy",
        "test_loss",
        "examples_per_s",
        "steps",
        "strategy",
        "replicas",
        "bytes_sent",
        "parameters_hash",
    ];
    for field in fields {
        assert!(!done[field].is_null(), "no `{field}` in {done}");
    }
    assert_eq!((&done["steps"], &done["strategy"]), (&24.into(), &"one-device".into()));
    let again = lab.expect(0, &words).stdout;
    let last: Value = serde_json::from_str(again.lines().last().unwrap()).unwrap();
    assert_eq!(last["parameters_hash"], done["parameters_hash"]);
    assert_eq!(last["test_loss"], done["test_loss"]);
}

#[test]
fn training_ends_with_ctrl_c() {
    let lab = Lab::new();
    let mut training = lab.start(&["train", "--epochs", "100000"]);
    until("an epoch is told", || lab.read("running.stdout").contains("epoch 1"));
    training.signal(Signal::SIGINT);
    assert_eq!(training.end().code(), Some(130));
    assert!(lab.read("running.stdout").contains("stopped after"));
}

#[test]
fn bad_training_arguments_exit_2_with_the_flag() {
    let lab = Lab::new();
    lab.expect(2, &["train", "--batch", "0"]).says(&["--batch"]);
    lab.expect(2, &["train", "--network", "gpt"]).says(&["--network", "mlp"]);
    lab.expect(2, &["train", "--optimizer", "magic"]).says(&["--optimizer"]);
    lab.expect(2, &["train", "--lr", "-1"]).says(&["--lr: "]);
    lab.expect(2, &["train", "--epochs", "-1"]).says(&["--epochs: "]);
    lab.expect(2, &["train", "--lr", "nan"]).says(&["--lr", "not a finite number"]);
}

#[test]
fn a_missing_set_exits_3_and_names_the_way_to_get_it() {
    let lab = Lab::new();
    let end = lab.run(&["train", "--data", "fashion-mnist", "--neurons", "2", "--batch", "60000"]);
    if Path::new(INSTALLED).is_dir() {
        assert_eq!(end.code, Some(0), "{end:?}");
    } else {
        assert_eq!(end.code, Some(3), "{end:?}");
        end.says(&["trainwright data fetch fashion-mnist"]);
    }
    lab.expect(3, &["train", "--data", "fashon-mnist"]).says(&["fashon-mnist"]);
}

#[test]
fn a_fetched_set_is_used_and_a_wrong_one_leaves_nothing() {
    let lab = Lab::new();
    fs::create_dir(lab.path("wrong")).unwrap();
    for part in ["train", "t10k"] {
        lab.write(&format!("wrong/{part}-images-idx3-ubyte.gz"), "not what was published");
        lab.write(&format!("wrong/{part}-labels-idx1-ubyte.gz"), "not what was published");
    }
    lab.expect(3, &["data", "fetch", "fashion-mnist", "--from", "wrong"]).says(&["wrong"]);
    check_nothing_kept(&lab);
    let Some(folder) = installed() else { return };
    let words = ["data", "fetch", "fashion-mnist", "--from", folder.to_str().unwrap(), "--json"];
    let fetched = lab.json(&words);
    assert_eq!(fetched["schema"], "trainwright/data-fetch/1");
    assert!(lab.path("cache/fashion-mnist").is_dir(), "{fetched}");
}

#[track_caller]
fn check_nothing_kept(lab: &Lab) {
    let mut open = vec![lab.path("cache")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            assert!(entry.path().is_dir(), "{} was left", entry.path().display());
            open.push(entry.path());
        }
    }
}

/// Serves the files of a folder, or the same bytes for each where there is none.
fn serve(folder: Option<&'static Path>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that hangs up early is what some of these tests are about.
            let _ = answer(stream, folder);
        }
    });
    address
}

fn answer(mut stream: TcpStream, folder: Option<&Path>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let name = request.split(' ').nth(1).unwrap_or("/").trim_start_matches('/');
    let body = match folder {
        None => b"something else".to_vec(),
        Some(folder) => fs::read(folder.join(name))?,
    };
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}

#[test]
fn a_server_with_the_wrong_bytes_leaves_nothing_behind() {
    let lab = Lab::new();
    let url = serve(None);
    let end = lab.expect(3, &["data", "fetch", "fashion-mnist", "--url", &url]);
    end.says(&["train-images-idx3-ubyte"]);
    check_nothing_kept(&lab);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let lab = Lab::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/");
    lab.expect(3, &["data", "fetch", "fashion-mnist", "--url", &url]).says(&[&url]);
    check_nothing_kept(&lab);
}

#[test]
fn a_server_with_the_right_bytes_is_believed() {
    let Some(folder) = installed() else { return };
    let lab = Lab::new();
    let url = serve(Some(folder));
    lab.expect(0, &["data", "fetch", "fashion-mnist", "--url", &url]);
    assert!(lab.path("cache/fashion-mnist").is_dir());
}

#[test]
fn the_first_study_checks_and_runs() {
    let lab = Lab::new();
    lab.expect(0, &["init", "study.toml"]);
    lab.expect(0, &["check", "study.toml"]);
    // The same study in its smallest form, to keep this short.
    let text = lab.read("study.toml").replace("replications = 3", "replications = 1");
    lab.write("study.toml", text);
    let end = lab.expect(0, &["run", "study.toml", "--report", "report.html"]);
    assert!(end.stdout.contains("16 finished"), "{end:?}");
    assert!(lab.read("report.html").contains("</html>"));
    assert_eq!(lab.states(), [("finished".to_owned(), 16)].into());
}

#[test]
fn a_folder_of_pictures_is_trained_on_and_the_wait_for_them_is_told() {
    let lab = Lab::new();
    write_pictures(&lab, (30, 40));
    let words = ["train", "--data", "photos", "--size", "12", "--batch", "4", "--epochs", "3"];
    let end = lab.expect(0, &words);
    assert!(end.stdout.contains("waited for pictures "), "{}", end.stdout);
    let end = lab.expect(0, &[&words[..], &["--json"]].concat());
    let done: Value = serde_json::from_str(end.stdout.lines().last().unwrap()).unwrap();
    let number = |key: &str| done[key].as_f64().unwrap();
    assert!(number("input_wait_s") > 0.0 && number("input_wait_share") < 1.0, "{done}");
    let end = lab.expect(2, &["train", "--data", "photos", "--size", "0"]);
    assert!(end.stderr.contains("--size: must be at least 1"), "{}", end.stderr);
}
