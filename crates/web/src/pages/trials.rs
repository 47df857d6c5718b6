//! The table of trials: filtered and sorted here, shown a window at a time.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use trainwright::pages::{ShownColumns, escape};
use trainwright::{SortDirection, TrialList, TrialQuery};

use super::address::{encoded, of_study};
use super::fault::Fault;
use super::layout::{heading, navigation};
use super::study_page::StudyPage;
use crate::router::Site;

/// Rows of the page itself; the script asks for the others as they come into sight.
const FIRST: usize = 200;

/// Rows that are given at a time.
const MOST_ROWS: usize = 500;

/// Letters of an expression.
const MOST_FILTER: usize = 1_000;

/// What the address says.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TableQuery {
    pub(crate) filter: String,
    pub(crate) sort: String,
    pub(crate) order: String,
    pub(crate) columns: String,
    pub(crate) from: usize,
    pub(crate) count: Option<usize>,
}

impl TableQuery {
    pub(crate) fn checked(&self) -> Result<TrialQuery, Fault> {
        if self.filter.chars().count() > MOST_FILTER {
            let words = format!("the expression is longer than {MOST_FILTER} letters");
            return Err(Fault::new(axum::http::StatusCode::BAD_REQUEST, words));
        }
        let unknown = |name: &str, value: &str, known: &str| {
            let words = format!("`{name}` is `{value}`, where {known} can be asked for");
            Fault::new(axum::http::StatusCode::BAD_REQUEST, words)
        };
        Ok(TrialQuery {
            filter: self.filter.clone(),
            sort: self.sort.clone(),
            order: match self.order.as_str() {
                "" | "ascending" => SortDirection::Ascending,
                "descending" => SortDirection::Descending,
                other => return Err(unknown("order", other, "`ascending` or `descending`")),
            },
            columns: match self.columns.as_str() {
                "" => ShownColumns::Differing,
                "all" => ShownColumns::All,
                other => return Err(unknown("columns", other, "`all`")),
            },
        })
    }

    /// The address of the same table, sorted otherwise or from another row on.
    fn address(&self, base: &str, sort: &str, order: &str, from: usize) -> String {
        let mut out = format!("{base}/trials");
        let from = if from > 0 { from.to_string() } else { String::new() };
        let pairs = [
            ("filter", self.filter.as_str()),
            ("sort", sort),
            ("order", order),
            ("columns", self.columns.as_str()),
            ("from", from.as_str()),
        ];
        let mut sign = '?';
        for (name, value) in pairs.into_iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(out, "{sign}{name}={}", encoded(value));
            sign = '&';
        }
        out
    }
}

/// The page.
pub(crate) async fn trials(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    Query(query): Query<TableQuery>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let page = StudyPage::open(&site, &id).await?;
    let checked = query.checked()?;
    let key = format!("trials {query:?}");
    page.answer(&site, &headers, &key, None, move |page| {
        let base = of_study(&page.entry.id);
        let mut body = heading(&page.entry, "Trials");
        // A wrong expression is told beside the field in which it stands.
        let (list, fault) = match TrialList::new(&page.view, &checked) {
            Ok(list) => (Some(list), None),
            Err(error) => (None, Some(error.to_string())),
        };
        body += &form(&query, &base, fault.as_deref());
        if let Some(list) = &list {
            body += &table(page, &query, &checked, list, &base);
        }
        Ok(page.frame(&navigation(&page.entry, "trials"), "Trials", &body))
    })
    .await
}

fn form(query: &TableQuery, base: &str, fault: Option<&str>) -> String {
    let mut hidden = String::new();
    for (name, value) in [("sort", &query.sort), ("order", &query.order)] {
        if !value.is_empty() {
            let _ = write!(
                hidden,
                "<input type=\"hidden\" name=\"{name}\" value=\"{}\">",
                escape(value)
            );
        }
    }
    let fault = fault.map_or_else(String::new, |words| {
        format!("<p class=\"fault\" id=\"filter-fault\" role=\"alert\">{}</p>", escape(words))
    });
    let invalid = if fault.is_empty() {
        ""
    } else {
        " aria-invalid=\"true\" aria-describedby=\"filter-fault\""
    };
    let all = if query.columns == "all" { " checked" } else { "" };
    format!(
        "<form class=\"form filter\" role=\"search\" method=\"get\" action=\"{base}/trials\">\
         <label for=\"filter\">Only trials for which</label>\
         <input id=\"filter\" name=\"filter\" type=\"text\" value=\"{}\" spellcheck=\"false\" \
         autocomplete=\"off\" placeholder=\"state == 'finished' and wall_s &lt; 10\"{invalid}>\
         <label class=\"check\"><input type=\"checkbox\" name=\"columns\" value=\"all\"{all}> all columns\
         </label>{hidden}<button type=\"submit\">Show</button></form>{fault}\n",
        escape(&query.filter)
    )
}

fn table(
    page: &StudyPage,
    query: &TableQuery,
    checked: &TrialQuery,
    list: &TrialList,
    base: &str,
) -> String {
    let chosen = list.chosen.len();
    let from = query.from.min(chosen.saturating_sub(1));
    let order = |order| match order {
        SortDirection::Ascending => "",
        SortDirection::Descending => "descending",
    };
    let head = list.head(checked, &|name, way| query.address(base, name, order(way), 0));
    let rows = list.rows(&page.view, from, FIRST, &format!("{base}/trials/"));
    let words = match chosen == list.total {
        true => format!("{} trials.", list.total),
        false => format!("{chosen} of {} trials.", list.total),
    };
    let same = match list.same.is_empty() {
        true => String::new(),
        false => format!(
            "<p class=\"note\">The same in all trials: {}.</p>",
            escape(&list.same.join(", "))
        ),
    };
    let more = pages(query, base, from, chosen);
    let source =
        query.address(base, &query.sort, &query.order, 0).replacen("/trials", "/trials/rows", 1);
    format!(
        "<section id=\"trials\" data-live aria-label=\"Trials\"><p id=\"count\" role=\"status\">{words}</p>{same}\
         <div class=\"scroll tall virtual\" id=\"trials-scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Table of trials\" \
         data-rows=\"{chosen}\" data-from=\"{from}\" data-source=\"{}\" data-table-version=\"{}\">\
         <table aria-rowcount=\"{}\"><caption class=\"hidden\">Trials of {}</caption>\
         <thead>{head}</thead><tbody>\n{rows}</tbody></table></div>{more}</section>\n",
        escape(&source),
        escape(&page.version),
        chosen + 1,
        escape(&page.entry.name)
    )
}

/// Links to other windows, for those without a script.
fn pages(query: &TableQuery, base: &str, from: usize, chosen: usize) -> String {
    let link = |words: &str, from: usize| {
        let address = query.address(base, &query.sort, &query.order, from);
        format!("<a href=\"{}\">{words}</a> ", escape(&address))
    };
    let mut out = String::new();
    if from > 0 {
        out += &link("Earlier rows", from.saturating_sub(FIRST));
    }
    if from + FIRST < chosen {
        out += &link("Further rows", from + FIRST);
    }
    format!("<p class=\"only-without-script\">{out}</p>")
}

/// Rows alone, for the script.
pub(crate) async fn rows(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    Query(query): Query<TableQuery>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let page = StudyPage::open(&site, &id).await?;
    let checked = query.checked()?;
    let key = format!("rows {query:?}");
    page.answer(&site, &headers, &key, None, move |page| {
        let list = TrialList::new(&page.view, &checked)?;
        let count = query.count.unwrap_or(FIRST).min(MOST_ROWS);
        let address = format!("{}/trials/", of_study(&page.entry.id));
        Ok(list.rows(&page.view, query.from, count, &address))
    })
    .await
}

#[cfg(test)]
mod tests {
    use axum::http::Uri;
    use proptest::prelude::*;

    use super::*;

    fn read(address: &str) -> TableQuery {
        let uri: Uri = address.parse().unwrap();
        Query::<TableQuery>::try_from_uri(&uri).unwrap().0
    }

    #[test]
    fn an_address_names_only_what_differs_from_the_plain_table() {
        let query = TableQuery { filter: "a > 1 & b".to_owned(), ..TableQuery::default() };
        assert_eq!(TableQuery::default().address("/s/x", "", "", 0), "/s/x/trials");
        assert_eq!(
            query.address("/s/x", "loss", "descending", 200),
            "/s/x/trials?filter=a%20%3E%201%20%26%20b&sort=loss&order=descending&from=200"
        );
    }

    #[test]
    fn links_lead_to_the_rows_before_and_after_and_not_beyond() {
        let links = |from: usize, chosen: usize| {
            let out = pages(&TableQuery::default(), "/s/x", from, chosen);
            (out.contains("Earlier rows"), out.contains("Further rows"))
        };
        assert_eq!(links(0, FIRST), (false, false));
        assert_eq!(links(0, FIRST + 1), (false, true));
        assert_eq!(links(FIRST, 3 * FIRST), (true, true));
        assert_eq!(links(FIRST, 2 * FIRST), (true, false));
        let back = pages(&TableQuery::default(), "/s/x", 50, 100);
        assert!(back.contains("href=\"/s/x/trials\""), "{back}");
    }

    #[test]
    fn a_long_expression_is_counted_in_letters() {
        let query = |letter: &str, times: usize| TableQuery {
            filter: letter.repeat(times),
            ..TableQuery::default()
        };
        assert!(query("\u{e9}", MOST_FILTER).checked().is_ok());
        assert!(query("a", MOST_FILTER + 1).checked().is_err());
    }

    proptest! {
        #[test]
        fn an_address_reads_back_as_the_table_that_it_names(
            filter in "\\PC{0,20}", sort in "[a-z ()&=]{0,10}", from in 0usize..1_000,
        ) {
            let query = TableQuery { filter: filter.clone(), columns: "all".to_owned(), ..TableQuery::default() };
            let own = read(&query.address("/s/x", &sort, "descending", from));
            prop_assert_eq!((own.filter, own.sort, own.from), (filter, sort, from));
            prop_assert_eq!((own.order.as_str(), own.columns.as_str()), ("descending", "all"));
        }
    }
}
