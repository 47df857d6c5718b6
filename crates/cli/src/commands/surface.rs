//! `trainwright surface`.

use trainwright::{Error, Results};
use trainwright_analysis::{Surface, SurfaceOptions};
use trainwright_report::{figure, findings_text};
use trainwright_study::Direction;

use super::load;
use super::report::{now, write_page};
use crate::arguments::{ObjectiveArgument, SurfaceArguments};
use crate::output::{plain_table, print, print_json, stdout_colour};

pub(crate) fn surface(arguments: &SurfaceArguments) -> anyhow::Result<u8> {
    let found = match (&arguments.study, &arguments.data, &arguments.column) {
        (Some(path), _, _) => {
            let study = load(path)?;
            let results = Results::read(&study, arguments.store.as_deref())?;
            trainwright::surface_of_trials(&study, &results)?
        }
        (None, Some(data), Some(column)) => {
            let options = SurfaceOptions {
                column: column.clone(),
                factors: arguments.factors.clone(),
                direction: arguments.objective.map(|objective| match objective {
                    ObjectiveArgument::Minimize => Direction::Minimize,
                    ObjectiveArgument::Maximize => Direction::Maximize,
                }),
                alpha: arguments.alpha,
            };
            trainwright::surface(data, &options)?
        }
        _ => {
            let missing = "with --data, --column and --factors are needed too";
            return Err(Error::Request(missing.to_owned()).into());
        }
    };
    if let (Some(path), Some(file)) =
        (&arguments.report, arguments.data.as_ref().or(arguments.study.as_ref()))
    {
        write_page(path, &trainwright::surface_report(file, &found, &now()))?;
    }
    if arguments.json {
        print_json("surface", &found)?;
    } else {
        print(&text(&found))?;
    }
    Ok(0)
}

fn text(found: &Surface) -> String {
    let mut table = plain_table();
    table.set_header(["term (coded)", "estimate", "std. error", "p"]);
    let shown = |value: Option<f64>| value.map_or_else(String::new, figure);
    for own in &found.coefficients {
        let p = own.p.map_or_else(String::new, |p| format!("{p:.2e}"));
        table.add_row([own.term.clone(), figure(own.estimate), shown(own.std_error), p]);
    }
    let mut axes = plain_table();
    let names = found.factors.iter().map(|factor| format!("along {}", factor.name));
    axes.set_header(["curvature".to_owned(), "interval".to_owned()].into_iter().chain(names));
    for own in &found.curvatures {
        let interval = match own.ci_low.zip(own.ci_high) {
            Some((low, high)) => format!("{} to {}", figure(low), figure(high)),
            None => String::new(),
        };
        let parts = own.direction.iter().map(|v| figure(*v));
        axes.add_row([figure(own.value), interval].into_iter().chain(parts));
    }
    format!(
        "{}\n\n{table}\n\n{axes}\n{}",
        found.text,
        findings_text(&found.findings, stdout_colour())
    )
}
