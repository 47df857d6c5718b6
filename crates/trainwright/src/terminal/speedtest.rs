//! Speed tests in words.

use trainwright_report::figure;
use trainwright_report::terminal::TextTable;

use crate::{SpeedFit, SpeedModel, Speedtest};

/// The verdict, the means, and what the parameters have to do with them.
pub fn speedtest(test: &Speedtest) -> String {
    let mut text = test.verdict.join("\n");
    text += "\n\nMean speed (geometric, with 95 % interval)\n";
    text += &means(test).to_string();
    let linear = of_kind(test, SpeedModel::Linear);
    if !linear.is_empty() {
        text += "\nImages/s on each parameter alone (square: p of a quadratic term)\n";
        text += &simple(test, &linear).to_string();
    }
    let joint = of_kind(test, SpeedModel::JointQuadratic);
    if !joint.is_empty() {
        text += "\nImages/s on all parameters\n";
        text += &together(test).to_string();
    }
    text
}

fn of_kind(test: &Speedtest, model: SpeedModel) -> Vec<&SpeedFit> {
    test.fits.iter().filter(|fit| fit.model == model).collect()
}

fn means(test: &Speedtest) -> TextTable {
    let mut table = TextTable::with_header([
        "source",
        "batch size",
        "batches",
        "threads",
        "n",
        "images/s",
        "from",
        "to",
        "MB/s",
    ]);
    for own in &test.means {
        table.row([
            own.source.name().to_owned(),
            own.batch_size.to_string(),
            own.batch_number.to_string(),
            own.threads.to_string(),
            own.n.to_string(),
            format!("{:.0}", own.images_per_s),
            own.ci_low.map_or_else(missing, |low| format!("{low:.0}")),
            own.ci_high.map_or_else(missing, |high| format!("{high:.0}")),
            figure(own.megabytes_per_s),
        ]);
    }
    table
}

fn simple(test: &Speedtest, fits: &[&SpeedFit]) -> TextTable {
    let mut table = TextTable::with_header([
        "source",
        "parameter",
        "slope",
        "from",
        "to",
        "r",
        "R2",
        "p",
        "adjusted p",
        "lack of fit p",
        "square",
    ]);
    for fit in fits {
        let slope = &fit.coefficients[1];
        let mut all = test.fits.iter();
        let bent = all.find(|own| {
            (own.source, own.model, own.parameter)
                == (fit.source, SpeedModel::Quadratic, fit.parameter)
        });
        table.row([
            fit.source.name().to_owned(),
            fit.parameter.unwrap_or_default().replace('_', " "),
            optional(slope.estimate),
            optional(slope.ci_low),
            optional(slope.ci_high),
            fit.r.map_or_else(missing, |r| format!("{r:.3}")),
            format!("{:.3}", fit.r2),
            p(fit.p),
            p(fit.p_adjusted),
            p(fit.lack_of_fit.as_ref().and_then(|own| own.p)),
            p(bent.and_then(|own| own.coefficients.get(2)?.p)),
        ]);
    }
    table
}

fn together(test: &Speedtest) -> TextTable {
    let mut table = TextTable::with_header([
        "source",
        "fit",
        "R2",
        "adjusted R2",
        "F",
        "p",
        "adjusted p",
        "lack of fit p",
    ]);
    for fit in &test.fits {
        let name = match fit.model {
            SpeedModel::JointLinear => "straight",
            SpeedModel::JointQuadratic => "with squares",
            SpeedModel::Linear | SpeedModel::Quadratic => continue,
        };
        table.row([
            fit.source.name().to_owned(),
            name.to_owned(),
            format!("{:.3}", fit.r2),
            fit.adj_r2.map_or_else(missing, |own| format!("{own:.3}")),
            optional(fit.f),
            p(fit.p),
            p(fit.p_adjusted),
            p(fit.lack_of_fit.as_ref().and_then(|own| own.p)),
        ]);
    }
    table
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(missing, figure)
}

fn p(value: Option<f64>) -> String {
    value.map_or_else(missing, |p| if p < 0.001 { format!("{p:.0e}") } else { format!("{p:.3}") })
}

fn missing() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use trainwright_analysis::examine_speeds;

    use super::*;
    use crate::{CacheState, PictureSource, SpeedConditions, SpeedRow};

    /// Readings whose speed grows with the batch size, and does not depend on the number.
    fn rows(repetitions: usize) -> Vec<SpeedRow> {
        let mut rows = Vec::new();
        for repetition in 1..=repetitions {
            for source in PictureSource::ALL {
                for (batch_size, batch_number) in [(2, 3), (2, 6), (4, 3), (4, 6), (6, 3), (6, 6)] {
                    let images = (batch_size * batch_number) as u64;
                    let wobble = ((7 * rows.len()) % 5) as f64;
                    let images_per_s = 100.0 * batch_size as f64 + wobble;
                    rows.push(SpeedRow {
                        run: rows.len() + 1,
                        source,
                        batch_size,
                        batch_number,
                        threads: 1,
                        repetition,
                        images,
                        bytes: 1000 * images,
                        seconds: images as f64 / images_per_s,
                        images_per_s,
                        megabytes_per_s: images_per_s / 1000.0,
                    });
                }
            }
        }
        rows
    }

    fn test(repetitions: usize) -> Speedtest {
        let conditions = SpeedConditions {
            cache: CacheState::Warm,
            latency_s: 0.0,
            bandwidth_bytes_per_s: None,
            size: 192,
            files: 200,
            shards: 16,
            seed: 1,
        };
        examine_speeds(conditions, rows(repetitions)).unwrap()
    }

    #[test]
    fn the_verdict_comes_first_and_the_tables_after_it() {
        let own = test(2);
        let text = speedtest(&own);
        assert!(text.starts_with(&own.verdict[0]), "{text}");
        let places: Vec<Option<usize>> =
            ["Mean speed", "on each parameter alone", "on all parameters"]
                .map(|words| text.find(words))
                .to_vec();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{text}");
    }

    #[test]
    fn one_reading_of_a_cell_has_no_interval() {
        let table = means(&test(1)).to_string();
        let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row[1..5], ["2", "3", "1", "1"]);
        assert_eq!(row[6..8], ["-", "-"]);
        assert!(!means(&test(2)).to_string().contains('-'));
    }

    #[test]
    fn the_table_of_all_parameters_has_a_straight_and_a_bent_fit_of_each_source() {
        let table = together(&test(3)).to_string();
        let count = |words: &str| table.lines().filter(|line| line.contains(words)).count();
        assert_eq!((count(" straight "), count(" with squares ")), (2, 2), "{table}");
    }

    #[test]
    fn small_p_values_are_powers_and_missing_ones_a_dash() {
        assert_eq!(p(Some(0.04)), "0.040");
        assert_eq!(p(Some(0.001)), "0.001");
        assert_eq!(p(Some(0.000_23)), "2e-4");
        assert_eq!((p(None), optional(None)), ("-".to_owned(), "-".to_owned()));
    }
}
