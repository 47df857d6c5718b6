//! The page of a queue: what it does, and how its response grows.

use trainwright_analysis::Finding;
use trainwright_queueing::{QueueAnswer, Target, TimeQuantiles};

use super::shell::Shell;
use super::study::verdict::findings;
use crate::charts::{Charts, response_by_servers, response_curve};
use crate::escape::escape;
use crate::table::{Cell, Sorting, Table};

/// What the page of a queue shows.
#[derive(Debug, Clone, Copy)]
pub struct QueuePage<'a> {
    /// The queue.
    pub answer: &'a QueueAnswer,
    /// The time to keep within, where one was asked for.
    pub target: Option<&'a Target>,
    /// The answer in words, line by line.
    pub words: &'a str,
    /// What it means.
    pub findings: &'a [Finding],
    /// Unit of the times, where they have one.
    pub unit: Option<&'a str>,
    /// Name and version of the program.
    pub program: &'a str,
    /// When the page was written.
    pub written_at: &'a str,
}

const SECTIONS: [(&str, &str, &str); 3] = [
    ("verdict", "Answer", "How long jobs wait and stay, and what a target needs."),
    (
        "curve",
        "Response",
        "How the response grows with the load. Look for how far the present point is from where \
         the curve turns up.",
    ),
    ("figures", "Figures", "Every figure; the full digits appear on hovering."),
];

/// The page of a queue as one HTML file, which loads nothing from elsewhere.
pub fn queue_html(page: &QueuePage<'_>) -> String {
    let mut charts = Charts::default();
    let mut verdict =
        format!("<h3>In words</h3>\n<pre class=\"command\">{}</pre>\n", escape(page.words));
    verdict += &findings(page.findings.iter());
    let unit = page.unit;
    let curve = charts.place("response-curve", response_curve(page.answer, page.target, unit))
        + &charts.place("response-by-servers", response_by_servers(page.answer, page.target, unit));
    let queue = &page.answer.queue;
    let shell = Shell {
        title: format!("{queue} - queue"),
        header: format!(
            "<header><div class=\"wide\"><p class=\"kind\">Queue</p>\n<h1>{}</h1>\n</div></header>\n",
            escape(queue)
        ),
        sections: &SECTIONS,
        bodies: vec![verdict, curve, figures(page)],
        charts,
        program: page.program,
        written_at: page.written_at,
    };
    shell.html()
}

fn figures(page: &QueuePage<'_>) -> String {
    let (answer, state) = (page.answer, &page.answer.steady_state);
    let mut table = Table::new("Figures of the queue", Sorting::Fixed, &["figure", "value"]);
    let mut push = |name: &str, value: Option<f64>| {
        table.push(vec![Cell::text(name), Cell::optional(value)]);
    };
    push("arrival rate", Some(answer.arrival_rate));
    push("service rate of a server", Some(answer.service_rate));
    push("servers", Some(f64::from(answer.servers)));
    push("utilisation", Some(state.utilisation));
    push("probability of an empty system", state.p0);
    push("probability of waiting", state.p_wait);
    push("probability of being turned away", Some(state.p_block));
    push("mean jobs", Some(state.mean_jobs));
    push("mean jobs waiting", Some(state.mean_queue));
    push("mean wait", Some(state.mean_wait));
    push("mean response", Some(state.mean_response));
    for (name, quantiles) in
        [("wait", &answer.quantiles.wait), ("response", &answer.quantiles.response)]
    {
        let TimeQuantiles { p50, p90, p95, p99 } = *quantiles;
        push(&format!("{name}, half of the jobs within"), p50);
        push(&format!("{name}, 90 % within"), p90);
        push(&format!("{name}, 95 % within"), p95);
        push(&format!("{name}, 99 % within"), p99);
    }
    table.html()
}
