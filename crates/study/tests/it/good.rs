use trainwright_study::{
    Additions, AxialDistance, BlockSpec, Change, CommandWord, DesignKind, Direction, Domain, Face,
    Foldover, Level, MetricSource, RunOrder, Scale, Spread, Study, Task, study_schema,
};

pub(crate) const COMMAND_STUDY: &str = r#"schema = 1
[study]
name = "demo"
seed = 7
[factors.lr]
levels = [0.001, 0.01]
scale = "log"
[factors.batch]
levels = [32, 256]
[design]
type = "full"
replications = 2
[run]
command = ["python3", "train.py", "--lr", "{lr}", "--batch={batch}"]
timeout = "20m"
[metrics.time]
from = "wall"
unit = "s"
[metrics.accuracy]
from = "regex"
match = 'accuracy: (?P<value>[0-9.]+)'
range = [0, 1]
[metrics.cost]
expr = "time / (accuracy * 100)^2"
objective = "minimize"
"#;

pub(crate) const JOB_STUDY: &str = r#"schema = 1
[study]
name = "fashion"
[factors.neurons]
levels = [32, 128]
[factors.optimizer]
levels = ["sgd", "adam"]
[design]
type = "fractional"
runs = 2
generators = ["optimizer = neurons"]
[job]
network = "mlp"
data = "fashion-mnist-sample"
[metrics.accuracy]
from = "jsonl"
key = "test_accuracy"
objective = "maximize"
"#;

#[test]
fn a_command_study_reads_as_written() {
    let study = Study::from_text(COMMAND_STUDY).unwrap();
    assert_eq!(study.factors[0].scale, Scale::Log);
    assert_eq!((study.design.replications, study.design.order), (2, RunOrder::Randomized));
    assert_eq!(study.analysis.response, "cost");
    assert_eq!(study.analysis.terms, "main + 2fi");
    assert_eq!(study.direction(), Direction::Minimize);
    assert_eq!(study.run.timeout.unwrap().as_secs(), 1200);
    let Some(Task::Command(command)) = &study.task else { panic!("{:?}", study.task) };
    assert_eq!(command.words.len(), 5);
    assert!(matches!(command.words[4], CommandWord::One(_)));
    assert!(matches!(study.metrics[2].source, MetricSource::Expr { .. }));
}

#[test]
fn a_job_study_reads_as_written() {
    let study = Study::from_text(JOB_STUDY).unwrap();
    assert!(matches!(study.task, Some(Task::Job(_))));
    assert!(matches!(study.design.kind, DesignKind::Fractional { runs: Some(2), .. }));
    assert_eq!(study.direction(), Direction::Maximize);
}

#[test]
fn a_study_without_task_is_for_results_measured_elsewhere() {
    let text = COMMAND_STUDY.replace(
        "[run]\ncommand = [\"python3\", \"train.py\", \"--lr\", \"{lr}\", \"--batch={batch}\"]\ntimeout = \"20m\"\n",
        "",
    );
    assert!(Study::from_text(&text).unwrap().task.is_none());
}

#[test]
fn coded_table_rows_become_levels() {
    let text = COMMAND_STUDY
        .replace("type = \"full\"", "type = \"table\"\nrows = [[-1, 1], [1, -1]]\ncoded = true");
    let study = Study::from_text(&text).unwrap();
    let DesignKind::Table { rows } = &study.design.kind else { panic!() };
    assert_eq!(rows[0].to_string(), "lr=0.001 batch=256");
    assert_eq!(rows[1].to_string(), "lr=0.01 batch=32");
}

#[test]
fn a_conditional_factor_stands_in_a_group_of_words() {
    let text = COMMAND_STUDY
        .replace("levels = [32, 256]", "levels = [32, 256]\nwhen = \"lr < 0.005\"")
        .replace("\"--batch={batch}\"", "[\"--batch\", \"{batch}\"]");
    let study = Study::from_text(&text).unwrap();
    let Some(Task::Command(command)) = &study.task else { panic!() };
    assert!(matches!(command.words[4], CommandWord::Group(_)));
}

#[test]
fn a_factor_may_be_hard_to_change() {
    let text =
        COMMAND_STUDY.replace("levels = [32, 256]", "levels = [32, 256]\nhard_to_change = true");
    let changes: Vec<Change> =
        Study::from_text(&text).unwrap().factors.iter().map(|factor| factor.change).collect();
    assert_eq!(changes, [Change::Easy, Change::Hard]);
}

#[test]
fn a_range_has_its_ends_as_levels_and_takes_what_lies_between() {
    let text = COMMAND_STUDY.replace("levels = [32, 256]", "range = { from = 32, to = 256 }");
    let study = Study::from_text(&text).unwrap();
    let batch = study.factor("batch").unwrap();
    assert_eq!(batch.domain, Domain::Range);
    assert_eq!(batch.levels, [Level::Integer(32), Level::Integer(256)]);
    assert_eq!(batch.value(&Level::Integer(100)), Some(Level::Integer(100)));
    assert_eq!(batch.value(&Level::Number(32.0)), Some(Level::Integer(32)));
    assert_eq!(batch.value(&Level::Integer(257)), None);
    assert_eq!(study.factor("lr").unwrap().value(&Level::Number(0.005)), None);
}

#[test]
fn designs_read_with_their_own_keys() {
    let of = |design: &str| {
        let text = COMMAND_STUDY.replace("type = \"full\"", design);
        Study::from_text(&text).unwrap_or_else(|fault| panic!("{fault}")).design
    };
    let composite = of("type = \"central-composite\"\nface = \"face-centred\"\ncenter_points = 5");
    let (face, alpha, center_points) = (Face::FaceCentred, AxialDistance::Rotatable, Some([0, 5]));
    assert_eq!(composite.kind, DesignKind::CentralComposite { face, alpha, center_points });
    let hypercube = of("type = \"latin-hypercube\"\nruns = 9\nspread = \"plain\"");
    assert_eq!(hypercube.kind, DesignKind::LatinHypercube { runs: 9, spread: Spread::Plain });
    let folded =
        of("type = \"fractional\"\nruns = 2\nfoldover = \"lr\"\ncenter_points = 3\nblocks = 2");
    let expected = Additions {
        centre_points: 3,
        foldover: Some(Foldover::On("lr".to_owned())),
        blocks: Some(BlockSpec::Count(2)),
    };
    assert_eq!(folded.additions, expected);
    assert_eq!(of("type = \"full\"").additions, Additions::default());
}

#[test]
fn a_preparation_is_a_script_or_a_list_of_words() {
    let words = |prepare: &str| {
        let text = COMMAND_STUDY.replace("timeout = \"20m\"", prepare);
        let study = Study::from_text(&text).unwrap();
        study.run.prepare.unwrap().words(|_| Some("a b".to_owned())).unwrap()
    };
    assert_eq!(words("prepare = [\"mkdir\", \"{lr}\"]"), ["mkdir", "a b"]);
    let script = words("prepare = \"mkdir {lr}\"");
    assert_eq!((&*script[0], &*script[1]), ("sh", "-c"));
    assert!(script[2].contains("'a b'"), "{}", script[2]);
}

#[test]
fn trials_from_before_a_factor_have_the_value_that_the_study_says() {
    let threads = "[factors.threads]\nlevels = [1, 2]\nbefore = 1\n\
                   [factors.pin]\nlevels = [true, false]\nwhen = \"threads == 2\"\nbefore = true\n[design]";
    let text = COMMAND_STUDY
        .replace("[design]", threads)
        .replace("\"--batch={batch}\"", "\"{batch}\", \"{params}\"");
    let study = Study::from_text(&text).unwrap_or_else(|fault| panic!("{fault}"));
    let of =
        |json: &str| study.with_earlier_values(&serde_json::from_str(json).unwrap()).to_string();
    assert_eq!(of(r#"{"lr":0.01,"batch":32}"#), "lr=0.01 batch=32 threads=1");
    assert_eq!(
        of(r#"{"lr":0.01,"batch":32,"threads":2,"pin":false}"#),
        "lr=0.01 batch=32 threads=2 pin=false"
    );
}

#[test]
fn the_schema_describes_every_table() {
    let schema = study_schema();
    assert_eq!(schema["title"], "Trainwright study");
    for table in ["study", "factors", "design", "job", "run", "metrics", "analysis", "budget"] {
        assert!(schema["properties"][table]["description"].is_string(), "{table}");
    }
}
