//! What a speed test means, in sentences.

use super::{CacheState, PictureSource, SpeedFit, SpeedMean, SpeedModel, Speedtest};
use crate::wording::{figure, list, p_value, percent};

/// Largest p-value called evidence.
const ALPHA: f64 = 0.05;

/// The sentences, most useful first.
pub(super) fn verdict(test: &Speedtest) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(ratio(test));
    sentences.extend(fastest(test));
    for source in PictureSource::ALL {
        sentences.extend(what_matters(test, source));
    }
    for source in PictureSource::ALL {
        sentences.extend(adequacy(test, source));
    }
    if fits(test, PictureSource::Files, SpeedModel::Linear)
        .any(|fit| fit.parameter == Some("data_size"))
    {
        sentences.push(
            "The data size is the batch size times the batch number, so it is no parameter of its \
             own: alone it repeats what these two do, and in the joint fit it is their interaction."
                .to_owned(),
        );
    }
    sentences.push(conditions(test));
    sentences
}

fn ratio(test: &Speedtest) -> Option<String> {
    let ratio = test.ratio.as_ref()?;
    let (faster, slower, turn): (_, _, fn(f64) -> f64) = if ratio.estimate >= 1.0 {
        ("Records", "files", |value| value)
    } else {
        ("Files", "records", f64::recip)
    };
    let estimate = two_digits(turn(ratio.estimate));
    let interval = match (ratio.ci_low, ratio.ci_high) {
        (Some(low), Some(high)) if low <= 1.0 && high >= 1.0 => format!(
            " (95 % interval {} to {}, so neither is shown to be faster)",
            two_digits(turn(low).min(turn(high))),
            two_digits(turn(low).max(turn(high)))
        ),
        (Some(low), Some(high)) => format!(
            " (95 % interval {} to {} over {} pairs of readings)",
            two_digits(turn(low).min(turn(high))),
            two_digits(turn(low).max(turn(high))),
            ratio.pairs
        ),
        _ => " (one pair of readings, so without an interval)".to_owned(),
    };
    Some(format!("{faster} are read {estimate} times as fast as {slower}{interval}."))
}

fn fastest(test: &Speedtest) -> Option<String> {
    // The last of equals wins, so that the order is turned to prefer small batches.
    let best = test.means.iter().rev().max_by(|a, b| a.images_per_s.total_cmp(&b.images_per_s))?;
    let rivals = test.means.iter().filter(|mean| overlaps(mean, best)).count() - 1;
    let equal = match rivals {
        0 => String::new(),
        1 => "; the interval of 1 other combination reaches as far".to_owned(),
        many => format!("; the intervals of {many} other combinations reach as far"),
    };
    Some(format!(
        "Fastest on average: {}, batch size {}, {} batches, {}: {} images/s, {} MB/s{equal}.",
        best.source.name(),
        best.batch_size,
        best.batch_number,
        if best.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", best.threads) },
        interval_words(best),
        figure(best.megabytes_per_s),
    ))
}

fn interval_words(mean: &SpeedMean) -> String {
    let whole = |value: f64| format!("{value:.0}");
    match (mean.ci_low, mean.ci_high) {
        (Some(low), Some(high)) => {
            format!("{} ({} to {})", whole(mean.images_per_s), whole(low), whole(high))
        }
        _ => whole(mean.images_per_s),
    }
}

/// Whether a mean's interval reaches the best mean.
fn overlaps(mean: &SpeedMean, best: &SpeedMean) -> bool {
    mean.ci_high.unwrap_or(mean.images_per_s) >= best.images_per_s
}

fn what_matters(test: &Speedtest, source: PictureSource) -> Option<String> {
    let fits: Vec<&SpeedFit> = fits(test, source, SpeedModel::Linear).collect();
    if fits.is_empty() {
        return None;
    }
    let clear: Vec<String> = fits
        .iter()
        .filter(|fit| fit.p_adjusted.is_some_and(|p| p <= ALPHA))
        .filter_map(|fit| {
            let slope = fit.coefficients.get(1)?.estimate?;
            let (verb, by) = if slope > 0.0 { ("gains", slope) } else { ("loses", -slope) };
            Some(format!(
                "{verb} {} images/s for each one more in {} (r = {:.2}, adjusted {})",
                two_digits(by),
                fit.parameter?.replace('_', " "),
                fit.r?,
                p_value(fit.p_adjusted?)
            ))
        })
        .collect();
    let name = capital(source.name());
    if clear.is_empty() {
        let tried: Vec<String> =
            fits.iter().filter_map(|fit| Some(fit.parameter?.replace('_', " "))).collect();
        return Some(format!(
            "{name}: no clear straight-line effect of {}; take the batch size that training wants.",
            list(&tried)
        ));
    }
    Some(format!("{name}: reading {}.", list(&clear)))
}

fn adequacy(test: &Speedtest, source: PictureSource) -> Option<String> {
    let straight = fits(test, source, SpeedModel::JointLinear).next();
    let straight = straight.or_else(|| fits(test, source, SpeedModel::Linear).next())?;
    let bent = fits(test, source, SpeedModel::JointQuadratic).next();
    let name = source.name();
    let shape = match straight.lack_of_fit.as_ref().and_then(|it| it.p) {
        Some(p) if p <= ALPHA => format!(
            "a straight line does not describe {name} (lack of fit, {}): speeds differ between \
             combinations in a way that it misses",
            p_value(p)
        ),
        Some(p) => format!(
            "a straight line is adequate for {name} (no lack of fit, {}), though what it does not \
             explain may be noise",
            p_value(p)
        ),
        None => format!(
            "whether a straight line describes {name} cannot be tested without \
                         repetitions of more than two levels"
        ),
    };
    let share = |fit: &SpeedFit| percent(100.0 * fit.r2);
    let bent = bent.map_or_else(String::new, |bent| format!(", with squares {}", share(bent)));
    let slope =
        format!("; all parameters together explain {} of the variation{bent}", share(straight));
    Some(capital(&format!("{shape}{slope}.")))
}

fn conditions(test: &Speedtest) -> String {
    let own = &test.conditions;
    let cache = match own.cache {
        CacheState::Warm => "with a warm cache",
        CacheState::Cold => {
            "with a cold cache (dropped by this system before each reading; a cache of the disk or \
             of the machine that hosts this one may still have held the bytes)"
        }
    };
    let latency = if own.latency_s > 0.0 {
        format!(", {} ms before each file or shard", figure(1e3 * own.latency_s))
    } else {
        String::new()
    };
    let bandwidth = own.bandwidth_bytes_per_s.map_or_else(String::new, |bytes| {
        format!(", {} MB/s for all requests together", figure(bytes as f64 / 1e6))
    });
    format!(
        "Read {cache}{latency}{bandwidth}; files are decoded at full size and brought to {size} x \
         {size} pixels, records hold them at that size. Other disks, pictures and latencies give \
         other ratios.",
        size = own.size
    )
}

fn fits(
    test: &Speedtest,
    source: PictureSource,
    model: SpeedModel,
) -> impl Iterator<Item = &SpeedFit> {
    test.fits.iter().filter(move |fit| fit.source == source && fit.model == model)
}

/// Two digits, or all whole ones.
fn two_digits(value: f64) -> String {
    let places =
        if value == 0.0 { 0.0 } else { (1.0 - value.abs().log10().floor()).clamp(0.0, 6.0) };
    format!("{value:.*}", places as usize)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
