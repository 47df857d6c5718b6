//! Trials, streamed tasks and gangs on an Apache Spark cluster.
//!
//! Spark places, retries and gang-starts processes; every process is this program, shipped with the
//! application, as a hidden verb. One small PySpark program ([`driver`], `driver.py`) stays up for a
//! whole command and submits jobs for us. Each task of a job starts our program, which calls back
//! here ([`links`]) and gets its work and tells its results by lines of JSON, so that results come
//! as they are made and a lost end is noticed on both sides. What flows through Spark itself is only
//! who runs where.
//!
//! | file | holds |
//! |---|---|
//! | `installation.rs` | where Spark and Java are, and how to get them |
//! | `driver.rs`, `starting.rs` | the PySpark process, and how it comes up |
//! | `jobs.rs` | jobs, what is told of them, and who hears it |
//! | `links.rs`, `link.rs` | the two ends of a connection with a task's process |
//! | `trials.rs`, `trial_process.rs` | the engine for trials; what runs one on an executor |
//! | `streamed.rs` | many small tasks through few processes |
//! | `gang.rs` | processes that run all at once |
//! | `task_usage.rs` | what a task's own process used |

mod driver;
mod gang;
mod installation;
mod jobs;
mod json_lines;
mod link;
mod links;
mod starting;
mod streamed;
mod task_usage;
mod trial_process;
mod trials;

pub use driver::{Application, SparkDriver, SparkOptions};
pub use gang::{GangEnd, GangEvent, GangOrder, GangWish, run_gang};
pub use installation::{Installation, PYSPARK_VERSION, Setup, set_up_spark};
pub use link::{ExecutorLink, TaskPlace, random_digits};
pub use streamed::{StreamedEnd, StreamedOrder, TaskDone, run_streamed, serve_streamed};
pub use task_usage::UsageMeter;
pub use trial_process::{TRIAL_KIND, serve_trial};
pub use trials::{SparkEngine, SparkPlace};
