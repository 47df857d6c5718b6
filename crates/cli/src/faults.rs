//! Errors as people read them: the place in the file, a caret, what to do. Where `--json` was
//! given, the standard output gets them too, as one line of JSON.

use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use trainwright::{Error, ErrorReply};
use trainwright_study::{FaultyFile, StudyError};

use crate::output::{print, stderr_has_colour, tell, tell_styled};

/// Shows an error and gives its exit code.
pub(crate) fn show(error: &anyhow::Error) -> ExitCode {
    print_json(&match error.downcast_ref::<Error>() {
        Some(known) => ErrorReply::of(known),
        None => ErrorReply::new(format!("{error:#}"), 3),
    });
    match error.downcast_ref::<Error>() {
        Some(Error::Faulty(file) | Error::Study(StudyError::Faulty(file))) => {
            tell_styled(&render(file, stderr_has_colour()));
            ExitCode::from(2)
        }
        Some(known) => {
            tell(&format!("error: {known}"));
            ExitCode::from(known.exit_code())
        }
        None => {
            tell(&format!("error: {error:#}"));
            ExitCode::from(3)
        }
    }
}

/// Shows what is wrong with the arguments, or the help that was asked for.
pub(crate) fn show_usage(error: &clap::Error) -> ExitCode {
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    if error.use_stderr() {
        print_json(&ErrorReply::new(error.render().to_string().trim_end().to_owned(), code));
    }
    // Nobody may be listening.
    let _ = error.print();
    ExitCode::from(code)
}

/// Prints an error as JSON where that was asked for.
pub(crate) fn print_json(reply: &ErrorReply) {
    let mut words = std::env::args_os().take_while(|word| word != "--");
    if words.any(|word| word == "--json") {
        // The exit code and the message tell of it, too.
        let _ = print(&trainwright::to_json_line("error", reply));
    }
}

fn render(file: &FaultyFile, colour: bool) -> String {
    let path = file.file.path.display().to_string();
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let parts = file.problems.iter().map(|problem| {
        let end = file.file.text.len();
        let span = problem.span.start.min(end)..problem.span.end.min(end);
        let snippet = Snippet::source(file.file.text.as_str())
            .path(path.as_str())
            .annotation(AnnotationKind::Primary.span(span));
        let mut group = Level::ERROR.primary_title(problem.message.as_str()).element(snippet);
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use trainwright_study::Study;

    use super::*;

    #[test]
    fn a_fault_shows_file_line_caret_and_help() {
        let error = Study::from_text("schema = 1\n[study]\nnmae = \"x\"\n").unwrap_err();
        let shown = render(&error, false);
        let expected = "error: unknown key `nmae`\n --> study.toml:3:1\n  |\n3 | nmae = \"x\"\n  | ^^^^\n  |\n  = help: did you mean `name`?";
        assert_eq!(shown, expected);
    }
}
