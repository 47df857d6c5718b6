//! Results in the forms that hyperfine writes, for its scripts and for tables in documents.

use serde_json::{Map, Value, json};
use trainwright_report::figure;

use super::{BenchReply, BenchResult};

/// The JSON that hyperfine's plotting scripts read; times in seconds.
pub fn hyperfine_json(reply: &BenchReply) -> String {
    let results: Vec<Value> = reply.results.iter().map(one).collect();
    let text = serde_json::to_string_pretty(&json!({ "results": results }));
    text.expect("numbers and texts are JSON") + "\n"
}

fn one(own: &BenchResult) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    put("command", json!(if own.name.contains('…') { &own.command } else { &own.name }));
    put("mean", json!(own.mean));
    put("stddev", json!(own.sd));
    put("median", json!(own.median));
    put("user", json!(own.user_s));
    put("system", json!(own.system_s));
    put("min", json!(own.min));
    put("max", json!(own.max));
    put("times", json!(own.values));
    if own.memory_bytes.iter().any(Option::is_some) {
        let known: Vec<u64> = own.memory_bytes.iter().map(|own| own.unwrap_or(0)).collect();
        put("memory_usage_byte", json!(known));
    }
    put("exit_codes", json!(own.exit_codes));
    if !own.parameters.is_empty() {
        let named: Map<String, Value> =
            own.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        put("parameters", Value::Object(named));
    }
    Value::Object(fields)
}

/// One row a command, with the columns that hyperfine's CSV has.
///
/// # Panics
/// Never: rows are written to memory.
pub fn bench_csv(reply: &BenchReply) -> String {
    let mut rows = csv::Writer::from_writer(Vec::new());
    let names = parameter_names(reply);
    let head = ["command", "mean", "stddev", "median", "user", "system", "min", "max"];
    let parameters = names.iter().map(|name| format!("parameter_{name}"));
    let head: Vec<String> = head.map(str::to_owned).into_iter().chain(parameters).collect();
    let written = "writing to memory cannot fail";
    rows.write_record(head).expect(written);
    for own in &reply.results {
        let number = |value: Option<f64>| value.map_or_else(String::new, |own| own.to_string());
        let figures = [own.mean, own.sd, own.median, own.user_s, own.system_s, own.min, own.max];
        let values = names.iter().map(|name| {
            let found = own.parameters.iter().find(|(own, _)| own == name);
            found.map_or_else(String::new, |(_, value)| value.clone())
        });
        let cells = std::iter::once(own.command.clone()).chain(figures.map(number)).chain(values);
        rows.write_record(cells).expect(written);
    }
    String::from_utf8(rows.into_inner().expect(written)).expect("cells are texts")
}

/// A table for a document.
pub fn bench_markdown(reply: &BenchReply) -> String {
    let (scale, unit) = match (&reply.unit, reply.metric.as_str()) {
        (_, "time") if reply.results.iter().all(|own| own.mean.is_none_or(|mean| mean < 1.0)) => {
            (1000.0, "ms".to_owned())
        }
        (unit, _) => (1.0, unit.clone().unwrap_or_else(|| reply.metric.clone())),
    };
    let mut text = format!(
        "| Command | Mean [{unit}] | Min [{unit}] | Max [{unit}] | Relative | Runs |\n\
         |:---|---:|---:|---:|---:|---:|\n"
    );
    let base = reply.comparison.as_ref().map(|own| own.baseline.mean);
    for own in &reply.results {
        let shown = |value: Option<f64>| value.map_or_else(String::new, |own| figure(own * scale));
        let sd = own.sd.map_or_else(String::new, |sd| format!(" ± {}", figure(sd * scale)));
        let relative = own.mean.zip(base).filter(|(_, base)| *base > 0.0);
        text.push_str(&format!(
            "| `{}` | {}{sd} | {} | {} | {} | {} |\n",
            own.command.replace('|', "\\|").replace('\n', " "),
            shown(own.mean),
            shown(own.min),
            shown(own.max),
            relative.map_or_else(String::new, |(mean, base)| format!("{:.3}", mean / base)),
            own.runs,
        ));
    }
    text
}

fn parameter_names(reply: &BenchReply) -> Vec<String> {
    let first = reply.results.first();
    first.map_or_else(Vec::new, |own| own.parameters.iter().map(|(name, _)| name.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::BenchEnd;
    use super::*;

    fn result(name: &str, values: &[f64], size: Option<&str>) -> BenchResult {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        BenchResult {
            name: name.to_owned(),
            command: format!("{name} | cat"),
            parameters: size.map(|own| ("size".to_owned(), own.to_owned())).into_iter().collect(),
            runs: values.len(),
            failed: 0,
            mean: (!values.is_empty()).then_some(mean),
            sd: (values.len() > 1).then_some(0.5),
            ci_low: None,
            ci_high: None,
            median: values.first().copied(),
            min: values.first().copied(),
            max: values.last().copied(),
            wall_s: Some(mean),
            user_s: Some(0.25),
            system_s: None,
            peak_memory_bytes: None,
            values: values.to_vec(),
            times_s: values.to_vec(),
            memory_bytes: vec![None; values.len()],
            exit_codes: vec![Some(0); values.len()],
        }
    }

    fn reply(metric: &str, results: Vec<BenchResult>) -> BenchReply {
        BenchReply {
            metric: metric.to_owned(),
            unit: Some("s".to_owned()),
            objective: None,
            seed: 1,
            end: BenchEnd::Complete,
            rounds: 2,
            shell: None,
            shell_start_s: None,
            results,
            comparison: None,
            ranks: Vec::new(),
            verdict: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn scripts_of_hyperfine_find_their_fields() {
        let mut own = result("a", &[1.0, 3.0], Some("10"));
        own.memory_bytes = vec![Some(7), None];
        let json = hyperfine_json(&reply("time", vec![own, result("b", &[2.0], None)]));
        let json: Value = serde_json::from_str(&json).unwrap();
        let first = &json["results"][0];
        assert_eq!((&first["command"], &first["mean"]), (&json!("a"), &json!(2.0)));
        assert_eq!((&first["times"], &first["exit_codes"]), (&json!([1.0, 3.0]), &json!([0, 0])));
        assert_eq!(first["parameters"], json!({"size": "10"}));
        assert_eq!(first["memory_usage_byte"], json!([7, 0]));
        let second = &json["results"][1];
        assert!(second["stddev"].is_null() && second.get("parameters").is_none());
        assert!(second.get("memory_usage_byte").is_none(), "memory that nobody saw is not told");
    }

    #[test]
    fn a_table_has_a_row_a_command_and_empty_cells_for_what_is_not_known() {
        let csv = bench_csv(&reply(
            "time",
            vec![result("a", &[1.0, 3.0], Some("1,0")), result("b", &[], Some("2"))],
        ));
        let rows: Vec<&str> = csv.lines().collect();
        assert_eq!(rows[0], "command,mean,stddev,median,user,system,min,max,parameter_size");
        assert_eq!(rows[1], "a | cat,2,0.5,1,0.25,,1,3,\"1,0\"");
        assert_eq!(rows[2], "b | cat,,,,0.25,,,,2");
    }

    #[test]
    fn a_table_for_a_document_keeps_its_columns_and_its_unit() {
        let quick = bench_markdown(&reply("time", vec![result("a", &[0.25, 0.25], None)]));
        let rows: Vec<&str> = quick.lines().collect();
        assert!(rows[0].contains("Mean [ms]"), "{quick}");
        assert_eq!(rows[2], "| `a \\| cat` | 250 ± 500 | 250 | 250 |  | 2 |");
        let slow = bench_markdown(&reply(
            "time",
            vec![result("a", &[0.25], None), result("b", &[4.0], None)],
        ));
        assert!(slow.contains("Mean [s]"), "one second and more are told in seconds: {slow}");
        let rate = BenchReply { unit: None, ..reply("rate", vec![result("a", &[0.25], None)]) };
        assert!(bench_markdown(&rate).contains("Mean [rate]"));
    }
}
