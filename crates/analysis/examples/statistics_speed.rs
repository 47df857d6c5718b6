//! Times single library calls for `bench/statistics`: prints the median milliseconds.
//!
//! `statistics_speed WHAT FILE FORMULA CALLS`, where WHAT is
//! - `anova`: the type II table of a table in memory,
//! - `tables`: the fit and the tables of all three types of a table in memory,
//! - `analyze`: all of an analysis of a table in memory,
//! - `csv`: all of an analysis, from the file,
//! - `shapiro`: Shapiro-Wilk of the first column; the formula is not looked at.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::time::Instant;

use trainwright_analysis::{
    AnovaType, Column, Formula, Table, TableOptions, TermOrder, analyze_csv, analyze_table,
    anova_of_table,
};
use trainwright_stats::shapiro_wilk;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [what, file, formula, calls] = words.as_slice() else {
        return Err("four arguments are needed".into());
    };
    let two = TableOptions { types: vec![AnovaType::Two], ..TableOptions::default() };
    let all = TableOptions::default();
    let parse = || Formula::parse(formula, TermOrder::Formula);
    let held = if what == "csv" { None } else { Some(Table::from_csv(File::open(file)?, &[])?) };
    let table = || held.as_ref().ok_or("the table is not held");
    let mut times = Vec::new();
    for _ in 0..calls.parse::<usize>()? {
        let start = Instant::now();
        match what.as_str() {
            "shapiro" => {
                let name = table()?.names().next().ok_or("the table has no columns")?;
                let Column::Numeric(cells) = table()?.column(name)? else {
                    return Err("the column holds texts".into());
                };
                let values: Vec<f64> = cells.iter().flatten().copied().collect();
                black_box(shapiro_wilk(&values)?);
            }
            "anova" => drop(black_box(anova_of_table(table()?, &parse()?, &two)?)),
            "tables" => drop(black_box(anova_of_table(table()?, &parse()?, &all)?)),
            "analyze" => drop(black_box(analyze_table(table()?, &parse()?, &two)?)),
            "csv" => drop(black_box(analyze_csv(File::open(file)?, &[], &parse()?, &all)?)),
            other => return Err(format!("`{other}` is not known").into()),
        }
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    println!("{}", times[times.len() / 2]);
    Ok(())
}
