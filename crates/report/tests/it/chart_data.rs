//! Charts draw the numbers of the analysis, and nothing else.

use std::collections::BTreeMap;

use serde_json::Value;
use trainwright_analysis::{Analysis, Formula, TableOptions, TermOrder, analyze_csv};
use trainwright_report::{ReportTrial, TableReport, html, table_html};
use trainwright_study::{Level, TrialState};

use crate::page::{chart, summary, unpacked};
use crate::simulated::Simulated;

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Six digits are drawn.
#[track_caller]
fn check_close(shown: f64, expected: f64) {
    assert!((shown - expected).abs() <= 6e-6 * expected.abs() + 1e-12, "{shown} for {expected}");
}

fn series(chart: &Value) -> &Vec<Value> {
    chart["series"].as_array().expect("a chart has series")
}

fn data(series: &Value) -> &Vec<Value> {
    series["data"].as_array().expect("a series has data")
}

fn analysed() -> (String, Analysis) {
    let simulated = Simulated::new(3, 20);
    (html(&simulated.input()), simulated.analysis.expect("it can be analysed"))
}

/// Three levels of `kind` with four results each; the first differs from the others.
fn of_kinds() -> (String, Analysis) {
    let mut csv = "kind,y\n".to_owned();
    for (kind, mean) in [("a", 10.0), ("b", 20.0), ("c", 20.5)] {
        for noise in [-0.6, -0.1, 0.2, 0.5] {
            csv += &format!("{kind},{}\n", mean + noise);
        }
    }
    let formula = Formula::parse("y ~ kind", TermOrder::Formula).unwrap();
    let analysis =
        analyze_csv(csv.as_bytes(), &[], &formula, &TableOptions::default()).expect("it reads");
    let page = TableReport { name: "k.csv", analysis: &analysis, program: "t", written_at: "now" };
    (table_html(&page), analysis)
}

#[test]
fn the_pareto_chart_has_a_bar_a_term_of_its_share_largest_first() {
    let (page, analysis) = analysed();
    let chart = chart(&page, "pareto");
    let names: Vec<&str> = chart["yAxis"]["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own.as_str().unwrap())
        .collect();
    let mut bars = BTreeMap::new();
    for bar in series(&chart).iter().flat_map(data) {
        let place = bar["value"][1].as_u64().unwrap() as usize;
        assert!(bars.insert(place, number(&bar["value"][0])).is_none(), "two bars in one place");
        assert!(bar["tip"].as_str().unwrap().starts_with(names[place]), "{bar}");
    }
    assert_eq!(bars.len(), names.len());
    for (place, name) in names.iter().enumerate() {
        let effect = analysis.effects.iter().find(|own| own.term == *name).unwrap();
        check_close(bars[&place], effect.percent.unwrap());
        assert!(place == 0 || bars[&place] <= bars[&(place - 1)], "{name} is out of order");
    }
    let words = summary(&page, "pareto");
    assert!(words.contains(&format!("the largest is {}", names[0])), "{words}");
}

#[test]
fn bars_are_coloured_by_whether_they_stand_out() {
    let (page, analysis) = analysed();
    let chart = chart(&page, "pareto");
    for own in series(&chart) {
        let out = own["name"] == "stands out from the noise";
        assert_eq!(own["itemStyle"]["color"] == "$accent", out, "{own}");
        for bar in data(own) {
            let name = bar["tip"].as_str().unwrap().lines().next().unwrap();
            let effect = analysis.effects.iter().find(|effect| effect.term == name).unwrap();
            assert_eq!(effect.p_adjusted.unwrap() <= analysis.alpha, out, "{name}");
        }
    }
}

#[test]
fn main_effects_are_the_means_of_their_levels_on_one_scale() {
    let (page, analysis) = analysed();
    let mut scales = Vec::new();
    for (number_of, effect) in (1..).zip(&analysis.main_effects) {
        let number_of: u32 = number_of;
        let chart = chart(&page, &format!("main-effect-{number_of}"));
        assert_eq!(chart["title"]["text"], effect.factor.as_str());
        let (bars, means) = (&series(&chart)[0], &series(&chart)[1]);
        for (index, level) in effect.levels.iter().enumerate() {
            check_close(number(&data(means)[index]["value"]), level.mean.unwrap());
            let [low, high, gap] = [0, 1, 2].map(|part| &data(bars)[3 * index + part]);
            check_close(number(&low[1]), level.ci_low.unwrap());
            check_close(number(&high[1]), level.ci_high.unwrap());
            assert!(gap[1].is_null(), "the pen is lifted between two intervals");
        }
        scales.push((chart["yAxis"]["min"].clone(), chart["yAxis"]["max"].clone()));
    }
    assert!(scales.len() == 5 && scales.iter().all(|own| *own == scales[0]), "{scales:?}");
}

#[test]
fn interactions_come_strongest_first_with_a_line_a_level() {
    let (page, analysis) = analysed();
    let percent = |a: &str, b: &str| {
        let names = [format!("{a}:{b}"), format!("{b}:{a}")];
        let effect = analysis.effects.iter().find(|own| names.contains(&own.term)).unwrap();
        effect.percent.unwrap()
    };
    let mut last = f64::INFINITY;
    for place in 1..=analysis.interactions.len() {
        let chart = chart(&page, &format!("interaction-{place}"));
        let title = chart["title"]["text"].as_str().unwrap().to_owned();
        let (a, b) = title.split_once(" by ").unwrap();
        assert!(percent(a, b) <= last, "{title} is out of order");
        last = percent(a, b);
        let own = analysis.interactions.iter().find(|own| own.a == a && own.b == b).unwrap();
        assert_eq!(series(&chart).len(), 2, "two levels");
        for line in series(&chart) {
            let level = line["name"].as_str().unwrap().split_once(" = ").unwrap().1;
            for (point, name) in data(line).iter().zip(chart["xAxis"]["data"].as_array().unwrap()) {
                let cell = own.cells.iter().find(|cell| {
                    cell.a_level.to_string() == name.as_str().unwrap()
                        && cell.b_level.to_string() == level
                });
                check_close(number(&point["value"]), cell.unwrap().mean.unwrap());
            }
        }
    }
}

#[test]
fn residuals_are_drawn_against_fitted_values_order_and_normal_quantiles() {
    let (page, analysis) = analysed();
    let n = analysis.residuals.len();
    for id in ["residuals-fitted", "residuals-order", "residuals-quantiles"] {
        let chart = chart(&page, id);
        assert_eq!(data(&series(&chart)[0]).len(), n, "{id}");
        assert!(
            summary(&page, id).starts_with(&format!("{n} residuals"))
                || id != "residuals-quantiles"
        );
    }
    let fitted = chart(&page, "residuals-fitted");
    let sum: f64 = data(&series(&fitted)[0]).iter().map(|point| number(&point[1])).sum();
    let size: f64 = analysis.residuals.iter().map(|own| own.residual.abs()).sum();
    assert!(sum.abs() < 1e-4 * size, "residuals of an equation with a constant sum to 0: {sum}");
    let band = chart(&page, "residuals-quantiles");
    let [below, above] = [2, 3].map(|index| data(&series(&band)[index]).clone());
    for (low, high) in below.iter().zip(&above) {
        assert!(number(&low[1]) < number(&high[1]) && low[0] == high[0]);
    }
}

#[test]
fn the_histogram_counts_every_residual() {
    let (page, analysis) = analysed();
    let chart = chart(&page, "residuals-histogram");
    let counted: f64 = data(&series(&chart)[0]).iter().map(|bar| number(&bar["value"])).sum();
    assert_eq!(counted as usize, analysis.residuals.len());
    assert_eq!(
        data(&series(&chart)[0]).len(),
        chart["xAxis"]["data"].as_array().unwrap().len(),
        "every bar has its name"
    );
}

#[test]
fn the_half_normal_plot_names_what_stands_out() {
    let (page, analysis) = analysed();
    let chart = chart(&page, "half-normal");
    let points: Vec<&Value> = series(&chart)[..2].iter().flat_map(data).collect();
    assert_eq!(points.len(), analysis.half_normal.len());
    for point in points {
        let own =
            analysis.half_normal.iter().find(|own| point["name"] == own.term.as_str()).unwrap();
        check_close(number(&point["value"][0]), own.quantile);
        check_close(number(&point["value"][1]), own.effect);
        let effect = analysis.effects.iter().find(|effect| effect.term == own.term).unwrap();
        let active = effect.p_adjusted.unwrap() <= analysis.alpha;
        assert!(active || point["label"]["show"] == false, "{} is noise, but named", own.term);
    }
}

#[test]
fn levels_that_differ_leave_out_zero() {
    let (page, analysis) = of_kinds();
    let chart = chart(&page, "level-differences-1");
    let pairs = &analysis.level_differences[0].pairs;
    assert_eq!(chart["yAxis"]["data"].as_array().unwrap().len(), 3);
    for (colour, differs) in [("$accent", true), ("$muted", false)] {
        let dots = series(&chart)
            .iter()
            .find(|own| own["type"] == "scatter" && own["itemStyle"]["color"] == colour);
        for dot in data(dots.unwrap()) {
            let pair = &pairs[dot["value"][1].as_u64().unwrap() as usize];
            check_close(number(&dot["value"][0]), pair.difference);
            assert_eq!(pair.low > 0.0 || pair.high < 0.0, differs, "{} and {}", pair.a, pair.b);
        }
    }
    let words = summary(&page, "level-differences-1");
    assert_eq!(words, "Differences between levels of kind: 2 of 3 pairs leave out zero.");
}

#[test]
fn learning_curves_are_those_of_the_trials_within_a_step_of_the_screen() {
    let simulated = Simulated::new(1, 30);
    let page = html(&simulated.input());
    let chart = chart(&page, "curve-1");
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for line in series(&chart) {
        let label = line["label_of_line"].as_str().unwrap();
        let (number_of, _) = label.strip_prefix("trial ").unwrap().split_once(':').unwrap();
        let trial = &simulated.trials[number_of.parse::<usize>().unwrap() - 1];
        let own = &trial.series[0];
        let name = line["name"].as_str().unwrap().to_owned();
        let row = trial.row.unwrap() as usize;
        assert_eq!(*names.entry(name).or_insert(row), row, "a name is of one row");
        let points = unpacked(line);
        assert_eq!(points.len(), own.at.len(), "{label}");
        let span = own.values.iter().copied().fold(0.0, f64::max);
        for ((x, y), (at, value)) in points.iter().zip(own.at.iter().zip(&own.values)) {
            assert!((x - at).abs() < 0.5 && (y - value).abs() < 1e-3 * span, "{label}: {x}, {y}");
        }
    }
}

#[test]
fn trials_of_one_row_share_their_colour() {
    let simulated = Simulated::new(2, 10);
    let page = html(&simulated.input());
    let chart = chart(&page, "curve-1");
    let mut colours: BTreeMap<String, String> = BTreeMap::new();
    for line in series(&chart) {
        let row = line["name"].as_str().unwrap().to_owned();
        let colour = format!("{} {}", line["color"], line["dash"]);
        assert_eq!(colours.entry(row).or_insert_with(|| colour.clone()), &colour);
    }
    assert_eq!(colours.len(), 16);
    let distinct: std::collections::BTreeSet<&String> = colours.values().collect();
    assert_eq!(distinct.len(), 16, "rows are told apart by colour and dashes");
}

#[test]
fn timelines_belong_to_their_trials_and_channels() {
    let simulated = Simulated::new(1, 10);
    let page = html(&simulated.input());
    let data = crate::page::data_block(&page);
    let resources = data["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 16);
    for (trial, own) in (1..).zip(resources) {
        assert_eq!(own["trial"], trial);
        let channels = own["channels"].as_object().unwrap();
        let keys: Vec<&str> = channels.keys().map(String::as_str).collect();
        let expected = ["cpu", "memory", "disk", "network", "gpu", "gpu-memory", "gpu-power"];
        assert_eq!(keys, expected);
        // The first line of the processor is its time for the program.
        let line = serde_json::json!({ "packed": channels["cpu"][0][1] });
        let (last, _) = *unpacked(&line).last().unwrap();
        let wall = simulated.trials[trial - 1].usage.as_ref().unwrap().wall_s;
        assert!((last - wall).abs() < 0.01 * wall, "a timeline ends with its trial: {last}");
    }
}

#[test]
fn the_best_card_shows_the_mean_of_the_best_row() {
    let simulated = Simulated::new(3, 10);
    let best = simulated.analysis.as_ref().unwrap().best.clone().unwrap();
    let costs = |trial: &&ReportTrial| trial.configuration.same_as(&best.configuration);
    let own: Vec<f64> = simulated
        .trials
        .iter()
        .filter(costs)
        .flat_map(|trial| trial.measurements.iter().find(|own| own.metric == "cost"))
        .map(|own| own.value)
        .collect();
    let mean = own.iter().sum::<f64>() / own.len() as f64;
    let page = html(&simulated.input());
    let (_, rest) = page.split_once("class=\"big\" title=\"").unwrap();
    let shown: f64 = rest.split_once('"').unwrap().0.parse().unwrap();
    check_close(shown, mean);
    for (factor, level) in best.configuration.iter() {
        assert!(page.contains(&format!("<li><span>{factor}</span> {level}</li>")), "{factor}");
    }
}

#[test]
fn a_failed_trial_is_in_no_chart() {
    let whole = Simulated::new(2, 10);
    let broken = Simulated::new(2, 10).broken(5, TrialState::Failed, "exit code 1");
    let count = |simulated: &Simulated| {
        data(&series(&chart(&html(&simulated.input()), "residuals-order"))[0]).len()
    };
    assert_eq!((count(&whole), count(&broken)), (32, 31));
    let missing = broken.trials[4].configuration.get("lr").and_then(Level::number);
    assert!(missing.is_some());
}
