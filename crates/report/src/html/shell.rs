//! The frame of every page: head, style, navigation, data and scripts. It loads nothing.

use crate::assets::{ECHARTS, SCRIPT, STYLE};
use crate::charts::Charts;
use crate::escape::escape;

/// Forbids the page to load anything at all.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// What differs between pages; `header` and the bodies are markup.
pub(super) struct Shell<'a> {
    pub(super) title: String,
    pub(super) header: String,
    pub(super) sections: &'a [(&'a str, &'a str, &'a str)],
    pub(super) bodies: Vec<String>,
    pub(super) charts: Charts,
    pub(super) program: &'a str,
    pub(super) written_at: &'a str,
}

impl Shell<'_> {
    /// The whole page.
    pub(super) fn html(&self) -> String {
        let links: String = self
            .sections
            .iter()
            .map(|(id, heading, _)| format!("<a href=\"#{id}\">{heading}</a>"))
            .collect();
        let sections: String = self
            .sections
            .iter()
            .zip(&self.bodies)
            .map(|((id, heading, look), body)| section(id, heading, look, body))
            .collect();
        let (title, header, data) = (escape(&self.title), &self.header, self.charts.script());
        let (program, written_at) = (escape(self.program), escape(self.written_at));
        format!(
            "<!doctype html>\n<html lang=\"en\" class=\"no-script\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"generator\" content=\"{program}\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             {header}<nav aria-label=\"Sections\"><div class=\"wide\">{links}</div></nav>\n\
             <main class=\"wide\">\n<p class=\"note only-without-script\">Charts need JavaScript, which \
             is off; text and tables are complete without it.</p>\n{sections}</main>\n\
             <footer class=\"wide\">Written by {program}, {written_at}. Charts: Apache ECharts, \
             Apache-2.0.</footer>\n\
             {data}<script>\n{ECHARTS}\n</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
        )
    }
}

pub(super) fn section(id: &str, heading: &str, look: &str, body: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n\
         <h2 id=\"{id}-heading\">{heading}</h2>\n<p class=\"look\">{look}</p>\n{body}</section>\n"
    )
}
