//! `queue`, its simulations and its fits.

use trainwright::queueing::{Discipline, PriorityDraft, QueueDraft, QueueName};
use trainwright::{
    FitRequest, FitSource, SimulationLength, fit_queue, priority_queue, queue, simulate_priorities,
    simulate_queue,
};

use crate::lab::{Lab, check_refusal, nowhere};

fn one_server() -> QueueDraft {
    QueueDraft {
        name: QueueName::Mmc,
        arrival_rate: Some(0.5),
        service_rate: Some(1.0),
        servers: Some(1),
        capacity: None,
        population: None,
        scv_arrival: None,
        scv_service: None,
        target: None,
    }
}

fn classes() -> PriorityDraft {
    PriorityDraft {
        arrival_rates: vec![0.2, 0.3],
        service_rates: vec![1.0],
        scv_service: Vec::new(),
        servers: None,
        discipline: Discipline::NonPreemptive,
        target: None,
    }
}

const SHORT: SimulationLength = SimulationLength { jobs: Some(20_000), confidence: 0.99, seed: 3 };

#[test]
fn a_queue_that_grows_for_ever_is_refused() {
    assert!(queue(&one_server()).is_ok());
    let full = QueueDraft { arrival_rate: Some(1.0), ..one_server() };
    check_refusal(queue(&full), 2, &["1"]);
    let negative = QueueDraft { service_rate: Some(-1.0), ..one_server() };
    check_refusal(queue(&negative), 2, &["-1"]);
    let unknown = QueueDraft { arrival_rate: None, ..one_server() };
    check_refusal(queue(&unknown), 2, &["arrival"]);
}

#[test]
fn a_queue_is_as_the_closed_form_has_it() {
    let answer = queue(&one_server()).unwrap().answer;
    assert_eq!(answer.servers, 1);
    // M/M/1 at rho = 1/2: rho / (1 - rho) jobs are present, and stay for 1 / (mu - lambda).
    let json = serde_json::to_value(&answer).unwrap();
    assert_eq!((&json["mean_jobs"], &json["mean_response"]), (&1.0.into(), &2.0.into()));
}

#[test]
fn a_simulation_agrees_with_the_formula_and_repeats_itself() {
    let simulated = simulate_queue(&one_server(), &SHORT).unwrap();
    assert!(simulated.figures.iter().any(|figure| figure.within == Some(true)));
    assert_eq!(simulate_queue(&one_server(), &SHORT).unwrap().figures, simulated.figures);
    let none = SimulationLength { jobs: 0, ..SHORT };
    check_refusal(simulate_queue(&one_server(), &none), 2, &["jobs"]);
    let sure = SimulationLength { confidence: 1.5, ..SHORT };
    check_refusal(simulate_queue(&one_server(), &sure), 2, &["1.5"]);
}

#[test]
fn urgent_jobs_wait_less() {
    let reply = priority_queue(&classes()).unwrap();
    let json = serde_json::to_value(&reply.answer).unwrap();
    assert!(json.is_object());
    let simulated = simulate_priorities(&classes(), &SHORT).unwrap();
    assert_eq!(simulated.classes.len(), 2);
    let busy = PriorityDraft { arrival_rates: vec![0.6, 0.6], ..classes() };
    check_refusal(priority_queue(&busy), 2, &["1"]);
    let none = PriorityDraft { arrival_rates: Vec::new(), ..classes() };
    assert!(priority_queue(&none).is_err());
}

#[test]
fn measured_times_are_fitted_from_a_table_or_a_study() {
    let lab = Lab::new();
    let rows: String =
        (1..=40).map(|row| format!("{}\n", 1.0 + f64::from(row % 7) / 10.0)).collect();
    let data = lab.file("t.csv", format!("time\n{rows}"));
    let source =
        |column| FitSource::Table { data: &data, column, unit: Some("s"), interarrival: None };
    let request = |source| FitRequest {
        source,
        conditions: &[],
        arrival_rate: Some(0.5),
        servers: 1,
        seed: 1,
    };
    assert!(fit_queue(&request(source("time"))).is_ok());
    check_refusal(fit_queue(&request(source("wait"))), 2, &["wait"]);
    let far =
        FitSource::Table { data: nowhere(), column: "t", unit: Some("s"), interarrival: None };
    check_refusal(fit_queue(&request(far)), 2, &["all.csv"]);
    let study = lab.study(crate::lab::SUMS);
    let sums = FitSource::Study { study: &study, store: None, metric: "y" };
    check_refusal(fit_queue(&request(sums)), 2, &["`y` cannot be a service time", "no unit"]);
}
