//! What one trial used over time; the reader chooses the trial.

use serde_json::{Map, Value, json};
use trainwright_study::Series;

use crate::charts::{Chart, packed, title, value_axis};
use crate::thin::thin;

/// A kind of resource with its own chart.
#[derive(Debug)]
pub(crate) struct Channel {
    /// Key in the data block and in the chart's id.
    pub(crate) key: &'static str,
    heading: &'static str,
    axis: &'static str,
    /// Divides the values of a series.
    divisor: f64,
    /// Names of its series and what to call them.
    series: &'static [(&'static str, &'static str)],
}

const MIB: f64 = 1024.0 * 1024.0;

const CHANNELS: [Channel; 7] = [
    Channel {
        key: "cpu",
        heading: "CPU of the trial's processes",
        axis: "cores",
        divisor: 1.0,
        series: &[
            ("cpu.user", "user"),
            ("cpu.system", "kernel"),
            ("cpu.waiting", "waiting for a core"),
        ],
    },
    Channel {
        key: "memory",
        heading: "Memory of the trial's processes",
        axis: "MiB",
        divisor: MIB,
        series: &[("memory", "resident")],
    },
    Channel {
        key: "disk",
        heading: "Disk traffic of the trial's processes",
        axis: "MiB/s",
        divisor: MIB,
        series: &[("disk.read", "read"), ("disk.write", "write")],
    },
    Channel {
        key: "network",
        heading: "Network traffic of the machine",
        axis: "MiB/s",
        divisor: MIB,
        series: &[("network.received", "received"), ("network.sent", "sent")],
    },
    Channel {
        key: "gpu",
        heading: "Computing of the GPUs",
        axis: "%",
        divisor: 1.0,
        series: &[
            ("gpu0.utilization", "GPU 0"),
            ("gpu1.utilization", "GPU 1"),
            ("gpu2.utilization", "GPU 2"),
            ("gpu3.utilization", "GPU 3"),
        ],
    },
    Channel {
        key: "gpu-memory",
        heading: "Memory of the GPUs",
        axis: "MiB",
        divisor: MIB,
        series: &[
            ("gpu0.memory", "GPU 0"),
            ("gpu1.memory", "GPU 1"),
            ("gpu2.memory", "GPU 2"),
            ("gpu3.memory", "GPU 3"),
        ],
    },
    Channel {
        key: "gpu-power",
        heading: "Power of the GPUs",
        axis: "W",
        divisor: 1.0,
        series: &[
            ("gpu0.power", "GPU 0"),
            ("gpu1.power", "GPU 1"),
            ("gpu2.power", "GPU 2"),
            ("gpu3.power", "GPU 3"),
        ],
    },
];

impl Channel {
    /// Whether a series belongs to this channel.
    pub(crate) fn holds(&self, series: &Series) -> bool {
        self.series.iter().any(|(name, _)| *name == series.name)
    }

    /// The lines of one trial.
    fn lines(&self, series: &[Series], most_points: usize) -> Value {
        self.series
            .iter()
            .filter_map(|(name, shown)| {
                let own = series.iter().find(|own| own.name == *name)?;
                let values: Vec<f64> =
                    own.values.iter().map(|value| value / self.divisor).collect();
                Some(json!([shown, packed(&thin(&own.at, &values, most_points))]))
            })
            .collect()
    }
}

/// The channels that have a chart.
pub(crate) fn channels() -> &'static [Channel] {
    &CHANNELS
}

/// The empty chart of a channel; the script fills it with the chosen trial.
pub(crate) fn channel(channel: &Channel) -> Chart {
    let mut vertical = value_axis(channel.axis);
    vertical["scale"] = json!(false);
    vertical["min"] = json!(0);
    Chart {
        option: json!({
            "title": title(channel.heading),
            "channel": channel.key,
            "tips": { "x": "s", "y": channel.axis },
            "legend": { "top": 24, "left": 0, "itemStyle": { "opacity": 0 } },
            "grid": { "top": 52 },
            "xAxis": value_axis("seconds since the start"),
            "yAxis": vertical,
            "series": [],
        }),
        summary: format!("{} over the time of the chosen trial.", channel.heading),
        height: 240,
    }
}

/// The timelines of one trial, by channel.
pub(crate) fn timelines(number: u32, series: &[Series], most_points: usize) -> Value {
    let mut lines = Map::new();
    for channel in &CHANNELS {
        lines.insert(channel.key.to_owned(), channel.lines(series, most_points));
    }
    json!({ "trial": number, "channels": lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, values: &[f64]) -> Series {
        Series {
            name: name.to_owned(),
            axis: "s".to_owned(),
            unit: String::new(),
            at: (0..values.len()).map(|at| at as f64).collect(),
            values: values.to_vec(),
        }
    }

    #[test]
    fn bytes_are_shown_in_mebibytes_and_cores_as_they_are() {
        let own = [
            series("cpu.system", &[0.5, 1.5]),
            series("memory", &[3.0 * MIB, 5.0 * MIB]),
            series("metric.loss", &[9.0, 8.0]),
        ];
        let told = timelines(7, &own, 100);
        assert_eq!(told["trial"], 7);
        // A series that was not measured has no line; one that is no resource has none either.
        assert_eq!(told["channels"]["cpu"].as_array().unwrap().len(), 1);
        assert_eq!(told["channels"]["cpu"][0][0], "kernel");
        assert_eq!(told["channels"]["cpu"][0][1]["from"], json!([0.0, 0.5]));
        assert_eq!(told["channels"]["memory"][0][1]["from"], json!([0.0, 3.0]));
        assert_eq!(told["channels"]["memory"][0][1]["step"][1], json!(0.001));
        assert_eq!(told["channels"]["disk"], json!([]));
    }

    #[test]
    fn every_channel_starts_at_zero_and_holds_its_series_alone() {
        for own in channels() {
            let chart = channel(own);
            assert_eq!(chart.option["yAxis"]["min"], 0, "{}", own.key);
            assert_eq!(chart.option["yAxis"]["scale"], false, "{}", own.key);
            assert_eq!(chart.option["channel"], own.key);
        }
        let holders =
            |name: &str| channels().iter().filter(|own| own.holds(&series(name, &[]))).count();
        for name in ["cpu.user", "memory", "disk.read", "disk.write", "network.sent"] {
            assert_eq!(holders(name), 1, "{name}");
        }
        assert_eq!(holders("metric.memory"), 0);
    }
}
