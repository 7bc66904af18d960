//! A user who signs in by a script.

use std::sync::Mutex;

use async_trait::async_trait;
use pollux_mcp::SignInUser;
use pollux_net::{ClientOptions, HttpClient, HttpRequest};
use pollux_protocol::CancellationToken;
use tokio::task::JoinHandle;
use url::Url;

/// Behaviour of the user.
pub(crate) enum Act {
    /// Signs in: the browser opens the address of the redirect with these parameters, in which
    /// `STATE` stands for the state of the request.
    Redirected(&'static str),
    /// Opens this path and query on the listener first, and then signs in.
    Disturbed(&'static str),
    /// Pastes a text, in which `REDIRECT` and `STATE` are replaced.
    Pastes(&'static str),
    /// Does not want to sign in.
    Refuses,
}

/// The user, with what was shown.
pub(crate) struct User {
    act: Act,
    /// Page of the last request.
    pub(crate) page: Mutex<Option<Url>>,
    /// The browser, which returns the statuses of the responses of the listener.
    browser: Mutex<Option<JoinHandle<Vec<u16>>>>,
}

impl User {
    pub(crate) fn new(act: Act) -> Self {
        Self { act, page: Mutex::default(), browser: Mutex::default() }
    }

    /// Returns a user who signs in.
    pub(crate) fn willing() -> Self {
        Self::new(Act::Redirected("code=C&state=STATE"))
    }

    /// Returns a parameter of the page.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let page = self.page.lock().unwrap();
        let page = page.as_ref().expect("a page was shown");
        let mut pairs = page.query_pairs();
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }

    /// Returns the statuses of the responses of the listener.
    pub(crate) async fn statuses(&self) -> Vec<u16> {
        let browser = self.browser.lock().unwrap().take();
        browser.expect("a page was opened").await.unwrap()
    }

    fn filled(&self, text: &str) -> String {
        let state = self.parameter("state").unwrap();
        text.replace("REDIRECT", &self.parameter("redirect_uri").unwrap()).replace("STATE", &state)
    }
}

/// Opens addresses one after the other.
async fn open(addresses: Vec<String>) -> Vec<u16> {
    let client = HttpClient::new(ClientOptions::default()).unwrap();
    let mut statuses = Vec::new();
    for address in addresses {
        let request = HttpRequest::get(Url::parse(&address).unwrap());
        let response = client.execute(request, &CancellationToken::new()).await.unwrap();
        statuses.push(response.status().as_u16());
        let body = response.bytes(10_000).await.unwrap();
        assert!(body.starts_with(b"<!doctype html>"));
    }
    statuses
}

#[async_trait]
impl SignInUser for User {
    async fn agrees(&self, _server: &str, page: &str) -> bool {
        *self.page.lock().unwrap() = Some(Url::parse(page).unwrap());
        !matches!(self.act, Act::Refuses)
    }

    async fn show(&self, _page: &str) {
        let redirect = self.parameter("redirect_uri").unwrap();
        let back = |query: &str| format!("{redirect}?{}", self.filled(query));
        let addresses = match self.act {
            Act::Redirected(query) => vec![back(query)],
            Act::Disturbed(target) => {
                let other = Url::parse(&redirect).unwrap().join(target).unwrap();
                vec![other.into(), back("code=C&state=STATE")]
            }
            Act::Pastes(_) | Act::Refuses => return,
        };
        *self.browser.lock().unwrap() = Some(tokio::spawn(open(addresses)));
    }

    async fn pasted(&self) -> String {
        match self.act {
            Act::Pastes(text) => self.filled(text),
            // A sign-in that goes on all the same succeeds, and does not wait.
            Act::Refuses => "C".to_owned(),
            _ => std::future::pending().await,
        }
    }
}
