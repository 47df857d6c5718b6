//! Mistakes of the field reports that the names of columns give away, and their clean twins.

use trainwright_analysis::{
    Coding, Formula, Severity, Table, TableOptions, TermOrder, analyze_table,
};

use crate::support::{report_d_results, table};

/// Findings of an analysis of a table.
fn findings(table: &Table, formula: &str) -> Vec<(&'static str, String)> {
    let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
    let options = TableOptions { coding: Coding::Raw, ..TableOptions::default() };
    let found = analyze_table(table, &formula, &options).unwrap();
    assert!(found.findings.iter().all(|f| f.reference.is_some()));
    found.findings.into_iter().map(|f| (f.id, f.text)).collect()
}

fn csv(text: &str) -> Table {
    Table::from_csv(text.as_bytes(), &[]).unwrap()
}

#[track_caller]
fn fires(table: &Table, formula: &str, id: &str, words: &str) {
    let found = findings(table, formula);
    let own = found.iter().find(|f| f.0 == id).unwrap_or_else(|| panic!("{id} in {found:?}"));
    assert!(own.1.contains(words), "{}", own.1);
}

#[track_caller]
fn silent(table: &Table, formula: &str, id: &str) {
    let found = findings(table, formula);
    assert!(found.iter().all(|f| f.0 != id), "{found:?}");
}

#[test]
fn report_a_changed_the_batch_at_one_learning_rate() {
    let (id, formula) = ("batch-at-unscaled-rate", "train_accuracy ~ batch");
    let words = "falls from 83.8 at batch 256 to 52.8 at batch 512 (mirrored)";
    fires(&table("reports/a_strategies.csv", &[]), formula, id, words);
    let head = "strategy,batch,lr,train_accuracy\n";
    silent(&csv(&format!("{head}m,64,0.1,82\nm,256,0.4,83.8\nm,512,0.8,52.8\n")), formula, id);
    silent(&csv(&format!("{head}m,64,0.1,82\nm,256,0.1,83.8\nm,512,0.1,83\n")), formula, id);
}

#[test]
fn report_c_called_many_passes_an_epoch_and_had_no_validation_split() {
    let formula = "train_accuracy ~ epochs";
    let epochs = table("reports/c_epochs.csv", &[]);
    fires(&epochs, formula, "epoch-is-not-a-pass", "about 32 passes");
    fires(&epochs, formula, "no-validation-split", "test_accuracy");
    let clean = csv(
        "epochs,batch,steps,examples,train_accuracy,validation_accuracy,test_accuracy\n\
         1,32,1875,60000,0.82,0.81,0.80\n2,32,3750,60000,0.86,0.85,0.84\n3,32,5625,60000,0.88,0.86,0.85\n",
    );
    silent(&clean, formula, "epoch-is-not-a-pass");
    silent(&clean, formula, "no-validation-split");
}

#[test]
fn report_e_timed_evaluation_and_blamed_the_network() {
    let modes = table("reports/e_modes.csv", &[]);
    let words = "56.1 % to 78.9 % of the time unexplained";
    fires(&modes, "time_min ~ step_time_ms", "evaluation-inside-the-time", words);
    let network = table("reports/e_network.csv", &[]);
    fires(
        &network,
        "time_s ~ steps",
        "network-not-the-limit",
        "1.2 % to 2.6 % of an assumed 1 Gb/s link",
    );
    fires(&network, "time_s ~ steps", "bytes-per-step-alike", "8.27 kB and 9.2 kB");
    let clean = csv("mode,steps,step_time_ms,time_s,network_mb,link_gbps\n\
         a,1000,10,10.4,900,1\nb,1000,20,20.9,1600,1\nc,1000,15,15.2,3100,2\n");
    for id in ["evaluation-inside-the-time", "network-not-the-limit", "bytes-per-step-alike"] {
        silent(&clean, "time_s ~ step_time_ms", id);
    }
}

#[test]
fn report_d_compared_raw_coefficients() {
    let data = Table::from_csv(std::fs::File::open(report_d_results()).unwrap(), &[]).unwrap();
    let id = "raw-coefficients";
    let formula = "cost_exact ~ n_nodes + n_executors + n_executor_cores + \
                   n_epochs*learning_rate*batch_size";
    fires(&data, formula, id, "learning_rate has the coefficient +3.56 although");
    let main = "cost_exact ~ n_nodes + n_epochs + learning_rate + batch_size";
    silent(&data, main, id);
    let parsed = Formula::parse(formula, TermOrder::Formula).unwrap();
    let coded = TableOptions { coding: Coding::Coded, ..TableOptions::default() };
    let found = analyze_table(&data, &parsed, &coded).unwrap();
    assert!(found.findings.iter().all(|f| f.id != id));
    assert!(found.findings.windows(2).all(|w| w[0].severity >= w[1].severity));
    assert_eq!(found.findings[0].severity, Severity::Serious);
}

#[test]
fn names_are_known_whatever_their_case_and_unit() {
    let told =
        csv("Batch-Size,N_Epochs,Iterations,Dataset Size,y\n32,1,6000,6000,1\n32,1,6000,6000,2\n");
    fires(&told, "y ~ 1", "epoch-is-not-a-pass", "32 passes");
    // A time without a unit means nothing.
    silent(
        &csv("steps,step_time,time,y\n10,1,100,1\n10,1,100,2\n"),
        "y ~ 1",
        "evaluation-inside-the-time",
    );
}
