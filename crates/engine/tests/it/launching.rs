use std::fs;
use std::path::Path;

use trainwright_engine::render;
use trainwright_study::{Configuration, Level, Outcome};

use crate::lab::{ACC, Lab};

#[test]
fn a_trial_finds_its_parameters_in_words_variables_and_files() {
    let script = "echo \"$TRAINWRIGHT_STUDY $TRAINWRIGHT_TRIAL $TRAINWRIGHT_REPLICATE\"
                  echo \"$TRAINWRIGHT_SEED $LEVEL $1\"
                  cat $TRAINWRIGHT_PARAMS; echo; cat $TRAINWRIGHT_DIR/params.json; echo
                  echo \"$TRAINWRIGHT_STOP_FILE\"; pwd; read x; echo \"read $?\"";
    let lab = Lab::new(script, "env = { LEVEL = \"<{x}>\" }", ACC);
    let record = lab.run();
    let folder = fs::canonicalize(lab.trial_folder(1)).unwrap();
    let workdir = fs::canonicalize(lab.path("")).unwrap();
    let expected = format!(
        "lab 1 1\n77 <2> 2\n{{\"x\":2}}\n{{\"x\":2}}\n{}\n{}\nread 1\n",
        folder.join("stop").display(),
        workdir.display(),
    );
    assert_eq!(fs::read_to_string(folder.join("stdout")).unwrap(), expected);
    assert_eq!(record.environment["LEVEL"], "<2>");
    assert_eq!(record.environment["TRAINWRIGHT_DIR"], folder.to_str().unwrap());
}

#[test]
fn the_prepare_command_runs_first_in_the_same_place() {
    let script = "cat prepared; echo '::metric {\"acc\": 1}'";
    let lab = Lab::new(script, "prepare = \"echo {x} $TRAINWRIGHT_TRIAL > prepared\"", ACC);
    let record = lab.run();
    assert_eq!(record.outcome, Outcome::Finished);
    assert!(record.output_end.starts_with("2 1\n"), "{}", record.output_end);
}

#[test]
fn another_attempt_starts_with_a_clean_folder() {
    let script = "ls $TRAINWRIGHT_DIR > listing; touch $TRAINWRIGHT_DIR/rubbish
                  mkdir $TRAINWRIGHT_DIR/logs; echo '{\"acc\": 1}' >> $TRAINWRIGHT_METRICS";
    let lab = Lab::new(script, "", ACC);
    lab.run();
    let first = fs::read_to_string(lab.path("listing")).unwrap();
    assert_eq!(lab.run().outcome, Outcome::Finished);
    assert_eq!(fs::read_to_string(lab.path("listing")).unwrap(), first);
    assert_eq!(first, "params.json\nstderr\nstdout\n");
}

#[test]
fn a_group_of_words_needs_all_its_factors() {
    let tables = format!(
        "[factors.x]\nlevels = [1, 2]\n[factors.momentum]\nlevels = [0.5, 0.9]\nwhen = \"x == 1\"\n\
         [run]\ncommand = [\"train\", \"--x={{x}}\", [\"--momentum\", \"{{momentum}}\"], \
         \"{{trial.dir}}/out\", \"{{params}}\", \"{{seed}}-{{trial}}-{{replicate}}\"]\n\
         env = {{ MOMENTUM = \"{{momentum}}\" }}\nworkdir = \"sub{{x}}\"\n{ACC}"
    );
    let lab = Lab::of_tables(&tables);
    let mut trial = Lab::trial(4);
    let launch = render(lab.study(), &trial, Path::new("/t"), Path::new("p")).unwrap();
    let last = ["/t/out", "/t/params.json", "77-4-1"];
    assert_eq!(launch.command, [&["train", "--x=2"][..], &last].concat());
    assert!(!launch.environment.contains_key("MOMENTUM"));
    assert!(launch.workdir.ends_with("sub2"));

    let pairs = [("x", Level::Integer(1)), ("momentum", Level::Number(0.9))];
    trial.configuration =
        Configuration::new(pairs.map(|(name, level)| (name.to_owned(), level)).to_vec());
    let launch = render(lab.study(), &trial, Path::new("/t"), Path::new("p")).unwrap();
    let words = [&["train", "--x=1", "--momentum", "0.9"][..], &last].concat();
    assert_eq!(launch.command, words);
    assert_eq!(launch.environment["MOMENTUM"], "0.9");
}

#[test]
fn a_job_is_given_to_the_program_itself() {
    let lab = Lab::of_tables(&format!(
        "[factors.lr]\nlevels = [0.1, 0.2]\n[job]\nnetwork = \"mlp\"\ndata = \"sample\"\n{ACC}"
    ));
    let mut trial = Lab::trial(3);
    trial.configuration = Configuration::new(vec![("lr".to_owned(), Level::Number(0.1))]);
    let launch = render(lab.study(), &trial, Path::new("/t"), Path::new("/bin/tw")).unwrap();
    assert_eq!(launch.command, ["/bin/tw", "job", "/t/job.json"]);
    let (_, job) = launch.files.iter().find(|(name, _)| *name == "job.json").unwrap();
    assert!(job.contains("\"lr\":0.1") && job.contains("\"seed\":77"), "{job}");
}
