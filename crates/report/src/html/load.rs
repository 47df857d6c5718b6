//! The page of a load test: what the jobs did, beside what a queue model says.

use trainwright_analysis::Finding;
use trainwright_queueing::{LoadModel, MeasuredJob, MeasuredQueue};

use super::shell::Shell;
use super::study::verdict::findings;
use crate::charts::{Charts, jobs_in_system, load_curve, response_of_jobs};
use crate::escape::escape;
use crate::table::{Cell, Sorting, Table};

/// What the page of a load test shows; times are in seconds.
#[derive(Debug, Clone, Copy)]
pub struct LoadPage<'a> {
    /// The study's name.
    pub study: &'a str,
    /// What was run, in words.
    pub configuration: &'a str,
    /// Jobs that ended, by arrival.
    pub jobs: &'a [MeasuredJob],
    /// What they did; nothing where too few ended.
    pub measured: Option<&'a MeasuredQueue>,
    /// What a model says; nothing where there is none.
    pub model: Option<&'a LoadModel>,
    /// The answer in words, line by line.
    pub words: &'a str,
    /// What it means.
    pub findings: &'a [Finding],
    /// Name and version of the program.
    pub program: &'a str,
    /// When the page was written.
    pub written_at: &'a str,
}

const SECTIONS: [(&str, &str, &str); 3] = [
    ("verdict", "Answer", "How long real jobs waited and stayed, beside what the model says."),
    (
        "path",
        "What happened",
        "Each job's response, and how many jobs were there. Look for a number that keeps growing: \
         then there is no long run.",
    ),
    ("jobs", "Jobs", "Every job that ended; a click on a header sorts."),
];

/// The page of a load test as one HTML file, which loads nothing from elsewhere.
pub fn load_html(page: &LoadPage<'_>) -> String {
    let mut charts = Charts::default();
    let mut verdict =
        format!("<h3>In words</h3>\n<pre class=\"command\">{}</pre>\n", escape(page.words));
    verdict += &findings(page.findings.iter());
    let mut path = String::new();
    if !page.jobs.is_empty() {
        if let (Some(measured), Some(model)) = (page.measured, page.model) {
            verdict += &charts.place("load-curve", load_curve(measured, model));
        }
        path += &charts.place("response-of-jobs", response_of_jobs(page.jobs));
        path += &charts.place("jobs-in-system", jobs_in_system(page.jobs));
    }
    let shell = Shell {
        title: format!("{} - load", page.study),
        header: format!(
            "<header><div class=\"wide\"><p class=\"kind\">Load of real jobs</p>\n<h1>{}</h1>\n\
             <p class=\"description\">{}</p></div></header>\n",
            escape(page.study),
            escape(page.configuration)
        ),
        sections: &SECTIONS,
        bodies: vec![verdict, path, jobs(page.jobs)],
        charts,
        program: page.program,
        written_at: page.written_at,
    };
    shell.html()
}

fn jobs(jobs: &[MeasuredJob]) -> String {
    let head = ["job", "arrival (s)", "wait (s)", "service (s)", "response (s)"];
    let mut table = Table::new("Jobs", Sorting::ByHeader, &head);
    for (number, job) in (1..).zip(jobs) {
        table.push(vec![
            Cell::count(number),
            Cell::number(job.arrival),
            Cell::number(job.wait()),
            Cell::number(job.service()),
            Cell::number(job.response()),
        ]);
    }
    table.html()
}
