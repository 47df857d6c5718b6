//! Parallel coordinates: a factor a place on the axis, a trial a line.

use serde_json::{Value, json};
use trainwright_study::{Direction, Level, Study};

use super::{Chart, with_unit};
use crate::figure::{figure, for_chart};
use crate::input::ReportTrial;

/// Groups of lines by response, each in a colour of its own.
const GROUPS: usize = 4;

/// A place on the axis: where a level stands between 0 and 1, and the words at both ends.
struct Place {
    levels: Vec<Level>,
    numbers: Option<(f64, f64)>,
}

/// One line a trial; the last place is the response.
pub(crate) fn parallel(study: &Study, trials: &[(&ReportTrial, f64)]) -> Chart {
    let response = study.response();
    let name = with_unit(&response.name, response.unit.as_deref());
    let places: Vec<Place> = study.factors.iter().map(|own| place(&own.name, trials)).collect();
    let low = trials.iter().map(|own| own.1).fold(f64::INFINITY, f64::min);
    let high = trials.iter().map(|own| own.1).fold(f64::NEG_INFINITY, f64::max);
    let mut names: Vec<String> = study
        .factors
        .iter()
        .zip(&places)
        .map(|(factor, own)| format!("{}\n{}", shortened(&factor.name), own.words()))
        .collect();
    names.push(format!("{}\n{} to {}", shortened(&name), figure(low), figure(high)));
    let mut ordered: Vec<&(&ReportTrial, f64)> = trials.iter().collect();
    ordered.sort_by(|a, b| match study.direction() {
        Direction::Minimize => b.1.total_cmp(&a.1),
        Direction::Maximize => a.1.total_cmp(&b.1),
    });
    let all = ordered.len();
    // The best are drawn last, above the others.
    let series: Vec<Value> = ordered
        .into_iter()
        .enumerate()
        .map(|(index, (trial, value))| {
            let group = (all - 1 - index) * GROUPS / all.max(1);
            let mut points: Vec<Value> = study
                .factors
                .iter()
                .zip(&places)
                .map(|(factor, own)| {
                    own.at(trial.configuration.get(&factor.name)).map_or(json!("-"), Value::from)
                })
                .collect();
            points.push(json!(share(*value, low, high)));
            line(trial, *value, group, &points)
        })
        .collect();
    Chart {
        option: json!({
            "tips": { "x": "", "y": "" },
            "legend": { "top": 0, "selectedMode": true },
            "grid": { "top": 32 },
            "xAxis": { "type": "category", "data": names, "axisLabel": { "interval": 0, "lineHeight": 16, "margin": 10 } },
            "yAxis": { "type": "value", "min": 0, "max": 1, "axisLabel": { "show": false } },
            "series": series,
        }),
        summary: format!(
            "Parallel coordinates of {} trials over {} factors and {name}, coloured by {name} from \
             the best quarter to the worst.",
            trials.len(),
            study.factors.len()
        ),
        height: 420,
    }
}

fn line(trial: &ReportTrial, value: f64, group: usize, points: &[Value]) -> Value {
    let (name, colour) = match group {
        0 => ("best quarter", "$s1"),
        1 => ("second quarter", "$s4"),
        2 => ("third quarter", "$s5"),
        _ => ("worst quarter", "$muted"),
    };
    let tip = format!("trial {}: {}\n{}", trial.number, trial.configuration, figure(value));
    let data: Vec<Value> = points.iter().map(|own| json!({ "value": own, "tip": tip })).collect();
    json!({
        "type": "line", "name": name, "data": data, "symbol": "none", "triggerLineEvent": true,
        "lineStyle": { "color": colour, "width": 1.2, "opacity": 0.7 },
        "itemStyle": { "color": colour }, "emphasis": { "focus": "series" },
    })
}

fn place(factor: &str, trials: &[(&ReportTrial, f64)]) -> Place {
    let mut levels: Vec<Level> = Vec::new();
    for (trial, _) in trials {
        if let Some(level) = trial.configuration.get(factor)
            && !levels.iter().any(|own| own.same_as(level))
        {
            levels.push(level.clone());
        }
    }
    let numbers: Option<Vec<f64>> = levels.iter().map(Level::number).collect();
    let numbers = numbers.filter(|own| !own.is_empty()).map(|own| {
        let low = own.iter().copied().fold(f64::INFINITY, f64::min);
        (low, own.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    });
    if numbers.is_none() {
        levels.sort_by_key(ToString::to_string);
    }
    Place { levels, numbers }
}

impl Place {
    /// Numbers stand by their rank where they span decades, so that small ones do not collapse.
    fn at(&self, level: Option<&Level>) -> Option<f64> {
        let level = level?;
        match (self.numbers, level.number()) {
            (Some((low, high)), Some(value)) if low > 0.0 && high / low > 20.0 => {
                Some(share(value.ln(), low.ln(), high.ln()))
            }
            (Some((low, high)), Some(value)) => Some(share(value, low, high)),
            _ => {
                let index = self.levels.iter().position(|own| own.same_as(level))?;
                Some(share(index as f64, 0.0, (self.levels.len() - 1) as f64))
            }
        }
    }

    fn words(&self) -> String {
        match (self.numbers, self.levels.as_slice()) {
            (Some((low, high)), levels) => {
                let word = |wanted: f64| {
                    let own = levels.iter().find(|own| own.number() == Some(wanted));
                    shortened(&own.map_or_else(|| figure(wanted), ToString::to_string))
                };
                if high > low { format!("{} to {}", word(low), word(high)) } else { word(low) }
            }
            (None, [first, .., last]) => {
                let [first, last] = [first, last].map(|own| shortened(&own.to_string()));
                format!("{first} to {last}")
            }
            (None, [one]) => shortened(&one.to_string()),
            (None, []) => String::new(),
        }
    }
}

/// Where a value stands between two others; in the middle where they are one.
fn share(value: f64, low: f64, high: f64) -> f64 {
    if high > low { for_chart((value - low) / (high - low)) } else { 0.5 }
}

/// A name that leaves room for its neighbours.
fn shortened(name: &str) -> String {
    const MOST: usize = 14;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).chain(['\u{2026}']).collect()
}

#[cfg(test)]
mod tests {
    use trainwright_study::TrialState;

    use super::*;
    use crate::tests::{SmallStudy, trial};

    #[test]
    fn every_line_has_a_point_a_factor_and_one_for_the_response() {
        let own = SmallStudy::with("", "");
        let trials = [1, 2].map(|row| trial(row, row, TrialState::Finished, Some(f64::from(row))));
        let shown: Vec<_> = trials.iter().map(|own| (own, own.measurements[0].value)).collect();
        let chart = parallel(&own.study, &shown);
        let series = chart.option["series"].as_array().unwrap();
        assert_eq!(series.len(), 2);
        let places = own.study.factors.len() + 1;
        assert!(series.iter().all(|own| own["data"].as_array().unwrap().len() == places));
        // Small is best, and the best is drawn last.
        assert_eq!(series[1]["name"], "best quarter");
        assert_eq!(series[1]["data"][places - 1]["value"], 0.0);
        assert_eq!(series[0]["data"][places - 1]["value"], 1.0);
    }

    #[test]
    fn a_value_without_a_span_stands_in_the_middle_and_long_names_are_cut() {
        assert_eq!(share(3.0, 3.0, 3.0), 0.5);
        assert_eq!(share(3.0, 2.0, 4.0), 0.5);
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened("a_very_long_name_of_a_factor"), "a_very_long_n\u{2026}");
    }
}
