//! User journeys through the real program.

mod architecture;
mod crashes;
mod program;
