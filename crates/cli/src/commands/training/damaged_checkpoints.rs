//! Checkpoints that were passed over, told on the standard error.

use trainwright::training::DamagedCheckpoint;

use crate::output::tell;

/// Tells which checkpoint was used instead of a damaged one.
pub(crate) fn tell_damaged(damaged: &DamagedCheckpoint) {
    let DamagedCheckpoint { checkpoint, problem, used } = damaged;
    tell(&format!(
        "warning: checkpoint {} is damaged ({problem}); {} is used instead",
        checkpoint.display(),
        used.display()
    ));
}
