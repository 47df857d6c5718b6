//! Queues as text.

use trainwright_queueing::{
    ClassTarget, Discipline, Measure, PriorityDraft, QueueDraft, QueueName, Statistic, Target,
};
use trainwright_report::terminal::{Unit, percent_of, priority_text, queue_text, servers_text};

fn draft(name: QueueName, arrival: f64, service: f64) -> QueueDraft {
    QueueDraft {
        name,
        arrival_rate: Some(arrival),
        service_rate: Some(service),
        servers: None,
        capacity: None,
        population: None,
        scv_arrival: None,
        scv_service: None,
        target: None,
    }
}

fn mean_response(limit: f64) -> Option<Target> {
    Some(Target::new(Measure::Response, Statistic::Mean, limit).unwrap())
}

#[test]
fn a_queue_of_one_server_is_told_line_by_line() {
    // M/M/1 at 0.8: 4 jobs, response 5, wait 4 (Gross and Harris, chapter 2).
    let answer = draft(QueueName::Mm1, 0.8, 1.0).answer().unwrap();
    let text = queue_text(&answer, Unit::None);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "M/M/1: jobs arrive at rate 0.8; 1 server works at rate 1.");
    assert_eq!(lines[1], "busy      80 %; the system is empty 20.00 % of the time");
    assert!(lines[2].starts_with("jobs      4.000 on average, 3.200 of them"), "{}", lines[2]);
    assert!(lines[3].starts_with("wait      4.000 on average"), "{}", lines[3]);
    assert!(lines[3].ends_with("; 80 % of the jobs wait"), "{}", lines[3]);
    assert!(lines[4].starts_with("response  5.000 on average; half within 3.466"), "{}", lines[4]);
    assert_eq!(lines[5], "Times are in the unit that the rates are per.");
}

#[test]
fn times_with_a_unit_are_read_in_the_unit_that_fits() {
    let answer = draft(QueueName::Mm1, 40.0 / 3600.0, 1.0 / 60.0).answer().unwrap();
    let text = queue_text(&answer, Unit::Seconds);
    assert!(
        text.starts_with("M/M/1: jobs arrive at 40 an hour; 1 server works at 60 an hour."),
        "{text}"
    );
    assert!(text.contains("response  3.000 min on average"), "{text}");
    assert!(!text.contains("in the unit that"), "{text}");
}

#[test]
fn a_target_says_what_it_needs() {
    let mut draft = draft(QueueName::Mmc, 3.2, 1.0);
    draft.target = mean_response(1.5);
    let answer = draft.answer().unwrap();
    let text = queue_text(&answer, Unit::None);
    let line = text.lines().find(|line| line.starts_with("target")).unwrap();
    let needed = answer.target.as_ref().unwrap().servers_needed;
    assert!(line.contains(&format!("this rate needs {needed} servers")), "{line}");
    assert!(line.contains("kept (the fewest servers were chosen)"), "{line}");
    // A target that is missed says so, and what would do.
    draft.servers = Some(4);
    draft.target = mean_response(1.01);
    let missed = queue_text(&draft.answer().unwrap(), Unit::None);
    assert!(missed.contains("of at most 1.01: missed; this rate needs"), "{missed}");
}

#[test]
fn jobs_that_are_turned_away_are_told_before_the_others() {
    let draft =
        QueueDraft { servers: Some(2), capacity: Some(3), ..draft(QueueName::Mmck, 4.0, 1.0) };
    let text = queue_text(&draft.answer().unwrap(), Unit::None);
    let refused = text.lines().position(|line| line.starts_with("refused ")).unwrap();
    let wait = text.lines().position(|line| line.starts_with("wait ")).unwrap();
    assert!(refused < wait, "{text}");
}

#[test]
fn what_has_no_quantiles_says_so() {
    let draft = QueueDraft { scv_service: Some(2.9), ..draft(QueueName::Mg1, 0.8, 1.0) };
    let text = queue_text(&draft.answer().unwrap(), Unit::None);
    assert!(text.contains("Quantiles depend on more than rates and variations: not given."));
    assert!(!text.contains("half within"), "{text}");
}

#[test]
fn customers_that_come_back_are_no_stream_of_jobs() {
    let draft =
        QueueDraft { servers: Some(2), population: Some(9), ..draft(QueueName::Finite, 0.5, 1.0) };
    let text = queue_text(&draft.answer().unwrap(), Unit::None);
    assert!(text.contains("each customer comes at rate 0.5"), "{text}");
    assert!(text.contains("each of 2 servers works"), "{text}");
}

#[test]
fn urgent_classes_come_first_in_the_table() {
    let draft = PriorityDraft {
        arrival_rates: vec![0.2, 0.3],
        service_rates: vec![1.0],
        scv_service: Vec::new(),
        servers: Some(1),
        discipline: Discipline::NonPreemptive,
        target: Some(ClassTarget { class: Some(1), target: mean_response(9.0).unwrap() }),
    };
    let answer = draft.answer().unwrap();
    let text = priority_text(&answer, Unit::None);
    assert!(text.contains("urgent jobs wait for a free server"), "{text}");
    let row = |class: &str| {
        let own = text.lines().find(|line| line.split_whitespace().next() == Some(class));
        own.and_then(|line| line.split_whitespace().last()?.parse::<f64>().ok()).unwrap()
    };
    assert!(row("1") < row("2"), "the urgent class is served sooner: {text}");
    assert!(text.contains("of class 1 of at most 9: kept"), "{text}");
    let interrupting = PriorityDraft { discipline: Discipline::PreemptiveResume, ..draft };
    let text = priority_text(&interrupting.answer().unwrap(), Unit::None);
    assert!(text.contains("urgent jobs interrupt others"), "{text}");
}

#[test]
fn counts_and_shares_read_as_people_write_them() {
    assert_eq!((servers_text(1).as_str(), servers_text(4).as_str()), ("1 server", "4 servers"));
    assert_eq!((percent_of(0.5).as_str(), percent_of(0.123_456).as_str()), ("50 %", "12.35 %"));
}
