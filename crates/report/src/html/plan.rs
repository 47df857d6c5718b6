//! The page of a plan: strategies side by side, a step moment by moment, and where operators lie.

use super::shell::Shell;
use super::{TimelineSpan, facts, note, paragraph, sentence};
use crate::charts::{Charts, named_timeline};
use crate::escape::escape;
use crate::table::{Cell, Sorting, Table};

/// What the page of a plan shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanPage<'a> {
    /// Network and machine in a few words.
    pub title: &'a str,
    /// Which plan is best, in a line.
    pub best: &'a str,
    /// Network, machine and the like, each with its name.
    pub facts: &'a [(&'static str, String)],
    /// Why the plan takes as long as it does, line by line.
    pub reasons: &'a [String],
    /// What changes of machine and batch would do.
    pub what_if: PageTable<'a>,
    /// What was planned beside what was measured; no rows where nothing was.
    pub measured: PageTable<'a>,
    /// All strategies.
    pub strategies: PageTable<'a>,
    /// What tasks do, in words; spans refer to it.
    pub activities: &'a [&'a str],
    /// Devices and links with what they do in a step.
    pub timelines: Vec<(String, Vec<TimelineSpan>)>,
    /// Operators with their degrees and devices.
    pub operators: Vec<PlacedOperator>,
    /// How many devices there are.
    pub devices: usize,
    /// Name and version of the program.
    pub program: &'a str,
    /// When the page was written.
    pub written_at: &'a str,
}

/// Heads and rows of a table.
pub type PageTable<'a> = (Vec<&'a str>, Vec<Vec<String>>);

/// An operator on the device map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedOperator {
    /// Its name.
    pub name: String,
    /// How it is split, in words.
    pub split: String,
    /// Devices of its parts.
    pub devices: Vec<u16>,
}

const SECTIONS: [(&str, &str, &str); 4] = [
    ("verdict", "Answer", "The best plan, why it is, and what would help."),
    (
        "strategies",
        "Strategies",
        "Ways to spread the network, as simulated. Look for those that fit.",
    ),
    (
        "timeline",
        "Timeline",
        "One step of the best plan. Look for gaps on devices, and for links that they wait for.",
    ),
    ("map", "Device map", "Which operator has parts on which device."),
];

/// The page of a plan as one HTML file, which loads nothing from elsewhere.
pub fn plan_html(page: &PlanPage<'_>) -> String {
    let mut charts = Charts::default();
    let shell = Shell {
        title: format!("{} - plan", page.title),
        header: format!(
            "<header><div class=\"wide\"><p class=\"kind\">Plan</p>\n<h1>{}</h1>\n</div></header>\n",
            escape(page.title)
        ),
        sections: &SECTIONS,
        bodies: vec![
            answer(page),
            table("Strategies", &page.strategies),
            timeline(page, &mut charts),
            map(page),
        ],
        charts,
        program: page.program,
        written_at: page.written_at,
    };
    shell.html()
}

fn answer(page: &PlanPage<'_>) -> String {
    let markup = |(name, value): &(&'static str, String)| (*name, escape(value).to_string());
    let escaped: Vec<_> = page.facts.iter().map(markup).collect();
    let mut out = paragraph(&sentence(page.best)) + &facts(&escaped);
    out += "<h3>Why</h3>\n<ul>";
    for line in page.reasons {
        out += &format!("<li>{}</li>\n", escape(&sentence(line)));
    }
    out += "</ul>\n";
    for (heading, own) in [("What if", &page.what_if), ("Planned and measured", &page.measured)] {
        if !own.1.is_empty() {
            out += &format!("<h3>{heading}</h3>\n{}", table(heading, own));
        }
    }
    out
}

fn table(name: &str, (head, rows): &PageTable<'_>) -> String {
    let mut table = Table::new(name, Sorting::Fixed, head);
    for row in rows {
        table.push(row.iter().map(|cell| Cell::text(cell)).collect());
    }
    table.html()
}

fn timeline(page: &PlanPage<'_>, charts: &mut Charts) -> String {
    if page.timelines.iter().all(|(_, spans)| spans.is_empty()) {
        return note("There is no schedule to show.");
    }
    let rows: Vec<(String, &[TimelineSpan])> =
        page.timelines.iter().map(|(name, spans)| (name.clone(), &spans[..])).collect();
    let summary = format!("What {} devices and links do in one step, as simulated.", rows.len());
    let chart = named_timeline("One step", &rows, page.activities, ("resource", summary));
    charts.place("plan-timeline", chart)
        + &note("`trainwright plan --trace` writes every task, for Perfetto or chrome://tracing.")
}

fn map(page: &PlanPage<'_>) -> String {
    let names: Vec<String> = (0..page.devices).map(|device| device.to_string()).collect();
    let mut head = vec!["operator", "split"];
    head.extend(names.iter().map(String::as_str));
    let mut table = Table::new("Parts of operators on devices", Sorting::Fixed, &head);
    for operator in &page.operators {
        let mut row = vec![Cell::text(&operator.name), Cell::text(&operator.split)];
        for device in 0..page.devices {
            let parts = operator.devices.iter().enumerate();
            let own = parts.filter(|(_, own)| **own as usize == device).map(|(part, _)| part);
            let list: Vec<String> = own.map(|part| part.to_string()).collect();
            row.push(Cell::text(&list.join(" ")));
        }
        table.push(row);
    }
    table.html()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_strategies_timeline_and_where_parts_lie() {
        let span = TimelineSpan { activity: 0, start_s: 0.0, end_s: 0.5 };
        let placed =
            PlacedOperator { name: "fc<1>".into(), split: "sample 2".into(), devices: vec![1, 0] };
        let page = PlanPage {
            title: "net on <m>",
            best: "best: tensor",
            facts: &[("network", "net & more".into())],
            reasons: &["critical path: forward 60 %".into()],
            what_if: (vec!["what if", "times"], vec![vec!["twice the batch".into(), "1.1".into()]]),
            measured: (vec!["tried here"], vec![]),
            strategies: (vec!["strategy"], vec![vec!["tensor".into()]]),
            activities: &["forward"],
            timelines: vec![("device 0".into(), vec![span])],
            operators: vec![placed],
            devices: 2,
            program: "trainwright",
            written_at: "today",
        };
        let html = plan_html(&page);
        assert!(html.contains("net on &lt;m&gt;") && html.contains("fc&lt;1&gt;"));
        assert!(html.contains("id=\"plan-timeline\"") && html.contains("Best: tensor."));
        assert!(
            html.contains("net &amp; more")
                && html.contains("<li>Critical path: forward 60 %.</li>")
        );
        assert!(html.contains("<h3>What if</h3>") && html.contains("twice the batch"));
        assert!(!html.contains("Planned and measured"), "a table without rows is left out");
        let empty = plan_html(&PlanPage { timelines: vec![], ..page });
        assert!(empty.contains("There is no schedule"));
    }
}
