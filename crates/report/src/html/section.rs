//! The sections of a study's report, which live pages show one by one.

use super::cluster;
use super::study::{
    bottlenecks, curves, design, effects, environment, fit, parallel, resources, search, surface,
    trials, verdict,
};
use crate::charts::Charts;
use crate::input::ReportInput;

/// A section of a study's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The answer, and how it came about.
    Verdict,
    /// What a search found and learnt.
    Search,
    /// What was planned.
    Design,
    /// What changes the response.
    Effects,
    /// A quadratic surface.
    Surface,
    /// All configurations at once.
    Parallel,
    /// The equation, ANOVA and residuals.
    Fit,
    /// Every trial.
    Trials,
    /// Metrics while trials ran.
    Curves,
    /// What trials used, and what bound them.
    Resources,
    /// What a cluster did.
    Cluster,
    /// Machines, command and study file.
    Environment,
}

impl Section {
    /// All sections in the order of the report.
    pub const ALL: [Self; 12] = [
        Self::Verdict,
        Self::Search,
        Self::Design,
        Self::Effects,
        Self::Surface,
        Self::Parallel,
        Self::Fit,
        Self::Trials,
        Self::Curves,
        Self::Resources,
        Self::Cluster,
        Self::Environment,
    ];

    /// The sections that a study has.
    pub fn of(input: &ReportInput<'_>) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|own| own.applies(input))
    }

    /// Whether a study has it; most sections say themselves what they lack.
    pub fn applies(self, input: &ReportInput<'_>) -> bool {
        match self {
            Self::Search => input.search.is_some(),
            Self::Surface => input.analysis.is_some_and(|analysis| analysis.surface.is_some()),
            Self::Parallel => parallel::applies(input),
            Self::Cluster => !input.cluster.is_empty(),
            _ => true,
        }
    }

    /// Its name in addresses.
    pub fn id(self) -> &'static str {
        self.described().0
    }

    /// Its heading.
    pub fn heading(self) -> &'static str {
        self.described().1
    }

    /// What to look at.
    pub fn look(self) -> &'static str {
        self.described().2
    }

    fn described(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Verdict => (
                "verdict",
                "Verdict",
                "The best configuration measured and what drives the response; mind the findings \
                 before relying on either.",
            ),
            Self::Search => search::SECTION,
            Self::Design => (
                "design",
                "Design",
                "What was planned. Look for rows that lack trials and for aliases: effects that \
                 cannot be told apart.",
            ),
            Self::Effects => (
                "effects",
                "Effects",
                "What changes the response. Look for the few long bars, then for lines that are \
                 not parallel.",
            ),
            Self::Surface => surface::SECTION,
            Self::Parallel => parallel::SECTION,
            Self::Fit => (
                "fit",
                "Fit",
                "How far the fitted equation can be trusted. Residuals should look like a band \
                 without a pattern.",
            ),
            Self::Trials => (
                "trials",
                "Trials",
                "Every trial with what it measured. Only columns in which trials differ are shown; \
                 a click on a header sorts.",
            ),
            Self::Curves => (
                "curves",
                "Learning curves",
                "How trials went while they ran. Look for curves that part from those of the same \
                 row.",
            ),
            Self::Resources => (
                "resources",
                "Resources",
                "What trials used of the machine, and which resource bound them.",
            ),
            Self::Cluster => cluster::SECTION,
            Self::Environment => {
                ("environment", "Environment", "What is needed to run the study again.")
            }
        }
    }

    /// What stands under its heading.
    pub(super) fn body(self, input: &ReportInput<'_>, charts: &mut Charts) -> String {
        match self {
            Self::Verdict => verdict::section(input, charts),
            Self::Search => {
                input.search.as_ref().map_or_else(String::new, |own| search::section(own, charts))
            }
            Self::Design => design::section(input, charts),
            Self::Effects => effects::section(input, charts),
            Self::Surface => {
                let own = input.analysis.and_then(|analysis| analysis.surface.as_ref());
                own.map_or_else(String::new, |own| surface::section(own, charts))
            }
            Self::Parallel => parallel::section(input, charts),
            Self::Fit => fit::section(input, charts),
            Self::Trials => trials::section(input),
            Self::Curves => curves::section(input, charts),
            Self::Resources => bottlenecks::section(input) + &resources::section(input, charts),
            Self::Cluster => cluster::section(input.cluster, charts),
            Self::Environment => environment::section(input),
        }
    }
}

/// Sections as markup for a page of one's own, with the data of their charts at the end.
pub fn sections_html(input: &ReportInput<'_>, sections: &[Section]) -> String {
    let mut charts = Charts::default();
    let mut out: String = sections
        .iter()
        .filter(|own| own.applies(input))
        .map(|own| {
            let body = own.body(input, &mut charts);
            super::shell::section(own.id(), own.heading(), own.look(), &body)
        })
        .collect();
    out += &charts.script();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::SmallStudy;

    #[test]
    fn sections_have_names_of_their_own() {
        let mut names: Vec<&str> = Section::ALL.iter().map(|own| own.id()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Section::ALL.len());
    }

    #[test]
    fn one_section_alone_has_the_markup_that_it_has_in_the_report() {
        let own = SmallStudy::with("", "");
        let input = own.input(None);
        let report = crate::html(&input);
        for section in Section::of(&input) {
            let alone = sections_html(&input, &[section]);
            let markup = alone.split("<script").next().unwrap();
            assert!(report.contains(markup), "{section:?}");
        }
    }

    #[test]
    fn a_section_that_the_study_lacks_leaves_only_the_data() {
        let own = SmallStudy::with("", "");
        let alone = sections_html(&own.input(None), &[Section::Search, Section::Cluster]);
        assert!(alone.starts_with("<script type=\"application/json\""), "{alone}");
    }
}
