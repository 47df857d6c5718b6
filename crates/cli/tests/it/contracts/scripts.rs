//! What the scripts promise.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::program::{End, Lab};

/// What `scripts/lint.sh` asks of cargo where `rustc` has this version.
fn lints_with(version: &str) -> String {
    let lab = Lab::new();
    for (name, says) in
        [("rustc", format!("rustc {version} (a 2030-01-01)")), ("cargo", "$*".into())]
    {
        lab.write(name, format!("#!/bin/sh\necho \"{says}\"\n"));
        fs::set_permissions(lab.path(name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/lint.sh");
    let paths = std::env::var("PATH").unwrap();
    let mut command = Command::new("bash");
    command.arg(script).env("PATH", format!("{}:{paths}", lab.folder().display()));
    let end = End::of(command);
    assert_eq!(end.code, Some(0), "{end:#?}");
    end.stdout
}

#[test]
fn warnings_are_errors_only_on_the_rust_that_the_manifest_names() {
    let named = env!("CARGO_PKG_RUST_VERSION");
    for (version, errors) in
        [(format!("{named}.0"), true), (format!("{named}.9"), true), ("1.999.0".into(), false)]
    {
        let asked = lints_with(&version);
        assert!(asked.contains("clippy"), "{asked}");
        assert_eq!(asked.contains("-D warnings"), errors, "{version}: {asked}");
    }
}
