//! Loopback servers for the tests.

use std::future::Future;
use std::time::Duration;

use pollux_net::{ClientOptions, HttpClient, HttpRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// Starts a server for `router` and returns its base URL.
pub(super) async fn serve(router: axum::Router) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url.parse().unwrap()
}

/// Starts a server that passes each connection to `handle`, and returns its base URL.
pub(super) async fn raw<F>(handle: impl Fn(TcpStream) -> F + Send + 'static) -> Url
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(handle(socket));
        }
    });
    url.parse().unwrap()
}

/// Starts a server that reads the request head, answers with these bytes, then closes the
/// connection.
pub(super) async fn canned(answer: &'static str) -> Url {
    raw(move |mut socket| async move {
        read_head(&mut socket).await;
        socket.write_all(answer.as_bytes()).await.unwrap();
    })
    .await
}

/// Reads up to the blank line after the headers.
pub(super) async fn read_head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match socket.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

pub(super) fn client() -> HttpClient {
    client_with(|_| {})
}

pub(super) fn client_with(change: impl FnOnce(&mut ClientOptions)) -> HttpClient {
    let mut options = ClientOptions {
        connect_timeout: Duration::from_secs(5),
        headers_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(5),
        ..ClientOptions::default()
    };
    change(&mut options);
    HttpClient::new(options).unwrap()
}

pub(super) fn get(base: &Url, path: &str) -> HttpRequest {
    HttpRequest::get(base.join(path).unwrap())
}
