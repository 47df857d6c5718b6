//! Parallel coordinates: a factor a place on the axis, a trial a line.

use serde_json::{Value, json};
use trainwright_study::{Direction, Factor, Level, Scale, Study};

use super::labels::{labels, shortened};
use super::{Chart, with_unit};
use crate::figure::{figure, for_chart};
use crate::input::ReportTrial;

/// Groups of lines by response, each in a colour of its own.
const GROUPS: usize = 4;
/// Columns of a name below the axis.
const NAME: usize = 12;
/// Columns of a level below that.
const LEVEL: usize = 10;

/// A place on the axis: where a level stands between 0 and 1, and the words at both ends.
struct Place {
    levels: Vec<Level>,
    numbers: Option<(f64, f64)>,
    scale: Scale,
}

/// One line a trial; the last place is the response.
pub(crate) fn parallel(study: &Study, trials: &[(&ReportTrial, f64)]) -> Chart {
    let response = study.response();
    let name = with_unit(&response.name, response.unit.as_deref());
    let places: Vec<Place> = study.factors.iter().map(|own| place(own, trials)).collect();
    let low = trials.iter().map(|own| own.1).fold(f64::INFINITY, f64::min);
    let high = trials.iter().map(|own| own.1).fold(f64::NEG_INFINITY, f64::max);
    let factors: Vec<String> = study.factors.iter().map(|own| own.name.clone()).collect();
    let factors = labels(&factors, NAME).into_iter().zip(&places);
    let mut names: Vec<String> =
        factors.map(|(factor, own)| format!("{factor}\n{}", own.words())).collect();
    names.push(format!("{}\n{} to {}", shortened(&name, NAME), figure(low), figure(high)));
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
            "xAxis": { "type": "category", "data": names, "fitted": true, "axisLabel": { "lineHeight": 16, "margin": 10 } },
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

fn place(factor: &Factor, trials: &[(&ReportTrial, f64)]) -> Place {
    let mut levels: Vec<Level> = Vec::new();
    for (trial, _) in trials {
        if let Some(level) = trial.configuration.get(&factor.name)
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
    Place { levels, numbers, scale: factor.scale }
}

impl Place {
    /// Numbers stand by the factor's scale; there are no ratios of what is not positive.
    fn at(&self, level: Option<&Level>) -> Option<f64> {
        let level = level?;
        match (self.numbers, level.number()) {
            (Some((low, high)), Some(value)) => {
                let scale = if low > 0.0 { self.scale } else { Scale::Linear };
                let [value, low, high] = [value, low, high].map(|own| scale.position(own));
                Some(share(value, low, high))
            }
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
                    brief(&own.map_or_else(|| figure(wanted), ToString::to_string))
                };
                if high > low { format!("{} to {}", word(low), word(high)) } else { word(low) }
            }
            (None, [first, .., last]) => {
                let ends = labels(&[first.to_string(), last.to_string()], LEVEL);
                ends.join(" to ")
            }
            (None, [one]) => brief(&one.to_string()),
            (None, []) => String::new(),
        }
    }
}

/// Where a value stands between two others; in the middle where they are one.
fn share(value: f64, low: f64, high: f64) -> f64 {
    if high > low { for_chart((value - low) / (high - low)) } else { 0.5 }
}

/// A level in a few columns.
fn brief(level: &str) -> String {
    labels(&[level.to_owned()], LEVEL).swap_remove(0)
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
        assert_eq!(brief("short"), "short");
        assert_eq!(brief("0.00316227766017"), "0.00316228");
    }

    #[test]
    fn numbers_stand_by_the_scale_of_their_factor() {
        let at = |scale: Scale, low: f64| {
            let levels = [low, 10.0, 100.0].map(Level::Number).to_vec();
            let own = Place { levels, numbers: Some((low, 100.0)), scale };
            own.at(Some(&Level::Number(10.0)))
        };
        assert_eq!(at(Scale::Log, 1.0), Some(0.5));
        assert_eq!(at(Scale::Log2, 1.0), Some(0.5));
        assert_eq!(at(Scale::Linear, 1.0), Some(for_chart(9.0 / 99.0)));
        assert_eq!(at(Scale::Log, -100.0), Some(0.55), "no ratio of negative numbers");
    }
}
