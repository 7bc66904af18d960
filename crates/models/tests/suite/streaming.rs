use std::time::Duration;

use futures::StreamExt;
use pollux_protocol::{CancellationToken, FinishReason, ModelErrorKind, Opaque, Part};
use pollux_testkit::{ModelReply, ModelServer, ReplyContent, errors, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::harness::{answer, model, say, text};

const LIMIT: Duration = Duration::from_secs(5);

#[tokio::test]
async fn an_answer_streams_with_thoughts_calls_and_signatures() {
    let server = ModelServer::start();
    server.stream(
        reply()
            .thought("**Plan** look")
            .call("read_file", json!({"file_path": "a.rs"}))
            .signature("QU/J+D==")
            .call("glob", json!({"pattern": "*"}))
            .usage(900, 20),
    );
    let chunks = answer(&model(&server, "gemini-2.5-pro").await).await.unwrap();
    let parts: Vec<Part> = chunks.iter().flat_map(|chunk| chunk.parts.clone()).collect();
    let mut signed = Part::call("", "read_file", json!({"file_path": "a.rs"}));
    signed.opaque = Some(Opaque { dialect: "gemini".to_owned(), data: "QU/J+D==".to_owned() });
    let glob = Part::call("", "glob", json!({"pattern": "*"}));
    assert_eq!(parts, [Part::thought("**Plan** look"), signed, glob]);
    let last = chunks.last().unwrap();
    assert_eq!(last.finish, Some(FinishReason::Stop));
    assert_eq!((last.usage.unwrap().prompt, last.usage.unwrap().total), (900, 920));
}

#[tokio::test]
async fn any_cutting_of_the_bytes_gives_the_same_answer() {
    let server = ModelServer::start();
    let words = "grüße, 世界 🦀 ";
    for length in [1, 2, 3, 7, 64] {
        server.stream(reply().text(words).text(words).split_every(length));
        let chunks = answer(&model(&server, "m").await).await.unwrap();
        assert_eq!(text(&chunks), words.repeat(2), "cut every {length} bytes");
    }
}

#[tokio::test]
async fn twenty_thousand_chunks_all_arrive() {
    let server = ModelServer::start();
    server.stream(reply().many_text_chunks(20_000));
    let chunks = answer(&model(&server, "m").await).await.unwrap();
    assert_eq!(chunks.len(), 20_000);
    assert!(text(&chunks).ends_with(" 19998 19999 "));
}

#[tokio::test]
async fn a_huge_line_arrives_whole() {
    let server = ModelServer::start();
    server.stream(reply().huge_line(4 << 20));
    let chunks = answer(&model(&server, "m").await).await.unwrap();
    assert_eq!(text(&chunks).len(), 4 << 20);
}

#[tokio::test]
async fn an_empty_candidate_list_is_an_empty_chunk() {
    let server = ModelServer::start();
    server.stream(reply().chunks(vec![json!({"candidates": []})]));
    let chunks = answer(&model(&server, "m").await).await.unwrap();
    assert!(chunks.iter().all(|chunk| chunk.parts.is_empty()));
}

#[tokio::test]
async fn a_stream_that_breaks_keeps_what_came_and_may_be_asked_again() {
    let server = ModelServer::start();
    for broken in [
        reply().text("one").text("two").drop_after(1),
        reply().text("one").text("two").truncated_json(),
        reply().text("one").chunks(vec![json!({"candidates": 7})]),
        reply().text("one").garbage(),
    ] {
        server.stream(broken);
        let (chunks, error) = answer(&model(&server, "m").await).await.unwrap_err();
        assert_eq!(text(&chunks), "one");
        assert_eq!((error.kind, error.retryable), (ModelErrorKind::Broken, true), "{error}");
    }
}

/// Returns received bytes that are not a response.
fn bytes(text: &str) -> ModelReply {
    reply().sse_bytes(vec![text.as_bytes().to_vec()])
}

/// Returns an event with this data.
fn event(data: &Value) -> ModelReply {
    bytes(&format!("data: {data}\r\n\r\n"))
}

#[tokio::test]
async fn an_answer_that_is_none_may_be_asked_again() {
    let server = ModelServer::start();
    for (name, fault) in [
        ("no event at all", reply().drop_after(0)),
        ("no JSON", bytes("data: {not json}\n\n")),
        ("JSON of the wrong shape", event(&json!([1, 2]))),
        ("a number", event(&json!(5))),
        ("nothing", event(&Value::Null)),
        ("candidates that are none", event(&json!({"candidates": "no"}))),
        ("parts that are none", event(&json!({"candidates": [{"content": {"parts": "no"}}]}))),
        ("a part that is none", event(&json!({"candidates": [{"content": {"parts": [5]}}]}))),
        ("a deep nest", bytes(&format!("data: {}\n\n", "[".repeat(100_000)))),
        ("a page of a portal", reply().status(200, ReplyContent::html("<html>Log in</html>"))),
        ("an error in the stream", errors::in_stream(503, "UNAVAILABLE", "Overloaded.")),
    ] {
        server.stream(fault);
        let (chunks, error) = answer(&model(&server, "m").await).await.unwrap_err();
        assert_eq!((text(&chunks).as_str(), error.retryable), ("", true), "{name}: {error}");
    }
    // These are responses without content; the loop asks again because a finish reason is missing.
    for (name, empty) in [("an empty body", bytes("")), ("a comment alone", bytes(": nothing\n\n"))]
    {
        server.stream(empty);
        let chunks = answer(&model(&server, "m").await).await.unwrap();
        assert!(chunks.iter().all(|chunk| chunk.finish.is_none()), "{name}");
        assert_eq!(text(&chunks), "", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_ends_the_stream_and_closes_the_socket() {
    let server = ModelServer::start();
    server.stream(reply().text("one").text("two").stall_after(1));
    let cancel = CancellationToken::new();
    let model = model(&server, "m").await;
    let mut stream = model.stream(say("hi"), cancel.clone()).await.unwrap();
    assert_eq!(text(&[stream.next().await.unwrap().unwrap()]), "one");
    cancel.cancel();
    // The server never continues: only the cancellation can end this wait.
    assert_eq!(stream.next().await.unwrap().unwrap_err().kind, ModelErrorKind::Cancelled);
    assert!(server.wait_for_abort(LIMIT).is_some(), "the server sees the connection close");
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_stream_closes_the_socket() {
    let server = ModelServer::start();
    server.stream(reply().text("one").text("two").stall_after(1));
    let model = model(&server, "m").await;
    let mut stream = model.stream(say("hi"), CancellationToken::new()).await.unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    assert!(server.wait_for_abort(LIMIT).is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_before_the_answer_begins_returns_at_once() {
    let server = ModelServer::start();
    server.stream(reply().never_answer());
    let cancel = CancellationToken::new();
    let model = model(&server, "m").await;
    let asking = tokio::spawn({
        let cancel = cancel.clone();
        async move { model.stream(say("hi"), cancel).await.err().unwrap() }
    });
    let waiting = tokio::task::spawn_blocking(move || {
        server.wait_for_requests(1, LIMIT);
        server
    });
    let server = waiting.await.unwrap();
    cancel.cancel();
    assert_eq!(asking.await.unwrap().kind, ModelErrorKind::Cancelled);
    assert!(server.wait_for_abort(LIMIT).is_some());
}
