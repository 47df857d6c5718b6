//! Rules about the search table.

use super::{Checker, at};
use crate::file::draft::{ConfirmDraft, EarlyStopDraft, SearchDraft, StopDraft};
use crate::{
    BoundSide, Budget, EarlyStop, EarlyStopRule, GoOn, Metric, SearchBound, SearchConfirm,
    SearchLimits, SearchMethod, SearchObjective, SearchSpec, SearchStart, SearchStop,
};

/// Configurations that are tried before a search may stop by itself.
const LEAST: u32 = 10;
/// One in so many goes on at each rung.
const FACTOR: u32 = 3;

impl Checker<'_> {
    pub(super) fn search(
        &mut self,
        draft: SearchDraft,
        metrics: &[Metric],
        response: &str,
        budget: &Budget,
    ) -> Option<SearchSpec> {
        let limits = self.search_limits(&draft, budget);
        let replicates = draft.replicates.unwrap_or(1);
        if replicates == 0 {
            self.fault(at!["search", "replicates"], "replicates must be at least 1", None);
        }
        if draft.start.count == Some(0) {
            self.fault(at!["search", "start", "count"], "count must be at least 1", None);
        }
        if !matches!(draft.method, SearchMethod::Bayesian | SearchMethod::Tuneful) {
            let keys = [("stop", draft.stop.is_some()), ("weigh", draft.weigh.is_some())];
            for (key, _) in keys.into_iter().filter(|(_, there)| *there) {
                let message = format!("`{key}` has no meaning for {}", draft.method.word());
                let help =
                    format!("leave `{key}` out or choose method = \"bayesian\" or \"tuneful\"");
                self.fault(at!["search", key], message, Some(&help));
            }
        }
        let objectives = self.objectives(&draft.objectives, metrics, response);
        let mut bounds = Vec::new();
        for (key, side, all) in [
            ("at_most", BoundSide::AtMost, &draft.at_most),
            ("at_least", BoundSide::AtLeast, &draft.at_least),
        ] {
            for (metric, &bound) in all {
                self.known_metric(&[key, metric], metric, metrics);
                if !bound.is_finite() {
                    let message = format!("the bound of `{metric}` is {bound}");
                    self.fault(at!["search", key, metric], message, Some("write a finite number"));
                }
                bounds.push(SearchBound { metric: metric.clone(), side, bound });
            }
        }
        let learns = [SearchMethod::Bayesian, SearchMethod::Tpe, SearchMethod::Hyperband];
        if !draft.warm_start.is_empty() && !learns.contains(&draft.method) {
            let message = format!("`warm_start` has no meaning for {}", draft.method.word());
            let help = "leave it out or choose bayesian, tpe or hyperband";
            self.fault(at!["search", "warm_start"], message, Some(help));
        }
        let early_stop = self.early_stop(&draft, metrics, &objectives);
        Some(SearchSpec {
            method: draft.method,
            seed: draft.seed,
            budget: limits,
            start: SearchStart {
                points: draft.start.points.unwrap_or_default(),
                count: draft.start.count,
            },
            replicates,
            stop: draft.stop.as_ref().map(|own| self.stop_rule(own)),
            objectives,
            bounds,
            weigh: draft.weigh.unwrap_or_default(),
            early_stop,
            warm_start: draft.warm_start,
            confirm: draft.confirm.map(|own| self.confirm(&own)),
        })
    }

    fn search_limits(&mut self, draft: &SearchDraft, budget: &Budget) -> SearchLimits {
        let own = &draft.budget;
        let (trials, hours, money) = (own.trials, own.hours, own.money);
        if trials.is_none() && hours.is_none() && money.is_none() {
            let help = "say how long it may go on, such as budget = { trials = 40 }";
            self.fault(at!["search", "budget"], "the search has no budget", Some(help));
        }
        if trials == Some(0) {
            self.fault(at!["search", "budget", "trials"], "trials must be at least 1", None);
        }
        for (key, amount) in [("hours", hours), ("money", money)] {
            if let Some(amount) = amount
                && !(amount.is_finite() && amount > 0.0)
            {
                let message = format!("`{key}` is {amount}");
                self.fault(at!["search", "budget", key], message, Some("write a number above 0"));
            }
        }
        if money.is_some() && budget.price_per_hour.is_none() {
            let message = "a budget in money needs the price of an hour";
            let help = "add [budget] with price_per_hour = 0.10";
            self.fault(at!["search", "budget", "money"], message, Some(help));
        }
        SearchLimits { trials, hours, money }
    }

    fn objectives(
        &mut self,
        names: &[String],
        metrics: &[Metric],
        response: &str,
    ) -> Vec<SearchObjective> {
        let direction = |name: &str| {
            let metric = metrics.iter().find(|metric| metric.name == name);
            metric.and_then(|metric| metric.objective)
        };
        if names.is_empty() {
            let Some(direction) = direction(response) else {
                self.response_without_direction(metrics, response);
                return Vec::new();
            };
            return vec![SearchObjective { metric: response.to_owned(), direction }];
        }
        let mut found: Vec<SearchObjective> = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let index_text = index.to_string();
            if !self.known_metric(&["objectives", &index_text], name, metrics) {
                continue;
            }
            if found.iter().any(|own| own.metric == *name) {
                let message = format!("the objective `{name}` is there twice");
                self.fault(at!["search", "objectives", index], message, None);
            }
            let Some(direction) = direction(name) else {
                let message = format!("the objective `{name}` has no direction");
                let help =
                    format!("add objective = \"minimize\" or \"maximize\" to [metrics.{name}]");
                self.fault(at!["search", "objectives", index], message, Some(&help));
                continue;
            };
            found.push(SearchObjective { metric: name.clone(), direction });
        }
        found
    }

    /// A guess would be wrong half the time, and would look like a result.
    fn response_without_direction(&mut self, metrics: &[Metric], response: &str) {
        // A response that is no metric has been noted as such.
        if metrics.iter().any(|metric| metric.name == response) {
            let message =
                format!("it is not said whether the search makes `{response}` small or large");
            let help =
                format!("add objective = \"minimize\" or \"maximize\" to [metrics.{response}]");
            self.fault(at!["metrics", response], message, Some(&help));
        }
    }

    /// Notes a name that is no metric.
    fn known_metric(&mut self, path: &[&str], name: &str, metrics: &[Metric]) -> bool {
        let known = metrics.iter().any(|metric| metric.name == name);
        if !known {
            let message = format!("`{name}` is no metric");
            let names = metrics.iter().map(|metric| metric.name.as_str());
            let place: Vec<crate::file::locate::Step> = std::iter::once("search")
                .chain(path.iter().copied())
                .map(|step| step.parse::<usize>().map_or_else(|_| step.into(), Into::into))
                .collect();
            self.unknown_name(&place, message, name, names);
        }
        known
    }

    fn stop_rule(&mut self, draft: &StopDraft) -> SearchStop {
        let gain = draft.gain;
        if !(gain > 0.0 && gain < 1.0) {
            let message = format!("`gain` is {gain}");
            let help = "write a share of the best value between 0 and 1, such as 0.01";
            self.fault(at!["search", "stop", "gain"], message, Some(help));
        }
        SearchStop { gain, least: draft.least.unwrap_or(LEAST) }
    }

    fn confirm(&mut self, draft: &ConfirmDraft) -> SearchConfirm {
        let (best, replications) = (draft.best.unwrap_or(3), draft.replications);
        if best == 0 || replications < 2 {
            let message = format!("{replications} trials of the best {best} tell nothing apart");
            let help = "write at least best = 1 and replications = 2";
            self.fault(at!["search", "confirm"], message, Some(help));
        }
        SearchConfirm { best, replications }
    }

    fn early_stop(
        &mut self,
        draft: &SearchDraft,
        metrics: &[Metric],
        objectives: &[SearchObjective],
    ) -> Option<EarlyStop> {
        let implied = EarlyStopDraft {
            rule: EarlyStopRule::Hyperband,
            metric: None,
            from: None,
            factor: None,
            go_on: None,
        };
        let own = match (&draft.early_stop, draft.method) {
            (Some(own), _) => own.clone(),
            (None, SearchMethod::Hyperband) => implied,
            (None, _) => return None,
        };
        let name = match &own.metric {
            Some(name) => {
                self.known_metric(&["early_stop", "metric"], name, metrics).then(|| name.clone())?
            }
            None => objectives.first()?.metric.clone(),
        };
        let metric = metrics.iter().find(|metric| metric.name == name)?;
        let objective = objectives.iter().find(|own| own.metric == name);
        let direction = metric.objective.or(objective.map(|own| own.direction));
        let Some(direction) = direction else {
            let message = format!("it is not said whether `{name}` should be small or large");
            let help = format!("add objective = \"minimize\" or \"maximize\" to [metrics.{name}]");
            self.fault(at!["search", "early_stop"], message, Some(&help));
            return None;
        };
        if metric.formula().is_some() {
            let message = format!("`{name}` is a formula, which no trial reports with its steps");
            let help = "name a metric that trials report step by step, such as a loss";
            self.fault(at!["search", "early_stop"], message, Some(help));
        }
        let factor = own.factor.unwrap_or(FACTOR);
        if factor < 2 {
            let message = format!("`factor` is {factor}");
            self.fault(at!["search", "early_stop", "factor"], message, Some("write 2 or more"));
        }
        let from = own.from.unwrap_or(1.0);
        if !(from.is_finite() && from > 0.0) {
            let message = format!("`from` is {from}");
            self.fault(at!["search", "early_stop", "from"], message, Some("write a step above 0"));
        }
        if own.rule == EarlyStopRule::Median && own.go_on == Some(true) {
            let message = "the rule `median` has no rungs at which a trial could go on".to_owned();
            let help = "write rule = \"halving\" or \"hyperband\", or leave `go_on` out";
            self.fault(at!["search", "early_stop", "go_on"], message, Some(help));
        }
        let go_on = match own.go_on {
            Some(true) => GoOn::Always,
            Some(false) => GoOn::Never,
            None => GoOn::OwnTrainer,
        };
        Some(EarlyStop { rule: own.rule, metric: name, direction, from, factor, go_on })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::check::tests::{check, faults_of, text_with};
    use crate::{Direction, Study};
    use crate::{SearchWeight, StartPoints};

    fn with(lines: &str) -> String {
        let metric = "[metrics.m]\nobjective = \"minimize\"\n";
        text_with("[metrics.m]\n", &format!("{metric}[search]\n{lines}\n"))
    }

    #[track_caller]
    fn refused(lines: &str, expected: &str) {
        assert_eq!(faults_of(&with(lines)), [expected]);
    }

    #[test]
    fn a_search_needs_little() {
        let study =
            Study::from_text(&with("method = \"bayesian\"\nbudget = { trials = 9 }")).unwrap();
        let own = study.search.unwrap();
        assert_eq!(own.budget, SearchLimits { trials: Some(9), hours: None, money: None });
        assert_eq!((own.replicates, own.weigh, own.stop), (1, SearchWeight::Trials, None));
        let objective = SearchObjective { metric: "m".to_owned(), direction: Direction::Minimize };
        assert_eq!(own.objectives, [objective]);
        assert_eq!(own.start, SearchStart { points: StartPoints::Sobol, count: None });
    }

    #[test]
    fn a_search_survives_being_kept() {
        let lines = "method = \"bayesian\"\nbudget = { trials = 9, hours = 1.5 }\nseed = 3\n\
                     start = { points = \"random\", count = 4 }\nreplicates = 2\n\
                     stop = { gain = 0.05 }\nat_most = { m = 7.5 }\nweigh = \"seconds\"\n\
                     early_stop = { rule = \"median\", from = 5 }\nwarm_start = [\"before\"]";
        let study = Study::from_text(&with(lines)).unwrap();
        let own = study.search.unwrap();
        let kept = serde_json::to_string(&own).unwrap();
        assert_eq!(serde_json::from_str::<SearchSpec>(&kept).unwrap(), own);
        assert_eq!(own.stop, Some(SearchStop { gain: 0.05, least: LEAST }));
        let early = own.early_stop.unwrap();
        assert_eq!((early.metric.as_str(), early.from, early.factor), ("m", 5.0, FACTOR));
    }

    #[test]
    fn hyperband_cuts_short_unless_told_otherwise() {
        let rule = |lines: &str| {
            let text = with(&format!("budget = {{ trials = 9 }}\n{lines}"));
            Study::from_text(&text).unwrap().search.unwrap().early_stop.map(|own| own.rule)
        };
        assert_eq!(rule("method = \"hyperband\""), Some(EarlyStopRule::Hyperband));
        assert_eq!(rule("method = \"tpe\""), None);
        let halving = "method = \"tpe\"\nearly_stop = { rule = \"halving\" }";
        assert_eq!(rule(halving), Some(EarlyStopRule::Halving));
    }

    #[test]
    fn what_a_search_cannot_do_is_shown_at_its_place() {
        let method = "method = \"bayesian\"\n";
        refused(
            &format!("{method}budget = {{}}"),
            "14:1: the search has no budget (say how long it may go on, such as budget = { trials = 40 })",
        );
        refused(
            &format!("{method}budget = {{ money = 3 }}"),
            "14:20: a budget in money needs the price of an hour (add [budget] with price_per_hour = 0.10)",
        );
        refused(
            &format!("{method}budget = {{ trials = 3 }}\nobjectives = [\"n\"]"),
            "15:15: `n` is no metric (there are m)",
        );
        let undirected = with(&format!("{method}budget = {{ trials = 3 }}\nobjectives = [\"m\"]"));
        assert_eq!(
            faults_of(&undirected.replace("objective = \"minimize\"\n", "")),
            ["14:15: the objective `m` has no direction (add objective = \"minimize\" or \
             \"maximize\" to [metrics.m])"],
        );
        refused(
            &format!("{method}budget = {{ trials = 3 }}\nstop = {{ gain = 2.0 }}"),
            "15:17: `gain` is 2 (write a share of the best value between 0 and 1, such as 0.01)",
        );
        refused(
            "method = \"grid\"\nbudget = { trials = 3 }\nweigh = \"seconds\"",
            "15:9: `weigh` has no meaning for grid (leave `weigh` out or choose method = \"bayesian\" or \"tuneful\")",
        );
        refused(
            &format!(
                "{method}budget = {{ trials = 3 }}\nearly_stop = {{ rule = \"median\", factor = 1 }}"
            ),
            "15:42: `factor` is 1 (write 2 or more)",
        );
    }

    #[test]
    fn a_search_that_does_not_know_which_end_is_good_is_refused() {
        let text = with("method = \"random\"\nbudget = { trials = 3 }");
        assert_eq!(
            faults_of(&text.replace("objective = \"minimize\"\n", "")),
            ["10:10: it is not said whether the search makes `m` small or large (add objective = \
              \"minimize\" or \"maximize\" to [metrics.m])"]
        );
    }

    #[test]
    fn tuneful_stops_by_itself_where_it_is_told_to() {
        let lines = "method = \"tuneful\"\nbudget = { trials = 9 }\nstop = { gain = 0.1 }";
        assert!(Study::from_text(&with(lines)).unwrap().search.unwrap().stop.is_some());
    }

    #[test]
    fn an_unknown_method_is_refused_with_those_that_there_are() {
        let faults = faults_of(&with("method = \"bayes\"\nbudget = { trials = 3 }"));
        assert!(faults[0].contains("bayesian") && faults[0].contains("line"), "{faults:?}");
        check(
            "[metrics.m]",
            "[metrics.m]\n[serch]",
            &["11:2: unknown key `serch` (did you mean `search`?)"],
        );
    }
}
