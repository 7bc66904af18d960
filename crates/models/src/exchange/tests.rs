//! Credentials that expire: renewed inside an attempt, once for each rejection.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use pollux_net::{ClientOptions, Renewal, StatusError};
use pollux_testkit::{ModelServer, reply};
use pretty_assertions::assert_eq;
use serde_json::json;
use tokio::sync::Notify;

use super::*;
use crate::refusal::{self, Refusal};

/// Authoriser whose tokens are `token 0`, `token 1` and so on: one more for each rejection.
#[derive(Debug, Default)]
struct Expiring {
    token: Mutex<u32>,
    /// Reason why tokens cannot be renewed.
    broken: Option<&'static str>,
    /// Signal for a renewal that begins and never ends.
    hangs: Option<Arc<Notify>>,
}

#[async_trait]
impl Authoriser for Expiring {
    async fn authorise(&self, _request: &HttpRequest) -> Result<HeaderMap, Error> {
        let token = format!("token {}", self.token.lock().unwrap());
        Ok([(AUTHORIZATION, token.parse().unwrap())].into_iter().collect())
    }

    async fn refused(
        &self,
        signed_with: &HeaderMap,
        refusal: &StatusError,
    ) -> Result<Renewal, Error> {
        assert!(matches!(refusal.status.as_u16(), 401 | 403));
        if let Some(hangs) = &self.hangs {
            hangs.notify_one();
            std::future::pending::<()>().await;
        }
        if let Some(message) = self.broken {
            return Err(Error::Credentials(message.to_owned()));
        }
        let mut token = self.token.lock().unwrap();
        assert_eq!(signed_with[AUTHORIZATION], format!("token {token}"));
        *token += 1;
        Ok(Renewal::Renewed)
    }
}

#[derive(Debug)]
struct Plain;

impl RefusalReader for Plain {
    fn read(&self, refusal: &StatusError) -> Refusal {
        refusal::understood(refusal.status.as_u16(), &refusal.body)
    }

    fn remedy(&self, _refusal: &Refusal, _model: &str) -> String {
        String::new()
    }

    fn address_source(&self) -> &'static str {
        "the test"
    }
}

/// Starts a server that accepts only this token, and rejects others with this status.
fn server(accepted: &'static str, status: u16) -> ModelServer {
    let server = ModelServer::start();
    server.route("/x", move |request| match request.header("authorization") {
        Some(token) if token == accepted => reply().json(json!({"fine": true})),
        _ => reply().status(status, json!({"error": {"message": "expired"}})),
    });
    server
}

fn exchange(authoriser: Arc<Expiring>) -> Exchange {
    Exchange {
        http: HttpClient::new(ClientOptions::default()).unwrap(),
        authoriser,
        connection: Backoff { initial: Duration::ZERO, ..Backoff::CONNECTION },
        max_attempts: 3,
        retry_fetch_errors: true,
        was_reached: AtomicBool::new(false),
    }
}

fn call<'a>(url: &str, cancel: &'a CancellationToken) -> Call<'a> {
    let request = HttpRequest::post_json(url.parse().unwrap(), vec!["{}".into()]);
    Call { request, refusals: &Plain, model: "m", max_attempts: 3, on_retry: None, cancel }
}

async fn ask(
    server: &ModelServer,
    authoriser: Arc<Expiring>,
    cancel: &CancellationToken,
) -> Result<Vec<u8>, ModelError> {
    let url = format!("{}/x", server.url());
    exchange(authoriser).ask(call(&url, cancel), |body| Ok(body.to_vec())).await
}

#[test]
fn a_service_that_was_never_reached_is_tried_for_half_a_minute() {
    let connect = |is_loopback, code| {
        let (host, cause) = ("h:1".to_owned(), String::new());
        Error::Connect { host, is_loopback, cause, code }
    };
    let dns = |temporary| Error::Dns { host: "h:1".to_owned(), cause: String::new(), temporary };
    let briefly = RetryAdvice::RetryWithin(Duration::from_secs(30));
    let usual = RetryAdvice::Retry { after: None };
    for (error, expected) in [
        (connect(true, "ECONNREFUSED"), briefly),
        (connect(true, "ECONNRESET"), usual),
        (connect(false, "ECONNREFUSED"), usual),
        (dns(true), briefly),
        (dns(false), briefly),
        (Error::Cancelled, RetryAdvice::Fail),
    ] {
        assert_eq!(exchange(Arc::default()).advice(&Plain, &error), expected, "{error:?}");
    }
    // The server was there: it may be restarting.
    let exchange = exchange(Arc::default());
    assert_eq!(exchange.advice(&Plain, &connect(true, "ECONNREFUSED")), briefly);
    assert_eq!(exchange.advice(&Plain, &connect(true, "ECONNRESET")), usual);
    assert_eq!(exchange.advice(&Plain, &connect(true, "ECONNREFUSED")), usual);
}

#[tokio::test]
async fn an_answer_counts_as_reached() {
    let (server, cancel) = (server("token 0", 401), CancellationToken::new());
    let exchange = exchange(Arc::default());
    let url = format!("{}/x", server.url());
    exchange.ask(call(&url, &cancel), |_| Ok(())).await.unwrap();
    let gone = Error::Dns { host: "h:1".to_owned(), cause: String::new(), temporary: true };
    let advice = exchange.advice(&Plain, &gone);
    assert_eq!(advice, RetryAdvice::Retry { after: None });
}

#[tokio::test]
async fn an_expired_token_is_renewed_and_the_request_made_again() {
    for status in [401, 403] {
        let (server, authoriser) = (server("token 1", status), Arc::new(Expiring::default()));
        for requests in [2, 3] {
            let cancel = CancellationToken::new();
            let answer = ask(&server, Arc::clone(&authoriser), &cancel).await.unwrap();
            assert_eq!(answer, br#"{"fine":true}"#[..]);
            assert_eq!(server.requests().len(), requests, "one refusal in all");
        }
        assert_eq!(*authoriser.token.lock().unwrap(), 1);
    }
}

#[tokio::test]
async fn a_new_token_that_is_refused_too_is_the_end() {
    let (server, authoriser) = (server("token 9", 401), Arc::new(Expiring::default()));
    let error = ask(&server, Arc::clone(&authoriser), &CancellationToken::new()).await.unwrap_err();
    assert_eq!((error.kind, error.status()), (ModelErrorKind::Auth, Some(401)));
    assert_eq!((server.requests().len(), *authoriser.token.lock().unwrap()), (2, 1));
}

#[tokio::test]
async fn a_renewal_that_fails_is_an_error_of_the_sign_in() {
    let server = server("token 1", 401);
    let message = "The sign-in has expired. Sign in again.";
    let authoriser = Arc::new(Expiring { broken: Some(message), ..Expiring::default() });
    let error = ask(&server, authoriser, &CancellationToken::new()).await.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Auth, message));
    assert_eq!((error.type_name, error.refusal), ("FatalAuthenticationError", None));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_renewal_can_be_cancelled() {
    let server = server("token 1", 401);
    let renewing = Arc::new(Notify::new());
    let hangs = Some(Arc::clone(&renewing));
    let authoriser = Arc::new(Expiring { hangs, ..Expiring::default() });
    let cancel = CancellationToken::new();
    let cancelling = async {
        renewing.notified().await;
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(ask(&server, authoriser, &cancel), cancelling);
    assert_eq!(answer.unwrap_err().kind, ModelErrorKind::Cancelled);
}
