//! Mean response by pairs of levels: lines that are not parallel interact.

use serde_json::{Value, json};
use trainwright_analysis::{Analysis, CellMean, Interaction};
use trainwright_study::Level;

use crate::charts::labels::{ALONG_THE_AXIS, BESIDE_A_BAR, factor_label, labels};
use crate::charts::{Chart, dash, range, series_colour, shared_axis, title};
use crate::figure::{figure, for_chart};

/// Levels of the first factor along the axis, a line a level of the second; all interactions
/// share the vertical scale.
pub(crate) fn interaction(analysis: &Analysis, interaction: &Interaction, response: &str) -> Chart {
    let cells = analysis.interactions.iter().flat_map(|own| &own.cells);
    let (low, high) = range(cells.filter_map(|cell| cell.mean));
    let (a_levels, b_levels) = (
        distinct(interaction.cells.iter().map(|cell| &cell.a_level)),
        distinct(interaction.cells.iter().map(|cell| &cell.b_level)),
    );
    let names: Vec<String> = a_levels.iter().map(ToString::to_string).collect();
    let names = labels(&names, ALONG_THE_AXIS / names.len().max(1));
    let lines: Vec<String> = b_levels.iter().map(ToString::to_string).collect();
    let lines = labels(&lines, BESIDE_A_BAR);
    let [along, lines_of] =
        [&interaction.a, &interaction.b].map(|own| factor_label(analysis, own, BESIDE_A_BAR));
    let series: Vec<Value> = b_levels
        .iter()
        .enumerate()
        .map(|(index, b)| {
            let colour = series_colour(index);
            let data: Value =
                a_levels.iter().map(|a| point(interaction, cell(interaction, a, b))).collect();
            json!({
                "type": "line", "name": format!("{lines_of} = {}", lines[index]), "data": data,
                "symbol": if index % 2 == 0 { "circle" } else { "rect" }, "symbolSize": 8,
                "lineStyle": { "color": colour, "type": dash(index) },
                "itemStyle": { "color": colour },
            })
        })
        .collect();
    Chart {
        option: json!({
            "title": title(&format!("{along} by {lines_of}")),
            "legend": { "top": 24, "left": 0 },
            "grid": { "top": 52 },
            "xAxis": { "type": "category", "data": names, "name": along, "axisLabel": { "interval": 0 } },
            "yAxis": shared_axis(low, high),
            "series": series,
        }),
        summary: format!(
            "Mean {response} by {} with a line for each level of {}.",
            interaction.a, interaction.b
        ),
        height: 240,
    }
}

fn distinct<'a>(levels: impl Iterator<Item = &'a Level>) -> Vec<&'a Level> {
    let mut seen: Vec<&Level> = Vec::new();
    for level in levels {
        if !seen.iter().any(|own| own.same_as(level)) {
            seen.push(level);
        }
    }
    seen
}

fn cell<'a>(interaction: &'a Interaction, a: &Level, b: &Level) -> Option<&'a CellMean> {
    interaction.cells.iter().find(|cell| cell.a_level.same_as(a) && cell.b_level.same_as(b))
}

fn point(interaction: &Interaction, cell: Option<&CellMean>) -> Value {
    let Some((cell, mean)) = cell.and_then(|cell| Some((cell, cell.mean?))) else {
        return Value::Null;
    };
    let Interaction { a, b, .. } = interaction;
    let tip = format!(
        "{a} = {}, {b} = {}\nmean {}\nn = {}",
        cell.a_level,
        cell.b_level,
        figure(mean),
        cell.n
    );
    json!({ "value": for_chart(mean), "tip": tip })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::analysis;

    fn cell(a: Level, b: &str, mean: Option<f64>) -> CellMean {
        CellMean {
            a_level: a,
            b_level: Level::Text(b.to_owned()),
            mean,
            n: usize::from(mean.is_some()),
        }
    }

    #[test]
    fn a_pair_that_never_ran_is_a_gap_and_a_level_written_twice_is_one() {
        let own = Interaction {
            a: "n".to_owned(),
            b: "kind".to_owned(),
            cells: vec![
                cell(Level::Integer(1), "x", Some(4.0)),
                cell(Level::Number(1.0), "y", Some(6.0)),
                cell(Level::Integer(2), "x", None),
                cell(Level::Integer(2), "y", Some(8.0)),
            ],
        };
        let mut all = analysis(vec![]);
        all.interactions = vec![own.clone()];
        let chart = interaction(&all, &own, "loss");
        assert_eq!(chart.option["xAxis"]["data"], json!(["1", "2"]));
        let series = chart.option["series"].as_array().unwrap();
        assert_eq!(series.len(), 2);
        assert_eq!(series[0]["name"], "kind = x");
        assert_eq!(series[0]["data"][0]["tip"], "n = 1, kind = x\nmean 4\nn = 1");
        assert!(series[0]["data"][1].is_null(), "a line must not run through a mean of nothing");
        assert_eq!(series[1]["data"][1]["value"], 8.0);
        // The means reach from 4 to 8, and 6 % of that are left on either side.
        assert_eq!(chart.option["yAxis"]["min"], 3.76);
        assert_eq!(chart.option["yAxis"]["max"], 8.24);
        assert_eq!(chart.summary, "Mean loss by n with a line for each level of kind.");
    }
}
