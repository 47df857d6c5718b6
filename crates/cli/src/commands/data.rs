//! `trainwright data`.

use serde_json::json;
use trainwright::FetchRequest;

use crate::arguments::FetchArguments;
use crate::output::{print, print_json};
use crate::progress::Copying;

pub(crate) fn fetch(arguments: &FetchArguments) -> anyhow::Result<u8> {
    let request = FetchRequest {
        folder: arguments.from.clone(),
        url: arguments.url.clone(),
        into: arguments.into.clone(),
    };
    let mut copying = Copying::new();
    let folder = trainwright::fetch(&request, &mut |at| {
        copying.hear(at.file, at.bytes, at.total_bytes);
    })?;
    if arguments.json {
        print_json("data-fetch", &json!({ "name": arguments.name, "folder": folder }))?;
    } else {
        print(&format!("{} is in {}\n", arguments.name, folder.display()))?;
    }
    Ok(0)
}
