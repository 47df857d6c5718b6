//! Progress of a running study on the standard error: live lines on a terminal, one line a trial
//! elsewhere.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use trainwright::RunEvent;
use trainwright::terminal::{figure, visible};
use trainwright_study::{Outcome, PlannedTrial, TrialRecord, TrialState};

use crate::output::tell;

/// Shows what a runner tells.
pub(crate) struct Progress {
    screen: Option<Screen>,
    total: usize,
    ended: usize,
    left: usize,
    slots: usize,
    spent: Duration,
    counted: u32,
}

struct Screen {
    lines: MultiProgress,
    bar: ProgressBar,
    /// What each running trial is called, with its line.
    trials: BTreeMap<u32, (String, ProgressBar)>,
}

impl Progress {
    pub(crate) fn new(slots: u32) -> Self {
        let screen = std::io::stderr().is_terminal().then(|| {
            let lines = MultiProgress::new();
            let bar = lines.add(ProgressBar::new(0).with_style(bar_style()));
            Screen { lines, bar, trials: BTreeMap::new() }
        });
        Self {
            screen,
            total: 0,
            ended: 0,
            left: 0,
            slots: slots.max(1) as usize,
            spent: Duration::ZERO,
            counted: 0,
        }
    }

    pub(crate) fn hear(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Planned { total, left, recovered, changes } => {
                for change in *changes {
                    self.say(&format!("note: {change}"));
                }
                self.planned(*total, *left, *recovered);
            }
            RunEvent::Cluster { words } => self.say(words),
            RunEvent::WarmUp { number, of } => self.say(&format!("warm-up {number} of {of}")),
            RunEvent::Started { trial } => self.started(trial),
            RunEvent::Progress { number, elapsed, latest } => {
                self.progress(*number, *elapsed, latest);
            }
            RunEvent::Ended { trial, record, again } => self.ended(trial, record, *again),
            RunEvent::NoMetric { trial, missing, reason, try_with } => {
                let names: Vec<String> =
                    missing.iter().map(|own| format!("`{}`", own.metric)).collect();
                self.no_metric(trial, &names.join(", "), reason, try_with);
            }
            RunEvent::StoreBusy => {
                self.say("the store is busy: another program is writing it; waiting");
            }
        }
    }

    fn no_metric(&mut self, trial: &PlannedTrial, names: &str, reason: &str, try_with: &str) {
        self.say(&format!(
            "stopped: trial {} ended without {names}, and so would the others\n{}\ntry the rules on its \
             output with\n  {try_with}\nthen correct the study and run again: the output is kept \
             and read again, nothing that ran has to run twice",
            trial.number,
            visible(reason)
        ));
    }

    /// Takes the live lines away.
    pub(crate) fn finish(&mut self) {
        if let Some(screen) = self.screen.take() {
            screen.lines.clear().unwrap_or_default();
        }
    }

    fn planned(&mut self, total: usize, left: usize, recovered: usize) {
        (self.total, self.left, self.ended) = (total, left, total - left);
        let plural = if total == 1 { "" } else { "s" };
        let mut text = format!("{total} trial{plural} planned, {left} to run");
        if recovered > 0 {
            write!(text, "; {recovered} left unfinished by a runner that died will run again")
                .expect("writing to memory cannot fail");
        }
        self.say(&text);
        if let Some(screen) = &self.screen {
            screen.bar.set_length(total as u64);
            screen.bar.set_position(self.ended as u64);
            screen.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    fn started(&mut self, trial: &PlannedTrial) {
        if let Some(screen) = &mut self.screen {
            let line = screen.lines.add(ProgressBar::new_spinner().with_style(line_style()));
            let name = visible(&format!("trial {}  {}", trial.number, trial.configuration));
            line.set_message(name.clone());
            line.enable_steady_tick(Duration::from_millis(200));
            screen.trials.insert(trial.number, (name, line));
        }
    }

    fn progress(&mut self, number: u32, elapsed: Duration, latest: &[(String, f64)]) {
        let known = self.screen.as_ref().and_then(|screen| screen.trials.get(&number));
        let Some((name, line)) = known else { return };
        let shown = latest.iter().take(4).map(|(name, value)| format!("{name} {}", figure(*value)));
        let shown: Vec<String> = shown.collect();
        // The values stand before the configuration, which may be longer than the line.
        let shown = format!("{:.0} s  {}  {name}", elapsed.as_secs_f64(), shown.join("  "));
        line.set_message(visible(&shown));
    }

    fn ended(&mut self, trial: &PlannedTrial, record: &TrialRecord, again: bool) {
        if let Some((_, line)) = self.screen.as_mut().and_then(|s| s.trials.remove(&trial.number)) {
            line.finish_and_clear();
        }
        if let Some(usage) = &record.usage {
            self.spent += Duration::from_secs_f64(usage.wall_s.max(0.0));
            self.counted += 1;
        }
        if !again {
            self.ended += 1;
            self.left = self.left.saturating_sub(1);
        }
        let text = self.line(trial, record, again);
        let quiet = record.outcome.state() == TrialState::Finished && self.screen.is_some();
        if !quiet {
            self.say(&text);
        }
        if let Some(screen) = &self.screen {
            screen.bar.set_position(self.ended as u64);
            screen.bar.set_message(visible(&latest(trial.number, record, &self.time_left())));
        }
    }

    fn line(&self, trial: &PlannedTrial, record: &TrialRecord, again: bool) -> String {
        let mut text = format!(
            "[{}/{}] trial {} {}: ",
            self.ended, self.total, trial.number, trial.configuration
        );
        let mut put = |part: &str| text.push_str(part);
        match &record.outcome {
            Outcome::Finished => {
                put(&values(record));
                put(&format!(" ({})", self.time_left()));
            }
            Outcome::Diverged { reason } => put(&format!("diverged: {reason}")),
            Outcome::Failed { reason } => {
                let first = reason.lines().next().unwrap_or("no reason");
                put(&format!("failed: {first}{}", if again { "; trying again" } else { "" }));
            }
            Outcome::CutShort { reason } => put(&format!("cut short: {reason}")),
            Outcome::Stopped => put("stopped"),
        }
        text
    }

    fn time_left(&self) -> String {
        if self.counted == 0 || self.left == 0 {
            return "nearly done".to_owned();
        }
        let seconds = (self.spent / self.counted).as_secs_f64() * self.left as f64;
        format!("about {} left", short(seconds / self.slots as f64))
    }

    fn say(&self, text: &str) {
        // Reasons hold what trials printed.
        let text = visible(text);
        match &self.screen {
            Some(screen) => screen.lines.println(text).unwrap_or_default(),
            None => tell(&text),
        }
    }
}

/// What the bar says: the latest values first, since the line may be too short for the rest.
fn latest(number: u32, record: &TrialRecord, time_left: &str) -> String {
    match record.outcome.state() {
        TrialState::Finished => format!("{} (trial {number}); {time_left}", values(record)),
        _ => time_left.to_owned(),
    }
}

/// What a trial measured: `loss=0.25 time=1.5`.
fn values(record: &TrialRecord) -> String {
    let shown = record.measurements.iter();
    let shown: Vec<String> =
        shown.map(|own| format!("{}={}", own.metric, figure(own.value))).collect();
    shown.join(" ")
}

/// A time in the largest unit that leaves at least one of it.
fn short(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Says how far a copy has come, at most twice a second and only on a terminal.
pub(crate) struct Copying {
    last: Instant,
}

impl Copying {
    pub(crate) fn new() -> Self {
        Self { last: Instant::now() }
    }

    pub(crate) fn hear(&mut self, file: &str, bytes: u64, total: Option<u64>) {
        let due = self.last.elapsed() >= Duration::from_millis(500);
        if due && std::io::stderr().is_terminal() {
            self.last = Instant::now();
            let of = total.map(|total| format!(" of {:.1}", total as f64 / 1e6));
            let of = of.unwrap_or_default();
            tell(&format!("{file}: {:.1}{of} MB", bytes as f64 / 1e6));
        }
    }
}

fn bar_style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:10} {pos}/{len}  {wide_msg}  {elapsed}")
        .expect("the template is right")
}

fn line_style() -> ProgressStyle {
    ProgressStyle::with_template("  {spinner} {wide_msg}").expect("the template is right")
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::{ProgressDrawTarget, TermLike};
    use trainwright_study::Measurement;

    use super::*;

    /// A terminal of twenty columns that keeps what is written.
    #[derive(Debug, Clone, Default)]
    struct Narrow(Arc<Mutex<String>>);

    impl TermLike for Narrow {
        fn width(&self) -> u16 {
            20
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_of_wide_letters_is_no_wider_than_the_terminal() {
        let terminal = Narrow::default();
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let line = ProgressBar::with_draw_target(None, target)
            .with_style(line_style())
            .with_message("自适应矩估计".repeat(4));
        line.tick();
        let shown = terminal.0.lock().unwrap().clone();
        let wide = shown.matches(['自', '适', '应', '矩', '估', '计']).count();
        // Two columns each; what is left are a spinner and blanks.
        assert!((4..=8).contains(&wide), "{shown:?}");
    }

    #[test]
    fn what_was_measured_stands_first_on_the_bar() {
        let measured = |metric: &str, value: f64| Measurement {
            metric: metric.to_owned(),
            value,
            in_range: true,
        };
        let mut record = TrialRecord {
            outcome: Outcome::Finished,
            measurements: vec![measured("loss", 0.25), measured("time", 1.5)],
            usage: None,
            series: Vec::new(),
            command: Vec::new(),
            environment: BTreeMap::new(),
            started_ms: 0,
            output_end: String::new(),
            cluster: Vec::new(),
        };
        let told = latest(7, &record, "about 4 s left");
        assert_eq!(told, "loss=0.2500 time=1.500 (trial 7); about 4 s left");
        record.outcome = Outcome::Stopped;
        assert_eq!(latest(7, &record, "nearly done"), "nearly done");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(short(12.4), "12 s");
        assert_eq!(short(600.0), "10 min");
        assert_eq!(short(9000.0), "2.5 h");
    }
}
