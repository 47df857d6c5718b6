#[path = "../tests/it/simulated.rs"]
mod simulated;
use simulated::Simulated;
use trainwright_study::TrialState;
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let write = |name: &str, s: &Simulated| {
        std::fs::write(format!("{dir}/{name}.html"), trainwright_report::html(&s.input())).unwrap()
    };
    write(
        "sample",
        &Simulated::new(3, 120)
            .broken(9, TrialState::Failed, "the process ended with exit code 1")
            .broken(30, TrialState::Diverged, "metric `accuracy` was NaN at step 200"),
    );
    let one = Simulated::new(1, 30);
    eprintln!("{:?}", one.analysis.as_ref().unwrap().lenth);
    eprintln!(
        "{:?}",
        one.analysis.as_ref().unwrap().half_normal.iter().map(|h| h.effect).collect::<Vec<_>>()
    );
    write("big", &Simulated::new(625, 40));
    write("single", &Simulated::new(1, 30));
    write("hundred", &Simulated::new(6, 2000));
    let mut un = Simulated::new(2, 20);
    un.analysis = None;
    for t in un.trials.iter_mut().skip(9) {
        t.state = TrialState::Planned;
        t.measurements.clear();
        t.series.clear();
        t.usage = None;
        t.started_ms = None;
        t.attempts = 0;
    }
    write("unfinished", &un);
    let h = "</script><b onload=\"x\">&'<!--";
    let mut ho = Simulated::new(2, 10).broken(5, TrialState::Failed, h);
    ho.study.name = h.into();
    ho.trials[4].series[0].name = format!("metric.{h}");
    write("hostile", &ho);
}
