//! A surface in words.

use trainwright_stats::holm;
use trainwright_study::Direction;

use super::{Surface, SurfaceKind, SurfacePoint};
use crate::findings::{Finding, info, sort, warning};
use crate::model::problem::check_level;
use crate::wording::{brief, list, percent};

pub(super) fn in_words(surface: &Surface) -> String {
    let explained = surface.r2.map(|r2| format!(", which explains {}", percent(100.0 * r2)));
    let mut sentences = vec![format!(
        "quadratic surface of {} over {}{}",
        surface.response,
        list(&surface.factors.iter().map(|f| f.name.clone()).collect::<Vec<_>>()),
        explained.unwrap_or_default()
    )];
    let kind = match surface.kind {
        SurfaceKind::Maximum => "maximum",
        SurfaceKind::Minimum => "minimum",
        SurfaceKind::Saddle => "saddle",
        SurfaceKind::Ridge => "point on a ridge",
    };
    sentences.push(match &surface.stationary {
        Some(own) => {
            let where_ =
                if own.inside { "inside what was tried" } else { "outside what was tried" };
            format!("its stationary point is a {kind}, {}, {where_}", place(surface, own))
        }
        None => "it has no single stationary point: it is level along some direction".to_owned(),
    });
    if let (Some(own), Some(direction)) = (&surface.optimum, surface.direction) {
        let best = match direction {
            Direction::Minimize => "lowest",
            Direction::Maximize => "highest",
        };
        let border = if own.on_border { ", at the edge of it" } else { "" };
        sentences.push(format!(
            "the {best} point of the region tried is {}{border}",
            place(surface, own)
        ));
    }
    sentences.join("; ")
}

fn place(surface: &Surface, own: &SurfacePoint) -> String {
    let at: Vec<String> = surface
        .factors
        .iter()
        .zip(&own.at)
        .map(|(factor, at)| format!("{} = {}", factor.name, brief(*at)))
        .collect();
    let interval = match own.ci_low.zip(own.ci_high) {
        Some((low, high)) => format!(" ({} to {})", brief(low), brief(high)),
        None => String::new(),
    };
    format!("{}{interval} at {}", brief(own.value), list(&at))
}

pub(super) fn findings(surface: &Surface) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(at_edge(surface));
    found.extend(outside(surface));
    found.extend(flat(surface));
    found.extend(misses(surface));
    sort(&mut found);
    found
}

/// Noise alone puts the best point of a surface at the border, so some term must be there; and
/// at the end of a factor's range, so a term of that factor must be.
fn at_edge(surface: &Surface) -> Option<Finding> {
    let own = surface.optimum.as_ref().filter(|own| own.on_border)?;
    let shown = shown_terms(surface);
    let shows = |factor: &&String| shown.iter().any(|term| is_made_of(term, factor));
    let factors: Vec<String> = own.at_edge_of.iter().filter(shows).cloned().collect();
    let edge = match factors.as_slice() {
        [] if own.at_edge_of.is_empty() && !shown.is_empty() => "the points tried".to_owned(),
        [] => return None,
        factors => format!("the range of {}", list(factors)),
    };
    let text = format!(
        "the best point of the fitted surface lies at the edge of {edge}: a better one may lie beyond, \
         which these data cannot tell"
    );
    Some(info("optimum-at-edge", text))
}

/// Terms but the intercept that can be told from none, allowing for their number.
fn shown_terms(surface: &Surface) -> Vec<&str> {
    let terms = || surface.coefficients.iter().skip(1);
    let adjusted = holm(&terms().map(|own| own.p).collect::<Vec<_>>());
    let shown = terms().zip(adjusted).filter(|(_, p)| p.is_some_and(|p| p < surface.alpha));
    shown.map(|(own, _)| own.term.as_str()).collect()
}

/// Whether a factor is in a term such as `a`, `a:b` or `a^2`.
fn is_made_of(term: &str, factor: &str) -> bool {
    term.split(':').any(|part| part.strip_suffix("^2").unwrap_or(part) == factor)
}

fn outside(surface: &Surface) -> Option<Finding> {
    let own = surface.stationary.as_ref().filter(|own| !own.inside)?;
    let text = format!(
        "the stationary point of the surface ({}) lies outside what was tried, where the quadratic is \
         a guess",
        place(surface, own)
    );
    Some(info("stationary-point-outside", text))
}

fn flat(surface: &Surface) -> Option<Finding> {
    let level = surface
        .curvatures
        .iter()
        .filter(|own| {
            own.ci_low.zip(own.ci_high).is_some_and(|(low, high)| low < 0.0 && high > 0.0)
        })
        .count();
    if level == 0 {
        return None;
    }
    let text = format!(
        "along {level} of the surface's {} axes the curvature could be zero or of either sign, so where \
         the stationary point lies, and of what kind it is, is uncertain",
        surface.curvatures.len()
    );
    Some(info("flat-surface", text))
}

fn misses(surface: &Surface) -> Option<Finding> {
    let p = surface.lack_of_fit_p.filter(|p| *p < check_level(surface.alpha))?;
    let text = format!(
        "{} is evidence that a quadratic does not describe the surface: means differ from it by more \
         than repeats differ from each other",
        crate::wording::p_value(p)
    );
    Some(warning("lack-of-fit", text))
}
