//! `trainwright analyze`.

use std::path::Path;

use trainwright::analysis::{
    Analysis, AnovaType, Coding, Contrasts, StudyOptions, TableOptions, TermOrder,
};
use trainwright::{Error, Results, TableRequest, terminal};

use crate::arguments::{AnalyzeArguments, CodingArgument, ContrastsArgument, OrderArgument};
use crate::commands::load;
use crate::output::{show, stdout_colour, tell};
use crate::pages::{now, write_file};

pub(crate) fn analyze(arguments: &AnalyzeArguments) -> anyhow::Result<u8> {
    let (analysis, unit) = match (&arguments.study, &arguments.data, &arguments.formula) {
        (Some(path), _, _) => {
            let study = load(path)?;
            let results = Results::read(&study, arguments.store.as_deref())?;
            let options = StudyOptions {
                coding: coding(arguments, Coding::Coded),
                types: types(arguments)?,
                ..StudyOptions::default()
            };
            if let Some(spent) = trainwright::budget_spent(&study, &results) {
                tell(&spent);
            }
            let analysis = trainwright::analyze(&study, &results, &options)?;
            (analysis, study.response().unit.clone())
        }
        (None, Some(data), Some(formula)) => (of_table(arguments, data, formula)?, None),
        _ => unreachable!("the argument parser asks for a study or for data and formula"),
    };
    if let (Some(path), Some(data)) = (&arguments.report, &arguments.data) {
        write_file(path, trainwright::table_report(data, &analysis, &now()))?;
    }
    show("analyze", arguments.json, &analysis, |analysis| {
        terminal::analysis(analysis, unit.as_deref(), stdout_colour())
    })?;
    Ok(0)
}

fn of_table(arguments: &AnalyzeArguments, data: &Path, formula: &str) -> Result<Analysis, Error> {
    let order = match arguments.order {
        OrderArgument::Formula => TermOrder::Formula,
        OrderArgument::Degree => TermOrder::Degree,
    };
    let options = TableOptions {
        coding: coding(arguments, Coding::Raw),
        contrasts: match arguments.contrasts {
            ContrastsArgument::Treatment => Contrasts::Treatment,
            ContrastsArgument::Sum => Contrasts::Sum,
        },
        types: types(arguments)?,
        ..TableOptions::default()
    };
    let categorical = &arguments.categorical;
    trainwright::analyze_table(&TableRequest { data, categorical, formula, order, options })
}

fn coding(arguments: &AnalyzeArguments, usual: Coding) -> Coding {
    match arguments.coding {
        None => usual,
        Some(CodingArgument::Raw) => Coding::Raw,
        Some(CodingArgument::Coded) => Coding::Coded,
    }
}

/// One table for people unless they ask for more, all for programs.
fn types(arguments: &AnalyzeArguments) -> Result<Vec<AnovaType>, Error> {
    let numbers: &[u8] = match arguments.types.as_slice() {
        [] if arguments.json || arguments.all => &[1, 2, 3],
        [] => &[2],
        asked => asked,
    };
    let known = |number: &u8| match number {
        1 => Ok(AnovaType::One),
        2 => Ok(AnovaType::Two),
        3 => Ok(AnovaType::Three),
        other => Err(Error::Request(format!("--type knows 1, 2 and 3, not {other}"))),
    };
    numbers.iter().map(known).collect()
}
