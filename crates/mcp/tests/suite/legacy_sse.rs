//! Servers with the older transport over server-sent events.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use pollux_mcp::{Probed, ServerConfig, probe};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::service::Service;

/// Piece of the stream before the first message is posted.
#[derive(Clone)]
enum Piece {
    /// Bytes; `BASE` stands for the address of the server.
    Bytes(String),
    Pause,
    End,
}

fn bytes(text: &str) -> Piece {
    Piece::Bytes(text.to_owned())
}

/// Server whose stream begins with these pieces, and which then answers what is posted.
struct Server {
    base: String,
    /// Targets of all messages, each with its header `Authorization`.
    posted: Arc<Mutex<Vec<String>>>,
}

type Sender = UnboundedSender<Bytes>;

impl Server {
    async fn start(opening: Vec<Piece>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let posted: Arc<Mutex<Vec<String>>> = Arc::default();
        let (opened, known, recorded) =
            (Arc::new(Mutex::new(None)), base.clone(), Arc::clone(&posted));
        let handler = move |request: Request| {
            let (opening, base) = (opening.clone(), known.clone());
            let (opened, recorded) = (Arc::clone(&opened), Arc::clone(&recorded));
            async move {
                if request.method() == "GET" {
                    return stream(opening, &base, &opened);
                }
                recorded.lock().unwrap().push(request.uri().to_string());
                let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
                let message: Value = serde_json::from_slice(&body).unwrap();
                if let (Some(sender), Some(answer)) = (&*opened.lock().unwrap(), answer(&message)) {
                    answer.split_inclusive('\n').for_each(|line| {
                        sender.unbounded_send(line.to_owned().into()).unwrap();
                    });
                }
                StatusCode::ACCEPTED.into_response()
            }
        };
        let router = axum::Router::new().fallback(handler);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { base, posted }
    }

    fn posted(&self) -> Vec<String> {
        self.posted.lock().unwrap().clone()
    }

    /// Connects, with a time limit in milliseconds.
    async fn probe(&self, limit: u64) -> Probed {
        let home = Service::start(|_| None).await;
        let entry = json!({"url": format!("{}/sse", self.base), "type": "sse", "timeout": limit});
        let config = ServerConfig::read("s", &entry).unwrap().unwrap();
        probe(&config, home.options(&home.authorization())).await
    }

    /// Connects, and returns the error.
    async fn refusal(&self) -> String {
        self.probe(20_000).await.steps[0].error.clone().unwrap()
    }
}

fn stream(opening: Vec<Piece>, base: &str, opened: &Mutex<Option<Sender>>) -> Response {
    let (sender, receiver) = unbounded();
    let base = base.to_owned();
    let ends = opening.iter().any(|piece| matches!(piece, Piece::End));
    *opened.lock().unwrap() = (!ends).then(|| sender.clone());
    tokio::spawn(async move {
        for piece in opening {
            match piece {
                Piece::Bytes(text) => {
                    sender.unbounded_send(text.replace("BASE", &base).into()).unwrap();
                }
                Piece::Pause => tokio::time::sleep(Duration::from_millis(50)).await,
                Piece::End => return,
            }
        }
    });
    let pieces = receiver.map(Ok::<_, Infallible>);
    ([("content-type", "text/event-stream")], Body::from_stream(pieces)).into_response()
}

/// Returns the event that answers a message; the answer to `ping` has no name.
fn answer(message: &Value) -> Option<String> {
    let (name, result) = match message["method"].as_str()? {
        "initialize" => {
            let server = json!({"name": "old", "version": "1"});
            let capabilities = json!({"tools": {}});
            let result = json!({
                "protocolVersion": "2024-11-05", "capabilities": capabilities, "serverInfo": server,
            });
            ("event: message\n", result)
        }
        "tools/list" => {
            let tool = json!({"name": "look", "inputSchema": {"type": "object"}});
            ("event: message\r\nid: 7\r\n", json!({"tools": [tool]}))
        }
        "ping" => ("", json!({})),
        _ => return None,
    };
    let message = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    Some(format!("{name}data: {message}\n\n"))
}

#[tokio::test]
async fn the_address_may_come_late_and_in_pieces() {
    let server = Server::start(vec![
        bytes(": hello\n\n"),
        bytes("event: welcome\ndata: /wrong\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n"),
        Piece::Pause,
        bytes("event: endp"),
        Piece::Pause,
        bytes("oint\r\ndata: /messages?session=1"),
        Piece::Pause,
        bytes("\r\n\r\n"),
        // Another address later changes nothing.
        bytes("event: endpoint\ndata: http://127.0.0.1:1/other\n\n"),
    ])
    .await;
    let probed = server.probe(20_000).await;
    assert!(probed.is_usable(), "{probed:?}");
    assert_eq!((probed.introduction.as_str(), probed.tools.len()), ("old 1", 1));
    let posted = server.posted();
    assert!(posted.len() >= 4, "{posted:?}");
    assert!(posted.iter().all(|target| target == "/messages?session=1"), "{posted:?}");
}

#[tokio::test]
async fn an_address_may_be_written_whole() {
    let server = Server::start(vec![bytes("event: endpoint\ndata: BASE/m\n\n")]).await;
    assert!(server.probe(20_000).await.is_usable());
    assert!(server.posted().iter().all(|target| target == "/m"), "{:?}", server.posted());
}

#[tokio::test]
async fn without_an_address_nothing_is_sent() {
    let server = Server::start(vec![bytes("data: {}\n\n"), Piece::End]).await;
    let expected = "the server named an address that is not used: no address at all";
    assert_eq!(server.refusal().await, expected);
    let server = Server::start(vec![bytes(": wait\n\n")]).await;
    let probed = server.probe(300).await;
    assert_eq!(probed.steps[0].error.as_deref(), Some("no connection within 0.3 s"));
    assert_eq!(server.posted(), [""; 0]);
}

#[tokio::test]
async fn an_address_of_another_origin_gets_nothing() {
    let other = Server::start(Vec::new()).await;
    let port = other.base.rsplit(':').next().unwrap();
    for address in [
        other.base.clone(),
        format!("//127.0.0.1:{port}/m"),
        format!("http://localhost:{port}/m"),
        format!("http://user@127.0.0.1:{port}/m"),
        "https://127.0.0.1/m".to_owned(),
        "file:///etc/passwd".to_owned(),
        "javascript:x".to_owned(),
    ] {
        let event = format!("event: endpoint\ndata: {address}\n\n");
        let server = Server::start(vec![bytes(&event)]).await;
        let expected = format!("the server named an address that is not used: {address}");
        assert_eq!(server.refusal().await, expected);
        assert_eq!((server.posted(), other.posted()), (Vec::new(), Vec::new()));
    }
    let long = format!("event: endpoint\ndata: x:\u{1b}[2J{}\n\n", "y".repeat(100_000));
    let refusal = Server::start(vec![bytes(&long)]).await.refusal().await;
    assert!(refusal.len() < 500 && !refusal.contains('\u{1b}'), "{refusal:?}");
}
