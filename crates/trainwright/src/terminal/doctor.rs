//! What is there and what is missing, in words.

use trainwright_report::terminal::{Colour, visible};

use crate::{DoctorReply, DoctorState};

/// One line a thing, and what to do about what is not right.
pub fn doctor(reply: &DoctorReply, colour: Colour) -> String {
    let mut text = format!("trainwright {}\n", reply.version);
    for own in &reply.checks {
        let tag = match own.state {
            DoctorState::Good => "good    ",
            DoctorState::Doubtful => "doubtful",
            DoctorState::Missing => "missing ",
        };
        let found = own.found.lines().next().unwrap_or_default();
        text.push_str(&visible(&format!("  {tag}  {}: {found} (for {})\n", own.name, own.feature)));
        if let Some(advice) = &own.advice {
            text.push_str(&visible(&format!("            {advice}\n")));
        }
    }
    let count = |state| reply.checks.iter().filter(|own| own.state == state).count();
    let (missing, doubtful) = (count(DoctorState::Missing), count(DoctorState::Doubtful));
    let words = match (missing, doubtful) {
        (0, 0) => "Everything is there.".to_owned(),
        _ => format!("{missing} missing, {doubtful} doubtful; all else works without them."),
    };
    text + &format!("{}\n", colour.heading(&words))
}
