//! What every verb prints as JSON: the names of all fields, as programs outside rely on them.
//!
//! `json_contracts.txt` holds one line a field. After an intended change, print it again with
//! `TRAINWRIGHT_PRINT_CONTRACTS=1 cargo test --release -p trainwright-cli json_contracts`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::data::speedtest::write_pictures;
use crate::program::{Lab, shell_study};

/// Names of all fields; an entry of a list or of an object with names of its own is `*`.
fn fields(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(own) => {
            for (name, value) in own {
                let name = if OWN_NAMES.iter().any(|end| path.ends_with(end)) { "*" } else { name };
                let path = format!("{path}.{name}");
                fields(value, &path, found);
                found.insert(path);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| fields(item, &format!("{path}[]"), found));
        }
        _ => {}
    }
}

/// Objects whose fields are named by the user, or by a count.
const OWN_NAMES: [&str; 11] = [
    ".degrees",
    ".baselines",
    ".values",
    "runs[].metrics",
    ".aliases",
    ".word_length_pattern",
    ".configuration",
    ".features",
    ".first[]",
    "stats.effects",
    "export.rows[]",
];

/// The fields of one verb's object, under its name.
fn of(lab: &Lab, name: &str, words: &[&str]) -> BTreeSet<String> {
    let end = lab.run(words);
    assert!(matches!(end.code, Some(0 | 1)), "{words:?} gave {end:#?}");
    let mut found = BTreeSet::new();
    for (number, line) in objects(&end.stdout).iter().enumerate() {
        let first = line.as_object().and_then(|own| own.keys().next());
        let event = line["event"].as_str().unwrap_or("object");
        assert!(
            event != "object" || first.is_some_and(|first| first == "schema"),
            "{words:?}, object {number}: the schema comes first"
        );
        let name = if event == "object" { name.to_owned() } else { format!("{name}:{event}") };
        fields(line, &name, &mut found);
    }
    found
}

fn objects(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().map(Result::unwrap).collect()
}

/// A lab in which every verb has something to tell.
fn lab() -> Lab {
    let script = "echo \"::metric {\\\"y\\\": $x.5}\"; test $x != 3";
    let more =
        "[metrics.y]\nfrom = \"stdout\"\nobjective = \"minimize\"\n[analysis]\nresponse = \"y\"";
    let study = shell_study("[1, 2, 3]", script, more)
        .replace("type = \"full\"", "type = \"full\"\nreplications = 3");
    let lab = Lab::with_study(&study);
    lab.write("sweep.toml", study.replace("\"demo\"", "\"sweep\""));
    let wide = "levels = [1, 2, 3, 4, 5, 6]\n[factors.z]\nlevels = [1, 2, 3]";
    let hunt = shell_study("[0]", "echo \"::metric {\\\"y\\\": $x.{z}}\"", more)
        .replace("levels = [0]", wide)
        .replace("\"demo\"", "\"hunt\"")
        .replace(
            "[design]\ntype = \"full\"",
            "[search]\nmethod = \"bayesian\"\nbudget = { trials = 9 }",
        );
    lab.write("hunt.toml", &hunt);
    let asked = "schema = 1\n[study]\nname = \"asked\"\n[factors.x]\nlevels = [1, 2]\n[metrics.y]\nobjective = \"minimize\"\n\
                 [search]\nmethod = \"random\"\nbudget = { trials = 2 }\n";
    lab.write("asked.toml", asked);
    lab.write("log", "::metric {\"y\": 1}\n");
    write_pictures(&lab, (24, 32));
    let mut rows = "time,cores,seed,steps,y,lr,batch\n".to_owned();
    for row in 0..36 {
        let (cores, lr, batch) = (1 + row % 3, row / 3 % 3, row / 9 % 3);
        let noise = f64::from(row * 7 % 5) / 50.0;
        let time = 3.0 / f64::from(cores) + 1.0 + noise;
        let y = f64::from((lr - 1) * (lr - 1) + (batch - 1) * (batch - 1)) + noise;
        rows += &format!("{time},{cores},{},{},{y},{lr},{batch}\n", row / 3, 10 * row + 10);
    }
    lab.write("runs.csv", rows);
    lab.write("p.csv", "p\n0.01\n0.04\n0.2\n");
    lab.write("y8.csv", "y\n1\n2.5\n3\n4.2\n9\n8\n7.7\n6\n");
    lab.write("rows.csv", "a,b\n-1,-1\n1,-1\n-1,1\n1,1\n-1,1\n");
    let mut cloud =
        "workload,vm_type,nodes,elapsed_s,price_usd_per_hour,vcpus,memory_gib\n".to_owned();
    for (work, size) in [("a", 100), ("b", 200)] {
        for nodes in 1..=4 {
            cloud += &format!("{work},m.large,{nodes},{},0.1,2,8\n", size / nodes + 10);
        }
    }
    lab.write("cloud.csv", cloud);
    lab.write(
        "parts.csv",
        "nodes,share,elapsed_s\n1,0.1,20\n2,0.1,15\n4,0.2,16\n8,0.4,14\n2,0.3,26\n",
    );
    lab.write("results.csv", "x,y\n1,1\n1,2\n2,3\n2,4\n");
    lab
}

#[test]
fn the_fields_of_every_verb_stay() {
    let lab = lab();
    let found: BTreeSet<String> = VERBS
        .iter()
        .flat_map(|(name, words)| of(&lab, name, &words.split(' ').collect::<Vec<_>>()))
        .collect();
    let found: String = found.iter().map(|line| format!("{line}\n")).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/contracts/json_contracts.txt");
    if std::env::var_os("TRAINWRIGHT_PRINT_CONTRACTS").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    let found: BTreeSet<&str> = found.lines().collect();
    // Fields may be added.
    let gone: Vec<_> = expected.lines().filter(|line| !found.contains(line)).collect();
    assert!(gone.is_empty(), "these fields are gone: {gone:#?}");
}

/// Every verb with JSON, in an order in which each finds what it needs.
const VERBS: &[(&str, &str)] = &[
    ("init", "init first.toml --json"),
    ("check", "check study.toml --json"),
    ("run", "run study.toml --report report.html --json"),
    ("search", "search hunt.toml --json"),
    ("ask", "ask asked.toml --json"),
    ("tell", "tell asked.toml --trial 1 --value y=1 --json"),
    ("status", "status study.toml --json"),
    ("logs", "logs study.toml 1 --json"),
    ("exclude", "exclude study.toml 1 --undo --json"),
    ("export", "export study.toml --format json"),
    ("machine", "machine --measure --json"),
    ("import", "import results.csv --study sweep.toml --json"),
    ("analyze", "analyze study.toml --json"),
    ("analyze", "analyze --data runs.csv --formula time~cores*lr --json"),
    ("report", "report study.toml -o report.html --json"),
    ("compare", "compare --data runs.csv --column time --by cores --json"),
    ("scaling", "scaling --data runs.csv --column time --workers cores --predict 4,8 --json"),
    ("overhead", "overhead --data runs.csv --column time --steps steps --by cores --json"),
    ("correlate", "correlate --data runs.csv --column time --json"),
    (
        "surface",
        "surface --data runs.csv --column y --factors lr,batch --objective minimize --json",
    ),
    ("compare-studies", "compare study.toml sweep.toml --json"),
    ("logs-files", "logs study.toml 1 --files --json"),
    ("doctor", "doctor --json"),
    ("findings", "findings --json"),
    ("findings ID", "findings no-replication --json"),
    ("stats", "stats shapiro-wilk --data runs.csv --column time --json"),
    ("stats", "stats anderson-darling --data runs.csv --column time --json"),
    ("stats", "stats jarque-bera --data runs.csv --column time --json"),
    ("stats", "stats kruskal --data runs.csv --column time --by cores --json"),
    ("stats", "stats levene --data runs.csv --column time --by cores --json"),
    ("stats", "stats tukey --data runs.csv --column time --by cores --json"),
    ("stats", "stats pearson --data runs.csv --column time --with steps --json"),
    ("stats", "stats spearman --data runs.csv --column time --with steps --json"),
    ("stats", "stats kendall --data runs.csv --column time --with steps --json"),
    ("stats", "stats wilcoxon --data runs.csv --column time --with lr --json"),
    ("stats", "stats paired-t --data runs.csv --column time --with lr --json"),
    ("stats", "stats bootstrap --data runs.csv --column time --with lr --json"),
    ("stats", "stats box-cox --data runs.csv --formula time~cores --json"),
    ("stats", "stats p-adjust --data p.csv --column p --json"),
    ("stats", "stats lenth --data y8.csv --column y --json"),
    ("design full", "design full --levels 2,3 --json"),
    ("design blocks", "design full --factors 4 --blocks 2 --json"),
    ("design fractional", "design fractional --factors 6 --runs 16 --json"),
    ("design plackett-burman", "design plackett-burman --factors 5 --runs 12 --json"),
    ("design central-composite", "design central-composite --factors 2 --json"),
    ("design box-behnken", "design box-behnken --factors 3 --json"),
    ("design latin-hypercube", "design latin-hypercube --factors 2 --runs 8 --json"),
    ("design sobol", "design sobol --factors 2 --runs 8 --json"),
    ("design foldover", "design foldover --factors 5 --runs 8 --json"),
    ("design mixed", "design mixed --levels 2,3,3 --json"),
    ("design d-optimal", "design d-optimal --levels 3,2 --runs 6 --json"),
    ("design augment", "design augment --data rows.csv --add 2 --json"),
    ("queue mmc", "queue mmc --arrival 40/h --service-time 4m --target-response 10m --json"),
    ("queue mmck", "queue mmck --arrival 5 --service 1 --servers 4 --capacity 12 --json"),
    (
        "queue finite",
        "queue finite --population 9 --arrival 2/h --service-time 10m --servers 2 --json",
    ),
    (
        "queue ggc",
        "queue ggc --arrival 3.2 --service 1 --servers 4 --scv-arrival 1 --scv-service 3 --json",
    ),
    ("queue priority", "queue priority --arrival 0.2,0.3 --service 1 --target-response 9 --json"),
    ("queue simulate", "queue simulate mm1 --arrival 0.5 --service 1 --jobs 5000 --json"),
    (
        "queue simulate priority",
        "queue simulate priority --arrival 0.2,0.3 --service 1 --jobs 5000 --json",
    ),
    (
        "queue fit",
        "queue fit --data runs.csv --column time --unit s --interarrival steps --arrival 40/h --json",
    ),
    ("cloud catalog", "cloud catalog --json"),
    (
        "cloud experiments",
        "cloud experiments --parts 4..32 --of 256 --nodes 1..8 --cores 2 --budget 20 --json",
    ),
    ("cloud foretell", "cloud foretell parts.csv --nodes 8,16 --json"),
    ("cloud recommend", "cloud recommend machines.json --nodes 1,2 --max-time 2h --json"),
    ("cloud tell", "cloud tell machines.json --vm-type c6i.large --time 12m --metric cpu=8 --json"),
    (
        "cloud replay",
        "cloud replay --runs cloud.csv --method default,random --objective cost --json",
    ),
    ("bench", "bench -N --runs 3 true false --ignore-failure --json"),
    ("load", "load study.toml --rate 300/s --jobs 12 --slots 50 --json"),
    (
        "data prepare",
        "data prepare photos --out shards --size 8 --shards 2 --split 0.5,0.25,0.25 --json",
    ),
    ("data verify", "data verify shards/train --json"),
    ("data inspect", "data inspect shards/train --json"),
    ("data speedtest", "data speedtest photos --size 8 --batch-size 1,2 --batch-number 1,2 --json"),
    ("network", "network mlp:784-8-10 --json"),
    ("plan", "plan mlp:784-8-10 --machine 4-k80 --batch 32 --examples 640 --proposals 50 --json"),
    ("train", "train --neurons 4 --batch 500 --checkpoint kept --json"),
    ("predict", "predict kept --json"),
    ("metrics test", "metrics test log --study study.toml --json"),
];
