//! The page of a training.

use std::collections::BTreeSet;

use trainwright_report::{RankSum, Timeline, TimelineSpan, TrainingPage, training_html};
use trainwright_study::JobSpec;
use trainwright_train::{Activity, RankTimeline, RankTimes, Span, TrainOutcome};

use crate::studies::report::PROGRAM;
use crate::{ClusterReply, Trained, terminal};

/// Steps that are shown moment by moment.
const STEPS: usize = 8;

/// What ranks do, in the order of the page's colours, of which there are eight: what is no part of
/// training shares one.
const ACTIVITIES: [(&str, &[Activity]); 8] = [
    ("computing", &[Activity::Compute]),
    ("waiting for pictures", &[Activity::InputWait]),
    ("waiting for slower ranks", &[Activity::BarrierWait]),
    ("exchanging", &[Activity::Communication]),
    ("waiting for a server", &[Activity::ServerQueue]),
    ("updating", &[Activity::Update]),
    ("exchanging beside computing", &[Activity::HiddenCommunication]),
    (
        "scoring, keeping, telling",
        &[Activity::Evaluation, Activity::Checkpoint, Activity::Telling, Activity::Idle],
    ),
];

/// The page of a training that came to its end, as one HTML file; nothing for another one. `cluster`
/// is what one did for it.
pub fn training_page(
    job: &JobSpec,
    trained: &Trained,
    cluster: Option<&ClusterReply>,
    written_at: &str,
) -> Option<String> {
    let TrainOutcome::Done(done) = &trained.outcome else { return None };
    let names = ACTIVITIES.map(|(name, _)| name);
    let (steps, timelines) = few_steps(&done.timelines);
    let words = terminal::train_event(&trained.outcome.clone().into()).unwrap_or_default();
    let network = String::from(job.network.clone());
    let title = format!("{network} on {}, {}", job.data, job.strategy.word());
    Some(training_html(&TrainingPage {
        job: &title,
        words: &words,
        bottleneck: trained.bottleneck.as_ref(),
        activities: &names,
        ranks: done.ranks.iter().map(sums).collect(),
        timelines,
        steps,
        cluster: cluster.map_or(&[], |own| &own.tasks),
        program: PROGRAM,
        written_at,
    }))
}

fn sums(own: &RankTimes) -> RankSum {
    let seconds = |activity: &Activity| match activity {
        Activity::Compute => own.compute_s,
        Activity::InputWait => own.input_wait_s,
        Activity::BarrierWait => own.barrier_wait_s,
        Activity::Communication => own.communication_s,
        Activity::HiddenCommunication => own.hidden_communication_s,
        Activity::ServerQueue => own.server_queue_s,
        Activity::Update => own.update_s,
        Activity::Evaluation => own.evaluation_s,
        Activity::Checkpoint => own.checkpoint_s,
        Activity::Idle => own.idle_s,
        Activity::Telling => own.telling_s,
    };
    let sum = |(_, activities): (&str, &[Activity])| activities.iter().map(seconds).sum();
    RankSum { rank: own.rank, seconds: ACTIVITIES.map(sum).to_vec() }
}

/// The last steps of the longest run of steps without a gap, with a heading: what comes first is
/// not typical.
fn few_steps(timelines: &[RankTimeline]) -> (String, Vec<Timeline>) {
    let steps: BTreeSet<u64> = timelines
        .iter()
        .flat_map(|own| &own.spans)
        .map(|own| own.step)
        .filter(|s| *s > 0)
        .collect();
    let mut last = 0;
    for step in &steps {
        if *step == last + 1 {
            last = *step;
        }
    }
    let first = last.saturating_sub(STEPS as u64 - 1).max(1);
    let shown = |own: &&Span| (first..=last).contains(&own.step);
    let row = |own: &RankTimeline| Timeline {
        rank: own.rank,
        spans: own.spans.iter().filter(shown).map(span).collect(),
    };
    (format!("Steps {first} to {last}"), timelines.iter().map(row).collect())
}

fn span(own: &Span) -> TimelineSpan {
    let activity = ACTIVITIES.iter().position(|(_, some)| some.contains(&own.activity));
    let activity = activity.expect("all activities are listed");
    TimelineSpan { activity, start_s: own.start_s, end_s: own.end_s }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_steps_before_a_gap_are_shown() {
        let span = |step| Span { step, activity: Activity::Update, start_s: 1.0, end_s: 2.0 };
        let spans = (0..=20).chain([24, 32]).map(span).collect();
        let (heading, rows) = few_steps(&[RankTimeline { rank: 1, spans }]);
        assert_eq!(heading, "Steps 13 to 20");
        assert_eq!((rows[0].rank, rows[0].spans.len()), (1, 8));
        assert_eq!(rows[0].spans[0].activity, 5);
        assert_eq!(few_steps(&[]).1, []);
    }
}
