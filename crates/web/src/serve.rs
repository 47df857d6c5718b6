//! The verb `serve`: listens, watches stores, answers until it is asked to end.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::router::{Site, router};
use crate::server::connections::accept_all;
use crate::server::guard::Guard;
use crate::server::token::Token;
use crate::studies::library::Library;

/// Threads that answer; analyses run on others.
const THREADS: usize = 2;

/// How often the wish to end is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// What to serve, where, and to whom.
#[derive(Debug, Clone)]
pub struct ServeRequest {
    /// Stores, and folders with stores below them.
    pub paths: Vec<PathBuf>,
    /// Where to listen.
    pub listen: SocketAddr,
    /// Names under which the server is reached, beside its addresses.
    pub hosts: Vec<String>,
    /// A file with the token that visitors must show.
    pub token_file: Option<PathBuf>,
    /// This program, where pages may start runners, stop them and change studies.
    pub actions: Option<PathBuf>,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum ServeError {
    #[error(
        "{listen} can be reached from other machines, so visitors must show a token: write one with `head -c 32 /dev/urandom | base64 > token` and add --token-file token, or listen on 127.0.0.1"
    )]
    NeedsToken { listen: SocketAddr },
    #[error("cannot read the token in {}", path.display())]
    TokenFile { path: PathBuf, source: io::Error },
    #[error("the token in {} has {found} characters where it needs at least 16", path.display())]
    ShortToken { path: PathBuf, found: usize },
    #[error("the token in {} can be read by others; `chmod 600 {}` makes it yours alone", path.display(), path.display())]
    OpenToken { path: PathBuf },
    #[error("cannot listen on {listen}")]
    Listen { listen: SocketAddr, source: io::Error },
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
    #[error(transparent)]
    Study(#[from] trainwright::Error),
}

/// Serves until `ends` says so; `ready` is told the address once it listens.
///
/// # Errors
/// The address is taken, or may not be listened on without a token; a store cannot be read.
pub fn serve(
    request: &ServeRequest,
    ready: impl FnOnce(SocketAddr),
    ends: impl Fn() -> bool,
) -> Result<(), ServeError> {
    let token = request.token_file.as_deref().map(Token::read).transpose()?;
    if token.is_none() && !is_loopback(request.listen.ip()) {
        return Err(ServeError::NeedsToken { listen: request.listen });
    }
    let library = Library::open(&request.paths)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(8)
        .enable_all()
        .build()
        .map_err(ServeError::Threads)?;
    let outcome = runtime.block_on(async {
        let failed = |source| ServeError::Listen { listen: request.listen, source };
        let listener = TcpListener::bind(request.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let guard = Guard::new(address, &request.hosts, token);
        let site = Arc::new(Site::new(Arc::clone(&library), guard, request.actions.clone()));
        tokio::spawn(accept_all(listener, router(site, request.paths.clone())));
        ready(address);
        while !ends() {
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    });
    library.close();
    // Open event streams would be waited for otherwise.
    runtime.shutdown_background();
    outcome
}

fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(own) => own.is_loopback(),
        IpAddr::V6(own) => {
            own.is_loopback() || own.to_ipv4_mapped().is_some_and(|own| own.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_alone_need_no_token() {
        for own in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(is_loopback(own.parse().unwrap()), "{own}");
        }
        for other in ["0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1", "fe80::1", "128.0.0.1"] {
            assert!(!is_loopback(other.parse().unwrap()), "{other}");
        }
    }
}
