//! What keeps a server from starting, and whom it lets in by name.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use trainwright_web::{ServeError, ServeRequest, serve};

use crate::served::{STUDY, Served, make_store};

fn request(paths: Vec<PathBuf>) -> ServeRequest {
    let listen = "127.0.0.1:0".parse().unwrap();
    ServeRequest { paths, listen, hosts: Vec::new(), token_file: None, actions: None }
}

#[track_caller]
fn fails(request: &ServeRequest) -> ServeError {
    match serve(request, |_| panic!("it listens"), || true) {
        Err(error) => error,
        Ok(()) => panic!("it has served"),
    }
}

#[test]
fn an_address_that_is_taken_is_named() {
    let folder = tempfile::tempdir().unwrap();
    make_store(folder.path(), STUDY);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap();
    let error = fails(&ServeRequest { listen, ..request(vec![folder.path().to_owned()]) });
    // The reason is the source, which whoever shows the error adds: here it would stand twice.
    assert_eq!(error.to_string(), format!("cannot listen on {listen}"));
    let reason = std::error::Error::source(&error).unwrap().to_string();
    assert!(reason.contains("in use"), "{reason}");
}

#[test]
fn a_path_that_is_no_store_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none.db");
    let error = fails(&request(vec![none.clone()]));
    assert!(error.to_string().contains(none.to_str().unwrap()), "{error}");
    let text = folder.path().join("text.db");
    std::fs::write(&text, "no store at all, and long enough to be read as one".repeat(9)).unwrap();
    let error = fails(&request(vec![text.clone()]));
    assert!(error.to_string().contains(text.to_str().unwrap()), "{error}");
}

#[test]
fn a_token_file_that_will_not_do_is_named_with_what_to_do() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    make_store(folder.path(), STUDY);
    let path = folder.path().join("token");
    let check = |path: &Path, words: &str| {
        let request = ServeRequest {
            token_file: Some(path.to_owned()),
            ..request(vec![folder.path().to_owned()])
        };
        let told = fails(&request).to_string();
        assert!(told.contains(words) && told.contains(path.to_str().unwrap()), "{told}");
    };
    check(&path, "cannot read the token in");
    std::fs::write(&path, "short\n").unwrap();
    check(&path, "has 5 characters where it needs at least 16");
    std::fs::write(&path, "0123456789abcdef0123").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    check(&path, "chmod 600");
}

#[test]
fn a_folder_without_studies_is_served_and_says_how_the_first_one_is_made() {
    let served = Served::over(tempfile::tempdir().unwrap(), &Default::default());
    let page = served.get("/");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("There is no study yet."), "{}", page.body);
    assert_eq!(served.get("/api/v1/studies").json()["studies"], serde_json::json!([]));
    assert_eq!(served.get("/s/demo").status, 404);
}

#[test]
fn scripts_and_styles_are_kept_for_ever_under_an_address_that_changes_with_them() {
    let served = Served::plain();
    let page = served.get("/").body;
    let mut found = 0;
    for start in ["src=\"", "rel=\"stylesheet\" href=\""] {
        for rest in page.split(start).skip(1) {
            let address = rest.split('"').next().unwrap();
            let answer = served.get(address);
            assert_eq!(answer.status, 200, "{address}");
            assert!(answer.head.contains("immutable"), "{address}: {}", answer.head);
            let kind = if address.contains(".js") { "text/javascript" } else { "text/css" };
            assert!(answer.head.contains(kind), "{address}: {}", answer.head);
            found += 1;
        }
    }
    assert_eq!(found, 5);
}

#[test]
fn an_event_stream_of_a_study_that_is_not_there_is_no_fault() {
    use std::io::{BufRead, BufReader, Write};
    let served = Served::plain();
    let mut stream = std::net::TcpStream::connect(served.address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    write!(stream, "GET /events?study=none HTTP/1.1\r\nHost: {}\r\n\r\n", served.address).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.next().unwrap().contains("200"));
    assert!(lines.any(|line| line == "event: version"), "a version comes at once");
    assert_eq!(served.get("/events?trial=x").status, 400);
}
