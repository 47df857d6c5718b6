//! A speed test as one HTML file.

use trainwright_report::{SpeedLine, SpeedPage, SpeedPanel, SpeedSeries};

use crate::ClusterReply;

use super::{PictureSource, SpeedFit, SpeedModel, SpeedRow, Speedtest};

/// The tables and figures of a speed test; `title` names what was read, `cluster` is what one did for
/// it.
pub fn speedtest_page(
    test: &Speedtest,
    title: &str,
    cluster: Option<&ClusterReply>,
    written_at: &str,
) -> String {
    let cluster: &[_] = cluster.map_or(&[], |own| &own.tasks);
    trainwright_report::speed_html(&SpeedPage { cluster, ..page(test, title, written_at) })
}

/// The same as sections of a live page.
pub fn speedtest_sections(test: &Speedtest) -> String {
    trainwright_report::speed_sections(&page(test, "", ""))
}

fn page<'a>(test: &'a Speedtest, title: &'a str, written_at: &'a str) -> SpeedPage<'a> {
    let panels = test.fits.iter().filter_map(|fit| fit.parameter);
    let mut names: Vec<&'static str> = Vec::new();
    panels.for_each(|name| {
        if !names.contains(&name) {
            names.push(name)
        }
    });
    SpeedPage {
        title,
        written_at,
        program: concat!("trainwright ", env!("CARGO_PKG_VERSION")),
        verdict: &test.verdict,
        means: test
            .means
            .iter()
            .map(|mean| {
                let shape = [mean.batch_size, mean.batch_number, mean.threads, mean.n];
                let interval = mean.ci_low.zip(mean.ci_high);
                (mean.source.name(), shape, mean.images_per_s, interval, mean.megabytes_per_s)
            })
            .collect(),
        lines: test.fits.iter().flat_map(lines).collect(),
        panels: names.into_iter().map(|name| panel(test, name)).collect(),
        cluster: &[],
    }
}

/// A line of the table a coefficient beside the intercept.
fn lines(fit: &SpeedFit) -> Vec<SpeedLine<'_>> {
    let terms = fit.coefficients.iter().skip(1);
    let model = match fit.model {
        SpeedModel::Linear => "straight",
        SpeedModel::Quadratic => "with square",
        SpeedModel::JointLinear => "all, straight",
        SpeedModel::JointQuadratic => "all, with squares",
    };
    terms
        .map(|term| SpeedLine {
            source: fit.source.name(),
            model,
            term: &term.name,
            slope: term.estimate,
            interval: term.ci_low.zip(term.ci_high),
            r: fit.r,
            term_p: term.p,
            r2: fit.r2,
            p: fit.p,
            p_adjusted: fit.p_adjusted,
            lack_of_fit_p: fit.lack_of_fit.as_ref().and_then(|it| it.p),
        })
        .collect()
}

fn panel(test: &Speedtest, parameter: &'static str) -> SpeedPanel {
    let value = |row: &SpeedRow| match parameter {
        "batch_size" => row.batch_size as f64,
        "batch_number" => row.batch_number as f64,
        "repetition" => row.repetition as f64,
        "threads" => row.threads as f64,
        _ => row.images as f64,
    };
    let series = PictureSource::ALL.into_iter().map(|source| {
        let own = test.rows.iter().filter(|row| row.source == source);
        let find = |model| {
            let mut fits = test.fits.iter();
            fits.find(|fit| {
                (fit.source, fit.model, fit.parameter) == (source, model, Some(parameter))
            })
        };
        let curve = find(SpeedModel::Quadratic).or_else(|| find(SpeedModel::Linear));
        SpeedSeries {
            name: source.name(),
            points: own.map(|row| (value(row), row.images_per_s)).collect(),
            curve: curve.map(coefficients).unwrap_or_default(),
        }
    });
    SpeedPanel { parameter, series: series.collect() }
}

/// Those of powers 0, 1 and perhaps 2; none where one of them is undefined.
fn coefficients(fit: &SpeedFit) -> Vec<f64> {
    let all: Option<Vec<f64>> = fit.coefficients.iter().map(|own| own.estimate).collect();
    all.unwrap_or_default()
}
