//! Pages of queues, load tests, speed tests, predictions, surfaces and tables.

use trainwright_analysis::{
    Finding, Formula, Severity, SurfaceOptions, Table, TableOptions, TermOrder, analyze_csv,
    surface_of_table,
};
use trainwright_queueing::{
    Measure, MeasuredJob, QueueAnswer, QueueDraft, QueueName, Statistic, Target,
};
use trainwright_report::{
    LoadPage, PredictionsPage, PreparationPage, QueuePage, SpeedLine, SpeedPage, SpeedPanel,
    SpeedSeries, SurfacePage, TableReport, load_html, predictions_html, preparation_html,
    queue_html, speed_html, surface_html, table_html,
};
use trainwright_study::ClusterTask;

use crate::page::{chart, check_closed, own_part, summary, table, unpacked};

const HOSTILE: &str = "</script><b onload=\"x\">&'<!--";

fn answer() -> QueueAnswer {
    let draft = QueueDraft {
        name: QueueName::Mmc,
        arrival_rate: Some(3.2),
        service_rate: Some(1.0),
        servers: Some(4),
        capacity: None,
        population: None,
        scv_arrival: None,
        scv_service: None,
        target: None,
    };
    draft.answer().unwrap()
}

fn queue_page(answer: &QueueAnswer, target: Option<&Target>, words: &str) -> String {
    let text = format!("{words} and a finding");
    let findings = [Finding::new("no-replication", Severity::Warning, text)];
    queue_html(&QueuePage {
        answer,
        target,
        words,
        findings: &findings,
        unit: Some("s"),
        program: "trainwright 0.1.0",
        written_at: "2026-11-15 21:00 UTC",
    })
}

#[test]
fn a_queue_page_draws_the_closed_form() {
    let answer = answer();
    let page = queue_page(&answer, None, "busy 80 %");
    check_closed(&page);
    assert!(page.contains("busy 80 %") && page.contains("Written by trainwright 0.1.0"));
    let curve = chart(&page, "response-curve");
    let mean = unpacked(&curve["series"][0]);
    assert!(mean.windows(2).all(|pair| pair[0].1 <= pair[1].1 + 1e-9), "responses grow with load");
    // Hardly any load: the response is the service.
    assert!((mean[0].1 - 1.0).abs() < 0.05, "{:?}", mean[0]);
    let here = &curve["series"].as_array().unwrap().last().unwrap()["data"][0];
    assert!((here[0].as_f64().unwrap() - 0.8).abs() < 1e-6, "{here}");
    assert!(summary(&page, "response-curve").contains("at 80 % the mean response is"));
}

#[test]
fn a_target_is_a_line_in_both_charts_of_a_queue() {
    let target = Target::new(Measure::Response, Statistic::Mean, 1.5).unwrap();
    let page = queue_page(&answer(), Some(&target), "words");
    check_closed(&page);
    for id in ["response-curve", "response-by-servers"] {
        let lines = chart(&page, id).to_string();
        assert!(lines.contains("\"yAxis\":1.5") && lines.contains("target 1.500"), "{id}: {lines}");
    }
    let without = queue_page(&answer(), None, "words");
    assert!(!chart(&without, "response-curve").to_string().contains("target"));
}

#[test]
fn more_servers_never_make_a_response_longer() {
    let page = queue_page(&answer(), None, "words");
    let line = unpacked(&chart(&page, "response-by-servers")["series"][0]);
    assert!(line.len() >= 6 && line[0].0 >= 4.0 - 1e-9, "fewer than 4 would never keep up");
    assert!(line.windows(2).all(|pair| pair[1].1 <= pair[0].1 + 1e-3), "{line:?}");
}

fn jobs() -> Vec<MeasuredJob> {
    let job = |arrival: f64, start: f64, end: f64| MeasuredJob { arrival, start, end };
    vec![job(0.0, 0.0, 2.0), job(1.0, 2.0, 3.5), job(1.5, 3.5, 4.0), job(6.0, 6.0, 7.0)]
}

fn load_page(jobs: &[MeasuredJob], study: &str) -> String {
    load_html(&LoadPage {
        study,
        configuration: study,
        jobs,
        measured: None,
        model: None,
        words: study,
        findings: &[],
        program: "trainwright 0.1.0",
        written_at: "now",
    })
}

#[test]
fn a_load_page_counts_the_jobs_in_the_system() {
    let page = load_page(&jobs(), "demo");
    check_closed(&page);
    let path = unpacked(&chart(&page, "jobs-in-system")["series"][0]);
    let most = path.iter().map(|point| point.1).fold(0.0, f64::max);
    // Three are there between 1.5 and 2 seconds.
    assert!((most - 3.0).abs() < 0.01, "{path:?}");
    assert!(path.last().unwrap().1 < 0.01, "at the end the system is empty");
    assert!(summary(&page, "jobs-in-system").ends_with("at most 3."));
}

#[test]
fn a_load_page_lists_every_job_with_its_wait() {
    let rows = table(&load_page(&jobs(), "demo"), "Jobs");
    assert_eq!(rows.len(), 4);
    assert!(rows[1].contains(&"1".to_owned()) && rows[1].contains(&"2.500".to_owned()), "{rows:?}");
}

fn speed_page(title: &str) -> String {
    let line = |term| SpeedLine {
        source: "files",
        model: "linear",
        term,
        slope: Some(2.5),
        interval: Some((1.5, 3.5)),
        r: Some(0.9),
        term_p: Some(0.001),
        r2: 0.81,
        p: Some(0.001),
        p_adjusted: Some(0.02),
        lack_of_fit_p: None,
    };
    let series = SpeedSeries {
        name: "files",
        points: vec![(1.0, 10.0), (2.0, 12.0), (3.0, 15.0)],
        curve: vec![7.0, 2.5],
    };
    let verdict = [format!("{title} are read.")];
    speed_html(&SpeedPage {
        title,
        program: "trainwright 0.1.0",
        written_at: "now",
        verdict: &verdict,
        means: vec![("files", [4, 3, 1, 5], 123.4, Some((120.0, 127.0)), 4.5)],
        lines: vec![line("batch_size"), line(title)],
        panels: vec![SpeedPanel { parameter: "batch size", series: vec![series] }],
        cluster: &[],
    })
}

#[test]
fn a_speed_page_draws_readings_and_the_fitted_line() {
    let page = speed_page("photos");
    check_closed(&page);
    let data = crate::page::data_block(&page);
    let (_, chart) = data["charts"].as_object().unwrap().iter().next().unwrap();
    let points = chart["series"][0]["data"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    for point in chart["series"][1]["data"].as_array().unwrap() {
        let [x, y] = [0, 1].map(|axis| point[axis].as_f64().unwrap());
        assert!((y - (7.0 + 2.5 * x)).abs() < 1e-4, "the line is 7 + 2.5 x: {point}");
    }
    assert!(page.contains("123.4") && page.contains("photos are read."), "figures and verdict");
}

fn predictions_page(data: &str, known: bool) -> String {
    let confusion = if known { vec![vec![8, 2], vec![1, 9]] } else { Vec::new() };
    predictions_html(&PredictionsPage {
        data,
        words: data,
        classes: vec![
            (data.to_owned(), [10, 9], [Some(0.8), Some(0.888)]),
            ("dog".to_owned(), [10, 11], [None, None]),
        ],
        confusion: &confusion,
        mistakes: vec![(data.to_owned(), "cat".to_owned(), "dog".to_owned(), 0.99)],
        program: "trainwright 0.1.0",
        written_at: "now",
    })
}

#[test]
fn a_page_of_predictions_shows_who_was_taken_for_whom() {
    let page = predictions_page("pets", true);
    check_closed(&page);
    for part in ["pets", "dog", "Confusion", "Surest mistakes"] {
        assert!(page.contains(part), "{part}");
    }
    let own = own_part(&page);
    for count in [">8<", ">2<", ">1<", ">9<"] {
        assert!(own.contains(count), "{count}");
    }
}

#[test]
fn predictions_without_known_classes_have_no_confusion_to_show() {
    let page = predictions_page("pets", false);
    check_closed(&page);
    assert!(!own_part(&page).contains(">8<"));
}

/// A bowl with its lowest point at x = 1.5, y = 1.
fn bowl() -> String {
    let mut csv = "x,y,z\n".to_owned();
    for row in 0..27 {
        let (x, y) = (f64::from(row % 3), f64::from(row / 3 % 3));
        let noise = f64::from(row * 7 % 5) / 1000.0;
        csv += &format!("{x},{y},{}\n", (x - 1.5).powi(2) + (y - 1.0).powi(2) + noise);
    }
    csv
}

#[test]
fn a_surface_page_draws_lines_of_equal_height_around_the_best_point() {
    let table = Table::from_csv(bowl().as_bytes(), &[]).unwrap();
    let options = SurfaceOptions {
        column: "z".to_owned(),
        factors: vec!["x".to_owned(), "y".to_owned()],
        direction: Some(trainwright_study::Direction::Minimize),
        alpha: 0.05,
    };
    let surface = surface_of_table(&table, &options).unwrap();
    let page = surface_html(&SurfacePage {
        name: HOSTILE,
        surface: &surface,
        program: "trainwright 0.1.0",
        written_at: "now",
    });
    let own = own_part(&page);
    assert!(!own.contains("<b onload") && own.contains("&lt;b onload"), "the name is only text");
    let chart = chart(&page, "contour-1");
    let series = chart["series"].as_array().unwrap();
    let marked = series.last().unwrap();
    let at = [0, 1].map(|axis| marked["data"][0]["value"][axis].as_f64().unwrap());
    assert!((at[0] - 1.5).abs() < 0.02 && (at[1] - 1.0).abs() < 0.02, "{at:?}");
    // Every point of a line has the height of its line, as far as the grid can tell.
    for line in &series[..series.len() - 1] {
        let height: f64 = line["name"].as_str().unwrap().parse().unwrap();
        for point in line["data"].as_array().unwrap().iter().filter(|own| own[0].is_number()) {
            let [x, y] = [0, 1].map(|axis| point[axis].as_f64().unwrap());
            let own = (x - 1.5).powi(2) + (y - 1.0).powi(2);
            assert!((own - height).abs() < 0.05, "{own} on the line of {height}");
        }
    }
}

#[test]
fn a_table_has_a_page_of_its_own() {
    let formula = Formula::parse("z ~ x + y", TermOrder::Formula).unwrap();
    let analysis = analyze_csv(bowl().as_bytes(), &[], &formula, &TableOptions::default()).unwrap();
    let page = table_html(&TableReport {
        name: "bowl.csv",
        analysis: &analysis,
        program: "trainwright 0.1.0",
        written_at: "now",
    });
    check_closed(&page);
    for part in ["bowl.csv", "z ~ x + y", "Checks of the analysis"] {
        assert!(page.contains(part), "{part}");
    }
    let rows = table(&page, "Coefficients");
    assert_eq!(
        rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(),
        ["(Intercept)", "x", "y"]
    );
}

fn preparation(source: &str) -> String {
    preparation_html(&PreparationPage {
        source,
        words: source,
        shards: vec![(source, source, 3, 2_000_000)],
        cluster: &[ClusterTask {
            label: source.to_owned(),
            partition: 0,
            attempt: 1,
            executor: source.to_owned(),
            host: source.to_owned(),
            status: source.to_owned(),
            speculative: false,
            launched_ms: 0,
            duration_s: Some(1.0),
            scheduler_delay_s: None,
            error: Some(source.to_owned()),
            usage: None,
        }],
        program: "trainwright 0.1.0",
        written_at: "now",
    })
}

#[test]
fn hostile_texts_are_only_text_on_every_page() {
    let pages = [
        ("queue", queue_page(&answer(), None, HOSTILE), queue_page(&answer(), None, "x")),
        ("load", load_page(&jobs(), HOSTILE), load_page(&jobs(), "x")),
        ("speed", speed_page(HOSTILE), speed_page("x")),
        ("predictions", predictions_page(HOSTILE, true), predictions_page("x", true)),
        ("preparation", preparation(HOSTILE), preparation("x")),
    ];
    for (name, hostile, harmless) in pages {
        let (own, plain) = (own_part(&hostile), own_part(&harmless));
        assert!(!own.contains("<b onload") && !own.contains("<!--"), "{name}");
        assert_eq!(own.matches("</script>").count(), plain.matches("</script>").count(), "{name}");
        assert_eq!(own.matches('<').count(), plain.matches('<').count(), "{name}");
    }
}
