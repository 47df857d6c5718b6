//! What is promised to those outside: arrows, JSON fields, commands as they are written, scripts.

mod architecture;
mod documented;
mod json_contracts;
mod links;
mod reference;
mod scripts;
