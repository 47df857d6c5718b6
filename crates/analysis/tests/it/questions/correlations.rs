//! Correlation tables in the manner of field reports A and B, and what they hide.

use std::fmt::Write;

use trainwright_analysis::{Correlations, Table, correlations_of_table};

use crate::support::close;

fn correlate(csv: &str) -> Correlations {
    correlations_of_table(&Table::from_csv(csv.as_bytes(), &[]).unwrap(), "rate", &[]).unwrap()
}

fn ids(found: &Correlations) -> Vec<&str> {
    found.findings.iter().map(|f| f.id).collect()
}

/// A read-speed test over the parameters of reports A and B; `f` gives the rate.
fn speed_test(f: impl Fn(f64, f64) -> f64, size: bool) -> String {
    let mut csv = "batch_size,batch_number,repetition,rate".to_owned();
    csv.push_str(if size { ",data_size\n" } else { "\n" });
    let mut place = 0;
    for batch in [2.0, 4.0, 6.0, 8.0] {
        for number in [3.0, 6.0, 9.0, 12.0] {
            for repetition in 1..=3 {
                place += 5;
                let noise = (f64::from(place % 13) - 6.0) / 6.0;
                write!(csv, "{batch},{number},{repetition},{}", f(batch, number) + noise).unwrap();
                if size {
                    write!(csv, ",{}", batch * number).unwrap();
                }
                csv.push('\n');
            }
        }
    }
    csv
}

#[test]
fn a_linear_relation_is_described_by_its_line() {
    let found = correlate(&speed_test(|batch, _| 20.0 + 3.0 * batch, false));
    let row = &found.rows[0];
    assert!(row.r > 0.95 && row.ci_low.unwrap() < row.r && row.r < row.ci_high.unwrap());
    assert!(row.rho.unwrap() > 0.9 && row.rho_low.unwrap() < row.rho.unwrap());
    assert!(row.text.contains("rises with it"), "{}", row.text);
    assert!(found.rows[1].text.contains("no evidence of a linear relation"));
    assert!(found.findings.is_empty(), "{:?}", found.findings);
}

#[test]
fn a_curve_and_a_product_column_are_named() {
    let found = correlate(&speed_test(|batch, _| 60.0 - 4.0 * (batch - 5.0).powi(2), true));
    let row = &found.rows[0];
    assert!(row.r2 < 0.05 && row.r2_quadratic.unwrap() > 0.9);
    assert_eq!(ids(&found), ["linear-fit-inadequate", "data-size-is-product"]);
    assert!(
        found.findings[0].text.contains("batch_size (a line explains"),
        "{}",
        found.findings[0].text
    );
    assert!(found.findings[1].text.starts_with("data_size is batch_size x batch_number"));
}

#[test]
fn a_saturating_rate_misses_its_repeats() {
    let found = correlate(&speed_test(|batch, _| if batch < 3.0 { 20.0 } else { 60.0 }, false));
    assert_eq!(ids(&found), ["linear-fit-inadequate"]);
}

#[test]
fn a_rank_interval_has_the_published_form() {
    // rho = 0.5 at n = 12: tanh(atanh(0.5) -+ 1.959964 sqrt((1 + 0.125) / 9)).
    let x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    let y = [3, 1, 2, 9, 4, 12, 5, 6, 11, 7, 8, 10];
    let mut csv = "x,rate\n".to_owned();
    x.iter().zip(y).for_each(|(x, y)| writeln!(csv, "{x},{y}").unwrap());
    let row = &correlate(&csv).rows[0];
    let rho = row.rho.unwrap();
    let half = 1.959_963_984_540_054 * ((1.0 + 0.5 * rho * rho) / 9.0f64).sqrt();
    close("low", row.rho_low.unwrap(), (rho.atanh() - half).tanh(), 1e-12);
    close("high", row.rho_high.unwrap(), (rho.atanh() + half).tanh(), 1e-12);
}

#[test]
fn constant_columns_are_left_out_by_name() {
    let found = correlate("a,b,rate\n1,5,2\n2,5,3\n3,5,5\n");
    assert_eq!((found.rows.len(), found.left_out[0].name.as_str()), (1, "b"));
    let table = Table::from_csv("b,rate\n5,2\n5,3\n".as_bytes(), &[]).unwrap();
    let error = correlations_of_table(&table, "rate", &[]).unwrap_err().to_string();
    assert_eq!(error, "no column can be correlated with `rate`: none holds numbers that vary");
}

#[test]
fn a_noisy_straight_line_is_seldom_called_bent() {
    let mut random = trainwright_random::Random::new(11);
    let mut called = 0;
    for study in 0..200 {
        let mut csv = "x,y\n".to_owned();
        for row in 0..60 {
            // R2 is about a tenth: weak, but straight. Every second table has repeats.
            let x = f64::from(if study % 2 == 0 { row } else { row % 6 * 10 });
            let noise = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            csv.push_str(&format!("{x},{}\n", 0.02 * x + noise));
        }
        let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        let found = correlations_of_table(&table, "y", &[]).unwrap();
        called += usize::from(!found.findings.is_empty());
    }
    // 10 are allowed; four standard errors are 12.
    assert!(called <= 22, "{called} of 200");
}
