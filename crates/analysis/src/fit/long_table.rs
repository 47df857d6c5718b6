//! Tables of any length: one pass, a block of rows at a time, in bounded memory.
//!
//! Up to [`FEW_ROWS`] rows a table is held whole and everything is computed. A longer one is taken
//! in blocks by all processors, from a file (`gather.rs`) or from memory (`in_memory.rs`): each
//! block is reduced to a small triangular matrix (`rows.rs`), the triangles are merged in the order of the file (`whole.rs`), and any coding
//! of the equation is then a linear change of the merged columns (`equate.rs`). Coefficients and
//! tables use every row. What needs single residuals comes from a random sample of rows or is
//! left out, and the checks and a finding say which.

mod blocks;
mod equate;
mod gather;
mod in_memory;
mod plan;
mod records;
mod rows;
mod whole;

use std::io::{Cursor, Read};
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::csv_table::Table;
use crate::error::AnalysisError;
use crate::findings::sort;
use crate::fit::analysis::Analysis;
use crate::fit::analyze_table::{TableOptions, analyze_table, problem_of};
use crate::fit::assemble::{assemble_large, check_alpha};
use crate::fit::checks::{checks_of_sample, checks_without_sample};
use crate::fit::fitted::{Fitted, OfResiduals, schemes};
use crate::model::complete_rows::CompleteRows;
use crate::model::formula::Formula;
use blocks::BlockReader;
use equate::equate;
use gather::gather;
pub(crate) use in_memory::anova_of_long_table;
use plan::Plan;
use rows::Gathered;
use whole::Whole;

/// Rows up to which a table is held whole, with figures for every row.
pub const FEW_ROWS: usize = 20_000;

/// Bytes up to which those rows are held.
const FEW_BYTES: usize = 256 << 20;

/// More workers than this wait for the file.
const MOST_WORKERS: usize = 8;

/// Fits a formula to a CSV file with a header, however long it is.
///
/// Columns listed in `categorical` are categories even if they hold numbers.
///
/// # Errors
/// As [`Table::from_csv`] and [`analyze_table`]; and in a table of more than [`FEW_ROWS`] rows a
/// column whose first text comes later than that.
pub fn analyze_csv(
    mut source: impl Read + Send,
    categorical: &[String],
    formula: &Formula,
    options: &TableOptions,
) -> Result<Analysis, AnalysisError> {
    let mut head = Vec::new();
    if read_head(&mut source, &mut head)? == Extent::Whole {
        let table = Table::from_csv(head.as_slice(), categorical)?;
        return analyze_table(&table, formula, options);
    }
    check_alpha(options.alpha)?;
    if !formula.strata.is_empty() {
        return Err(AnalysisError::LongStrata { most: FEW_ROWS });
    }
    let plan = Plan::new(&head, categorical, formula)?;
    let source = Cursor::new(head).chain(source);
    let blocks = BlockReader::new(source, plan.first_row, plan.first_line);
    let whole = read_all(blocks, &plan, |block, keep| gather(block, &plan, keep))?;
    conclude(&whole, &plan, formula, options)
}

/// How much of a table has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Part,
}

/// Reads until the table ends or is too long to hold.
fn read_head(source: &mut impl Read, head: &mut Vec<u8>) -> Result<Extent, AnalysisError> {
    let mut lines = 0;
    loop {
        let before = head.len();
        source.by_ref().take(1 << 20).read_to_end(head).map_err(AnalysisError::Unreadable)?;
        if head.len() == before {
            return Ok(Extent::Whole);
        }
        lines += memchr::memchr_iter(b'\n', &head[before..]).count();
        if lines > FEW_ROWS + 1 || head.len() > FEW_BYTES {
            return Ok(Extent::Part);
        }
    }
}

/// Gathers all blocks with all processors; the result does not depend on their number. `gather`
/// is told the rank below which a row may enter the sample.
fn read_all<B: Send>(
    blocks: impl Iterator<Item = Result<B, AnalysisError>> + Send,
    plan: &Plan,
    gather: impl Fn(&B, u64) -> Result<Gathered, AnalysisError> + Sync,
) -> Result<Whole, AnalysisError> {
    let (blocks, failed) = (Mutex::new(blocks), AtomicBool::new(false));
    let whole = Mutex::new(Whole::new(plan));
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_WORKERS);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let block = blocks.lock().expect("no worker panics").next();
                    let Some(block) = block else { return };
                    let keep = whole.lock().expect("no worker panics").sample_limit();
                    let gathered = block.and_then(|block| gather(&block, keep));
                    if !whole.lock().expect("no worker panics").take(gathered) {
                        failed.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    whole.into_inner().expect("no worker panics").finish(plan)
}

fn conclude(
    whole: &Whole,
    plan: &Plan,
    formula: &Formula,
    options: &TableOptions,
) -> Result<Analysis, AnalysisError> {
    let table = whole.sample_table(plan)?;
    let complete = CompleteRows::of(&table, formula)?;
    let mut problem = problem_of(&table, complete, formula, options)?;
    whole.set_ends(&mut problem.variables);
    let sampled = Fitted::new(&problem).ok();
    let stats = |source| AnalysisError::Stats { response: problem.response.clone(), source };
    let [asked, coded, summed] = schemes(problem.coding, problem.contrasts);
    let own = equate(whole, plan, problem.equation(), asked).map_err(stats)?;
    let in_codes = if coded == asked {
        own.clone()
    } else {
        equate(whole, plan, problem.equation(), coded).map_err(stats)?
    };
    let in_sums = match summed == asked {
        true => None,
        false => Some(equate(whole, plan, problem.equation(), summed).map_err(stats)?),
    };
    let of_residuals = OfResiduals {
        lack_of_fit: None,
        durbin_watson: None,
        ..sampled.as_ref().map(|s| s.of_residuals.clone()).unwrap_or_default()
    };
    let fitted = Fitted::of(own, in_codes, in_sums, of_residuals).map_err(stats)?;
    let checks = match &sampled {
        Some(sampled) => checks_of_sample(&problem, sampled, whole.observations),
        None => checks_without_sample(),
    };
    let mut analysis = assemble_large(&problem, &fitted, checks, whole.observations);
    analysis.findings.extend(whole.left_out.findings(whole.observations, &formula.response));
    sort(&mut analysis.findings);
    Ok(analysis)
}
