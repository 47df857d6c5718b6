//! Who may come in: the name that a request calls us by, the token, and where it comes from.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use tokio::sync::Semaphore;

use super::token::Token;
use crate::pages::fault::Fault;
use crate::router::Site;

/// The cookie of a visitor who has shown the token.
const COOKIE: &str = "trainwright_session";

/// What a visitor must wait after a wrong token, so that guessing takes for ever.
const PENALTY: Duration = Duration::from_millis(500);

/// Wrong tokens that are waited for at the same time; more are turned away at once.
const MOST_GUESSES: usize = 8;

/// Nothing is loaded from elsewhere, nothing runs that is not a file of ours, nobody frames us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

/// What requests are checked against.
pub(crate) struct Guard {
    address: SocketAddr,
    hosts: Vec<String>,
    token: Option<Token>,
    /// Codes for forms, of this server alone.
    forms: Token,
    guesses: Semaphore,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, hosts: &[String], token: Option<Token>) -> Self {
        Self {
            address,
            hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            token,
            forms: Token::random(),
            guesses: Semaphore::new(MOST_GUESSES),
        }
    }

    /// The code that a form of ours carries.
    pub(crate) fn form_code(&self) -> String {
        self.forms.code("form")
    }

    /// Whether a form is one of ours.
    pub(crate) fn is_form_code(&self, shown: &str) -> bool {
        self.forms.is_code("form", shown)
    }

    /// The cookie for a visitor who shows the token; a wrong one is answered late.
    pub(crate) async fn let_in(&self, shown: &str) -> Option<String> {
        let token = self.token.as_ref()?;
        if token.is(shown) {
            let code = token.code("session");
            return Some(format!("{COOKIE}={code}; HttpOnly; SameSite=Strict; Path=/"));
        }
        self.penalty().await;
        None
    }

    async fn penalty(&self) {
        if let Ok(_place) = self.guesses.try_acquire() {
            tokio::time::sleep(PENALTY).await;
        }
    }

    /// Whether a request calls us by a name of ours. A page of another name that was made to lead
    /// here (DNS rebinding) does not.
    fn knows_host(&self, headers: &HeaderMap) -> bool {
        let mut named = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else { return false };
        let Ok(host) = host.to_str() else { return false };
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let Some(port) = port else { return false };
        let name = name.to_ascii_lowercase();
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let ours = name == "localhost"
            || self.hosts.contains(&name)
            || bare.parse().is_ok_and(|own| self.is_own_address(own));
        // Behind a forwarded port, as of ssh, the port is another one.
        ours && (port == self.address.port() || self.token.is_some() || is_local(&name))
    }

    fn is_own_address(&self, named: IpAddr) -> bool {
        named.is_loopback() || self.address.ip() == named || self.address.ip().is_unspecified()
    }

    /// Whether a visitor has shown the token, now or before.
    fn is_known(&self, headers: &HeaderMap) -> Option<bool> {
        let token = self.token.as_ref()?;
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(shown) = text(header::AUTHORIZATION).and_then(|own| own.strip_prefix("Bearer "))
        {
            return Some(token.is(shown));
        }
        let cookies = text(header::COOKIE).unwrap_or_default().split(';').map(str::trim);
        let shown = cookies.filter_map(|own| own.split_once('=')).find(|(name, _)| *name == COOKIE);
        Some(shown.is_some_and(|(_, code)| token.is_code("session", code)))
    }
}

fn is_local(name: &str) -> bool {
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || bare.parse::<IpAddr>().is_ok_and(|own| own.is_loopback())
}

/// Whether another site's page sent a request that changes something.
fn is_cross_site(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if text("sec-fetch-site").is_some_and(|own| own != "same-origin" && own != "none") {
        return true;
    }
    let host = text("host").unwrap_or_default();
    text("origin").is_some_and(|origin| {
        origin.split_once("://").is_none_or(|(_, own)| !own.eq_ignore_ascii_case(host))
    })
}

/// Turns away who may not come in, and adds what keeps browsers from doing more than they should.
pub(crate) async fn guarded(
    State(site): State<Arc<Site>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = admitted(&site, request, next).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // With `no-referrer` browsers send `Origin: null` with forms of our own pages too, and
        // nobody could sign in or act.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    for (name, value) in [
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn admitted(site: &Site, request: Request, next: Next) -> Response {
    let (guard, headers) = (&site.guard, request.headers());
    let path = request.uri().path().to_owned();
    let is_api = path.starts_with("/api/");
    let refused = |status, words: &str| Fault::new(status, words).shown(is_api).into_response();
    if !guard.knows_host(headers) {
        let words = "this server does not go by that name; add --host NAME if it should";
        return refused(StatusCode::MISDIRECTED_REQUEST, words);
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !reads && is_cross_site(headers) {
        return refused(StatusCode::FORBIDDEN, "the request comes from a page of another site");
    }
    // A trial shows a token of its own, which the handler looks at.
    let is_open = path.starts_with("/assets/")
        || path == "/login"
        || *request.method() == Method::POST && is_of_trial(&path);
    if !is_open && guard.is_known(headers) == Some(false) {
        if headers.contains_key(header::AUTHORIZATION) {
            guard.penalty().await;
        }
        return match is_api || !reads || path == "/events" {
            true => refused(
                StatusCode::UNAUTHORIZED,
                "show the server's token: Authorization: Bearer TOKEN",
            ),
            false => Redirect::to("/login").into_response(),
        };
    }
    next.run(request).await
}

/// Whether a call shows the token of a trial instead of the server's. The whole address counts: a
/// study may be called `metrics` too.
fn is_of_trial(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("/api/v1/studies/") else { return false };
    let parts: Vec<&str> = rest.split('/').collect();
    matches!(parts[..], [_, "trials", _, "metrics"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str, hosts: &[&str], token: bool) -> Guard {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        Guard::new(address.parse().unwrap(), &hosts, token.then(Token::random))
    }

    #[track_caller]
    fn check(guard: &Guard, host: &str, known: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        assert_eq!(guard.knows_host(&headers), known, "{host}");
    }

    #[test]
    fn only_names_of_our_own_are_known() {
        let own = guard("127.0.0.1:7878", &[], false);
        for host in
            ["127.0.0.1:7878", "localhost:7878", "LOCALHOST:7878", "[::1]:7878", "localhost"]
        {
            check(&own, host, true);
        }
        for host in
            ["evil.example:7878", "localhost.evil.example:7878", "10.0.0.1:7878", "", "[", "::1"]
        {
            check(&own, host, false);
        }
        let open = guard("0.0.0.0:80", &["lab.example"], true);
        for host in ["lab.example", "Lab.Example:80", "192.168.1.7", "[fe80::1]:80"] {
            check(&open, host, true);
        }
        check(&open, "evil.example", false);
    }

    #[test]
    fn a_request_without_a_host_or_with_two_is_not_known() {
        let own = guard("127.0.0.1:7878", &[], false);
        let mut headers = HeaderMap::new();
        assert!(!own.knows_host(&headers));
        headers.append(header::HOST, "localhost:7878".parse().unwrap());
        headers.append(header::HOST, "localhost:7878".parse().unwrap());
        assert!(!own.knows_host(&headers));
    }

    #[test]
    fn a_change_that_another_site_asks_for_is_seen() {
        let of = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().unwrap());
            }
            is_cross_site(&headers)
        };
        let host = ("host", "localhost:1");
        assert!(!of(&[host]));
        assert!(!of(&[host, ("origin", "http://localhost:1"), ("sec-fetch-site", "same-origin")]));
        assert!(of(&[host, ("origin", "http://localhost:2")]));
        assert!(of(&[host, ("origin", "null")]));
        assert!(of(&[host, ("sec-fetch-site", "same-site")]));
    }

    #[test]
    fn only_the_call_by_which_a_trial_sends_metrics_is_open_to_its_token() {
        assert!(is_of_trial("/api/v1/studies/demo/trials/7/metrics"));
        assert!(is_of_trial("/api/v1/studies/metrics/trials/7/metrics"));
        for path in [
            "/api/v1/studies/metrics",
            "/api/v1/studies/demo/metrics",
            "/api/v1/studies/demo/trials/metrics",
            "/api/v1/studies/demo/trials/7/metrics/",
            "/api/v1/studies/demo/trials/7/token/metrics",
            "/api/v1/metrics",
            "/s/demo/trials/7/metrics",
        ] {
            assert!(!is_of_trial(path), "{path}");
        }
    }

    #[test]
    fn a_visitor_is_known_by_header_or_cookie_and_a_wrong_header_is_not_saved_by_a_cookie() {
        let own = guard("127.0.0.1:7878", &[], true);
        let code = own.token.as_ref().unwrap().code("session");
        let known = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(*name, value.parse().unwrap());
            }
            own.is_known(&headers)
        };
        let cookie = format!("a=b; {COOKIE}={code}; c=d");
        assert_eq!(known(&[("cookie", &cookie)]), Some(true));
        assert_eq!(known(&[]), Some(false));
        assert_eq!(known(&[("cookie", &format!("{COOKIE}={}", &code[1..]))]), Some(false));
        assert_eq!(known(&[("cookie", &format!("x{COOKIE}={code}"))]), Some(false));
        let wrong = [("cookie", cookie.as_str()), ("authorization", "Bearer wrong")];
        assert_eq!(known(&wrong), Some(false));
        // Other ways to say who one is are none of ours.
        let other = [("cookie", cookie.as_str()), ("authorization", "Basic YTpi")];
        assert_eq!(known(&other), Some(true));
        assert_eq!(guard("127.0.0.1:7878", &[], false).is_known(&HeaderMap::new()), None);
    }

    #[test]
    fn a_form_of_another_server_is_not_one_of_ours() {
        let (own, other) = (guard("127.0.0.1:1", &[], false), guard("127.0.0.1:1", &[], false));
        assert!(own.is_form_code(&own.form_code()));
        assert!(!own.is_form_code(&other.form_code()) && !own.is_form_code(""));
    }

    #[test]
    fn without_a_token_only_the_own_port_is_answered_beyond_the_loopback() {
        let own = guard("192.168.1.7:7878", &[], false);
        check(&own, "192.168.1.7:7878", true);
        check(&own, "192.168.1.7:80", false);
        check(&own, "192.168.1.8:7878", false);
        check(&own, "localhost:9000", true);
        check(&own, "localhost:99999", false);
        check(&own, "localhost:", false);
    }
}
