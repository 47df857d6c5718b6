//! What becomes of a job whose server is lost.
//!
//! The numbers of a lost server are gone, and those of the others fit only with them. So all ranks
//! are started again and take over what was last kept; the steps since then are made once more.

use trainwright_comm::CommError;
use trainwright_study::JobSpec;

use super::roles::{Role, role_of};
use crate::checkpoints::{CheckpointStart, last_checkpoint};
use crate::error::TrainError;
use crate::events::{Flow, Restarted, TrainEvent, TrainOutcome};
use crate::strategies::multi_worker::Workers;
use crate::train::{Listener, TrainOptions};

/// How often ranks of one job are started again: a server that cannot live is told.
const MOST_RESTARTS: u32 = 3;

/// Starts a job again, as often as it may be.
pub(super) struct Restarts<'a> {
    job: &'a JobSpec,
    options: &'a TrainOptions,
    made: u32,
}

/// What comes after a try.
pub(super) enum Next {
    Over(Result<TrainOutcome, TrainError>),
    Again(TrainOptions),
}

impl<'a> Restarts<'a> {
    pub(super) fn new(job: &'a JobSpec, options: &'a TrainOptions) -> Self {
        Self { job, options, made: 0 }
    }

    /// Looks at how a try ended, and tells where there is another.
    pub(super) fn after(
        &mut self,
        outcome: Result<TrainOutcome, TrainError>,
        on_event: Listener<'_>,
    ) -> Next {
        let error = match outcome {
            Err(error) if self.made < MOST_RESTARTS && self.may_be_mended(&error) => error,
            outcome => return Next::Over(outcome),
        };
        let Some(again) = self.again() else { return Next::Over(Err(error)) };
        self.made += 1;
        let why = match &error {
            TrainError::LostRole { who, error, .. } => format!("{who}: {error}"),
            other => other.to_string(),
        };
        let folder = again.checkpoint.as_ref().map(|own| own.folder.as_path());
        let checkpoint = folder.and_then(last_checkpoint);
        let told = TrainEvent::Restarted(Restarted { why, checkpoint, restarts: self.made });
        match on_event(&told) {
            Flow::Continue => Next::Again(again),
            Flow::Stop => Next::Over(Err(error)),
        }
    }

    /// Whether a server was lost, or a rank on its way back from such a loss.
    fn may_be_mended(&self, error: &TrainError) -> bool {
        match error {
            TrainError::WorkerEnded { .. } => self.made > 0,
            TrainError::LostRole { error, .. } => match **error {
                CommError::PeerLost { rank, .. } => {
                    rank > 0 && matches!(role_of(self.job, rank), Role::Server(_))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The same again, from what was kept: only ranks that were started here can be, and a record
    /// has no place for steps that are made twice.
    fn again(&self) -> Option<TrainOptions> {
        let Some(Workers::Started { .. }) = &self.options.workers else { return None };
        let mut again = self.options.clone();
        again.checkpoint.as_mut()?.start = CheckpointStart::Resume;
        self.options.record.is_none().then_some(again)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;
    use trainwright_comm::Loss;

    use super::*;
    use crate::checkpoints::{CheckpointEvery, CheckpointOptions};

    fn job() -> JobSpec {
        let keys = json!({
            "network": "mlp", "data": "d", "seed": 1, "strategy": "parameter-server",
            "workers": 2, "servers": 2,
        });
        serde_json::from_value(keys).unwrap()
    }

    fn options() -> TrainOptions {
        let every = CheckpointEvery::Epochs(1);
        TrainOptions {
            checkpoint: Some(CheckpointOptions {
                folder: "kept".into(),
                every,
                start: CheckpointStart::Fresh,
            }),
            workers: Some(Workers::Started { program: "program".into() }),
            ..TrainOptions::default()
        }
    }

    fn lost(rank: usize) -> Result<TrainOutcome, TrainError> {
        let error = Box::new(CommError::PeerLost { rank, why: Loss::Closed });
        Err(TrainError::LostRole { who: format!("number {rank}"), error, checkpoint: None })
    }

    fn goes_on(options: &TrainOptions, outcome: Result<TrainOutcome, TrainError>) -> bool {
        let job = job();
        let next = Restarts::new(&job, options).after(outcome, &mut |_| Flow::Continue);
        matches!(next, Next::Again(again)
            if again.checkpoint.as_ref().unwrap().start == CheckpointStart::Resume)
    }

    #[test]
    fn a_lost_server_of_our_own_is_started_again_and_nothing_else() {
        assert!(goes_on(&options(), lost(3)) && goes_on(&options(), lost(4)));
        assert!(!goes_on(&options(), lost(1)), "a worker is the dealer's business");
        assert!(!goes_on(&options(), lost(0)));
        assert!(!goes_on(&options(), Err(TrainError::NoWorkers)));
        let nothing_kept = TrainOptions { checkpoint: None, ..options() };
        assert!(!goes_on(&nothing_kept, lost(3)));
        let secret = PathBuf::from("secret");
        let workers = Some(Workers::Joining { listen: "127.0.0.1:0".to_owned(), secret });
        assert!(!goes_on(&TrainOptions { workers, ..options() }, lost(3)));
        let recorded = TrainOptions { record: Some("run.jsonl".into()), ..options() };
        assert!(!goes_on(&recorded, lost(3)));
    }

    #[test]
    fn a_server_that_cannot_live_is_given_up_and_each_restart_is_told() {
        let (job, options) = (job(), options());
        let (mut restarts, mut told) = (Restarts::new(&job, &options), Vec::new());
        for _ in 0..MOST_RESTARTS {
            let next = restarts.after(lost(3), &mut |event| {
                told.push(serde_json::to_value(event).unwrap());
                Flow::Continue
            });
            assert!(matches!(next, Next::Again(_)));
        }
        let next = restarts.after(lost(3), &mut |_| Flow::Continue);
        assert!(matches!(next, Next::Over(Err(TrainError::LostRole { .. }))));
        let early = || Err(TrainError::WorkerEnded { status: "killed".to_owned() });
        let mut restarts = Restarts::new(&job, &options);
        let mut after = |outcome| restarts.after(outcome, &mut |_| Flow::Continue);
        assert!(matches!(after(lost(4)), Next::Again(_)));
        assert!(matches!(after(early()), Next::Again(_)), "one that dies on its way back");
        assert!(!goes_on(&options, early()), "one that never came");
        let counts: Vec<_> = told.iter().map(|own| own["restarts"].as_u64().unwrap()).collect();
        assert_eq!(counts, [1, 2, 3]);
        assert_eq!(told[0]["event"], "restarted");
        assert!(told[0]["why"].as_str().unwrap().starts_with("number 3: rank 3 is lost"));
    }

    #[test]
    fn a_listener_that_wants_to_stop_is_heard() {
        let (job, options) = (job(), options());
        let next = Restarts::new(&job, &options).after(lost(4), &mut |_| Flow::Stop);
        assert!(matches!(next, Next::Over(Err(_))));
    }
}
