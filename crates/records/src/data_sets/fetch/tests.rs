use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

/// `printf hello | sha256sum`.
const HELLO: PublishedFile = PublishedFile {
    name: "greeting",
    bytes: 5,
    sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
};

/// What the server does with its next connection.
enum Answer {
    Send {
        status: &'static str,
        body: Vec<u8>,
    },
    /// Promises more bytes than it sends.
    BreakOff {
        promised: usize,
        body: Vec<u8>,
    },
}

/// Answers one connection after another on a loopback port and notes the requested paths.
fn serve(answers: Vec<Answer>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/set/", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&requests);
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            noted.lock().unwrap().push(first.split(' ').nth(1).unwrap().to_owned());
            while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            let (status, length, body) = match answer {
                Answer::Send { status, body } => (status, body.len(), body),
                Answer::BreakOff { promised, body } => ("200 OK", promised, body),
            };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&body).unwrap();
        }
    });
    (address, requests)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn good() -> Answer {
    Answer::Send { status: "200 OK", body: gzip(b"hello") }
}

fn fetch(
    source: &FetchSource,
    folder: &Path,
    progress: &mut dyn FnMut(&FetchProgress<'_>),
) -> Result<(), RecordsError> {
    Fetch { files: &[HELLO], folder, pause: Duration::ZERO, patience: PATIENCE, progress }
        .run(source)
}

fn fetch_from(base_url: &str, folder: &Path) -> Result<(), RecordsError> {
    let source = FetchSource::Http { base_url: base_url.to_owned() };
    fetch(&source, folder, &mut |_| {})
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_good_file_gets_its_final_name_and_is_not_fetched_twice() {
    let (address, requests) = serve(vec![good()]);
    let folder = tempfile::tempdir().unwrap();
    let source = FetchSource::Http { base_url: address };
    let mut last = None;
    for _ in 0..2 {
        fetch(&source, folder.path(), &mut |progress| {
            last = Some((progress.bytes, progress.total_bytes));
        })
        .unwrap();
    }
    assert_eq!(names(folder.path()), ["greeting.gz"]);
    assert_eq!(*requests.lock().unwrap(), ["/set/greeting.gz"]);
    let size = gzip(b"hello").len() as u64;
    assert_eq!(last, Some((size, Some(size))));
}

#[test]
fn another_content_names_both_hashes_and_leaves_nothing() {
    let (address, _) = serve(vec![Answer::Send { status: "200 OK", body: gzip(b"jello") }]);
    let folder = tempfile::tempdir().unwrap();
    let message = fetch_from(&address, folder.path()).unwrap_err().to_string();
    assert!(message.contains(HELLO.sha256), "{message}");
    // `printf jello | sha256sum`.
    let computed = "187c9bceeb919e1b3e6d20fa50ecabf7d9d50b5343e8f9a3d912abb13929102e";
    assert!(message.contains(computed), "{message}");
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_missing_file_is_asked_for_once() {
    let not_found = Answer::Send { status: "404 Not Found", body: Vec::new() };
    let (address, requests) = serve(vec![not_found, good()]);
    let folder = tempfile::tempdir().unwrap();
    let message = fetch_from(&address, folder.path()).unwrap_err().to_string();
    let expected = format!("cannot download {address}greeting.gz: http status: 404; check the");
    assert!(message.starts_with(&expected), "{message}");
    assert_eq!(requests.lock().unwrap().len(), 1);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn failures_that_may_pass_are_tried_again() {
    let busy = Answer::Send { status: "503 Service Unavailable", body: Vec::new() };
    let broken = Answer::BreakOff { promised: 1000, body: gzip(b"hello")[..9].to_vec() };
    let (address, requests) = serve(vec![busy, broken, good()]);
    let folder = tempfile::tempdir().unwrap();
    fetch_from(&address, folder.path()).unwrap();
    assert_eq!(requests.lock().unwrap().len(), 3);
    assert_eq!(names(folder.path()), ["greeting.gz"]);
}

#[test]
fn a_server_that_keeps_failing_is_given_up() {
    let busy = || Answer::Send { status: "500 Internal Server Error", body: Vec::new() };
    let (address, requests) = serve(vec![busy(), busy(), busy(), good()]);
    let folder = tempfile::tempdir().unwrap();
    assert!(fetch_from(&address, folder.path()).is_err());
    assert_eq!(requests.lock().unwrap().len(), 3);
}

/// Takes connections, perhaps sends the beginning of an answer, and says nothing more.
fn fall_silent(beginning: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/set/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.write_all(beginning);
            held.push(stream);
        }
    });
    address
}

#[test]
fn a_silent_server_is_given_up_with_what_to_do_instead() {
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n\x1f\x8b";
    for beginning in [&b""[..], b"HTTP/1.1 200 OK\r\n", half] {
        let source = FetchSource::Http { base_url: fall_silent(beginning) };
        let folder = tempfile::tempdir().unwrap();
        let (pause, patience) = (Duration::ZERO, Duration::from_millis(50));
        let (files, progress) = (&[HELLO], &mut |_: &FetchProgress<'_>| {});
        let mut fetch = Fetch { files, folder: folder.path(), pause, patience, progress };
        let message = fetch.run(&source).unwrap_err().to_string();
        assert!(message.contains("name their folder with --from"), "{message}");
        assert_eq!(names(folder.path()), [""; 0]);
    }
}

#[test]
fn an_endless_answer_is_cut_and_refused() {
    let flood = Answer::Send { status: "200 OK", body: vec![b'x'; 1 << 20] };
    let (address, _) = serve(vec![flood]);
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(fetch_from(&address, folder.path()), Err(RecordsError::WrongContent { .. })));
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_folder_gives_plain_and_compressed_files() {
    for (name, content) in [("greeting", b"hello".to_vec()), ("greeting.gz", gzip(b"hello"))] {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(from.path().join(name), content).unwrap();
        let source = FetchSource::Folder(from.path().to_owned());
        fetch(&source, to.path(), &mut |_| {}).unwrap();
        assert_eq!(names(to.path()), [name]);
    }
}

#[test]
fn a_folder_without_the_file_is_an_error() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let source = FetchSource::Folder(from.path().to_owned());
    let outcome = fetch(&source, to.path(), &mut |_| {});
    assert!(matches!(outcome, Err(RecordsError::FileMissing { file: "greeting", .. })));
}
