//! What ranks did with their time.

use serde::{Deserialize, Serialize};

/// What one rank did with its time, since its process began to train.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RankTimes {
    /// Which rank.
    pub rank: usize,
    /// Time from its first step to its account.
    #[serde(default)]
    pub wall_s: f64,
    /// Computing gradients.
    pub compute_s: f64,
    /// Waiting for pictures.
    pub input_wait_s: f64,
    /// Waiting until the slowest rank had its gradients too.
    pub barrier_wait_s: f64,
    /// Adding up gradients and giving parameters to each other, while nothing else was done.
    pub communication_s: f64,
    /// The same beside the backward pass.
    #[serde(default)]
    pub hidden_communication_s: f64,
    /// Waiting at servers: for their turn, and for their work.
    #[serde(default)]
    pub server_queue_s: f64,
    /// Clipping and the optimiser.
    pub update_s: f64,
    /// Scoring the test part, and what is held out.
    #[serde(default)]
    pub evaluation_s: f64,
    /// Reading and writing checkpoints.
    #[serde(default)]
    pub checkpoint_s: f64,
    /// Waiting for rank 0, which evaluates, keeps or tells meanwhile; on a server, for messages.
    #[serde(default)]
    pub idle_s: f64,
    /// Telling events, and writing what listeners want.
    #[serde(default)]
    pub telling_s: f64,
    /// Bytes that it sent.
    pub bytes_sent: u64,
    /// Bytes that it received.
    pub bytes_received: u64,
    /// Of `compute_s`, the time in which its thread had a core; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Of `compute_s`, the time in which its thread was ready and had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_queue_s: Option<f64>,
    /// Memory of its parameters, gradients, the optimiser's numbers and activations; absent where
    /// nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Messages that it sent.
    #[serde(default)]
    pub messages: u64,
    /// Of a server: how long pushes lay there before it turned to them, all together. They wait
    /// side by side and while it works, so that this is no part of its own time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pushes_waited_s: f64,
    /// How many of its gradients were applied with a staleness of 0, 1, 2, ... updates; empty where
    /// ranks wait for each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub staleness: Vec<u64>,
    /// Gradients of it that came too late and were not applied.
    #[serde(default)]
    pub dropped: u64,
}

impl RankTimes {
    /// The time that is accounted for, which is all but what falls between two measurements.
    pub fn accounted_s(&self) -> f64 {
        self.compute_s
            + self.input_wait_s
            + self.barrier_wait_s
            + self.communication_s
            + self.server_queue_s
            + self.update_s
            + self.evaluation_s
            + self.checkpoint_s
            + self.idle_s
            + self.telling_s
    }
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// What a rank does at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// Computes gradients.
    Compute,
    /// Waits for pictures.
    InputWait,
    /// Waits for slower ranks.
    BarrierWait,
    /// Exchanges numbers with other ranks.
    Communication,
    /// The same beside the backward pass.
    HiddenCommunication,
    /// Waits for a server.
    ServerQueue,
    /// Changes parameters.
    Update,
    /// Scores examples without learning.
    Evaluation,
    /// Reads or writes a checkpoint.
    Checkpoint,
    /// Waits for rank 0.
    Idle,
    /// Tells events.
    Telling,
}

impl Activity {
    /// As traces and JSON write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::InputWait => "input-wait",
            Self::BarrierWait => "barrier-wait",
            Self::Communication => "communication",
            Self::HiddenCommunication => "hidden-communication",
            Self::ServerQueue => "server-queue",
            Self::Update => "update",
            Self::Evaluation => "evaluation",
            Self::Checkpoint => "checkpoint",
            Self::Idle => "idle",
            Self::Telling => "telling",
        }
    }
}

/// One thing that a rank did, from when to when.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The last step that was begun before its end.
    pub step: u64,
    /// What was done.
    pub activity: Activity,
    /// Seconds after rank 0 began to train.
    pub start_s: f64,
    /// Seconds after rank 0 began to train.
    pub end_s: f64,
}

/// What a rank did, step by step: of the first steps, and of some of the later ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RankTimeline {
    /// Which rank.
    pub rank: usize,
    /// In the order of their ends.
    pub spans: Vec<Span>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_of_older_programs_are_read() {
        let text = r#"{"rank":1,"compute_s":1.0,"input_wait_s":0.5,"barrier_wait_s":0.25,
            "communication_s":0.125,"update_s":0.0625,"bytes_sent":7,"bytes_received":8}"#;
        let read: RankTimes = serde_json::from_str(text).unwrap();
        assert_eq!((read.accounted_s(), read.bytes_sent, read.messages), (1.9375, 7, 0));
    }

    #[test]
    fn an_activity_is_written_as_its_word() {
        for activity in [Activity::Compute, Activity::HiddenCommunication, Activity::Telling] {
            let text = serde_json::to_string(&activity).unwrap();
            assert_eq!(text, format!("\"{}\"", activity.word()));
        }
    }

    #[test]
    fn an_account_is_read_back_and_what_runs_side_by_side_counts_once() {
        let own = RankTimes {
            rank: 2,
            wall_s: 10.0,
            compute_s: 1.0,
            input_wait_s: 0.5,
            barrier_wait_s: 0.25,
            communication_s: 2.0,
            hidden_communication_s: 100.0,
            server_queue_s: 0.125,
            update_s: 0.75,
            evaluation_s: 1.5,
            checkpoint_s: 0.375,
            idle_s: 3.0,
            telling_s: 0.5,
            pushes_waited_s: 50.0,
            cpu_s: Some(0.9),
            staleness: vec![3, 1],
            ..RankTimes::default()
        };
        assert_eq!(own.accounted_s(), 10.0);
        let text = serde_json::to_string(&own).unwrap();
        assert_eq!(serde_json::from_str::<RankTimes>(&text).unwrap(), own);
        // What nobody looked at is not written as a number.
        let bare = serde_json::to_value(RankTimes::default()).unwrap();
        for key in ["cpu_s", "run_queue_s", "memory_bytes", "pushes_waited_s", "staleness"] {
            assert!(bare.get(key).is_none(), "{key}");
        }
    }

    #[test]
    fn every_activity_has_a_word_of_its_own_that_reads_back() {
        let all = [
            Activity::Compute,
            Activity::InputWait,
            Activity::BarrierWait,
            Activity::Communication,
            Activity::HiddenCommunication,
            Activity::ServerQueue,
            Activity::Update,
            Activity::Evaluation,
            Activity::Checkpoint,
            Activity::Idle,
            Activity::Telling,
        ];
        let words: std::collections::BTreeSet<&str> = all.iter().map(|own| own.word()).collect();
        assert_eq!(words.len(), all.len());
        for own in all {
            let text = format!("\"{}\"", own.word());
            assert_eq!(serde_json::from_str::<Activity>(&text).unwrap(), own);
        }
    }
}
