//! What pages show.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::served::{SCRIPT, Served};

const PAGES: [&str; 14] = [
    "/",
    "/s/demo",
    "/s/demo/design",
    "/s/demo/trials",
    "/s/demo/trials?columns=all&sort=size&order=descending",
    "/s/demo/trials/3",
    "/s/demo/effects",
    "/s/demo/fit",
    "/s/demo/surface",
    "/s/demo/compare",
    "/s/demo/compare?c=1&c=2&c=3",
    "/s/demo/curves",
    "/s/demo/resources",
    "/s/demo/environment",
];

#[test]
fn every_page_answers_under_a_strict_policy_and_no_value_becomes_a_script() {
    let served = Served::plain();
    for path in PAGES {
        let answer = served.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let policy = answer.head.lines().find(|own| own.starts_with("content-security-policy"));
        let policy = policy.unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        for harm in ["<script>alert", "<b>unit", " style=", " onclick=", " onload="] {
            assert!(!answer.body.contains(harm), "{path}: {harm}");
        }
        assert_eq!(answer.body.matches("<h1").count(), 1, "{path}");
    }
    assert!(!SCRIPT.is_empty());
}

#[test]
fn trials_are_filtered_by_an_expression_and_a_wrong_one_is_explained() {
    let served = Served::plain();
    let some = served.get("/s/demo/trials?filter=size%20%3E%201%20and%20loss%20%3C%201");
    assert!(some.body.contains("6 of 12 trials"), "{}", some.body);
    for (filter, words) in [
        ("nothing", "no trial has `nothing`"),
        ("size+%3E", "cannot filter by"),
        ("size", "cannot filter by"),
    ] {
        let answer = served.get(&format!("/s/demo/trials?filter={filter}"));
        assert_eq!(answer.status, 200);
        assert!(answer.body.contains(words), "{filter}: {}", answer.body);
        assert!(answer.body.contains("aria-invalid"), "{filter}");
    }
    let rows = served.get("/s/demo/trials/rows?from=10&count=5");
    assert_eq!(rows.body.matches("<tr").count(), 2);
}

#[test]
fn a_page_that_has_not_changed_is_not_sent_again() {
    let served = Served::plain();
    let first = served.get("/s/demo");
    let mark = first.head.lines().find_map(|own| own.strip_prefix("etag: ")).unwrap().to_owned();
    let second = served.get_with("/s/demo", &format!("If-None-Match: {mark}\r\n"));
    assert_eq!((second.status, second.body.as_str()), (304, ""));
}

#[test]
fn what_is_not_there_is_said_to_be_so() {
    let served = Served::plain();
    for path in ["/s/none", "/s/demo/trials/99", "/s/demo/none", "/none", "/assets/none.js"] {
        assert_eq!(served.get(path).status, 404, "{path}");
    }
    assert_eq!(served.get("/s/demo/trials/-1").status, 400);
    assert_eq!(served.get("/s/demo/trials?from=x").status, 400);
}

#[test]
fn a_change_of_the_store_is_told_within_a_second() {
    let served = Served::plain();
    let mut stream = TcpStream::connect(served.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let host = served.address;
    write!(stream, "GET /events?study=demo HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut next = || loop {
        let line = lines.next().unwrap().unwrap();
        if let Some(version) = line.strip_prefix("data: ") {
            return version.to_owned();
        }
    };
    let first = next();
    trainwright::exclude(&served.study(), None, 1, Some("a test")).unwrap();
    let begun = std::time::Instant::now();
    let second = next();
    assert_ne!(first, second);
    // Well under a second on an idle machine; the bound leaves room for a busy one.
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let page = served.get("/s/demo/trials/1");
    assert!(page.body.contains("Left out of the analysis: a test"), "{}", page.body);
    assert!(page.body.contains(&format!("data-version=\"{second}")), "{second}");
}
