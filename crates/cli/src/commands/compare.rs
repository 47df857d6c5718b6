//! `trainwright compare`.

use serde_json::json;
use trainwright::{Error, Results};
use trainwright_analysis::{CompareOptions, Comparison};
use trainwright_report::{figure, findings_text};

use super::load;
use crate::arguments::CompareArguments;
use crate::output::{plain_table, print, print_json, stdout_colour};

pub(crate) fn compare(arguments: &CompareArguments) -> anyhow::Result<u8> {
    let found = match (&arguments.study, &arguments.data) {
        (Some(path), _) => {
            let study = load(path)?;
            let results = Results::read(&study, arguments.store.as_deref())?;
            let [by, column, baseline] = [&arguments.by, &arguments.column, &arguments.baseline];
            trainwright::compare_trials(
                &study,
                &results,
                by.as_deref(),
                column.as_deref(),
                baseline.as_deref(),
            )?
        }
        (None, Some(data)) => vec![trainwright::compare(data, &options(arguments)?)?],
        (None, None) => unreachable!("the argument parser asks for a study or for data"),
    };
    if arguments.json {
        print_json("compare", &json!({ "comparisons": found }))?;
    } else {
        let texts: Vec<String> = found.iter().map(text).collect();
        print(&texts.join("\n"))?;
    }
    Ok(0)
}

fn options(arguments: &CompareArguments) -> Result<CompareOptions, Error> {
    let given = |value: &Option<String>, name: &str| {
        value.clone().ok_or_else(|| Error::Request(format!("with --data, {name} is needed too")))
    };
    Ok(CompareOptions {
        column: given(&arguments.column, "--column")?,
        by: given(&arguments.by, "--by")?,
        baseline: arguments.baseline.clone(),
        paired: arguments.paired.clone(),
        alpha: arguments.alpha.unwrap_or(0.05),
    })
}

fn text(found: &Comparison) -> String {
    let mut table = plain_table();
    table.set_header([found.by.as_str(), "n", "mean", "sd"]);
    let owns = std::iter::once(&found.baseline).chain(found.levels.iter().map(|own| &own.own));
    for own in owns {
        let sd = own.sd.map_or_else(|| "unknown".to_owned(), figure);
        table.add_row([own.level.to_string(), own.n.to_string(), figure(own.mean), sd]);
    }
    let sentences: Vec<String> =
        found.levels.iter().map(|own| format!("  {}\n", own.text)).collect();
    let by = &found.by;
    format!(
        "{} by {by}\n{table}\n\n{}\n  {}; p-values adjusted by Holm's method.\n{}",
        found.response,
        sentences.concat(),
        capital(found.method),
        findings_text(&found.findings, stdout_colour())
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}
