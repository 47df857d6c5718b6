//! Load tests in words.

use trainwright_queueing::{LoadModel, MeasuredQueue};
use trainwright_report::figure;
use trainwright_report::terminal::{Colour, Unit, findings_text};
use trainwright_study::TrialState;

use crate::{LoadEvent, LoadReply};

/// What a load test measured, beside what a model expects.
pub fn load(reply: &LoadReply, colour: Colour) -> String {
    load_summary(reply) + &findings_text(&reply.findings, colour)
}

/// The same without findings, which a page shows by themselves.
pub(crate) fn load_summary(reply: &LoadReply) -> String {
    let unit = Unit::Seconds;
    let rate = match reply.rate_per_s {
        Some(rate) => format!("{} arrivals, {}", reply.arrivals, unit.rate(rate)),
        None => "arrivals from a file".to_owned(),
    };
    let plural = if reply.slots == 1 { "slot" } else { "slots" };
    let mut lines = vec![
        format!("{}: {rate}, {} {plural}, {}", reply.study, reply.slots, reply.configuration),
        format!(
            "jobs      {} of {} ended, {} failed",
            reply.measured_jobs().len(),
            reply.planned,
            reply.count(TrialState::Failed)
        ),
    ];
    if let Some(own) = &reply.measured {
        lines.extend(measured_lines(own, reply.slots));
    }
    if let (Some(own), Some(model)) = (&reply.measured, &reply.model) {
        lines.extend(model_lines(own, model));
    }
    lines.join("\n") + "\n"
}

fn measured_lines(own: &MeasuredQueue, slots: u32) -> Vec<String> {
    let unit = Unit::Seconds;
    let service = own.service.mean;
    vec![
        format!(
            "service   {} on average (95 % interval {} to {}), scv {}",
            unit.time(service.estimate),
            unit.time(service.low.max(0.0)),
            unit.time(service.high),
            figure(own.service.scv.estimate),
        ),
        format!(
            "load      {} of {} busy while jobs came and left; {} jobs in the system on average, {} of \
             them waiting",
            figure(own.utilisation * f64::from(slots)),
            if slots == 1 { "1 slot".to_owned() } else { format!("{slots} slots") },
            figure(own.mean_jobs),
            figure(own.mean_queue),
        ),
        format!(
            "wait      {} on average; {} % of the jobs found all slots busy",
            unit.time(own.mean_wait),
            figure(100.0 * own.p_wait),
        ),
        format!(
            "response  {} on average; half within {}, 90 % within {}",
            unit.time(own.mean_response),
            own.response_quantiles.p50.map_or_else(String::new, |time| unit.time(time)),
            own.response_quantiles.p90.map_or_else(String::new, |time| unit.time(time)),
        ),
    ]
}

fn model_lines(own: &MeasuredQueue, model: &LoadModel) -> Vec<String> {
    let unit = Unit::Seconds;
    let long_run = match &model.steady_state {
        Some(state) => {
            format!("{} in the long run", unit.time(state.mean_response))
        }
        None => "no long run, because the queue grows for ever".to_owned(),
    };
    let verdict = if model.agrees { "agrees" } else { "does not agree" };
    vec![format!(
        "model     {} says {long_run}, and {} to {} for 95 % of runs of {} jobs from an empty queue: it \
         {verdict} with the measurement",
        model.queue,
        unit.time(model.mean_response.low),
        unit.time(model.mean_response.high),
        own.jobs,
    )]
}

/// One event of a load test, in one line.
pub fn load_event(event: &LoadEvent<'_>) -> String {
    match event {
        LoadEvent::Begun { jobs, slots, configuration } => {
            let plural = if *slots == 1 { "slot" } else { "slots" };
            format!("{jobs} jobs will arrive at {slots} {plural}, each with {configuration}")
        }
        LoadEvent::Ended { job, present } => format!(
            "job {} {}: waited {}, took {}; {present} waiting or running",
            job.number,
            job.state,
            Unit::Seconds.time(job.wait_s),
            Unit::Seconds.time(job.service_s),
        ),
    }
}

#[cfg(test)]
mod tests {
    use trainwright_queueing::{ArrivalPlan, measure};
    use trainwright_study::{Configuration, Level};

    use super::*;
    use crate::{LoadEnd, LoadJob};

    /// Jobs that come every second and take half a second of one slot.
    fn jobs(states: &[TrialState]) -> Vec<LoadJob> {
        let job = |(number, state): (u32, &TrialState)| {
            let arrival_s = f64::from(number);
            let (start_s, end_s) = (arrival_s + 0.25, arrival_s + 0.75);
            LoadJob {
                number,
                arrival_s,
                start_s,
                end_s,
                wait_s: 0.25,
                service_s: 0.5,
                response_s: 0.75,
                process_s: None,
                state: *state,
                reason: None,
            }
        };
        (1..).zip(states).map(job).collect()
    }

    fn reply(states: &[TrialState]) -> LoadReply {
        let configuration = Configuration::new(vec![("lr".to_owned(), Level::Number(0.5))]);
        LoadReply {
            study: "demo".to_owned(),
            configuration,
            arrivals: "deterministic",
            rate_per_s: Some(1.0),
            slots: 1,
            seed: 1,
            end: LoadEnd::Complete,
            planned: 8,
            arrived: states.len(),
            left_waiting: 0,
            measured: None,
            model: None,
            not_summed: None,
            jobs: jobs(states),
            findings: Vec::new(),
            kept: "load-0001.json".into(),
        }
    }

    #[test]
    fn without_a_summary_the_jobs_are_counted() {
        use TrialState::{Failed, Finished, Stopped};
        let own = reply(&[Finished, Failed, Stopped]);
        assert_eq!(
            load(&own, Colour::Never),
            "demo: deterministic arrivals, 1 a second, 1 slot, lr=0.5\njobs      2 of 8 ended, 1 \
             failed\n"
        );
        let own = LoadReply { rate_per_s: None, arrivals: "file", slots: 2, ..own };
        assert!(load_summary(&own).starts_with("demo: arrivals from a file, 2 slots, lr=0.5\n"));
    }

    #[test]
    fn what_was_measured_stands_beside_the_model() {
        let mut own = reply(&[TrialState::Finished; 8]);
        let jobs = own.measured_jobs();
        let measured = measure(&jobs, 0, 1, 1).unwrap();
        let plan = ArrivalPlan::Deterministic { rate: 1.0 };
        own.model = Some(LoadModel::of(&plan, &jobs, &measured, 1, 1).unwrap());
        own.measured = Some(measured);
        let text = load_summary(&own);
        let starts: Vec<&str> =
            text.lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(starts, ["jobs", "service", "load", "wait", "response", "model"]);
        assert!(text.contains("\nservice   500 ms on average"), "{text}");
        assert!(text.contains("\nwait      250 ms on average"), "{text}");
        assert!(text.contains("\nresponse  750 ms on average; half within 750 ms"), "{text}");
        assert!(text.contains(" of 1 slot busy "), "{text}");
        assert!(
            text.ends_with("agree with the measurement\n")
                || text.ends_with("agrees with the measurement\n"),
            "{text}"
        );
    }

    #[test]
    fn a_queue_that_grows_has_no_long_run() {
        let mut own = reply(&[TrialState::Finished; 8]);
        let jobs = own.measured_jobs();
        let measured = measure(&jobs, 0, 1, 1).unwrap();
        let plan = ArrivalPlan::Deterministic { rate: 1.0 };
        let model = LoadModel::of(&plan, &jobs, &measured, 1, 1).unwrap();
        own.model = Some(LoadModel { steady_state: None, agrees: false, ..model });
        own.measured = Some(measured);
        let text = load_summary(&own);
        assert!(
            text.contains("says no long run, because the queue grows for ever, and "),
            "{text}"
        );
        assert!(text.contains("it does not agree with the measurement"), "{text}");
    }

    #[test]
    fn events_are_one_line_each() {
        let configuration = Configuration::new(vec![("lr".to_owned(), Level::Number(0.5))]);
        let begun = |slots| LoadEvent::Begun { jobs: 3, slots, configuration: &configuration };
        assert_eq!(load_event(&begun(1)), "3 jobs will arrive at 1 slot, each with lr=0.5");
        assert_eq!(load_event(&begun(2)), "3 jobs will arrive at 2 slots, each with lr=0.5");
        let job = &jobs(&[TrialState::Failed])[0];
        assert_eq!(
            load_event(&LoadEvent::Ended { job, present: 2 }),
            "job 1 failed: waited 250 ms, took 500 ms; 2 waiting or running"
        );
    }
}
