//! `trainwright data`.

use trainwright::FetchRequest;

use crate::arguments::FetchArguments;
use crate::output::show;
use crate::progress::Copying;

pub(crate) fn fetch(arguments: &FetchArguments) -> anyhow::Result<u8> {
    let request = FetchRequest {
        folder: arguments.from.clone(),
        url: arguments.url.clone(),
        into: arguments.into.clone(),
    };
    let mut copying = Copying::new();
    let reply = trainwright::fetch(&request, &mut |at| {
        copying.hear(at.file, at.bytes, at.total_bytes);
    })?;
    show("data-fetch", arguments.json, &reply, |reply| {
        format!("{} is in {}\n", reply.name, reply.folder.display())
    })?;
    Ok(0)
}
