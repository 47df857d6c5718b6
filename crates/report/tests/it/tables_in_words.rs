//! Questions about a table of results, as text.

use trainwright_analysis::{
    CompareOptions, OverheadOptions, ScalingOptions, SurfaceOptions, Table, compare_table,
    correlations_of_table, overhead_of_table, scaling_of_table, surface_of_table,
};
use trainwright_report::Colour;
use trainwright_report::terminal::{
    comparison_text, correlations_text, overhead_text, scaling_text, surface_text,
};
use trainwright_study::Direction;

/// Times that fall with cores and rise with steps, and a bowl over `lr` and `batch`.
fn table(texts: &[&str]) -> Table {
    let mut csv = "time,cores,strategy,steps,loss,lr,batch\n".to_owned();
    for row in 0..54 {
        let (cores, lr, batch) = (1 << (row % 3), row / 3 % 3, row / 9 % 3);
        let (steps, strategy) = (100 * (1 + row % 5), ["sync", "async"][row % 2]);
        let noise = (row * 7 % 11) as f64 / 100.0;
        let time = 6.0 / cores as f64 + 2.0 + 0.01 * steps as f64 + noise;
        let away = |level: usize| (level as f64 - 1.2).powi(2);
        let loss = 1.0 + away(lr) + away(batch) + noise;
        csv += &format!("{time},{cores},{strategy},{steps},{loss},{lr},{batch}\n");
    }
    let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
    Table::from_csv(csv.as_bytes(), &texts).unwrap()
}

#[test]
fn levels_are_compared_with_their_baseline_in_words() {
    let options = CompareOptions {
        column: "time".to_owned(),
        by: "cores".to_owned(),
        baseline: Some("1".to_owned()),
        paired: None,
        objective: None,
        alpha: 0.05,
    };
    let found = compare_table(&table(&["cores"]), &options).unwrap();
    let text = comparison_text(&found, Colour::Never);
    assert!(text.starts_with("time by cores\n cores  n   mean"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with(' ') && line.contains("18")).count(), 3);
    for level in &found.levels {
        assert!(text.contains(&level.text), "{}", level.text);
    }
    assert!(text.contains("  Ratio of means, Fieller's interval"), "{text}");
    assert!(text.contains("p-values adjusted by Holm's method."), "{text}");
}

#[test]
fn scaling_shows_speed_up_laws_and_predictions() {
    let options = ScalingOptions {
        column: "time".to_owned(),
        workers: "cores".to_owned(),
        size: None,
        predict: vec![8.0],
        predict_size: None,
        alpha: 0.05,
    };
    let found = scaling_of_table(&table(&[]), &options).unwrap();
    let text = scaling_text(&found, Colour::Never);
    assert!(text.contains("speed-up") && text.contains("\nLaws\n"), "{text}");
    for fit in &found.fits {
        assert!(text.contains(&fit.text), "{}", fit.text);
    }
    let (_, predicted) = text.split_once("\nPredicted\n").unwrap();
    assert!(predicted.contains(" 8 ") && predicted.contains(" to "), "{predicted}");
    let without = ScalingOptions { predict: Vec::new(), ..options };
    let found = scaling_of_table(&table(&[]), &without).unwrap();
    assert!(!scaling_text(&found, Colour::Never).contains("Predicted"));
}

#[test]
fn overhead_has_a_line_a_strategy() {
    let options = OverheadOptions {
        column: "time".to_owned(),
        steps: "steps".to_owned(),
        by: Some("strategy".to_owned()),
        samples: None,
        unit: Some("s".to_owned()),
        alpha: 0.05,
    };
    let found = overhead_of_table(&table(&[]), &options).unwrap();
    let text = overhead_text(&found, Colour::Never);
    assert!(text.starts_with("time = a x steps + c\n strategy"), "{text}");
    for line in &found.lines {
        let name = line.group.as_ref().unwrap().to_string();
        let row = text.lines().find(|own| own.split_whitespace().next() == Some(&name)).unwrap();
        assert!(row.contains("27") && row.contains(" %"), "{row}");
        assert!(text.contains(&line.text), "{text}");
    }
}

#[test]
fn correlations_stand_in_a_table_and_in_words() {
    let found = correlations_of_table(&table(&[]), "time", &[]).unwrap();
    let text = correlations_text(&found, Colour::Never);
    assert!(text.starts_with("time correlated with, Pearson's r"), "{text}");
    for row in &found.rows {
        let line = text.lines().find(|own| own.split_whitespace().next() == Some(&row.name));
        assert!(line.unwrap().contains(&format!("{:.3}", row.r)), "{text}");
        assert!(text.contains(&row.text), "{}", row.text);
    }
    for own in &found.left_out {
        assert!(text.contains(&format!("  {} is left out: {}", own.name, own.reason)), "{text}");
    }
}

#[test]
fn a_surface_tells_its_point_its_coefficients_and_how_it_bends() {
    let options = SurfaceOptions {
        column: "loss".to_owned(),
        factors: vec!["lr".to_owned(), "batch".to_owned()],
        direction: Some(Direction::Minimize),
        alpha: 0.05,
    };
    let found = surface_of_table(&table(&[]), &options).unwrap();
    let text = surface_text(&found, Colour::Never);
    assert!(text.starts_with(&found.text) && text.contains("is a minimum"), "{text}");
    for own in &found.coefficients {
        assert!(text.lines().any(|line| line.trim_start().starts_with(&own.term)), "{}", own.term);
    }
    assert!(
        text.contains("curvature") && text.contains("along lr") && text.contains("along batch")
    );
    assert!(text.lines().all(|line| line == line.trim_end()), "{text:?}");
}
