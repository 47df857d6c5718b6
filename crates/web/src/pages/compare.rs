//! Chosen configurations side by side.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use trainwright::pages::{escape, figure};
use trainwright::{CompareChoice, compare_configurations, configurations_of};

use super::address::of_study;
use super::fault::Fault;
use super::layout::{heading, navigation};
use super::study_page::StudyPage;
use crate::router::Site;

/// Configurations that can be chosen from.
const MOST_CHOICES: usize = 200;

/// Configurations that are compared at a time.
const MOST_COMPARED: usize = 12;

/// The page; the address names the first trials of the chosen configurations.
pub(crate) async fn compare(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let chosen = chosen(query.as_deref().unwrap_or_default());
    let page = StudyPage::open(&site, &id).await?;
    page.answer(&site, &headers, &format!("compare {chosen:?}"), None, move |page| {
        let choices = configurations_of(&page.view);
        let mut body = heading(&page.entry, "Compare");
        body += &form(&of_study(&page.entry.id), &choices, &chosen);
        if chosen.len() > 1 {
            let compared = compare_configurations(&page.view, &chosen).unwrap_or_else(|error| {
                format!("<p class=\"fault\">{}</p>", escape(&error.to_string()))
            });
            let _ = write!(
                body,
                "<section id=\"compared\" aria-labelledby=\"compared-heading\">\
                 <h2 id=\"compared-heading\">Beside the first chosen one</h2>{compared}</section>"
            );
        }
        Ok(page.frame(&navigation(&page.entry, "compare"), "Comparison", &body))
    })
    .await
}

/// The numbers in `c=1&c=5`, each once.
fn chosen(query: &str) -> Vec<u32> {
    let mut out = Vec::new();
    for number in query.split('&').filter_map(|pair| pair.strip_prefix("c=")?.parse().ok()) {
        if !out.contains(&number) && out.len() < MOST_COMPARED {
            out.push(number);
        }
    }
    out
}

fn form(base: &str, choices: &[CompareChoice], chosen: &[u32]) -> String {
    let mut out = String::from(
        "<section id=\"choose\" data-live aria-labelledby=\"choose-heading\">\
         <h2 id=\"choose-heading\">Choose configurations</h2>",
    );
    if choices.len() < 2 {
        return out
            + "<p class=\"note\">Two configurations with finished trials are needed.</p></section>";
    }
    let _ = write!(
        out,
        "<form method=\"get\" action=\"{base}/compare\" class=\"form\"><fieldset><legend>The first one \
         chosen is what the others are compared with; at most {MOST_COMPARED}.</legend>\
         <div class=\"choices\">"
    );
    for own in choices.iter().take(MOST_CHOICES) {
        let mark = if chosen.contains(&own.trial) { " checked" } else { "" };
        let mean = own.values.iter().sum::<f64>() / own.values.len() as f64;
        let _ = write!(
            out,
            "<label class=\"check\"><input type=\"checkbox\" name=\"c\" value=\"{}\"{mark}> {} \
             <span class=\"quiet\">mean {} of {}</span></label>",
            own.trial,
            escape(&own.configuration.to_string()),
            figure(mean),
            own.values.len()
        );
    }
    out += "</div></fieldset><button type=\"submit\">Compare</button></form>";
    if choices.len() > MOST_CHOICES {
        let _ = write!(out, "<p class=\"note\">The first {MOST_CHOICES} of {}.</p>", choices.len());
    }
    out + "</section>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_chosen_and_each_once() {
        assert_eq!(chosen("c=3&c=1&x=9&c=3&c=-1&c=a&c="), [3, 1]);
        assert!(chosen("").is_empty());
        let many: Vec<String> = (0..50).map(|own| format!("c={own}")).collect();
        assert_eq!(chosen(&many.join("&")).len(), MOST_COMPARED);
    }
}
