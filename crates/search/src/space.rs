//! What may be suggested: the factors of a study with its conditions and constraints, or a finite
//! table of candidates with features.
//!
//! A searcher thinks in the unit cube, one number a factor (`dimension.rs`); a predictor sees
//! features, which keep the factors' scales. Both lead back to configurations.

mod dimension;
mod focus;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trainwright_design::{active, violated};
use trainwright_random::Random;
use trainwright_study::{Configuration, Study};

use crate::SearchError;
use crate::gaussian_process::Distance;

pub use dimension::Dimension;
use focus::Focus;

/// Spaces of at most so many configurations are listed.
pub const MOST_LISTED: u64 = 4096;
/// Random points after which constraints count as impossible to meet.
const MOST_TRIES: usize = 20_000;
/// Random points at which constraints are tried before a search begins.
const CHECKED: usize = 200;

/// A configuration that may run, with what a predictor sees of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What would run.
    pub configuration: Configuration,
    /// One number a dimension.
    pub features: Vec<f64>,
}

/// What may be suggested.
#[derive(Debug, Clone)]
pub struct Space {
    shape: Shape,
    distances: Vec<Distance>,
    /// All that may be suggested, where that is a list.
    listed: Option<Vec<Candidate>>,
}

#[derive(Debug, Clone)]
enum Shape {
    Factors {
        study: Arc<Study>,
        dimensions: Vec<Dimension>,
        /// Whether there are no conditions and no constraints.
        free: bool,
    },
    /// Places of candidates by identity.
    Table { places: BTreeMap<String, usize> },
    /// Only some factors still vary.
    Focused(Focus),
}

impl Space {
    /// The factors of a study, with its conditions and constraints.
    ///
    /// # Errors
    /// No configuration meets the constraints, or one of them cannot be computed.
    pub fn of(study: &Study) -> Result<Self, SearchError> {
        let dimensions: Vec<Dimension> = study.factors.iter().map(Dimension::of).collect();
        let distances = dimensions.iter().map(Dimension::distance).collect();
        let free =
            study.constraints.is_empty() && study.factors.iter().all(|own| own.when.is_none());
        let shape = Shape::Factors { study: Arc::new(study.clone()), dimensions, free };
        let mut own = Self { shape, distances, listed: None };
        let allowed = own.check_constraints()?;
        own.listed = own.list();
        match &own.listed {
            Some(all) if all.is_empty() => return Err(SearchError::NothingAllowed),
            None if !allowed => return Err(SearchError::NoneFound { tried: MOST_TRIES }),
            _ => {}
        }
        Ok(own)
    }

    /// A table of candidates; numeric features are brought to the unit interval.
    ///
    /// # Errors
    /// There are none, two are the same, features are missing or not finite.
    pub fn of_candidates(
        mut candidates: Vec<Candidate>,
        distances: Vec<Distance>,
    ) -> Result<Self, SearchError> {
        if candidates.is_empty() {
            return Err(SearchError::NoCandidates);
        }
        let mut places = BTreeMap::new();
        for (place, own) in candidates.iter().enumerate() {
            let configuration = &own.configuration;
            if own.features.len() != distances.len() {
                let (found, expected) = (own.features.len(), distances.len());
                let configuration = configuration.clone();
                return Err(SearchError::RaggedFeatures { configuration, found, expected });
            }
            if let Some(value) = own.features.iter().find(|value| !value.is_finite()) {
                let (configuration, value) = (configuration.clone(), *value);
                return Err(SearchError::BadFeature { configuration, value });
            }
            if places.insert(configuration.identity(), place).is_some() {
                let configuration = configuration.clone();
                return Err(SearchError::CandidateTwice { configuration });
            }
        }
        for (column, distance) in distances.iter().enumerate() {
            if *distance == Distance::Difference {
                bring_to_unit(&mut candidates, column);
            }
        }
        Ok(Self { shape: Shape::Table { places }, distances, listed: Some(candidates) })
    }

    /// How far values of each feature are apart.
    pub fn distances(&self) -> &[Distance] {
        &self.distances
    }

    /// All that may be suggested, where that is a list.
    pub fn listed(&self) -> Option<&[Candidate]> {
        self.listed.as_deref()
    }

    /// Numbers of a point of the unit cube.
    pub fn width(&self) -> usize {
        match &self.shape {
            Shape::Factors { .. } | Shape::Focused(_) => self.dimensions().len(),
            Shape::Table { .. } => 1,
        }
    }

    /// The factors, where the space has some.
    pub fn dimensions(&self) -> &[Dimension] {
        match &self.shape {
            Shape::Factors { dimensions, .. } => dimensions,
            Shape::Focused(own) => &own.dimensions,
            Shape::Table { .. } => &[],
        }
    }

    /// The candidate at a point of the unit cube; nothing where a constraint forbids it.
    pub fn candidate(&self, point: &[f64]) -> Option<Candidate> {
        match &self.shape {
            Shape::Factors { dimensions, .. } => {
                let pairs = dimensions.iter().zip(point);
                let pairs = pairs.map(|(own, place)| (own.name().to_owned(), own.level(*place)));
                self.allowed(&Configuration::new(pairs.collect()))
            }
            Shape::Table { .. } => {
                let rows = self.listed()?;
                let index = (point[0].clamp(0.0, 1.0) * rows.len() as f64) as usize;
                rows.get(index.min(rows.len() - 1)).cloned()
            }
            Shape::Focused(own) => own.candidate(point),
        }
    }

    /// What a predictor sees of the candidate at a point of the unit cube; nothing where a
    /// constraint forbids it.
    pub(crate) fn features_at(&self, point: &[f64]) -> Option<Vec<f64>> {
        match &self.shape {
            Shape::Factors { dimensions, free: true, .. } => {
                let all = dimensions.iter().zip(point);
                Some(all.map(|(own, place)| own.feature_at(*place)).collect())
            }
            _ => self.candidate(point).map(|own| own.features),
        }
    }

    /// A configuration of all factors without those that do not exist in it; nothing where a
    /// constraint forbids it.
    pub fn allowed(&self, combination: &Configuration) -> Option<Candidate> {
        if let Shape::Focused(own) = &self.shape {
            let found = own.wide().allowed(combination)?;
            return Some(Candidate { features: own.seen(&found.features), ..found });
        }
        let Shape::Factors { study, .. } = &self.shape else {
            return self.features(combination).map(|features| {
                let configuration = combination.clone();
                Candidate { configuration, features }
            });
        };
        // What cannot be computed is not allowed; a search does not begin where that is seen.
        let configuration = active(study, combination).ok()?;
        if violated(study, &configuration).ok()?.is_some() {
            return None;
        }
        let features = self.features(&configuration)?;
        Some(Candidate { configuration, features })
    }

    /// What a predictor sees of a point of the unit cube, whether constraints allow it or not.
    pub fn free_features(&self, point: &[f64]) -> Option<Vec<f64>> {
        let Shape::Factors { study, dimensions, .. } = &self.shape else {
            return self.candidate(point).map(|own| own.features);
        };
        let pairs = dimensions.iter().zip(point);
        let pairs = pairs.map(|(own, place)| (own.name().to_owned(), own.level(*place)));
        self.features(&active(study, &Configuration::new(pairs.collect())).ok()?)
    }

    /// What a predictor sees of a configuration; nothing where it is none of this space.
    pub fn features(&self, configuration: &Configuration) -> Option<Vec<f64>> {
        match &self.shape {
            Shape::Factors { dimensions, .. } => {
                dimensions.iter().map(|own| own.feature(configuration.get(own.name()))).collect()
            }
            Shape::Table { places } => {
                let place = *places.get(&configuration.identity())?;
                Some(self.listed.as_ref()?[place].features.clone())
            }
            Shape::Focused(own) => Some(own.seen(&own.wide().features(configuration)?)),
        }
    }

    /// The point of the unit cube of a configuration; factors that it lacks are in the middle.
    pub fn point(&self, configuration: &Configuration) -> Option<Vec<f64>> {
        match &self.shape {
            Shape::Factors { dimensions, .. } => dimensions
                .iter()
                .map(|own| {
                    configuration.get(own.name()).map_or(Some(0.5), |level| own.place(level))
                })
                .collect(),
            Shape::Table { places } => {
                let place = *places.get(&configuration.identity())? as f64;
                Some(vec![(place + 0.5) / places.len() as f64])
            }
            Shape::Focused(own) => Some(own.seen(&own.wide().point(configuration)?)),
        }
    }

    /// A candidate by chance; nothing where none was found that the constraints allow.
    pub fn random(&self, random: &mut Random) -> Option<Candidate> {
        if let Some(listed) = &self.listed {
            return Some(listed[random.index(listed.len())].clone());
        }
        (0..MOST_TRIES).find_map(|_| {
            let point: Vec<f64> = (0..self.width()).map(|_| random.unit()).collect();
            self.candidate(&point)
        })
    }

    /// Whether a configuration by chance meets the constraints.
    fn check_constraints(&self) -> Result<bool, SearchError> {
        let Shape::Factors { study, dimensions, .. } = &self.shape else { return Ok(true) };
        let mut random = Random::new(study.seed.value());
        let mut allowed = false;
        for tried in 0..MOST_TRIES {
            if allowed && tried >= CHECKED {
                break;
            }
            let pairs =
                dimensions.iter().map(|own| (own.name().to_owned(), own.level(random.unit())));
            let configuration = active(study, &Configuration::new(pairs.collect()))?;
            allowed |= violated(study, &configuration)?.is_none();
        }
        Ok(allowed)
    }

    /// Every configuration, where they are few enough.
    fn list(&self) -> Option<Vec<Candidate>> {
        let dimensions = self.dimensions();
        let mut total = 1_u64;
        for own in dimensions {
            total = total.checked_mul(own.count()?).filter(|total| *total <= MOST_LISTED)?;
        }
        let mut seen = BTreeSet::new();
        let mut listed = Vec::new();
        for mut number in 0..total {
            let mut point = Vec::with_capacity(dimensions.len());
            for own in dimensions {
                let count = own.count()?;
                point.push(own.place(&own.value(number % count)?)?);
                number /= count;
            }
            let candidate = self.candidate(&point);
            listed.extend(candidate.filter(|own| seen.insert(own.configuration.identity())));
        }
        Some(listed)
    }
}

fn bring_to_unit(candidates: &mut [Candidate], column: usize) {
    let values = || candidates.iter().map(|own| own.features[column]);
    let low = values().fold(f64::INFINITY, f64::min);
    let width = values().fold(f64::NEG_INFINITY, f64::max) - low;
    for own in candidates.iter_mut() {
        let value = &mut own.features[column];
        *value = if width > 0.0 { (*value - low) / width } else { 0.5 };
    }
}

#[cfg(test)]
mod tests;
