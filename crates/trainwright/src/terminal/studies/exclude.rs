//! What became of a trial that was left out, in words.

use crate::ExcludeReply;

/// The trial, and how many are left out by now.
pub fn excluded(reply: &ExcludeReply) -> String {
    let now = match reply.excluded {
        0 => "no trial is left out".to_owned(),
        1 => "1 trial is left out".to_owned(),
        more => format!("{more} trials are left out"),
    };
    match &reply.reason {
        Some(reason) => format!(
            "Trial {} of `{}` is left out of the analysis: {reason}; {now}.\n",
            reply.trial, reply.study
        ),
        None => format!("Trial {} of `{}` counts again; {now}.\n", reply.trial, reply.study),
    }
}
