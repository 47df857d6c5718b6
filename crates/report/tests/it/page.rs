//! What a test reads out of a page.

use serde_json::Value;

/// The page without the library, whose own text is none of our business.
pub(crate) fn own_part(page: &str) -> String {
    let (before, rest) = page.split_once("/*\n* Licensed").expect("the library opens so");
    let (_, after) = rest.split_once("</script>").expect("the library's element ends");
    format!("{before}{after}")
}

/// The data that the page's script reads.
pub(crate) fn data_block(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"report-data\">").expect("there is a data block");
    let (json, _) = rest.split_once("</script>").expect("the data block ends");
    serde_json::from_str(json).expect("the data block is JSON")
}

/// One chart's option.
#[track_caller]
pub(crate) fn chart(page: &str, id: &str) -> Value {
    let chart = data_block(page)["charts"][id].clone();
    assert!(chart.is_object(), "no chart `{id}`");
    chart
}

/// The sentence for those who cannot see a chart.
#[track_caller]
pub(crate) fn summary(page: &str, id: &str) -> String {
    let (_, rest) = page.split_once(&format!("id=\"{id}\" data-chart")).expect("it has a place");
    let (_, rest) = rest.split_once("aria-label=\"").expect("it has a summary");
    rest.split_once('"').expect("the summary ends").0.to_owned()
}

/// The cells of the table of this name, as text.
#[track_caller]
pub(crate) fn table(page: &str, caption: &str) -> Vec<Vec<String>> {
    let own = own_part(page);
    let (_, rest) = own.split_once(&format!("aria-label=\"{caption}\"")).expect("the table");
    let (body, _) = rest.split_once("</table>").expect("the table ends");
    let (_, body) = body.split_once("<tbody>").expect("it has rows");
    let rows = body.split("<tr").skip(1);
    rows.map(|row| row.split("<t").skip(1).filter_map(cell).collect()).collect()
}

/// The text of `d ...>text</td>` without markup.
fn cell(rest: &str) -> Option<String> {
    let (_, content) = rest.strip_prefix(['d', 'h'])?.split_once('>')?;
    let content = content.split("</t").next()?;
    let mut text = String::new();
    let mut inside = false;
    for letter in content.chars() {
        match letter {
            '<' => inside = true,
            '>' if inside => inside = false,
            other if !inside => text.push(other),
            _ => {}
        }
    }
    Some(text)
}

/// The points of a line that was packed.
pub(crate) fn unpacked(line: &Value) -> Vec<(f64, f64)> {
    let packed = &line["packed"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let at: Vec<f64> = packed["at"].as_array().expect("points").iter().map(number).collect();
    let place = |axis: usize, steps: f64| {
        number(&packed["from"][axis]) + number(&packed["step"][axis]) * steps
    };
    at.chunks(2).map(|pair| (place(0, pair[0]), place(1, pair[1]))).collect()
}

/// Nothing is loaded, nothing runs but the page's own scripts, and every chart has its place.
#[track_caller]
pub(crate) fn check_closed(page: &str) {
    let own = own_part(page);
    assert!(!own.contains("NaN") && !own.contains(">inf"), "a number that is none");
    for outside in ["src=\"", "@import", "url(", "<link", "onclick", "onload", "//cdn"] {
        assert!(!own.contains(outside), "{outside}");
    }
    let data = data_block(page);
    let charts = data["charts"].as_object().expect("charts are listed by id");
    assert_eq!(own.matches(" data-chart ").count(), charts.len());
    for id in charts.keys() {
        assert_eq!(own.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
    // Every link of the navigation leads somewhere.
    for link in own.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(own.contains(&format!("id=\"{link}\"")), "#{link}");
    }
}
