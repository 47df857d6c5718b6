//! Times single library calls for `bench/statistics`: a JSON line with the median milliseconds.
//!
//! `statistics_speed anova|analyze FILE FORMULA CALLS` or `statistics_speed shapiro FILE - CALLS`

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::time::Instant;

use trainwright_analysis::{
    AnovaType, Column, Formula, Table, TableOptions, TermOrder, analyze_table, anova_of_table,
};
use trainwright_stats::shapiro_wilk;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [what, file, formula, calls] = words.as_slice() else {
        return Err("four arguments are needed".into());
    };
    let table = Table::from_csv(File::open(file)?, &[])?;
    let options = TableOptions { types: vec![AnovaType::Two], ..TableOptions::default() };
    let mut times = Vec::new();
    for _ in 0..calls.parse::<usize>()? {
        let start = Instant::now();
        match what.as_str() {
            "shapiro" => {
                let name = table.names().next().ok_or("the table has no columns")?;
                let Column::Numeric(cells) = table.column(name)? else {
                    return Err("the column holds texts".into());
                };
                let values: Vec<f64> = cells.iter().flatten().copied().collect();
                black_box(shapiro_wilk(&values)?);
            }
            "anova" => {
                let formula = Formula::parse(formula, TermOrder::Formula)?;
                black_box(anova_of_table(&table, &formula, &options)?);
            }
            _ => {
                let formula = Formula::parse(formula, TermOrder::Formula)?;
                black_box(analyze_table(&table, &formula, &options)?);
            }
        }
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    println!("{}", times[times.len() / 2]);
    Ok(())
}
