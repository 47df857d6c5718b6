//! Methods by name.

use serde::Serialize;

use super::advisor::Advisor;
use super::history::History;
use super::methods::{
    Arrow, CherryPick, CoordinateDescent, Ernest, Exhaustive, Micky, Paris, RandomOrder, Scout,
    Tuneful,
};
use super::own::Own;
use super::problem::Problem;
use crate::error::CloudError;

/// A method that chooses cloud configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Our own.
    Default,
    /// Alipourfard and others, NSDI 2017.
    Cherrypick,
    /// Venkataraman and others, NSDI 2016.
    Ernest,
    /// Yadwadkar and others, SoCC 2017.
    Paris,
    /// Hsu and others, ICDCS 2018.
    Arrow,
    /// Hsu and others, arXiv 1803.01296.
    Scout,
    /// Hsu and others, CLOUD 2018.
    Micky,
    /// Fekry and others, KDD 2020.
    Tuneful,
    /// Any candidate, as likely as any other.
    Random,
    /// One property after the other.
    CoordinateDescent,
    /// All candidates.
    Exhaustive,
}

impl Method {
    /// All methods, ours first.
    pub const ALL: [Self; 11] = [
        Self::Default,
        Self::Cherrypick,
        Self::Ernest,
        Self::Paris,
        Self::Arrow,
        Self::Scout,
        Self::Micky,
        Self::Tuneful,
        Self::Random,
        Self::CoordinateDescent,
        Self::Exhaustive,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Cherrypick => "cherrypick",
            Self::Ernest => "ernest",
            Self::Paris => "paris",
            Self::Arrow => "arrow",
            Self::Scout => "scout",
            Self::Micky => "micky",
            Self::Tuneful => "tuneful",
            Self::Random => "random",
            Self::CoordinateDescent => "coordinate-descent",
            Self::Exhaustive => "exhaustive",
        }
    }

    /// The method of a name.
    ///
    /// # Errors
    /// No method has this name.
    pub fn named(name: &str) -> Result<Self, CloudError> {
        Self::ALL.into_iter().find(|own| own.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            CloudError::UnknownMethod { name: name.to_owned(), known }
        })
    }

    /// Whether it can do nothing without runs of other workloads.
    pub fn needs_history(self) -> bool {
        matches!(self, Self::Paris | Self::Scout | Self::Micky)
    }

    /// Makes it ready for a problem and what is known of other workloads.
    ///
    /// # Errors
    /// The method needs a history and there is none.
    pub fn advisor(
        self,
        problem: &Problem,
        history: &History,
    ) -> Result<Box<dyn Advisor>, CloudError> {
        if self.needs_history() && history.workloads.is_empty() {
            return Err(CloudError::NoHistory { method: self.name() });
        }
        Ok(match self {
            Self::Default => Box::new(Own::new(problem, history)),
            Self::Cherrypick => Box::new(CherryPick::new(problem)),
            Self::Ernest => Box::new(Ernest::new(problem)),
            Self::Paris => Box::new(Paris::new(problem, history)),
            Self::Arrow => Box::new(Arrow::new(problem, history)),
            Self::Scout => Box::new(Scout::new(problem, history)),
            Self::Micky => Box::new(Micky::new(problem, history)),
            Self::Tuneful => Box::new(Tuneful::new(problem)),
            Self::Random => Box::new(RandomOrder::new(problem)),
            Self::CoordinateDescent => Box::new(CoordinateDescent::new(problem)),
            Self::Exhaustive => Box::new(Exhaustive::new(problem)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_name() {
        for method in Method::ALL {
            assert_eq!(Method::named(method.name()), Ok(method));
        }
        let error = Method::named("gradient").unwrap_err().to_string();
        assert!(error.starts_with("no method is called `gradient`; there are default, cherrypick"));
    }
}
