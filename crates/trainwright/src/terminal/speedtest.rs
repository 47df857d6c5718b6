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
