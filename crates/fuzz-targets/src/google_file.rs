//! Files of Google credentials: whatever they contain, secrets are only sent to Google over a
//! secure connection or to this machine, and no text comes out that acts on a terminal.

use pollux_net::google::read_google_file;
use pollux_net::is_loopback;
use pollux_protocol::plain_text::acts_on_terminal;

pub(crate) fn run(bytes: &[u8]) {
    match read_google_file(bytes) {
        Ok(file) => {
            for url in file.addresses() {
                let host = url.host_str().unwrap_or_default();
                let is_googles = host.ends_with(".googleapis.com") || host == "accounts.google.com";
                let is_secure = url.scheme() == "https" && url.port().is_none();
                assert!(is_loopback(url) || (is_secure && is_googles), "{url}");
                assert!(url.username().is_empty() && url.password().is_none(), "{url}");
            }
        }
        Err(reason) => {
            assert!(!reason.contains(acts_on_terminal), "{reason:?}");
            assert!(reason.chars().count() <= 1000, "texts are limited");
        }
    }
}
