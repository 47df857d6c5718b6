//! The frame of every page.

use std::fmt::Write;

use trainwright::pages::escape;

use super::address::of_study;
use super::assets::asset_address;
use crate::studies::shelf::Entry;

/// What differs between pages; `navigation` and `body` are markup.
pub(crate) struct Frame<'a> {
    pub(crate) title: &'a str,
    pub(crate) navigation: String,
    /// The version of what is shown, where it may change.
    pub(crate) version: Option<&'a str>,
    /// Where changes are told.
    pub(crate) events: Option<&'a str>,
    pub(crate) body: &'a str,
}

impl Frame<'_> {
    /// The whole page. Scripts and styles are files, so that nothing in the markup may run.
    pub(crate) fn html(&self) -> String {
        let [style, live_style, echarts, report, live] =
            ["report.css", "live.css", "echarts.js", "report.js", "live.js"].map(asset_address);
        let (title, navigation, body) = (escape(self.title), &self.navigation, self.body);
        let mut attributes = String::new();
        for (name, value) in [("version", self.version), ("events", self.events)] {
            if let Some(value) = value {
                let _ = write!(attributes, " data-{name}=\"{}\"", escape(value));
            }
        }
        format!(
            "<!doctype html>\n<html lang=\"en\" class=\"no-script\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <link rel=\"stylesheet\" href=\"{style}\">\n<link rel=\"stylesheet\" href=\"{live_style}\">\n\
             <script src=\"{live}\" defer></script>\n<script src=\"{echarts}\" defer></script>\n\
             <script src=\"{report}\" defer></script>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">To the content</a>\n\
             <header class=\"bar\"><div class=\"wide\"><a class=\"brand\" href=\"/\">Trainwright</a>\
             <p id=\"connection\" role=\"status\" aria-live=\"polite\"></p></div></header>\n\
             {navigation}<main id=\"main\" class=\"wide\" tabindex=\"-1\"{attributes}>\n\
             <p class=\"note only-without-script\">Charts and live updates need JavaScript, which is \
             off; text and tables are complete without it.</p>\n{body}</main>\n</body>\n</html>\n"
        )
    }
}

/// The pages of a study: path and name.
pub(crate) const PAGES: [(&str, &str); 11] = [
    ("", "Overview"),
    ("design", "Design"),
    ("trials", "Trials"),
    ("effects", "Effects"),
    ("fit", "Fit"),
    ("surface", "Surface"),
    ("compare", "Compare"),
    ("search", "Search"),
    ("curves", "Curves"),
    ("resources", "Resources"),
    ("environment", "Environment"),
];

/// The links to the pages of a study; the present one is marked.
pub(crate) fn navigation(entry: &Entry, present: &str) -> String {
    let has_search = entry.study.as_ref().is_ok_and(|own| own.search.is_some());
    let base = of_study(&entry.id);
    let mut links = String::new();
    for (path, name) in PAGES {
        if path == "search" && !has_search {
            continue;
        }
        let mark = if path == present { " aria-current=\"page\"" } else { "" };
        let slash = if path.is_empty() { "" } else { "/" };
        let _ = write!(links, "<a href=\"{base}{slash}{path}\"{mark}>{name}</a>");
    }
    format!("<nav aria-label=\"Pages of the study\"><div class=\"wide\">{links}</div></nav>\n")
}

/// The head of a page of a study: its name and where the page stands.
pub(crate) fn heading(entry: &Entry, page: &str) -> String {
    let name = escape(&entry.name);
    format!("<div class=\"title\"><p class=\"kind\">{}</p>\n<h1>{name}</h1></div>\n", escape(page))
}
