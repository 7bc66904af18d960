//! Servers that redirect the request to other addresses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use axum::routing::{any, get as route_get, post};
use bytes::Bytes;
use pollux_net::{Error, HttpRequest, RedirectReason};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::server::{client, get, serve};

fn to(status: u16, location: &'static str) -> impl axum::response::IntoResponse {
    (StatusCode::from_u16(status).unwrap(), [("location", location)])
}

async fn reason(request: HttpRequest) -> (RedirectReason, String) {
    let error = client().send(request, &CancellationToken::new()).await.unwrap_err();
    let message = error.to_string();
    match error {
        Error::Redirect { reason, .. } => (reason, message),
        other => panic!("{other:?}"),
    }
}

async fn bouncing() -> Url {
    serve(
        axum::Router::new()
            .route("/self", any(|| async { to(307, "/self") }))
            .route("/ping", any(|| async { to(302, "/pong?key=secret") }))
            .route("/pong", any(|| async { to(301, "ping") }))
            .route("/1", any(|| async { to(308, "/2") }))
            .route("/2", any(|| async { to(308, "/3") }))
            .route("/3", any(|| async { to(308, "/4") }))
            .route("/4", any(|| async { to(308, "/5") }))
            .route("/2nd", any(|| async { to(307, "/3rd") }))
            .route("/3rd", any(|| async { to(303, "/end") }))
            .route("/end", route_get(|| async { "end" }))
            .route("/away", any(|| async { to(302, "http://other.example/x?key=secret") }))
            .route("/nowhere", any(|| async { to(302, "http://") }))
            .route("/moved", any(|| async { to(307, "/echo") }))
            .route("/echo", post(|body: String| async { body })),
    )
    .await
}

#[tokio::test]
async fn loops_and_long_chains_are_named() {
    let base = bouncing().await;
    assert_eq!(reason(get(&base, "/self")).await.0, RedirectReason::Loop);
    let (ping, message) = reason(get(&base, "/ping")).await;
    assert_eq!(ping, RedirectReason::Loop);
    assert!(!message.contains("secret"), "{message}");
    assert_eq!(reason(get(&base, "/1")).await.0, RedirectReason::TooMany);
    let response = client().send(get(&base, "/2nd"), &CancellationToken::new()).await.unwrap();
    assert_eq!(&response.bytes(10).await.unwrap()[..], b"end");
}

#[tokio::test]
async fn credentials_do_not_go_to_another_origin() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let other = serve(axum::Router::new().fallback(any(move || {
        counter.fetch_add(1, Ordering::SeqCst);
        async { "gotcha" }
    })))
    .await;
    let location: &'static str = Box::leak(other.to_string().into_boxed_str());
    let base =
        serve(axum::Router::new().route("/", any(move || async move { to(307, location) }))).await;
    assert_eq!(reason(get(&base, "")).await.0, RedirectReason::OtherOrigin);
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    let base = bouncing().await;
    let (_, message) = reason(get(&base, "/away")).await;
    assert!(message.contains("http://other.example:80/x: not followed"), "{message}");
    assert!(!message.contains("secret"), "{message}");
    assert_eq!(reason(get(&base, "/nowhere")).await.0, RedirectReason::Unreadable);
}

#[tokio::test]
async fn a_body_is_sent_again_or_not_at_all() {
    let base = bouncing().await;
    let body = || vec![Bytes::from_static(b"\"a"), Bytes::from_static(b"b\"")];
    let request = HttpRequest::post_json(base.join("/moved").unwrap(), body());
    let response = client().send(request, &CancellationToken::new()).await.unwrap();
    assert_eq!(&response.bytes(10).await.unwrap()[..], b"\"ab\"");
    let request = HttpRequest::post_json(base.join("/pong").unwrap(), body());
    assert_eq!(reason(request).await.0, RedirectReason::WouldDropBody);
}
