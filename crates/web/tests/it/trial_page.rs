//! The page of one trial, what it left, and pages that compare.

use std::fs::File;

use trainwright::Place;

use crate::served::Served;

#[test]
fn the_end_of_a_long_output_is_shown_and_nothing_of_it_is_markup() {
    let served = Served::plain();
    let long = format!("begun\n{}\n<i>the end</i>\u{1b}[0m", "x".repeat(70_000));
    served.leave(2, "stdout", long.as_bytes());
    let page = served.get("/s/demo/trials/2").body;
    assert!(page.contains("&lt;i&gt;the end&lt;/i&gt;"), "the end is escaped");
    assert!(!page.contains("begun"), "the beginning is left out");
    assert!(page.contains("The first 4.5 kB are left out."), "{}", &page[..4_000]);
    assert!(page.contains("Standard error: nothing."));
}

#[test]
fn files_of_a_trial_are_listed_and_lead_to_what_they_hold() {
    let served = Served::plain();
    served.leave(3, "deep/a b#c.txt", b"hello");
    served.leave(3, "picture.bin", &[0, 159, 146, 150]);
    served.leave(3, "empty", b"");
    let page = served.get("/s/demo/trials/3").body;
    let address = "/s/demo/trials/3/files/deep/a%20b%23c.txt";
    assert!(page.contains(&format!("href=\"{address}\"")), "{page}");
    let text = served.get(address);
    assert_eq!((text.status, text.body.as_str()), (200, "hello"));
    assert!(text.head.contains("content-disposition: inline"), "{}", text.head);
    let binary = served.get("/s/demo/trials/3/files/picture.bin");
    assert!(binary.head.contains("application/octet-stream"), "{}", binary.head);
    assert!(binary.head.contains("content-disposition: attachment"), "{}", binary.head);
    assert_eq!(served.get("/s/demo/trials/3/files/empty").status, 200);
    let none = served.get("/s/demo/trials/3/files/other");
    assert_eq!(none.status, 404);
    assert!(none.body.contains("other"), "the file is named: {}", none.body);
}

#[test]
fn a_file_that_is_too_large_to_show_is_refused_with_its_size() {
    let served = Served::plain();
    served.leave(1, "weights", b"");
    let path = Place::of(&served.study(), None).trial(1).join("weights");
    // A file with a hole takes no room on the disk.
    File::options().write(true).open(path).unwrap().set_len(33 << 20).unwrap();
    let answer = served.get("/s/demo/trials/1/files/weights");
    assert_eq!(answer.status, 413);
    assert!(answer.body.contains("34603008 bytes"), "{}", answer.body);
}

#[test]
fn the_first_and_the_last_trial_have_one_neighbour_and_the_others_two() {
    let served = Served::plain();
    let neighbours = |number: u32| {
        let page = served.get(&format!("/s/demo/trials/{number}")).body;
        let own = page.split("class=\"neighbours\">").nth(1).unwrap();
        let own = own.split("</p>").next().unwrap().to_owned();
        (own.contains("\u{2190} trial"), own.contains("\u{2192} trial"), own)
    };
    assert!(matches!(neighbours(1), (false, true, own) if own.contains("/s/demo/trials/2\"")));
    assert!(
        matches!(neighbours(6), (true, true, own) if own.contains("/trials/5\"") && own.contains("/trials/7\""))
    );
    assert!(matches!(neighbours(12), (true, false, own) if own.contains("/trials/11\"")));
}

#[test]
fn a_trial_that_was_left_out_says_so_on_its_page_and_to_programs() {
    let served = Served::plain();
    trainwright::exclude(&served.study(), None, 4, Some("wrong <data>")).unwrap();
    // The view of the store is renewed a few times a second.
    let begun = std::time::Instant::now();
    while served.get("/api/v1/studies/demo/trials/4").json()["excluded"].is_null() {
        assert!(begun.elapsed().as_secs() < 20, "the exclusion is never seen");
        std::thread::yield_now();
    }
    let trial = served.get("/api/v1/studies/demo/trials/4").json();
    assert_eq!(trial["excluded"], "wrong <data>");
    let page = served.get("/s/demo/trials/4").body;
    assert!(page.contains("Left out of the analysis: wrong &lt;data&gt;"), "{page}");
    let some = served.get("/api/v1/studies/demo/trials?filter=excluded").json();
    assert_eq!((&some["matching"], &some["trials"][0]["trial"]), (&1.into(), &4.into()));
}

#[test]
fn configurations_are_compared_with_the_first_chosen_one() {
    let served = Served::plain();
    // Trials are numbered as the table was, so these are the first of their configurations.
    let firsts: Vec<u64> = {
        let page = served.get("/s/demo/compare").body;
        let values = page.split("name=\"c\" value=\"").skip(1);
        values.map(|own| own.split('"').next().unwrap().parse().unwrap()).collect()
    };
    assert_eq!(firsts.len(), 6, "{firsts:?}");
    let two = served.get(&format!("/s/demo/compare?c={}&c={}", firsts[4], firsts[0])).body;
    assert!(two.contains("id=\"compared\""), "{two}");
    assert_eq!(two.matches(" checked").count(), 2);
    let one = served.get(&format!("/s/demo/compare?c={}", firsts[0])).body;
    assert!(!one.contains("id=\"compared\""), "one alone is compared with nothing");
    let wrong = served.get(&format!("/s/demo/compare?c={}&c=999", firsts[0])).body;
    assert!(wrong.contains("choose at least two configurations to compare"), "{wrong}");
}

#[test]
fn speed_tests_beside_a_store_have_a_page() {
    let served = Served::plain();
    let none = served.get("/data").body;
    assert!(none.contains("There is no speed test beside the stores"), "{none}");
    assert!(!served.get("/").body.contains("href=\"/data\""));
    let noun = trainwright::SPEEDTEST_NOUN;
    let start = format!("{{\"schema\":\"trainwright/{noun}/1\",\"rows\":");
    std::fs::write(served.folder.path().join("speed.json"), start).unwrap();
    std::fs::write(served.folder.path().join("other.json"), "{}").unwrap();
    let page = served.get("/data").body;
    assert!(page.contains("class=\"fault\"") && page.contains("speed.json"), "{page}");
    assert!(!page.contains("other.json"), "{page}");
    assert!(served.get("/").body.contains("href=\"/data\""));
    assert_eq!(served.get("/data?test=x").status, 400);
    assert!(served.get("/data?test=7").body.contains("There is no speed test"));
}

#[test]
fn trials_are_sorted_by_the_names_that_filters_use() {
    let served = Served::plain();
    for sort in ["loss", "loss%20(%3Cb%3Eunit)", "kind", "state"] {
        let answer = served.get(&format!("/api/v1/studies/demo/trials?sort={sort}"));
        assert_eq!(answer.status, 200, "{sort}: {}", answer.body);
    }
    assert_eq!(served.get("/api/v1/studies/demo/trials?sort=none").status, 400);
}

#[test]
fn what_a_trial_measured_has_its_unit() {
    let served = Served::plain();
    let ended = served.get("/s/demo/trials/1").body;
    let value = ended.split("<dt>loss</dt><dd>").nth(1).unwrap().split("</dd>").next().unwrap();
    assert!(value.ends_with(" &lt;b&gt;unit"), "{value}");
}
