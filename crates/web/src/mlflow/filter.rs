//! The part of MLflow's filter and order expressions by which clients search runs.

use super::fault::Fault;

/// A run, as far as filters look at it.
pub(super) trait Searched {
    /// The last value of a metric.
    fn metric(&self, key: &str) -> Option<f64>;
    /// A parameter, tag or attribute of the run.
    fn text(&self, of: Part, key: &str) -> Option<String>;
}

/// What an expression looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Metric,
    Param,
    Tag,
    Attribute,
}

/// One comparison; a filter is a list of them that must all hold.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clause {
    part: Part,
    key: String,
    operator: Operator,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Other,
    Less,
    AtMost,
    More,
    AtLeast,
    Like,
}

impl Clause {
    /// Whether it holds for a run; never for one that has no such value.
    pub(super) fn holds(&self, run: &dyn Searched) -> bool {
        let number = self.value.parse::<f64>().ok();
        let compared = match self.part {
            Part::Metric => {
                run.metric(&self.key).zip(number).map(|(own, value)| own.partial_cmp(&value))
            }
            part => run.text(part, &self.key).map(|own| match (own.parse::<f64>(), number) {
                (Ok(own), Some(value)) if self.part == Part::Attribute => own.partial_cmp(&value),
                _ if self.operator == Operator::Like => return_equal_if(like(&own, &self.value)),
                _ => Some(own.as_str().cmp(&self.value)),
            }),
        };
        let Some(Some(order)) = compared else { return false };
        match self.operator {
            Operator::Equal | Operator::Like => order.is_eq(),
            Operator::Other => order.is_ne(),
            Operator::Less => order.is_lt(),
            Operator::AtMost => order.is_le(),
            Operator::More => order.is_gt(),
            Operator::AtLeast => order.is_ge(),
        }
    }
}

fn return_equal_if(holds: bool) -> Option<std::cmp::Ordering> {
    Some(if holds { std::cmp::Ordering::Equal } else { std::cmp::Ordering::Less })
}

/// Whether a text has the form of a pattern in which `%` stands for anything.
fn like(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('%');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Reads a filter such as `metrics.loss < 0.5 and params.lr = '0.1'`.
pub(super) fn filter(text: &str) -> Result<Vec<Clause>, Fault> {
    let refused = |what: &str| Fault::invalid(format!("the filter `{text}` {what}"));
    let words = words(text).ok_or_else(|| refused("has a quote that does not end"))?;
    let mut clauses = Vec::new();
    for clause in words.split(|word| word.eq_ignore_ascii_case("and")) {
        match clause {
            [] if words.is_empty() => {}
            [name, operator, value] => {
                let (part, key) =
                    named(name).ok_or_else(|| refused("names what runs do not have"))?;
                let operator = match operator.to_ascii_lowercase().as_str() {
                    "=" | "==" => Operator::Equal,
                    "!=" => Operator::Other,
                    "<" => Operator::Less,
                    "<=" => Operator::AtMost,
                    ">" => Operator::More,
                    ">=" => Operator::AtLeast,
                    "like" => Operator::Like,
                    _ => return Err(refused("has an operator that is not known here")),
                };
                let value = unquoted(value).to_owned();
                let is_number = value.parse::<f64>().is_ok() && operator != Operator::Like;
                if part == Part::Metric && !is_number {
                    return Err(refused("compares a metric with what is no number"));
                }
                clauses.push(Clause { part, key, operator, value });
            }
            _ => return Err(refused("is no list of comparisons joined by `and`")),
        }
    }
    Ok(clauses)
}

/// Reads an order such as `metrics.loss DESC`: what it looks at, and whether it descends.
pub(super) fn order(text: &str) -> Result<(Part, String, bool), Fault> {
    let refused = || Fault::invalid(format!("the order `{text}` is not known here"));
    let words = words(text).filter(|words| words.len() < 3).ok_or_else(refused)?;
    let descends = match words.get(1).map(|word| word.to_ascii_lowercase()).as_deref() {
        None | Some("asc") => false,
        Some("desc") => true,
        Some(_) => return Err(refused()),
    };
    let (part, key) = words.first().and_then(|name| named(name)).ok_or_else(refused)?;
    Ok((part, key, descends))
}

/// What a name such as ``metrics.`val acc` `` looks at.
fn named(name: &str) -> Option<(Part, String)> {
    let Some((part, key)) = name.split_once('.') else {
        return Some((Part::Attribute, unquoted(name).to_owned())).filter(|own| !own.1.is_empty());
    };
    let part = match part.to_ascii_lowercase().as_str() {
        "metric" | "metrics" => Part::Metric,
        "param" | "params" | "parameter" | "parameters" => Part::Param,
        "tag" | "tags" => Part::Tag,
        "attribute" | "attributes" | "attr" | "run" => Part::Attribute,
        _ => return None,
    };
    Some((part, unquoted(key).to_owned())).filter(|own| !own.1.is_empty())
}

fn unquoted(word: &str) -> &str {
    let pair = |quote: char| word.strip_prefix(quote).and_then(|own| own.strip_suffix(quote));
    ['\'', '"', '`'].into_iter().find_map(pair).unwrap_or(word)
}

/// Cuts a text into names, operators and values; nothing where a quote does not end.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut in_operator = false;
    for c in text.chars() {
        let operator = "=!<>".contains(c) && quote.is_none();
        let ends = quote.is_none() && (c.is_whitespace() || operator != in_operator);
        if ends && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        in_operator = operator;
        match quote {
            Some(own) if own == c => quote = None,
            None if "'\"`".contains(c) => quote = Some(c),
            _ => {}
        }
        if quote.is_some() || !c.is_whitespace() {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Run;

    impl Searched for Run {
        fn metric(&self, key: &str) -> Option<f64> {
            (key == "loss").then_some(0.5)
        }

        fn text(&self, of: Part, key: &str) -> Option<String> {
            match (of, key) {
                (Part::Param, "the lr") => Some("0.1".into()),
                (Part::Tag, "who") => Some("me and you".into()),
                (Part::Attribute, "status") => Some("FINISHED".into()),
                (Part::Attribute, "start_time") => Some("90".into()),
                _ => None,
            }
        }
    }

    #[track_caller]
    fn check(text: &str, expected: bool) {
        let holds = filter(text).unwrap().iter().all(|clause| clause.holds(&Run));
        assert_eq!(holds, expected, "{text}");
    }

    #[test]
    fn comparisons_hold_as_mlflow_describes_them() {
        check("", true);
        check("metrics.loss < 1", true);
        check("metrics.loss>=0.5 AND status = 'FINISHED'", true);
        check("metrics.loss != 0.5", false);
        check("metrics.other < 1", false);
        check("params.`the lr` = '0.1'", true);
        check("tags.who = 'me and you'", true);
        check("tags.who LIKE 'me%'", true);
        check("tags.who like '%and%'", true);
        check("tags.who like '%or%'", false);
        check("attributes.start_time > 100", false);
        for bad in
            ["metrics.loss", "metrics.loss <> 1 or 2", "loss ~ 2", "a = 'b", "other.x = 1", "and"]
        {
            assert!(filter(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn orders_are_read() {
        assert_eq!(order("metrics.loss DESC").unwrap(), (Part::Metric, "loss".to_owned(), true));
        assert_eq!(order("start_time").unwrap(), (Part::Attribute, "start_time".to_owned(), false));
        assert!(order("metrics.loss sideways").is_err() && order("").is_err());
    }

    #[test]
    fn a_metric_is_compared_with_numbers_alone_and_an_order_has_one_key() {
        for bad in ["metrics.loss < 'low'", "metrics.loss = ''", "metric.loss like '0%'"] {
            let told = format!("{:?}", filter(bad).unwrap_err());
            assert!(told.contains("what is no number") && told.contains(bad), "{told}");
        }
        check("metrics.loss = '0.5'", true);
        check("metrics.loss < 1e3", true);
        check("metrics.loss > -1", true);
        assert!(order("metrics.loss DESC tags.who").is_err());
        assert!(order("metrics.`the loss` DESC").unwrap().2);
    }

    /// The obvious version: every place where the part after a `%` may begin is tried.
    fn slow_like(text: &str, pattern: &str) -> bool {
        match pattern.split_once('%') {
            None => text == pattern,
            Some((start, rest)) => text.strip_prefix(start).is_some_and(|left| {
                (0..=left.len()).any(|at| left.is_char_boundary(at) && slow_like(&left[at..], rest))
            }),
        }
    }

    proptest! {
        #[test]
        fn a_pattern_fits_what_the_obvious_version_fits(text in "[ab\u{e9}]{0,8}", pattern in "[ab\u{e9}%]{0,6}") {
            prop_assert_eq!(like(&text, &pattern), slow_like(&text, &pattern));
        }

        /// A comparison that is written down reads back as what it was.
        #[test]
        fn quoted_values_stay_whole(value in "[a-z =<>!\"`.]{0,12}", key in "[a-z =<>.]{1,8}") {
            let clauses = filter(&format!("params.`{key}`!='{value}' and tags.x LIKE 'a'")).unwrap();
            prop_assert_eq!(clauses.len(), 2);
            let own = &clauses[0];
            prop_assert_eq!((own.part, own.operator), (Part::Param, Operator::Other));
            prop_assert_eq!((own.key.as_str(), own.value.as_str()), (key.as_str(), value.as_str()));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[a-z.='\"`<>! %]{0,40}") {
            if let Ok(clauses) = filter(&text) {
                clauses.iter().for_each(|clause| { clause.holds(&Run); });
            }
            let _ = order(&text);
        }
    }
}
