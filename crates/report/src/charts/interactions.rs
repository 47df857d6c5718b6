//! Mean response by pairs of levels: lines that are not parallel interact.

use serde_json::{Value, json};
use trainwright_analysis::{Analysis, CellMean, Interaction};
use trainwright_study::Level;

use super::{Chart, dash, range, series_colour, shared_axis, title};
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
    let series: Vec<Value> = b_levels
        .iter()
        .enumerate()
        .map(|(index, b)| {
            let colour = series_colour(index);
            let data: Value =
                a_levels.iter().map(|a| point(interaction, cell(interaction, a, b))).collect();
            json!({
                "type": "line", "name": format!("{} = {b}", interaction.b), "data": data,
                "symbol": if index % 2 == 0 { "circle" } else { "rect" }, "symbolSize": 8,
                "lineStyle": { "color": colour, "type": dash(index) },
                "itemStyle": { "color": colour },
            })
        })
        .collect();
    let names: Vec<String> = a_levels.iter().map(ToString::to_string).collect();
    Chart {
        option: json!({
            "title": title(&format!("{} by {}", interaction.a, interaction.b)),
            "legend": { "top": 24, "left": 0 },
            "grid": { "top": 52 },
            "xAxis": { "type": "category", "data": names, "name": interaction.a },
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
