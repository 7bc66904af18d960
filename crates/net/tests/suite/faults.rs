//! Servers that close the connection, stall or send invalid responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use pollux_net::{Error, HttpRequest, TimeoutPhase};
use pollux_testkit::StoppedClock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::server::{canned, client, client_with, get, raw, read_head};

#[tokio::test]
async fn nobody_listens() {
    // The system gives this port to no server of another test.
    let url = "http://127.0.0.1:1/".parse().unwrap();
    let error = client().send(get(&url, ""), &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.node_code(), Some("ECONNREFUSED"), "{error}");
    assert!(error.is_retryable_transport());
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
}

#[tokio::test]
async fn the_server_hangs_up_before_it_answers() {
    let base = raw(|mut socket| async move {
        read_head(&mut socket).await;
    })
    .await;
    let error = client().send(get(&base, ""), &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.node_code(), Some("ECONNRESET"), "{error:?}");
    assert!(error.is_retryable_transport());
}

/// Starts a server that answers this number of requests of each connection, and closes the
/// connection when the next request arrives. Returns its address and the number of connections.
async fn closing_after(requests: usize) -> (Url, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let base = raw(move |mut socket| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move {
            for _ in 0..requests {
                read_head(&mut socket).await;
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                socket.write_all(answer).await.unwrap();
            }
            read_head(&mut socket).await;
        }
    })
    .await;
    (base, connections)
}

#[tokio::test]
async fn a_request_on_a_connection_that_was_closed_is_sent_again_at_once() {
    let (base, connections) = closing_after(1).await;
    let client = client();
    let cancel = CancellationToken::new();
    let large = vec![Bytes::from(vec![b' '; 300 * 1024])];
    for (number, body) in [Vec::new(), Vec::new(), large].into_iter().enumerate() {
        let request = HttpRequest { body, ..get(&base, "") };
        let answer = client.send(request, &cancel).await.unwrap().bytes(9).await.unwrap();
        assert_eq!(&answer[..], b"ok");
        assert_eq!(connections.load(Ordering::Relaxed), number + 1);
    }
    // A new connection that is closed is a failure of the server.
    let (base, connections) = closing_after(0).await;
    let error = client.send(get(&base, ""), &cancel).await.unwrap_err();
    assert!(matches!(error, Error::Unanswered { .. }), "{error:?}");
    assert!(error.to_string().starts_with("no answer from 127.0.0.1:"), "{error}");
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn the_server_never_answers() {
    let base = raw(|mut socket| async move {
        read_head(&mut socket).await;
        std::future::pending::<()>().await;
    })
    .await;
    let client = client_with(|options| options.headers_timeout = Duration::from_millis(80));
    let error = client.send(get(&base, ""), &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { phase: TimeoutPhase::Headers, .. }), "{error}");
    assert_eq!(error.node_code(), Some("UND_ERR_HEADERS_TIMEOUT"));
    assert!(error.to_string().ends_with("did not begin to answer within 0.08 s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_upload_is_not_a_slow_answer() {
    // The buffers of a connection hold less than 30 pieces, and the upload has more than twice as
    // many: it exceeds the time limit, but no pause in it does.
    const PIECES: usize = 64;
    const PIECE: usize = 1024 * 1024;
    const LIMIT: Duration = Duration::from_millis(150);
    let _clock = StoppedClock::new();
    let base = raw(|mut socket| async move {
        read_head(&mut socket).await;
        let mut piece = vec![0; PIECE];
        for _ in 0..PIECES {
            socket.read_exact(&mut piece).await.unwrap();
            tokio::time::advance(LIMIT / 30).await;
        }
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    })
    .await;
    let client = client_with(|options| options.headers_timeout = LIMIT);
    let request = HttpRequest::post_json(base, vec![Bytes::from(vec![b' '; PIECES * PIECE])]);
    let sent = client.send(request, &CancellationToken::new()).await;
    assert!(sent.is_ok(), "{sent:?}");
}

#[tokio::test]
async fn the_answer_stalls() {
    let base = raw(|mut socket| async move {
        read_head(&mut socket).await;
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc").await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    let client = client_with(|options| options.idle_timeout = Duration::from_millis(80));
    let response = client.send(get(&base, ""), &CancellationToken::new()).await.unwrap();
    let error = response.bytes(100).await.unwrap_err();
    assert_eq!(error.node_code(), Some("UND_ERR_BODY_TIMEOUT"), "{error}");
}

#[tokio::test]
async fn the_answer_breaks_off() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ] {
        let base = canned(answer).await;
        let response = client().send(get(&base, ""), &CancellationToken::new()).await.unwrap();
        let error = response.bytes(100).await.unwrap_err();
        assert!(matches!(error, Error::BodyBroken { .. }), "{error:?}");
        assert!(error.is_retryable_transport());
    }
}

#[tokio::test]
async fn the_answer_is_no_http() {
    let base = canned("SSH-2.0-OpenSSH_9.2\r\n\r\n").await;
    let error = client().send(get(&base, ""), &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, Error::Unanswered { .. }), "{error:?}");
}

#[tokio::test]
async fn endless_headers_do_not_fill_memory() {
    let base = raw(|mut socket| async move {
        read_head(&mut socket).await;
        let line = format!("x: {}\r\n", "y".repeat(8_000));
        if socket.write_all(b"HTTP/1.1 200 OK\r\n").await.is_ok() {
            while socket.write_all(line.as_bytes()).await.is_ok() {}
        }
    })
    .await;
    let error = client().send(get(&base, ""), &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, Error::Unanswered { .. }), "{error:?}");
}

/// Cancels after the server has sent `answer_so_far`. The caller must return immediately, and the
/// server must see the connection close; otherwise the test runs into a time limit and fails.
async fn cancelled_while(answer_so_far: &'static str) {
    let (event, mut events) = tokio::sync::mpsc::unbounded_channel();
    let base = raw(move |mut socket| {
        let event = event.clone();
        async move {
            read_head(&mut socket).await;
            socket.write_all(answer_so_far.as_bytes()).await.unwrap();
            event.send("waiting").unwrap();
            while socket.read_u8().await.is_ok() {}
            event.send("closed").unwrap();
        }
    })
    .await;
    let cancel = CancellationToken::new();
    let asking = async {
        match client().send(get(&base, ""), &cancel).await {
            Ok(response) => response.bytes(100).await.unwrap_err(),
            Err(error) => error,
        }
    };
    let cancelling = async {
        assert_eq!(events.recv().await, Some("waiting"));
        cancel.cancel();
    };
    let (error, ()) = tokio::join!(asking, cancelling);
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert_eq!(events.recv().await, Some("closed"));
}

#[tokio::test]
async fn cancel_while_waiting_for_headers() {
    cancelled_while("").await;
}

#[tokio::test]
async fn cancel_while_waiting_for_the_body() {
    cancelled_while("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc").await;
}

#[tokio::test]
async fn cancel_while_waiting_for_the_body_of_a_refusal() {
    cancelled_while("HTTP/1.1 500 Oops\r\ncontent-length: 9\r\n\r\nabc").await;
}
