//! Requests that succeed, and their responses.

use std::sync::Arc;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::routing::{get as route_get, post};
use bytes::Bytes;
use futures::{StreamExt, stream};
use pollux_net::{ClientOptions, Error, EventStream, HttpClient, HttpRequest, SseError};
use tokio::io::AsyncWriteExt;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::server::{canned, client, get, raw, read_head, serve};

#[tokio::test]
async fn a_body_in_pieces_arrives_whole_with_its_length() {
    let echo = |headers: HeaderMap, body: Bytes| async move {
        let header = |name: &str| {
            headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
        };
        let (length, encoding) = (header("content-length"), header("transfer-encoding"));
        let (agent, kind) = (header("user-agent"), header("content-type"));
        format!("{length}|{encoding}|{agent}|{kind}|{}", String::from_utf8_lossy(&body))
    };
    let base = serve(axum::Router::new().route("/", post(echo))).await;
    let body = vec![Bytes::from_static(b"{\"a\":"), Bytes::new(), Bytes::from_static(b"1}")];
    let request = HttpRequest::post_json(base, body);
    let response = client().send(request, &CancellationToken::new()).await.unwrap();
    let text = response.bytes(1000).await.unwrap();
    let expected = concat!("7||Pollux/", env!("CARGO_PKG_VERSION"), "|application/json|{\"a\":1}");
    assert_eq!(String::from_utf8_lossy(&text), expected);
}

#[tokio::test]
async fn events_arrive_as_they_are_sent_also_across_chunk_edges() {
    // Each piece is sent only when the one before has arrived, so a client that waits for more than
    // one piece waits forever.
    let (arrived, arrivals) = tokio::sync::mpsc::unbounded_channel::<()>();
    let arrivals = Arc::new(Mutex::new(arrivals));
    let events = move || async move {
        let bytes = b"data: {\"t\":\"\xc3\xa9\"}\n\ndata: 2\n\n";
        let pieces: Vec<&[u8]> = vec![&bytes[..12], &bytes[12..13], &bytes[13..16], &bytes[16..]];
        Body::from_stream(stream::iter(pieces).then(move |piece| {
            let arrivals = Arc::clone(&arrivals);
            async move {
                arrivals.lock().await.recv().await;
                Ok::<_, std::convert::Infallible>(Bytes::from_static(piece))
            }
        }))
    };
    let base = serve(axum::Router::new().route("/", route_get(events))).await;
    let response = client().send(get(&base, ""), &CancellationToken::new()).await.unwrap();
    arrived.send(()).unwrap();
    let bytes = response.into_stream().inspect(move |_| {
        // The server is gone after the last piece.
        arrived.send(()).ok();
    });
    let events: Vec<_> = EventStream::new(bytes).map(|event| event.unwrap().data).collect().await;
    assert_eq!(events, ["{\"t\":\"é\"}", "2"]);
}

#[tokio::test]
async fn an_unfinished_record_is_the_last_item() {
    let base = canned("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata: 1\n\ndata: {\"cut").await;
    let response = client().send(get(&base, ""), &CancellationToken::new()).await.unwrap();
    let items: Vec<_> = response.events().collect().await;
    assert_eq!(items.len(), 2);
    let error = items.into_iter().nth(1).unwrap().unwrap_err();
    assert!(matches!(error, Error::Stream(SseError::Incomplete)), "{error}");
    assert!(error.is_retryable_transport());
}

#[tokio::test]
async fn a_refusal_brings_status_headers_and_the_beginning_of_its_body() {
    let refuse = || async {
        (
            axum::http::StatusCode::TOO_MANY_REQUESTS,
            [("retry-after", "7")],
            vec![b'x'; 3 * 1024 * 1024],
        )
    };
    let base = serve(axum::Router::new().route("/", route_get(refuse))).await;
    let error = client().send(get(&base, ""), &CancellationToken::new()).await.unwrap_err();
    let Error::Status(status) = error else { panic!("{error}") };
    assert_eq!(status.status, 429);
    assert_eq!(status.headers["retry-after"], "7");
    assert_eq!(status.body.len(), 1024 * 1024);
}

#[tokio::test]
async fn execute_leaves_the_status_to_the_caller_and_bytes_keeps_its_limit() {
    let base = canned("HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\n\r\nhello").await;
    let cancel = CancellationToken::new();
    let response = client().execute(get(&base, ""), &cancel).await.unwrap();
    assert_eq!(response.status(), 404);
    assert_eq!(&response.bytes(5).await.unwrap()[..], b"hello");
    let response = client().execute(get(&base, ""), &cancel).await.unwrap();
    let error = response.bytes(4).await.unwrap_err();
    assert!(matches!(error, Error::BodyTooLarge { limit: 4, .. }), "{error}");
}

#[tokio::test]
async fn a_connection_that_the_server_closed_meanwhile_is_not_used_again() {
    let (closing, mut closed) = tokio::sync::mpsc::unbounded_channel();
    let base = raw(move |mut socket| {
        let closing = closing.clone();
        async move {
            read_head(&mut socket).await;
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
            drop(socket);
            closing.send(()).unwrap();
        }
    })
    .await;
    let client = client();
    for round in 0..20 {
        let body = vec![Bytes::from_static(b"{}"); 1 + round % 2];
        let request = HttpRequest::post_json(base.clone(), body);
        let response = client.send(request, &CancellationToken::new()).await.unwrap();
        assert_eq!(&response.bytes(10).await.unwrap()[..], b"ok");
        closed.recv().await.unwrap();
    }
}

#[tokio::test]
async fn only_http_addresses_are_requested() {
    for address in ["ftp://host/?key=secret", "file:///etc/passwd", "data:,secret"] {
        let request = HttpRequest::get(address.parse().unwrap());
        let error = client().send(request, &CancellationToken::new()).await.unwrap_err();
        assert!(matches!(error, Error::InvalidUrl { .. }), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[test]
fn a_user_agent_that_is_no_header_is_refused_at_once() {
    let options = ClientOptions { user_agent: "a\nb".into(), ..ClientOptions::default() };
    let error = HttpClient::new(options).unwrap_err();
    assert_eq!(error.to_string(), "\"a\\nb\" cannot be a User-Agent header");
}
