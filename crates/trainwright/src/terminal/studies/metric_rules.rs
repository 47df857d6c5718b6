//! What metric rules find in a log, in words.

use trainwright_report::terminal::visible;

use crate::studies::metric_rules::{MetricRulesReply, RuleReply};

/// What every rule found; the lines come from a log, so they are made visible.
pub fn metric_rules(reply: &MetricRulesReply) -> String {
    reply.rules.iter().map(|rule| visible(&one_rule(rule))).collect()
}

/// Most finds of one rule that are listed.
const MOST_SHOWN: usize = 10;

fn one_rule(rule: &RuleReply) -> String {
    let mut text = format!("{} ({})\n", rule.metric, rule.rule);
    let mut put = |line: String| {
        text.push_str("  ");
        text.push_str(&line);
        text.push('\n');
    };
    for at in rule.found.iter().take(MOST_SHOWN) {
        let step = at.step.map(|step| format!(" at step {step}")).unwrap_or_default();
        put(format!("line {}: {}{step}   {}", at.line, at.value, at.text.trim()));
    }
    if rule.found.len() > MOST_SHOWN {
        put(format!("... {} more", rule.found.len() - MOST_SHOWN));
    }
    for complaint in &rule.complaints {
        put(format!("not a value: {complaint}"));
    }
    match (rule.picked, rule.found.is_empty()) {
        (Some(value), _) => put(format!("-> {value}")),
        (None, true) => put("-> nothing found: the trial would fail".to_owned()),
        (None, false) => put("-> not finite: the trial would count as diverged".to_owned()),
    }
    for near in &rule.near_misses {
        put(format!("near: {} line {}: {}", near.file, near.line, near.text.trim()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::metric_rules::{NearMiss, RuleFind};

    fn rule(values: &[f64], picked: Option<f64>) -> RuleReply {
        let find = |value: &f64| RuleFind {
            line: 3,
            text: " \x1b[1macc: 0.5".to_owned(),
            value: *value,
            step: Some(2.0),
        };
        RuleReply {
            metric: "acc".to_owned(),
            rule: "regex `acc`".to_owned(),
            found: values.iter().map(find).collect(),
            picked,
            near_misses: vec![NearMiss { file: "stdout".into(), line: 9, text: "Acc 1 ".into() }],
            complaints: Vec::new(),
        }
    }

    fn words(rule: RuleReply) -> String {
        metric_rules(&MetricRulesReply { rules: vec![rule] })
    }

    #[test]
    fn a_rule_shows_what_it_finds_with_escapes_made_visible() {
        let text = words(rule(&[0.5], Some(0.5)));
        assert!(text.contains("  line 3: 0.5 at step 2   \\e[1macc: 0.5\n  -> 0.5\n"), "{text}");
        assert!(text.contains("  near: stdout line 9: Acc 1\n"), "{text}");
    }

    #[test]
    fn nothing_found_and_nothing_finite_are_told_apart() {
        assert!(words(rule(&[], None)).contains("-> nothing found: the trial would fail"));
        assert!(words(rule(&[f64::NAN], None)).contains("would count as diverged"));
    }

    #[test]
    fn a_long_list_is_cut() {
        let text = words(rule(&[1.0; 14], Some(1.0)));
        assert_eq!(text.matches("line 3:").count(), MOST_SHOWN);
        assert!(text.contains("  ... 4 more\n"), "{text}");
    }
}
