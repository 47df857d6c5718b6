//! The command line: parses arguments, prints results, turns ends into exit codes.
//!
//! Results go to the standard output, progress and messages to the standard error. Exit codes:
//! 0 done; 1 done, but some trials failed; 2 bad input; 3 environment; 4 our bug; 130 stopped.

mod arguments;
mod commands;
mod faults;
mod interrupt;
mod output;
mod pages;
mod progress;
mod quantities;
mod warnings;

use std::panic;
use std::process::ExitCode;

use clap::Parser;
use trainwright::ErrorReply;

use crate::arguments::Arguments;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return faults::show_usage(&error),
    };
    interrupt::survive_file_size_limits();
    warnings::show();
    match panic::catch_unwind(|| commands::run(arguments)) {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(error)) => faults::show(&error),
        Err(_) => {
            faults::print_json(&ErrorReply::new("a bug of ours; see the messages".to_owned(), 4));
            output::tell("This is a bug in trainwright: please report it with the lines above.");
            ExitCode::from(4)
        }
    }
}
