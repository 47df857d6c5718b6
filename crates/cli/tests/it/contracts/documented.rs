//! Every command of README, docs, examples and `--help` works as it is written.
//!
//! Each page is a folder of its own, in which its commands run one after the other through a
//! shell. [`ADAPTED`] lists what cannot run as it stands, and why.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::{End, Lab};

/// What is written, what runs instead, and why; nothing instead means that it is left out.
const ADAPTED: &[(&str, Option<&str>, &str)] = &[
    ("--rate 40/h --jobs 100", Some("--rate 40/s --jobs 6"), "a hundred jobs take hours"),
    ("--rate 2/s --jobs 200", Some("--rate 40/s --jobs 6"), "two hundred jobs take minutes"),
    ("data fetch fashion-mnist", None, "needs the data set, or a network to fetch it"),
    ("trainwright serve", None, "serves until it is ended; the tests of the crate `web` do"),
    ("trainwright stop", None, "needs a runner; `stopping.rs` stops one"),
    (
        "run examples/field-report-c/study.toml --report report.html",
        Some("check examples/field-report-c/study.toml"),
        "takes half a minute",
    ),
    (
        "run examples/field-report-e/study.toml --report servers.html",
        Some("check examples/field-report-e/study.toml"),
        "takes a minute",
    ),
    (
        "run examples/field-report-e/over-time.toml",
        Some("check examples/field-report-e/over-time.toml"),
        "takes half a minute",
    ),
    (
        "queue fit --data results.csv --column cost_exact",
        Some("queue fit --data results.csv --column cost_exact || test $? = 2"),
        "refused, as the page says",
    ),
    ("--listen 127.0.0.1:7700", None, "waits for a worker; `workers.rs` has both"),
    ("trainwright worker --join", None, "needs a training to join; `workers.rs` has both"),
    (
        "run examples/field-report-a/study.toml --report strategies.html",
        Some("check examples/field-report-a/study.toml"),
        "takes a minute",
    ),
    (
        "run examples/field-report-a/scaled.toml --report scaled.html",
        Some("check examples/field-report-a/scaled.toml"),
        "takes a minute",
    ),
    (
        "export examples/field-report-a/study.toml -o unscaled.csv",
        None,
        "has nothing to export without the run",
    ),
    ("--data unscaled.csv", None, "has no table without the run"),
    ("--engine spark", None, "needs a cluster; the tests in `spark/` have one"),
    ("engine setup spark", None, "installs pyspark, which takes minutes"),
    (
        "run examples/spark-cache/study.toml",
        Some("check examples/spark-cache/study.toml"),
        "needs Spark, and takes minutes",
    ),
    (
        "run examples/pytorch/study.toml --report report.html",
        Some("check examples/pytorch/study.toml"),
        "needs PyTorch; `examples.rs` runs it where it is",
    ),
    ("cargo install", None, "takes minutes; `cargo build` has built the same"),
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Commands in fenced blocks and in `code` of a page; those with a PLACEHOLDER are no commands.
fn commands_of_page(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            let mut command = line.trim_start_matches("$ ").to_owned();
            while command.ends_with('\\') {
                command = format!("{command}\n{}", lines.next().unwrap_or_default());
            }
            found.push(command);
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found.retain(|command| is_command(command));
    found
}

fn is_command(text: &str) -> bool {
    let begins =
        ["trainwright ", "cargo run --release -- "].iter().any(|own| text.starts_with(own));
    let capitals = |word: &str| {
        word.len() > 1 && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '.')
    };
    let code = text.split(" #").next().unwrap_or_default();
    begins && code.contains(' ') && !code.split_whitespace().any(capitals)
}

/// The examples at the end of a help page.
fn examples_of_help(help: &str) -> Vec<String> {
    let lines = help.lines().map(str::trim_start);
    lines.filter(|line| line.starts_with("trainwright ")).map(str::to_owned).collect()
}

/// The help of a verb, on lines that are not wrapped.
fn help(lab: &Lab, verb: &[&str]) -> String {
    let mut command = lab.command(&[verb, &["--help"]].concat());
    command.env("COLUMNS", "1000");
    End::of(command).stdout
}

/// The verbs that a help page lists.
pub(super) fn verbs(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines.take_while(|line| line.starts_with("  ")).filter_map(|line| {
        let indented = line.len() - line.trim_start().len() == 2;
        line.split_whitespace().next().filter(|name| indented && *name != "help")
    });
    names.map(str::to_owned).collect()
}

/// Runs the commands of a page, one after the other.
#[track_caller]
fn run_page(page: &str, commands: &[String]) {
    let lab = Lab::new();
    furnish(&lab);
    for written in commands {
        let Some(command) = adapted(written) else { continue };
        let end = End::of(shell(&lab, &command));
        assert_eq!(end.code, Some(0), "{page}: `{command}` gave {end:#?}");
    }
}

fn adapted(written: &str) -> Option<String> {
    let command = written.replace("cargo run --release -- ", "trainwright ");
    match ADAPTED.iter().find(|(part, _, _)| command.contains(part)) {
        Some((part, instead, _)) => instead.map(|instead| command.replace(part, instead)),
        None => Some(command),
    }
}

fn shell(lab: &Lab, command: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_trainwright"));
    let paths = std::env::var("PATH").unwrap();
    let mut shell = Command::new("sh");
    shell
        .args(["-ec", command])
        .current_dir(lab.folder())
        .env("PATH", format!("{}:{paths}", program.parent().unwrap().display()))
        .env("HOME", lab.folder())
        .env("TRAINWRIGHT_CACHE", lab.path("cache"))
        .stdin(Stdio::null());
    shell
}

/// The files that commands name, as a user would have them.
fn furnish(lab: &Lab) {
    copy(&root().join("examples"), &lab.path("examples"));
    let example = |name: &str| fs::read(root().join("examples").join(name)).unwrap();
    lab.write("runs.csv", example("runs/runs.csv"));
    lab.write("results.csv", example("field-report-d/results.csv"));
    lab.write("tests.csv", "p\n0.01\n0.04\n0.2\n");
    lab.write("rows.csv", "a,b\n-1,-1\n1,-1\n-1,1\n1,1\n");
    lab.write("moments.csv", "0\n0.1\n0.2\n");
    lab.write("last-month.csv", "vm_type,nodes,elapsed_s\nc6i.large,2,900\nr6i.large,1,1500\n");
    lab.write("parts.csv", "nodes,share,elapsed_s\n1,0.1,20\n2,0.1,15\n4,0.2,15\n8,0.4,15\n");
    lab.write("train.log", "::metric {\"accuracy\": 0.5, \"loss\": 1, \"step\": 1}\n");
    lab.write("quick.toml", QUICK);
    let foreign = root().join("crates/trainwright/tests/data/foreign");
    copy(&foreign.join("mlruns"), &lab.path("mlruns"));
    copy(&foreign.join("tensorboard"), &lab.path("tensorboard"));
    for name in ["optuna.db", "wandb-runs.csv", "sweep.yaml"] {
        lab.write(name, fs::read(foreign.join(name)).unwrap());
    }
    lab.write("hyperfine.json", fs::read(foreign.join("hyperfine-scan.json")).unwrap());
    lab.write("job.json", JOB);
    lab.write("mine.toml", NETWORK);
    for name in ["a9a", "a9a.t"] {
        lab.write(name, "+1 1:1 3:1\n-1 2:1 3:1\n".repeat(60));
    }
    lab.write(".local/share/bash-completion/completions/other", "");
    pictures(lab);
    idx_files(lab);
}

const JOB: &str =
    r#"{"network":"mlp","data":"fashion-mnist-sample","neurons":4,"batch":500,"seed":1}"#;

/// A study that is over in a second, with a surface to find.
const QUICK: &str = r#"
schema = 1
[study]
name = "quick"
[factors.lr]
levels = [0.01, 0.02, 0.03]
[factors.batch]
levels = [32, 64, 96]
[design]
type = "full"
replications = 2
[run]
env = { lr = "{lr}", batch = "{batch}" }
command = ["sh", "-c", 'awk "BEGIN { print \"::metric {\\\"loss\\\": \" ($lr - 0.02) ^ 2 * 10000 + ($batch - 60) ^ 2 / 900 + $TRAINWRIGHT_SEED % 7 / 50 \"}\" }"']
[metrics.loss]
from = "stdout"
objective = "minimize"
[metrics.time]
from = "wall"
unit = "s"
[analysis]
response = "loss"
"#;

const NETWORK: &str = "name = \"mine\"\ninput = [784]\n[[layer]]\nkind = \"dense\"\noutputs = 10\n";

/// Twenty photographs of two classes, in colours that a network can tell apart.
fn pictures(lab: &Lab) {
    crate::data::speedtest::write_pictures(lab, (90, 120));
}

/// An MNIST-like set of 40 and 20 pictures, as <https://yann.lecun.com/exdb/mnist/> lays it out.
fn idx_files(lab: &Lab) {
    for (part, count) in [("train", 40_u8), ("t10k", 20)] {
        let mut images = vec![0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 28, 0, 0, 0, 28];
        images.extend((0..usize::from(count) * 784).map(|at| (at * 7 / 5) as u8));
        let mut labels = vec![0, 0, 8, 1, 0, 0, 0, count];
        labels.extend((0..count).map(|number| number % 10));
        lab.write(&format!("cache/mnist/{part}-images-idx3-ubyte"), images);
        lab.write(&format!("cache/mnist/{part}-labels-idx1-ubyte"), labels);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn page(name: &str) -> Vec<String> {
    commands_of_page(&fs::read_to_string(root().join(name)).unwrap())
}

#[test]
fn the_commands_of_the_readme_work() {
    let commands = page("README.md");
    assert!(commands.len() >= 25, "{commands:#?}");
    run_page("README.md", &commands);
}

#[test]
fn the_commands_of_the_docs_work() {
    let folder = |name: &str| fs::read_dir(root().join(name)).unwrap();
    let mut pages: Vec<PathBuf> = folder("docs")
        .chain(folder("docs/concepts"))
        .chain(folder("docs/guide"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    for path in pages {
        let commands = commands_of_page(&fs::read_to_string(&path).unwrap());
        if commands.is_empty() {
            continue;
        }
        // They speak of a study that the reader has begun.
        let begun = "trainwright init study.toml".to_owned();
        let before = if commands.contains(&begun) { Vec::new() } else { vec![begun] };
        run_page(&path.display().to_string(), &[before, commands].concat());
    }
}

#[test]
fn the_commands_of_the_examples_work() {
    let mut pages = 0;
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(folder.join("README.md")) else { continue };
        let name = folder.file_name().unwrap().to_str().unwrap();
        // Its reader is in the example's folder, or in the one above all examples.
        let there = format!("cp -r examples/{name}/. .");
        let commands = [vec![there], commands_of_page(&text)].concat();
        assert!(commands.len() > 1, "examples/{name}/README.md has no commands");
        run_page(&format!("examples/{name}/README.md"), &commands);
        pages += 1;
    }
    assert!(pages >= 3);
}

/// Verbs whose examples need a study that has run.
const OF_RESULTS: [&str; 9] =
    ["status", "logs", "export", "analyze", "compare", "report", "surface", "queue fit", "exclude"];

#[test]
fn the_examples_of_every_help_page_work() {
    let lab = Lab::new();
    let mut left: Vec<Vec<String>> = verbs(&help(&lab, &[])).into_iter().map(|v| vec![v]).collect();
    assert!(left.len() > 20, "{left:?}");
    let mut seen = BTreeSet::new();
    while let Some(verb) = left.pop() {
        let words: Vec<&str> = verb.iter().map(String::as_str).collect();
        let text = help(&lab, &words);
        let examples = examples_of_help(&text);
        assert!(!examples.is_empty(), "`trainwright {} --help` has no example", verb.join(" "));
        left.extend(verbs(&text).into_iter().map(|own| [verb.clone(), vec![own]].concat()));
        let name = verb.join(" ");
        run_page(&format!("trainwright {name} --help"), &with_study(&name, examples));
        seen.insert(name);
    }
    assert!(seen.contains("data speedtest") && seen.contains("queue simulate"), "{seen:?}");
}

/// What a reader of a help page has done before.
fn with_study(verb: &str, examples: Vec<String>) -> Vec<String> {
    let mut before = Vec::new();
    let names_study = examples.iter().any(|example| example.contains("study.toml"));
    if names_study && verb != "init" {
        before.push("cp quick.toml study.toml");
    }
    if names_study && OF_RESULTS.contains(&verb) {
        before.push("trainwright run study.toml");
    }
    if ["data verify", "data inspect", "data speedtest"].contains(&verb) {
        before.push("trainwright data prepare photos/ --out shards/");
    }
    if verb == "import" {
        before.push("cp examples/field-report-d/* .");
    }
    before.into_iter().map(str::to_owned).chain(examples).collect()
}

#[test]
fn commands_are_found_in_pages() {
    let text = "Use `trainwright check study.toml` or `trainwright VERB --help`.\n```\ntrainwright \
                train \\\n  --epochs 2 # ALL\ncargo run --release -- run a.toml\nls\n```\n";
    assert_eq!(
        commands_of_page(text),
        [
            "trainwright check study.toml",
            "trainwright train \\\n  --epochs 2 # ALL",
            "cargo run --release -- run a.toml"
        ]
    );
}
