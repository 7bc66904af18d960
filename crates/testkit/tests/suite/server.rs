//! Tests of the model server over a plain socket.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use pollux_testkit::{Endpoint, ModelServer, ReplyGate, errors, reply};
use serde_json::{Value, json};

const SECOND: Duration = Duration::from_secs(1);
const STREAM: &str = "/v1beta/models/m:streamGenerateContent?alt=sse";

fn hello() -> Value {
    json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]})
}

fn connect(server: &ModelServer) -> TcpStream {
    let client = TcpStream::connect(server.address()).unwrap();
    client.set_read_timeout(Some(5 * SECOND)).unwrap();
    client
}

fn send(client: &mut TcpStream, target: &str, body: &Value) {
    let body = body.to_string();
    write!(
        client,
        "POST {target} HTTP/1.1\r\nHost: x\r\nX-Goog-Api-Key: k\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
}

/// Sends one request and reads its response.
fn ask(server: &ModelServer, target: &str, body: &Value) -> (String, Vec<u8>) {
    let mut client = connect(server);
    send(&mut client, target, body);
    read_response(&mut client)
}

/// Reads one response: its head and its body without the framing of chunks.
fn read_response(client: &mut TcpStream) -> (String, Vec<u8>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(read(client, 1)[0]);
    }
    let head = String::from_utf8(head).unwrap();
    if let Some((_, rest)) = head.split_once("content-length: ") {
        let length = rest.lines().next().unwrap().parse().unwrap();
        return (head, read(client, length));
    }
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        while !line.ends_with("\r\n") {
            line.push(char::from(read(client, 1)[0]));
        }
        let length = usize::from_str_radix(line.trim_end(), 16).unwrap();
        body.extend(read(client, length));
        assert_eq!(read(client, 2), b"\r\n");
        if length == 0 {
            return (head, body);
        }
    }
}

fn read(client: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    client.read_exact(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_turn_streams_and_the_request_is_captured() {
    let server = ModelServer::start();
    server.stream(reply().text("hel").text("lo"));
    let (head, body) = ask(&server, STREAM, &hello());
    assert!(head.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"), "{head}");
    let body = String::from_utf8(body).unwrap();
    assert_eq!(body.matches("data: ").count(), 2);
    assert!(body.contains(r#"{"text":"hel"}"#) && body.contains(r#""finishReason":"STOP""#));
    let request = server.last_request();
    assert_eq!((request.method.as_str(), request.query.as_str()), ("POST", "alt=sse"));
    assert_eq!(request.model(), Some("m"));
    assert_eq!(request.header("x-goog-api-key"), Some("k"));
    assert_eq!(request.body, hello());
    assert!(!request.aborted);
    server.assert_all_valid();
    server.assert_script_done();
}

#[test]
fn a_connection_serves_many_requests() {
    let server = ModelServer::start();
    server.generate(reply().text("one")).enqueue(Endpoint::CountTokens, reply().tokens(7));
    let mut client = connect(&server);
    send(&mut client, "/v1beta/models/m:generateContent", &hello());
    let one: Value = serde_json::from_slice(&read_response(&mut client).1).unwrap();
    assert_eq!(one["candidates"][0]["content"]["parts"][0]["text"], "one");
    send(&mut client, "/v1beta/models/m:countTokens", &hello());
    assert_eq!(read_response(&mut client).1, br#"{"totalTokens":7}"#);
    assert_eq!((server.connections(), server.requests().len()), (1, 2));
}

#[test]
fn a_chunked_request_is_put_together() {
    let server = ModelServer::start();
    server.generate(reply().text("ok"));
    let mut client = connect(&server);
    let head = "POST http://api.test/v1beta/models/m:generateContent HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    write!(client, "{head}5;note\r\n{{\"a\":\r\n2\r\n1}}\r\n0\r\nTrailer: x\r\n\r\n").unwrap();
    read_response(&mut client);
    let request = server.last_request();
    assert_eq!(request.body, json!({"a": 1}));
    assert_eq!(request.path, "/v1beta/models/m:generateContent");
}

#[test]
fn a_function_answers_when_the_queue_is_empty() {
    let server = ModelServer::start();
    server
        .stream(reply().text("first"))
        .answer_with(Endpoint::StreamGenerateContent, |request| reply().text(&request.path))
        .route("/token", |request| reply().json(json!({"query": request.query})));
    assert!(String::from_utf8(ask(&server, STREAM, &hello()).1).unwrap().contains("first"));
    assert!(String::from_utf8(ask(&server, STREAM, &hello()).1).unwrap().contains("models/m:"));
    assert_eq!(ask(&server, "/token?x=1", &json!({})).1, br#"{"query":"x=1"}"#);
}

#[test]
fn errors_have_the_shapes_of_the_service() {
    let table = [
        (errors::per_day_quota(), 429, "PerDay"),
        (errors::per_minute_quota(), 429, "PerMinute"),
        (errors::retry_info("17s"), 429, r#""retryDelay":"17s""#),
        (errors::capacity(), 429, "MODEL_CAPACITY_EXHAUSTED"),
        (errors::rate_limit_exceeded(), 429, "RATE_LIMIT_EXCEEDED"),
        (errors::bad_request("no"), 400, r#""message":"no","status":"INVALID_ARGUMENT""#),
        (errors::invalid_key(), 400, "API_KEY_INVALID"),
        (errors::not_found("m"), 404, "models/m is not found"),
        (errors::validation_required("https://x.test"), 403, "VALIDATION_REQUIRED"),
        (errors::html(), 502, "<html>"),
        (errors::plain(503), 503, "upstream said 503"),
        (errors::in_stream(500, "INTERNAL", "no"), 200, r#"{"error":{"code":500"#),
    ];
    let server = ModelServer::start();
    for (reply, status, text) in table {
        server.stream(reply);
        let (head, body) = ask(&server, STREAM, &hello());
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        let body = String::from_utf8(body).unwrap();
        assert!(body.contains(text), "{text}: {body}");
    }
}

#[test]
fn a_drop_resets_after_the_chunks_that_were_sent() {
    let server = ModelServer::start();
    server.stream(reply().text("one").text("two").drop_after(1));
    let mut client = connect(&server);
    send(&mut client, STREAM, &hello());
    let mut seen = Vec::new();
    let error = client.read_to_end(&mut seen).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let seen = String::from_utf8(seen).unwrap();
    assert!(seen.contains("one") && !seen.contains("two"), "{seen}");
    assert!(!server.last_request().aborted, "it was the server that ended it");
}

#[test]
fn a_hang_up_sends_nothing() {
    let server = ModelServer::start();
    server.stream(reply().hang_up());
    let mut client = connect(&server);
    send(&mut client, STREAM, &hello());
    let mut seen = Vec::new();
    client.read_to_end(&mut seen).unwrap();
    assert_eq!(seen, b"");
}

#[test]
fn a_client_that_leaves_is_noticed() {
    let server = ModelServer::start();
    let replies = [reply().text("one").text("two").stall_after(1), reply().never_answer()];
    for (number, reply) in replies.into_iter().enumerate() {
        server.stream(reply);
        let mut client = connect(&server);
        send(&mut client, STREAM, &hello());
        server.wait_for_requests(number + 1, 5 * SECOND);
        assert!(server.wait_for_abort(Duration::from_millis(20)).is_none(), "it is still there");
        drop(client);
        let aborted = server.wait_for_abort(5 * SECOND).expect("the abort is seen");
        assert!(aborted.aborted);
    }
    assert_eq!(server.requests().iter().filter(|request| request.aborted).count(), 2);
}

#[test]
fn aborts_are_handed_out_once_in_the_order_they_happened() {
    let server = ModelServer::start();
    let mut clients = Vec::new();
    for number in 0..3 {
        server.stream(reply().never_answer());
        clients.push(connect(&server));
        send(&mut clients[number], &format!("{STREAM}&n={number}"), &hello());
        server.wait_for_requests(number + 1, 5 * SECOND);
    }
    for number in [2, 0, 1] {
        clients[number].shutdown(Shutdown::Both).unwrap();
        let aborted = server.wait_for_abort(5 * SECOND).unwrap();
        assert_eq!(aborted.query, format!("alt=sse&n={number}"));
    }
    assert!(server.wait_for_abort(Duration::ZERO).is_none());
}

#[test]
fn a_stalled_stream_keeps_what_it_sent() {
    let server = ModelServer::start();
    server.stream(reply().text("one").text("two").stall_after(1));
    let mut client = connect(&server);
    send(&mut client, STREAM, &hello());
    let mut seen = Vec::new();
    while !seen.ends_with(b"}\r\n\r\n\r\n") {
        seen.extend(read(&mut client, 1));
    }
    client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let error = client.read(&mut [0]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    let seen = String::from_utf8(seen).unwrap();
    assert!(seen.contains("one") && !seen.contains("two"), "{seen}");
}

#[test]
fn delays_are_kept() {
    let server = ModelServer::start();
    let pause = Duration::from_millis(40);
    server.stream(reply().many_text_chunks(3).delay_before(pause).delay_between(pause));
    // The delays themselves are tested.
    let started = Instant::now();
    ask(&server, STREAM, &hello());
    assert!(started.elapsed() >= 3 * pause, "{:?}", started.elapsed());
}

#[test]
fn a_gate_holds_a_reply() {
    let server = ModelServer::start();
    let gate = ReplyGate::closed();
    server.stream(reply().text("held").held_by(&gate)).stream(reply().text("free"));
    let mut client = connect(&server);
    send(&mut client, STREAM, &hello());
    server.wait_for_requests(1, 5 * SECOND);
    // Another client gets its answer first.
    ask(&server, STREAM, &hello());
    client.set_nonblocking(true).unwrap();
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    client.set_nonblocking(false).unwrap();
    gate.open();
    let (_, body) = read_response(&mut client);
    assert!(String::from_utf8(body).unwrap().contains("held"));
}

#[test]
fn a_redirect_loop_has_no_end() {
    let server = ModelServer::start();
    server.stream(reply().redirect_loop());
    let mut target = STREAM.to_owned();
    for hop in 1..=20 {
        let (head, _) = ask(&server, &target, &hello());
        assert!(head.starts_with("HTTP/1.1 307 "), "{head}");
        let (_, rest) = head.split_once("location: ").unwrap();
        rest.lines().next().unwrap().clone_into(&mut target);
        assert_eq!(target, format!("/redirect-loop/{hop}"));
    }
}

#[test]
fn large_replies_arrive_whole() {
    let server = ModelServer::start();
    server.stream(reply().many_text_chunks(20_000)).stream(reply().huge_line(3_000_000));
    let body = String::from_utf8(ask(&server, STREAM, &hello()).1).unwrap();
    assert_eq!(body.matches("data: ").count(), 20_000);
    assert!(body.contains(r#""text":"19999 ""#));
    let body = ask(&server, STREAM, &hello()).1;
    assert!(body.len() > 3_000_000);
}

#[test]
fn an_unforeseen_request_is_a_failure() {
    let server = ModelServer::start();
    let (head, body) = ask(&server, STREAM, &hello());
    assert!(head.starts_with("HTTP/1.1 500 "), "{head}");
    assert!(String::from_utf8(body).unwrap().contains("testkit: request 0 (POST /v1beta/models/m"));
    server.answer_with(Endpoint::GenerateContent, |_| panic!("on purpose"));
    ask(&server, "/v1beta/models/m:generateContent", &hello());
    ask(&server, "/favicon.ico", &hello());
    let failures = server.take_failures();
    let reasons = ["no reply left", "responder panicked", "no such endpoint"];
    assert_eq!(failures.len(), reasons.len());
    for (failure, reason) in failures.iter().zip(reasons) {
        assert!(failure.contains(reason), "{failure}");
    }
}

#[test]
#[should_panic(expected = "no reply left")]
fn an_unforeseen_request_fails_the_test_at_the_end() {
    let server = ModelServer::start();
    ask(&server, STREAM, &hello());
}

#[test]
#[should_panic(expected = "request 0: contents[1]: role")]
fn an_invalid_conversation_fails_the_test() {
    let server = ModelServer::start();
    server.stream(reply());
    let twice = hello()["contents"][0].clone();
    ask(&server, STREAM, &json!({"contents": [twice, twice]}));
    server.assert_all_valid();
}

#[test]
fn half_requests_and_noise_disturb_nobody() {
    let server = ModelServer::start();
    for noise in ["\x16\x03\x01 not http\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nab"]
    {
        let mut client = connect(&server);
        client.write_all(noise.as_bytes()).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut seen = Vec::new();
        client.read_to_end(&mut seen).ok();
    }
    server.stream(reply().text("still here"));
    assert!(String::from_utf8(ask(&server, STREAM, &hello()).1).unwrap().contains("still here"));
    assert_eq!(server.requests().len(), 1);
}
