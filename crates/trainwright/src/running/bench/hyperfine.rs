//! Results in the forms that hyperfine writes, for its scripts and for tables in documents.
//!
//! The JSON has the keys of both versions of its schema: means and times of a command (1) beside
//! measurements of each run and their summaries (2). They agree on all but two keys, which are those
//! of version 2 here: `parameters` are tables with a `value`, and `command` is the command even
//! where it has a `name`.

use serde_json::{Map, Value, json};
use trainwright_report::figure;
use trainwright_stats::sample;

use super::{BenchReply, BenchResult};

/// What version 2 calls the time from start to end.
const WALL: &str = "time_wall_clock";

/// The JSON that hyperfine's plotting scripts read; times in seconds.
pub fn hyperfine_json(reply: &BenchReply) -> String {
    let metric = Some(reply.metric.as_str()).filter(|own| *own != "time");
    let results: Vec<Value> = reply.results.iter().map(|own| one(own, metric)).collect();
    let text = serde_json::to_string_pretty(&json!({
        "schema_version": 2, "primary_metric": metric.unwrap_or(WALL), "results": results,
    }));
    text.expect("numbers and texts are JSON") + "\n"
}

fn one(own: &BenchResult, metric: Option<&str>) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    put("command", json!(own.command));
    if own.name != own.command && !own.name.contains('…') {
        put("name", json!(own.name));
    }
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
        let value = |(name, value): &(String, String)| (name.clone(), json!({ "value": value }));
        put("parameters", own.parameters.iter().map(value).collect());
    }
    let columns = columns(own, metric);
    let summaries = columns.iter().map(|column| (column.name.to_owned(), column.summary()));
    put("summary", summaries.collect());
    let runs = (0..own.times_s.len()).map(|run| {
        let cells = columns.iter().map(|column| (column.name.to_owned(), column.cell(run)));
        let exit_code = ("exit_code".to_owned(), json!(own.exit_codes.get(run)));
        cells.chain([exit_code]).collect::<Value>()
    });
    put("measurements", runs.collect());
    Value::Object(fields)
}

/// One figure of every run.
struct Column<'a> {
    name: &'a str,
    unit: Option<&'static str>,
    values: Vec<f64>,
}

/// What is known of all runs of a command: scripts expect it in each.
fn columns<'a>(own: &BenchResult, metric: Option<&'a str>) -> Vec<Column<'a>> {
    let second = Some("second");
    let both = own.user_times_s.iter().zip(&own.system_times_s);
    let mut columns = vec![
        Column { name: WALL, unit: second, values: own.times_s.clone() },
        Column { name: "time_cpu", unit: second, values: both.map(|(a, b)| a + b).collect() },
        Column { name: "time_user", unit: second, values: own.user_times_s.clone() },
        Column { name: "time_system", unit: second, values: own.system_times_s.clone() },
    ];
    let memory: Option<Vec<f64>> =
        own.memory_bytes.iter().map(|own| own.map(|bytes| bytes as f64)).collect();
    let memory =
        memory.map(|values| Column { name: "memory_peak_resident", unit: Some("byte"), values });
    let metric = metric.map(|name| Column { name, unit: None, values: own.values.clone() });
    columns.extend(memory.into_iter().chain(metric));
    columns.retain(|column| !column.values.is_empty() && column.values.len() == own.times_s.len());
    columns
}

impl Column<'_> {
    fn cell(&self, run: usize) -> Value {
        self.with_unit(json!({ "value": self.values[run] }))
    }

    fn summary(&self) -> Value {
        let values = &self.values;
        let sd = sample::variance(values).ok().map(f64::sqrt);
        self.with_unit(json!({
            "count": values.len(), "mean": sample::mean(values).ok(), "stddev": sd,
            "median": sample::median(values).ok(),
            "min": values.iter().copied().min_by(f64::total_cmp),
            "max": values.iter().copied().max_by(f64::total_cmp),
        }))
    }

    fn with_unit(&self, mut value: Value) -> Value {
        if let Some(unit) = self.unit {
            value["unit"] = json!(unit);
        }
        value
    }
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
            user_times_s: vec![0.25; values.len()],
            system_times_s: vec![0.5; values.len()],
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
        assert_eq!((&first["command"], &first["name"]), (&json!("a | cat"), &json!("a")));
        assert_eq!(first["mean"], 2.0);
        assert_eq!((&first["times"], &first["exit_codes"]), (&json!([1.0, 3.0]), &json!([0, 0])));
        assert_eq!(first["parameters"], json!({"size": {"value": "10"}}));
        assert_eq!(first["memory_usage_byte"], json!([7, 0]));
        let second = &json["results"][1];
        assert!(second["stddev"].is_null() && second.get("parameters").is_none());
        assert!(second.get("memory_usage_byte").is_none(), "memory that nobody saw is not told");
    }

    #[test]
    fn scripts_of_the_second_version_find_every_run_and_their_summaries() {
        let mut own = result("a", &[1.0, 3.0], None);
        own.memory_bytes = vec![Some(7), Some(9)];
        let json = hyperfine_json(&reply("time", vec![own, result("b", &[2.0], None)]));
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["schema_version"], &json["primary_metric"]), (&json!(2), &json!(WALL)));
        let first = &json["results"][0];
        assert_eq!(
            first["measurements"][1],
            json!({
                "time_wall_clock": { "value": 3.0, "unit": "second" },
                "time_cpu": { "value": 0.75, "unit": "second" },
                "time_user": { "value": 0.25, "unit": "second" },
                "time_system": { "value": 0.5, "unit": "second" },
                "memory_peak_resident": { "value": 9.0, "unit": "byte" },
                "exit_code": 0,
            })
        );
        assert_eq!(
            first["summary"][WALL],
            json!({
                "unit": "second", "count": 2, "mean": 2.0, "stddev": 2f64.sqrt(), "median": 2.0,
                "min": 1.0, "max": 3.0,
            })
        );
        let second = &json["results"][1];
        assert!(second["summary"][WALL]["stddev"].is_null());
        assert!(second["summary"].get("memory_peak_resident").is_none());
    }

    #[test]
    fn a_metric_stands_beside_the_times_of_its_runs_under_its_own_name() {
        let mut own = result("a", &[10.0, 30.0], None);
        own.times_s = vec![0.5, 0.5];
        let json = hyperfine_json(&reply("rate", vec![own, result("b", &[], None)]));
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["primary_metric"], "rate");
        let first = &json["results"][0];
        assert_eq!(first["summary"]["rate"]["mean"], 20.0);
        assert_eq!(first["summary"][WALL]["mean"], 0.5);
        assert_eq!(json["results"][1]["measurements"], json!([]));
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
