//! Attacks, none of which may let anything in.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use trainwright::Place;
use trainwright_web::{ServeError, ServeRequest, serve};

use crate::served::{Options, Served, make_store};

const TOKEN: &str = "a-token-of-many-letters";
const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

#[test]
fn cross_site_requests_change_nothing() {
    let served = Served::with(&Options { actions: true, ..Options::default() });
    let page = served.get("/s/demo/trials/1").body;
    let code = page.split("name=\"form\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let with = |lines: &str, body: &str| {
        served.post_with("/s/demo/trials/1/exclude", &format!("{FORM}{lines}"), body).status
    };
    let good = format!("form={code}&reason=x");
    assert_eq!(with("Origin: http://evil.example\r\n", &good), 403);
    assert_eq!(with("Origin: null\r\n", &good), 403);
    assert_eq!(with("Sec-Fetch-Site: cross-site\r\n", &good), 403);
    assert_eq!(with("", "reason=x"), 403, "without the code of a form");
    assert_eq!(with("", "form=&reason=x"), 403);
    assert_eq!(with("", &format!("form={}&reason=x", &code[1..])), 403);
    // A page of another site can send JSON as a text without asking first; it is not taken.
    let text = served.post_with("/api/v1/studies/demo/ask", "Content-Type: text/plain\r\n", "{}");
    assert_eq!(text.status, 415);
    let trial = served.get("/api/v1/studies/demo/trials/1").json();
    assert!(trial["excluded"].is_null());
    let answer = served.get("/api/v1/studies");
    assert!(!answer.head.contains("access-control-allow-origin"), "nobody else's page may read it");
}

#[test]
fn a_name_that_was_made_to_lead_here_is_turned_away() {
    let served = Served::plain();
    let port = served.address.port();
    for host in [
        format!("evil.example:{port}"),
        "evil.example".to_owned(),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost:{port}.evil.example"),
        format!("10.1.2.3:{port}"),
        String::new(),
    ] {
        let request =
            format!("GET /api/v1/studies HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = served.send(&request);
        assert!([400, 421].contains(&answer.status), "{host}: {}", answer.status);
        assert!(!answer.body.contains("demo"), "{host}");
    }
    let two = format!(
        "GET / HTTP/1.1\r\nHost: localhost:{port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    );
    assert!([400, 421].contains(&served.send(&two).status));
    let none = served.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert!([400, 421].contains(&none.status));
}

#[test]
fn no_path_leads_out_of_a_trials_folder() {
    let served = Served::plain();
    let place = Place::of(&served.study(), None);
    let folder = place.trial(1);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("page.html"), "<script>alert(1)</script>").unwrap();
    fs::write(served.folder.path().join("secret"), "topsecret").unwrap();
    symlink(served.folder.path().join("secret"), folder.join("link")).unwrap();
    symlink("/", folder.join("root")).unwrap();
    let base = "/s/demo/trials/1/files";
    let own = served.get(&format!("{base}/page.html"));
    assert_eq!(own.status, 200);
    assert!(own.head.contains("text/plain") && own.head.contains("sandbox"), "{}", own.head);
    assert!(own.head.contains("nosniff"));
    for path in [
        "../../../secret",
        "..%2f..%2f..%2fsecret",
        "%2e%2e/%2e%2e/%2e%2e/secret",
        "....//....//secret",
        "link",
        "root/etc/passwd",
        "%2fetc%2fpasswd",
        "//etc/passwd",
        "page.html%00.txt",
        "..\\..\\secret",
        ".",
    ] {
        let answer = served.get(&format!("{base}/{path}"));
        assert_ne!(answer.status, 200, "{path}");
        assert!(!answer.body.contains("topsecret") && !answer.body.contains("root:"), "{path}");
    }
    assert_ne!(served.get("/assets/..%2f..%2fCargo.toml").status, 200);
}

#[test]
fn an_oversized_body_or_head_is_not_taken() {
    let served = Served::with(&Options { actions: true, ..Options::default() });
    let huge = "x".repeat(2_000_000);
    let answer = served.post_json("/api/v1/studies/demo/tell", &huge);
    // The server may close before all of it was sent.
    assert!([0, 413].contains(&answer.status), "{}", answer.status);
    let claimed = format!(
        "POST /login HTTP/1.1\r\nHost: {}\r\nContent-Length: 99999999999\r\nConnection: close\r\n\r\nx",
        served.address
    );
    assert_eq!(served.send(&claimed).status, 413);
    let head = served.get_with("/", &format!("X-Long: {}\r\n", "y".repeat(500_000)));
    assert!([0, 431].contains(&head.status), "{}", head.status);
    let filter = served.get(&format!("/s/demo/trials?filter={}", "1%2B".repeat(2_000)));
    assert!([400, 414].contains(&filter.status), "{}", filter.status);
    // Brackets in brackets do not exhaust the stack either.
    let deep = served.get(&format!("/s/demo/trials?filter={}", "(".repeat(900)));
    assert!(deep.status == 200 && deep.body.contains("cannot filter"), "{}", deep.status);
    assert_eq!(served.get("/").status, 200, "it goes on");
}

#[test]
fn a_slow_client_is_given_up_and_others_are_served_meanwhile() {
    let served = Served::plain();
    let mut slow: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = TcpStream::connect(served.address).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            stream
        })
        .collect();
    let begun = Instant::now();
    assert_eq!(served.get("/").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(9), "others wait for the slow ones");
    let mut rest = Vec::new();
    // Ends because the server closes the connection.
    let _ = slow[0].read_to_end(&mut rest);
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
}

#[test]
fn without_the_token_nothing_is_shown_and_guessing_is_slow() {
    let served = Served::with(&Options { token: Some(TOKEN), actions: true, ..Options::default() });
    for path in ["/", "/s/demo", "/s/demo/trials/1/files/x", "/s/demo/trials/rows"] {
        let answer = served.get(path);
        assert_eq!(answer.status, 303, "{path}");
        assert!(answer.head.contains("location: /login"), "{path}");
    }
    for path in ["/api/v1/studies", "/api/v1/openapi.json", "/events"] {
        assert_eq!(served.get(path).status, 401, "{path}");
    }
    let begun = Instant::now();
    for guess in
        ["", "a", "a-token-of-many-letter", "a-token-of-many-letterss", "A-TOKEN-OF-MANY-LETTERS"]
    {
        let lines = format!("Authorization: Bearer {guess}\r\n");
        assert_eq!(served.get_with("/api/v1/studies", &lines).status, 401, "{guess}");
        let answer = served.post_with("/login", FORM, &format!("token={guess}"));
        assert_eq!(answer.status, 401, "{guess}");
        assert!(!answer.head.contains("set-cookie"), "{guess}");
    }
    assert!(begun.elapsed() > Duration::from_secs(4), "ten guesses in {:?}", begun.elapsed());
    let cookie = "Cookie: trainwright_session=0000\r\n";
    assert_eq!(served.get_with("/", cookie).status, 303);
}

#[test]
fn the_token_opens_by_header_and_by_a_cookie_that_scripts_and_other_sites_cannot_use() {
    let served = Served::with(&Options { token: Some(TOKEN), ..Options::default() });
    let lines = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(served.get_with("/api/v1/studies", &lines).status, 200);
    let answer = served.post_with("/login", FORM, &format!("token={TOKEN}"));
    assert_eq!(answer.status, 303);
    let cookie = answer.head.lines().find_map(|own| own.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("httponly") && cookie.contains("samesite=strict"), "{cookie}");
    assert!(!cookie.contains(TOKEN));
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(served.get_with("/", &format!("Cookie: a=b; {pair}\r\n")).status, 200);
}

#[test]
fn beyond_this_machine_a_token_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    make_store(folder.path(), crate::served::STUDY);
    let request = ServeRequest {
        paths: vec![folder.path().to_owned()],
        listen: "0.0.0.0:0".parse().unwrap(),
        hosts: Vec::new(),
        token_file: None,
        actions: None,
    };
    let outcome = serve(&request, |_| panic!("it listens"), || true);
    assert!(matches!(outcome, Err(ServeError::NeedsToken { .. })));
}
