//! How residuals are spread.

use serde_json::{Value, json};
use trainwright_analysis::Analysis;
use trainwright_analysis::wording::count;

use super::{Chart, title};
use crate::figure::figure;

/// Bars a histogram has at most.
const MOST_BARS: usize = 40;

/// Residuals counted in bars of equal width.
pub(crate) fn histogram(analysis: &Analysis) -> Option<Chart> {
    let mut values: Vec<f64> = analysis.residuals.iter().map(|own| own.residual).collect();
    values.sort_by(f64::total_cmp);
    let bars = bars(&values)?;
    let data: Vec<Value> = bars
        .iter()
        .map(|bar| {
            let number = count(bar.count, "residual");
            let tip = format!("{} to {}\n{number}", figure(bar.from), figure(bar.to));
            json!({ "value": bar.count, "tip": tip })
        })
        .collect();
    let middles: Vec<String> = bars.iter().map(|bar| figure(bar.middle())).collect();
    let tallest = bars.iter().max_by_key(|bar| bar.count)?;
    Some(Chart {
        option: json!({
            "title": title("How residuals are spread"),
            "grid": { "top": 30 },
            "xAxis": { "type": "category", "data": middles, "name": "residual" },
            "yAxis": { "type": "value", "name": "count", "minInterval": 1 },
            "series": [{
                "type": "bar", "data": data, "barCategoryGap": "6%",
                "itemStyle": { "color": "$accent", "opacity": 0.75 },
            }],
        }),
        summary: format!(
            "{} residuals in {} bars; most lie between {} and {}.",
            values.len(),
            bars.len(),
            figure(tallest.from),
            figure(tallest.to)
        ),
        height: 300,
    })
}

/// A stretch of values and how many lie in it.
#[derive(Debug, PartialEq)]
struct Bar {
    from: f64,
    to: f64,
    count: usize,
}

impl Bar {
    /// The middle; zero where only rounding keeps it from that.
    fn middle(&self) -> f64 {
        let middle = 0.5 * (self.from + self.to);
        if middle.abs() < 1e-9 * (self.to - self.from) { 0.0 } else { middle }
    }
}

/// Bars over sorted values, of the width of Freedman and Diaconis ("On the histogram as a density
/// estimator", 1981), or of Sturges' where half of the values are equal. None where all are.
fn bars(sorted: &[f64]) -> Option<Vec<Bar>> {
    let (low, high) = (*sorted.first()?, *sorted.last()?);
    let n = sorted.len();
    if high <= low {
        return None;
    }
    let middle_half = sorted[(3 * (n - 1)) / 4] - sorted[(n - 1) / 4];
    let width = 2.0 * middle_half / (n as f64).cbrt();
    let number = if width > 0.0 { (high - low) / width } else { (n as f64).log2() + 1.0 };
    let number = (number.ceil() as usize).clamp(3, MOST_BARS);
    let step = (high - low) / number as f64;
    let mut bars: Vec<Bar> = (0..number)
        .map(|at| Bar { from: low + step * at as f64, to: low + step * (at + 1) as f64, count: 0 })
        .collect();
    for value in sorted {
        // The largest value belongs to the last bar.
        let at = (((value - low) / step) as usize).min(number - 1);
        bars[at].count += 1;
    }
    Some(bars)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bars_are_as_wide_as_the_rule_says_and_the_largest_value_is_in_the_last() {
        // Quartiles 2 and 6 of 0 to 8: width 2 * 4 / cbrt(9) = 3.85, so three bars over 8.
        let values: Vec<f64> = (0..9).map(f64::from).collect();
        let found = bars(&values).unwrap();
        assert_eq!(found.iter().map(|bar| bar.count).collect::<Vec<_>>(), [3, 3, 3]);
        assert!((found[0].to - 8.0 / 3.0).abs() < 1e-12 && found[2].to == 8.0);
        // Half of the values equal: 1 + log2(8) = 4 bars instead of infinitely many.
        let ties = [0.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 9.0];
        let counts: Vec<usize> = bars(&ties).unwrap().iter().map(|bar| bar.count).collect();
        assert_eq!(counts, [1, 0, 6, 1]);
        // One far value does not ask for thousands of bars.
        let mut far = values;
        far.push(1e6);
        assert_eq!(bars(&far).unwrap().len(), MOST_BARS);
    }

    #[test]
    fn a_bar_around_zero_has_zero_in_its_middle() {
        let around = Bar { from: -0.02, to: 0.02 - 7e-18, count: 1 };
        assert_eq!(figure(around.middle()), "0");
        assert_eq!(Bar { from: 1.0, to: 2.0, count: 1 }.middle(), 1.5);
    }

    #[test]
    fn a_bar_of_one_is_told_in_the_singular() {
        let mut own = crate::tests::analysis(vec![]);
        for (residual, value) in
            own.residuals.iter_mut().zip([0.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 9.0])
        {
            residual.residual = value;
        }
        let chart = histogram(&own).unwrap();
        assert_eq!(chart.option["series"][0]["data"][0]["tip"], "0 to 2.250\n1 residual");
        assert_eq!(chart.summary, "8 residuals in 4 bars; most lie between 4.500 and 6.750.");
    }

    #[test]
    fn equal_values_have_no_spread_to_show() {
        assert_eq!(bars(&[2.0, 2.0, 2.0]), None);
        assert_eq!(bars(&[]), None);
    }

    proptest! {
        #[test]
        fn every_value_is_counted_once(mut values in prop::collection::vec(-1e3f64..1e3, 2..300)) {
            values.sort_by(f64::total_cmp);
            if let Some(bars) = bars(&values) {
                prop_assert_eq!(bars.iter().map(|bar| bar.count).sum::<usize>(), values.len());
                prop_assert!(bars.len() <= MOST_BARS);
                prop_assert!(bars[0].count > 0 && bars[bars.len() - 1].count > 0);
            }
        }
    }
}
