//! A server on a free port with a study in a store.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use tempfile::TempDir;
use trainwright::Place;
use trainwright_study::Study;
use trainwright_web::{ServeRequest, serve};

/// A value that must never be run by a browser.
pub(crate) const SCRIPT: &str = "<script>alert(1)</script>\"'&";

/// A study with such a value wherever a text may stand.
pub(crate) const STUDY: &str = r#"schema = 1
[study]
name = "demo"
description = "<script>alert(1)</script>"
[factors.kind]
levels = ["<script>alert(1)</script>\"'&", "plain"]
[factors.size]
levels = [1, 2, 4]
[design]
type = "full"
replications = 2
[run]
command = ["echo", "{kind}", "{size}"]
[metrics.loss]
from = "jsonl"
unit = "<b>unit"
objective = "minimize"
[budget]
price_per_hour = 2.0
"#;

/// A running server; dropping it ends it.
pub(crate) struct Served {
    pub(crate) folder: TempDir,
    pub(crate) address: SocketAddr,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// How a server is started.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) token: Option<&'static str>,
    pub(crate) actions: bool,
    pub(crate) study: Option<String>,
}

/// An answer: status, head and body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Served {
    pub(crate) fn plain() -> Self {
        Self::with(&Options::default())
    }

    pub(crate) fn with(options: &Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        make_store(folder.path(), options.study.as_deref().unwrap_or(STUDY));
        Self::over(folder, options)
    }

    /// Serves the stores that lie in a folder already.
    pub(crate) fn over(folder: TempDir, options: &Options) -> Self {
        let token_file = options.token.map(|token| private(folder.path(), token));
        let request = ServeRequest {
            paths: vec![folder.path().to_owned()],
            listen: "127.0.0.1:0".parse().unwrap(),
            hosts: Vec::new(),
            token_file,
            actions: options.actions.then(|| PathBuf::from("true")),
        };
        let ends = Arc::new(AtomicBool::new(false));
        let (sender, ready) = channel();
        let asked = Arc::clone(&ends);
        let thread = std::thread::spawn(move || {
            let tell = |address| sender.send(address).unwrap();
            serve(&request, tell, || asked.load(Ordering::Relaxed)).unwrap();
        });
        let address = ready.recv().unwrap();
        Self { folder, address, ends, thread: Some(thread) }
    }

    /// Sends a request as it is written and reads the answer to its end.
    pub(crate) fn send(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // A server that refuses what it has read may close before it has read all.
        let _ = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::of(&String::from_utf8_lossy(&bytes))
    }

    /// Asks for a page with some further lines of the head.
    pub(crate) fn get_with(&self, path: &str, lines: &str) -> Answer {
        let host = self.address;
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{lines}\r\n"
        ))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.get_with(path, "")
    }

    /// Sends a body with some further lines of the head.
    pub(crate) fn post_with(&self, path: &str, lines: &str, body: &str) -> Answer {
        let (host, length) = (self.address, body.len());
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{lines}\r\n{body}"
        ))
    }

    pub(crate) fn post_json(&self, path: &str, body: &str) -> Answer {
        self.post_with(path, "Content-Type: application/json\r\n", body)
    }

    /// Writes a file into the folder of a trial.
    pub(crate) fn leave(&self, trial: u32, name: &str, bytes: &[u8]) {
        let folder = Place::of(&self.study(), None).trial(trial);
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        fs::write(folder.join(name), bytes).unwrap();
    }

    pub(crate) fn study(&self) -> Study {
        Study::load(&self.folder.path().join("study.toml")).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Answer {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|own| own.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        // Bodies come in one piece or in chunks.
        let from = self.body.find('{').unwrap();
        let to = self.body.rfind('}').unwrap();
        serde_json::from_str(&self.body[from..=to]).unwrap()
    }
}

/// A study file and a store with all its results.
pub(crate) fn make_store(folder: &Path, text: &str) {
    let file = folder.join("study.toml");
    fs::write(&file, text).unwrap();
    let study = Study::load(&file).unwrap();
    if study.search.is_some() {
        return trainwright::ask(&study, None, 1).map(drop).unwrap();
    }
    let mut table = String::from("kind,size,loss\n");
    for (kind, own) in [(SCRIPT, 1.0), ("plain", 2.0)] {
        for size in [1, 2, 4] {
            for repeat in 0..2 {
                let quoted = kind.replace('"', "\"\"");
                let loss = own / f64::from(size) + 0.01 * f64::from(repeat);
                table += &format!("\"{quoted}\",{size},{loss}\n");
            }
        }
    }
    let csv = folder.join("results.csv");
    fs::write(&csv, table).unwrap();
    trainwright::import(&study, &csv, &BTreeMap::new(), None).unwrap();
}

fn private(folder: &Path, token: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("token");
    fs::write(&path, token).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}
