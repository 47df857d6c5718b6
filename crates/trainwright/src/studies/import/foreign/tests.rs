use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use trainwright_study::Direction;

use super::*;

/// A file that another program made; README.md beside it says which.
fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/foreign").join(name)
}

fn mlflow_database() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/data/mlflow-3.17.2.db")
}

fn found(path: &Path) -> ForeignRuns {
    read(path, ForeignKind::of(path).unwrap(), None).unwrap()
}

fn study(path: &Path) -> (String, Study) {
    let found = found(path);
    let kind = ForeignKind::of(path).unwrap();
    let text = study_file(&found, kind, Path::new("s.toml"), Path::new("origin"), None).unwrap();
    let study = Study::from_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, study)
}

#[track_caller]
fn check_factors(found: &ForeignRuns, expected: &[&str]) {
    let shown: Vec<String> = found
        .factors
        .iter()
        .map(|own| match &own.values {
            ForeignValues::Levels(levels) => {
                let levels: Vec<String> = levels.iter().map(Level::to_string).collect();
                format!("{} {}", own.name, levels.join("|"))
            }
            ForeignValues::Range { from, to, log } => {
                format!("{} {from}..{to}{}", own.name, if *log { " log" } else { "" })
            }
        })
        .collect();
    assert_eq!(shown, expected);
}

fn metrics(found: &ForeignRuns) -> Vec<&str> {
    found.metrics.iter().map(|own| own.name.as_str()).collect()
}

#[test]
fn each_kind_is_known_by_its_content() {
    for (name, kind) in [
        ("mlruns", ForeignKind::MlflowFolder),
        ("optuna.db", ForeignKind::Optuna),
        ("tensorboard", ForeignKind::Tensorboard),
        ("hyperfine-scan.json", ForeignKind::Hyperfine),
        ("wandb-runs.csv", ForeignKind::WandbRuns),
        ("sweep.yaml", ForeignKind::WandbSweep),
    ] {
        assert_eq!(ForeignKind::of(&sample(name)).unwrap(), kind, "{name}");
    }
    assert_eq!(ForeignKind::of(&mlflow_database()).unwrap(), ForeignKind::MlflowSqlite);
    let folder = tempfile::tempdir().unwrap();
    let error = ForeignKind::of(folder.path()).unwrap_err().to_string();
    assert!(error.contains("neither"), "{error}");
    assert!(ForeignKind::of(&sample("not there")).is_err());
}

#[test]
fn both_stores_of_mlflow_give_the_same_runs() {
    let (folder, database) = (found(&sample("mlruns")), found(&mlflow_database()));
    assert_eq!(folder, database);
    check_factors(&folder, &["lr 0.01|0.1", "optimizer adam|sgd"]);
    assert_eq!(metrics(&folder), ["loss", "val/acc"]);
    assert_eq!(folder.results.len(), 4);
    assert_eq!(folder.results[0]["val/acc"], "0.89");
    assert_eq!(folder.notes[0], "1 of 5 runs did not finish and are left out");
    assert!(
        folder.notes.iter().any(|note| note.contains("`epochs` was `3`")),
        "{:?}",
        folder.notes
    );
    let (text, study) = study(&sample("mlruns"));
    assert!(text.contains("# - 1 of 5 runs"), "{text}");
    assert!(text.contains("# - of each metric the last value is the result"), "{text}");
    assert_eq!(study.analysis.response, "val_acc");
    assert_eq!(study.direction(), Direction::Maximize, "the smallest accuracy is not the best");
    assert!(text.contains("# - which end of `val/acc` is good is not in it"), "{text}");
    let which = read(&sample("mlruns"), ForeignKind::MlflowFolder, Some("other")).unwrap_err();
    assert!(which.to_string().contains("digits"), "{which}");
}

#[test]
fn parameters_of_optuna_become_ranges_and_levels() {
    let found = found(&sample("optuna.db"));
    check_factors(
        &found,
        &["drop out 0..0.5", "layers 1..4", "lr 0.0001..0.1 log", "optimizer sgd|adam"],
    );
    assert_eq!((metrics(&found), found.metrics[0].maximize), (vec!["value"], Some(true)));
    for word in [
        "intermediate values, attributes",
        "`momentum` exists in some",
        "steps of 0.1",
        "1 trials were pruned",
    ] {
        assert!(found.notes.iter().any(|note| note.contains(word)), "{word}: {:?}", found.notes);
    }
    let (text, study) = study(&sample("optuna.db"));
    assert!(study.search.is_some() && text.contains("[factors.drop_out]"), "{text}");
}

#[test]
fn several_objectives_are_traded_off_in_the_study_too() {
    let mut found = found(&sample("optuna.db"));
    let metric = |place: usize, maximize| ForeignMetric {
        name: format!("value_{place}"),
        maximize: Some(maximize),
        keys: Vec::new(),
    };
    found.metrics = vec![metric(1, true), metric(0, false)];
    let names = ["value_0", "value_1"].map(str::to_owned);
    found.search.as_mut().unwrap().objectives = names.to_vec();
    let (path, origin) = (Path::new("s.toml"), Path::new("origin"));
    let text = study_file(&found, ForeignKind::Optuna, path, origin, None).unwrap();
    let study = Study::from_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let own = study.search.unwrap().objectives;
    let own: Vec<_> = own.iter().map(|own| (own.metric.as_str(), own.direction)).collect();
    assert_eq!(own, [("value_0", Direction::Minimize), ("value_1", Direction::Maximize)]);
}

#[test]
fn the_last_values_of_event_files_are_results() {
    let found = found(&sample("tensorboard"));
    check_factors(&found, &["batch 16|32", "lr 0.1|0.2"]);
    assert_eq!(metrics(&found), ["loss", "val/acc"]);
    let first = &found.results[0];
    assert_eq!((first["lr"].as_str(), first["batch"].as_str()), ("0.1", "16"));
    let loss: f64 = first["loss"].parse().unwrap();
    assert!((loss - 1.6 / 3.0).abs() < 1e-6, "{loss}");
}

#[test]
fn both_schemas_of_hyperfine_give_the_same_runs() {
    let first = r#"{"results": [
        {"command": "run 1", "mean": 0.3, "times": [0.25, 0.35], "exit_codes": [0, 0], "parameters": {"n": "1"}},
        {"command": "run 2", "mean": 0.5, "times": [0.5, 0.6], "exit_codes": [0, null], "parameters": {"n": "2"}}]}"#;
    let run = |seconds: f64, code: &str| {
        format!(
            r#"{{"time_wall_clock": {{"value": {seconds}, "unit": "second"}}, "time_user": {{"value": 0.1,
            "unit": "second"}}, "memory_peak_resident": {{"value": 4096.0, "unit": "byte"}}, "exit_code": {code}}}"#
        )
    };
    let of = |n: u32, name: &str, runs: [String; 2]| {
        format!(
            r#"{{"command": "run {n}",{name} "measurements": [{}], "parameters": {{"n": {{"value": "{n}"}}}},
            "summary": {{"time_wall_clock": {{"unit": "second", "count": 2, "mean": 0.3}}}}}}"#,
            runs.join(",")
        )
    };
    let second = format!(
        r#"{{"schema_version": 2, "metadata": {{"hyperfine_version": "2.0.0"}},
        "primary_metric": "time_wall_clock", "results": [{}, {}]}}"#,
        of(1, "", [run(0.25, "0"), run(0.35, "0")]),
        of(2, " \"name\": \"two\",", [run(0.5, "0"), run(0.6, "null")]),
    );
    let [first, second] = [first, second.as_str()].map(|text| hyperfine::runs(text).unwrap());
    assert_eq!(first.results, second.results);
    assert_eq!((first.results.len(), first.results[2]["time"].as_str()), (3, "0.5"));
    assert_eq!(first.command, second.command);
    assert_eq!(first.command.unwrap()[2], "run {n}");
    check_factors(&second, &["n 1|2"]);
    let lost = "user and system time and memory of each run; `export --usage`";
    assert!(second.notes.iter().any(|own| own.starts_with(lost)), "{:?}", second.notes);
}

#[test]
fn each_time_of_hyperfine_is_a_result_and_the_command_runs() {
    let scan = found(&sample("hyperfine-scan.json"));
    check_factors(&scan, &["kind a|b", "n 1|2"]);
    assert_eq!(scan.results.len(), 12);
    assert_eq!(scan.command.as_ref().unwrap()[2], "printf %0{n}d-{kind} 7");
    let (_, study) = study(&sample("hyperfine-scan.json"));
    assert_eq!((study.design.replications, study.task.is_some()), (3, true));
    let commands = found(&sample("hyperfine-commands.json"));
    check_factors(&commands, &["command echo hello|true"]);
    assert!(commands.notes[0].contains("3 runs ended with an error"), "{:?}", commands.notes);
}

#[test]
fn a_placeholder_stands_only_where_it_gives_every_command() {
    let export = |second: &str| {
        format!(
            r#"{{"results": [{{"command": "run 1 1", "times": [1.0], "parameters": {{"n": "1"}}}},
                {{"command": "{second}", "times": [1.0], "parameters": {{"n": "2"}}}}]}}"#
        )
    };
    assert!(hyperfine::runs(&export("run 1 2")).unwrap().command.is_none());
    let command = hyperfine::runs(&export("run 2 2")).unwrap().command.unwrap();
    assert_eq!(command[2], "run {n} {n}");
}

#[test]
fn finished_runs_of_a_wandb_table_are_results() {
    let found = found(&sample("wandb-runs.csv"));
    check_factors(&found, &["batch_size 32|64", "learning_rate 0.01|0.1", "optimizer adam|sgd"]);
    assert_eq!(metrics(&found), ["loss", "val acc"]);
    assert_eq!(found.results.len(), 8);
    assert!(found.notes.iter().any(|note| note.contains("1 runs did not finish")));
}

#[test]
fn a_sweep_becomes_a_search_with_its_command() {
    let found = found(&sample("sweep.yaml"));
    check_factors(
        &found,
        &[
            "learning_rate 0.0001..0.1 log",
            "batch_size 16|32|64",
            "optimizer adam|sgd",
            "dropout 0..0.5",
        ],
    );
    let (text, study) = study(&sample("sweep.yaml"));
    assert!(study.search.is_some() && study.task.is_some());
    for line in [
        "\"--learning_rate={learning_rate}\"",
        "\"--epochs=5\"",
        "budget = { trials = 25 }",
        "early_stop = { rule = \"hyperband\", from = 3 }",
        "# - `momentum`: its distribution `normal` has no ends",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn what_has_nothing_to_vary_says_so() {
    let one = r#"{"results": [{"command": "a", "times": [1.0, 2.0]}]}"#;
    let found = hyperfine::runs(one).unwrap();
    let text = study_file(&found, ForeignKind::Hyperfine, Path::new("s"), Path::new("o"), None);
    assert!(text.unwrap_err().contains("no parameter that differs"));
    assert!(sweep::runs("method: grid").unwrap_err().contains("no `parameters`"));
    assert!(sweep::runs("parameters:\n  a: {min: 2, max: 1}").unwrap_err().contains("`a`"));
    assert!(wandb_table::runs("Name,State\n").is_err());
}

#[test]
fn a_damaged_metric_file_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("7/abc");
    for part in ["params", "metrics"] {
        fs::create_dir_all(run.join(part)).unwrap();
    }
    fs::write(folder.path().join("7/meta.yaml"), "name: e\n").unwrap();
    fs::write(run.join("meta.yaml"), "status: 3\n").unwrap();
    fs::write(run.join("metrics/loss"), "1 0.5 0\n2 half 1\n").unwrap();
    let error = read(folder.path(), ForeignKind::MlflowFolder, None).unwrap_err().to_string();
    assert!(error.contains("metrics/loss, line 2: `2 half 1`"), "{error}");
    fs::write(run.join("meta.yaml"), "status: [3\n").unwrap();
    let error = read(folder.path(), ForeignKind::MlflowFolder, None).unwrap_err().to_string();
    assert!(error.contains("abc/meta.yaml: "), "{error}");
}

/// Bytes of a file with some of them changed, or its end cut off.
fn damaged(
    bytes: &[u8],
    places: &[(prop::sample::Index, u8)],
    cut: Option<prop::sample::Index>,
) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (place, byte) in places {
        let place = place.index(bytes.len());
        bytes[place] = *byte;
    }
    if let Some(cut) = cut {
        bytes.truncate(cut.index(bytes.len()));
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever happens to a file, it reads or an error names it.
    #[test]
    fn a_damaged_file_never_makes_a_reader_panic(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["optuna.db", "hyperfine-scan.json", "wandb-runs.csv", "sweep.yaml"] {
            let path = folder.path().join(name);
            fs::write(&path, damaged(&fs::read(sample(name)).unwrap(), &places, cut)).unwrap();
            let read = ForeignKind::of(&path).and_then(|kind| match kind {
                ForeignKind::Csv => Ok(ForeignRuns::default()),
                kind => read(&path, kind, None),
            });
            if let Err(error) = read {
                let error = error.to_string();
                prop_assert!(error.contains(name), "{}", error);
            }
        }
    }

    /// Whatever a run is called and set to, the study that is written loads.
    #[test]
    fn the_study_that_is_written_loads(
        values in prop::collection::vec(("[ -~äß]{0,9}", -9.0..9.0_f64), 2..12),
        name in "[a-zé /.-]{1,8}",
        note in "(?s).{0,20}",
    ) {
        let results = values.iter().map(|(text, value)| {
            (BTreeMap::from([(name.clone(), text.clone())]), BTreeMap::from([("y".to_owned(), value.to_string())]))
        });
        let found = of_pairs(results.collect(), vec![note]);
        let text = study_file(&found, ForeignKind::MlflowFolder, Path::new("s.toml"), Path::new("o"), None);
        if let Ok(text) = text {
            let study = Study::from_text(&text);
            prop_assert!(study.is_ok(), "{}\n{}", text, study.unwrap_err());
        }
    }
}
