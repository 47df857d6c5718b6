//! What users have at hand: errors as JSON, files of trials, studies side by side, names of any
//! script.

use serde_json::Value;

use crate::program::{Lab, shell_study};

/// Rules of a study whose trials print `y`.
const PRINTS_Y: &str =
    "[metrics.y]\nfrom = \"stdout\"\nobjective = \"minimize\"\n[analysis]\nresponse = \"y\"";

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let lab = Lab::with_study("schema = 1\n[study]\nnmae = \"x\"\n");
    let error = |code: i32, words: &[&str]| -> Value {
        let end = lab.expect(code, words);
        assert_eq!(end.stdout.lines().count(), 1, "{end:#?}");
        assert!(!end.stderr.is_empty(), "people are told, too");
        let reply: Value = serde_json::from_str(&end.stdout).unwrap();
        assert_eq!(reply["schema"], "trainwright/error/1");
        assert_eq!(reply["exit_code"], code);
        reply
    };
    let reply = error(2, &["check", "study.toml", "--json"]);
    let own = &reply["problems"][0];
    assert_eq!((own["line"].as_u64(), own["column"].as_u64()), (Some(3), Some(1)));
    assert_eq!(own["help"], "did you mean `name`?");
    assert_eq!(reply["kind"], "input");
    let reply = error(2, &["check", "absent.toml", "--json"]);
    assert!(reply["message"].as_str().unwrap().contains("absent.toml"), "{reply}");
    let reply = error(2, &["check", "--json", "--no-such-option"]);
    assert!(reply["message"].as_str().unwrap().contains("--no-such-option"), "{reply}");
    assert_eq!(lab.expect(2, &["check", "study.toml"]).stdout, "");
    assert!(lab.expect(0, &["check", "--json", "--help"]).stdout.starts_with("Check a study"));
}

#[test]
fn files_that_a_trial_left_are_listed_and_can_be_read() {
    let script = "mkdir $TRAINWRIGHT_DIR/out; printf 123 > $TRAINWRIGHT_DIR/out/model.bin; \
                  ln -s /etc/passwd $TRAINWRIGHT_DIR/link";
    let lab = Lab::with_study(&shell_study("[1, 2]", script, ""));
    lab.expect(0, &["run", "study.toml", "--report", "report.html"]);
    let files = lab.json(&["logs", "study.toml", "1", "--files", "--json"]);
    assert_eq!(files["files"], serde_json::json!([{ "name": "out/model.bin", "bytes": 3 }]));
    let text = lab.expect(0, &["logs", "study.toml", "1", "--files"]).stdout;
    assert!(text.contains("3 B  out/model.bin"), "{text}");
    let read = |name: &str, code| lab.expect(code, &["logs", "study.toml", "1", "--file", name]);
    assert_eq!(read("out/model.bin", 0).stdout, "123");
    for bad in ["../00002/params.json", "/etc/passwd", "link", "absent", ""] {
        assert_eq!(read(bad, 2).stdout, "", "{bad}");
    }
    assert!(lab.read("report.html").contains("out/model.bin"));
}

#[test]
fn several_studies_stand_in_one_table_and_page() {
    let study = |name: &str, base: u32| {
        let script =
            format!("echo \"::metric {{\\\"y\\\": $(({base} + x)).$((TRAINWRIGHT_SEED % 9))}}\"");
        shell_study("[1, 2]", &script, PRINTS_Y)
            .replace("type = \"full\"", "type = \"full\"\nreplications = 4")
            .replace("\"demo\"", &format!("{name:?}"))
    };
    let lab = Lab::with_study(&study("first", 10));
    lab.write("second.toml", study("zweite-größer", 20));
    for file in ["study.toml", "second.toml"] {
        lab.expect(0, &["run", file]);
    }
    let words = ["compare", "study.toml", "second.toml"];
    let reply = lab.json(&[&words[..], &["--json", "--report", "both.html"]].concat());
    assert_eq!(reply["schema"], "trainwright/compare-studies/1");
    assert_eq!(reply["studies"][1]["study"], "zweite-größer");
    assert_eq!(reply["comparison"]["levels"][0]["judgement"], "worse");
    let page = lab.read("both.html");
    assert!(page.contains("zweite-größer") && page.contains("studies-means"));
    let text = lab.expect(0, &words).stdout;
    assert!(text.contains(" first ") && text.contains("which is worse"), "{text}");
    lab.expect(2, &["compare", "study.toml", "--report", "one.html"]).says(&["several studies"]);
}

#[test]
fn names_of_any_script_and_length_go_through_every_verb() {
    let factor = "学習率_と_とても長い名前_".repeat(3);
    let level = "ein sehr langer Name mit Umlauten äöü und am Ende anders: ";
    let metric = "größe";
    let script =
        format!("echo \"::metric {{\\\"{metric}\\\": ${{x##*: }}.$((TRAINWRIGHT_SEED % 9))}}\"");
    let study = format!(
        "schema = 1\n[study]\nname = \"größenvergleich-学習\"\n[factors.\"{factor}\"]\n\
         levels = [\"{level}1\", \"{level}2\"]\n[design]\ntype = \"full\"\nreplications = 3\n\
         [run]\nenv.x = \"{{{factor}}}\"\ncommand = [\"sh\", \"-c\", '''{script}''']\n\
         [metrics.\"{metric}\"]\nfrom = \"stdout\"\n[metrics.double]\nexpr = \"2 * {metric}\"\n\
         objective = \"minimize\"\n"
    );
    let lab = Lab::with_study(&study);
    lab.expect(0, &["check", "study.toml"]);
    lab.expect(0, &["run", "study.toml", "--report", "report.html"]);
    let analysis = lab.json(&["analyze", "study.toml", "--json"]);
    assert_eq!(analysis["n"], 6);
    assert!(lab.expect(0, &["export", "study.toml"]).stdout.contains(metric));
    assert!(lab.read("report.html").contains("größenvergleich-学習"));
}
