//! Requests through a proxy.

use pollux_net::client::ProxySetting;
use pollux_net::{Error, HttpClient, HttpRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::server::{canned, client_with, get, raw, read_head};

fn through(proxy: String, exceptions: &str) -> HttpClient {
    let setting =
        ProxySetting { url: proxy, source: "HTTP_PROXY".into(), exceptions: exceptions.into() };
    client_with(|options| options.proxy = Some(setting))
}

fn host_and_port(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap(), url.port().unwrap())
}

async fn text(client: &HttpClient, request: HttpRequest) -> String {
    let response = client.send(request, &CancellationToken::new()).await.unwrap();
    String::from_utf8(response.bytes(10_000).await.unwrap().to_vec()).unwrap()
}

/// Starts a proxy that answers a plain request with the request head it received.
async fn forward_proxy() -> Url {
    raw(|mut socket| async move {
        let head = read_head(&mut socket).await;
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{head}", head.len());
        socket.write_all(answer.as_bytes()).await.unwrap();
    })
    .await
}

/// Starts a proxy that connects `CONNECT` requests to the requested host.
pub(super) async fn connect_proxy() -> Url {
    raw(|mut socket| async move {
        let head = read_head(&mut socket).await;
        let target = head.strip_prefix("CONNECT ").unwrap().split(' ').next().unwrap();
        let mut target = TcpStream::connect(target).await.unwrap();
        socket.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
        drop(tokio::io::copy_bidirectional(&mut socket, &mut target).await);
    })
    .await
}

#[tokio::test]
async fn plain_requests_are_forwarded_with_the_proxy_credentials() {
    let proxy = forward_proxy().await;
    let client = through(format!("user:pass@{}", host_and_port(&proxy)), "");
    let request = HttpRequest::get("http://model.example/v1?a=b".parse().unwrap());
    let head = text(&client, request).await;
    assert!(head.starts_with("GET http://model.example/v1?a=b HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("proxy-authorization: Basic dXNlcjpwYXNz\r\n"), "{head}");
}

#[tokio::test]
async fn exceptions_go_straight() {
    let server = canned("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\ndirect").await;
    let proxy = forward_proxy().await;
    for exceptions in ["127.0.0.0/8", "*", &format!("127.0.0.1:{}", server.port().unwrap())] {
        let client = through(proxy.to_string(), exceptions);
        assert_eq!(text(&client, get(&server, "")).await, "direct");
    }
    let client = through(proxy.to_string(), "127.0.0.1:1");
    assert!(text(&client, get(&server, "")).await.starts_with("GET http://127.0.0.1:"));
}

#[tokio::test]
async fn an_unreachable_proxy_is_named_without_its_password() {
    let client = through("http://user:secret@127.0.0.1:1".into(), "");
    let request = HttpRequest::get("http://model.example/".parse().unwrap());
    let error = client.send(request, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.node_code(), Some("ECONNREFUSED"), "{error:?}");
    assert!(matches!(error, Error::Connect { is_loopback: true, .. }), "{error:?}");
    let message = error.to_string();
    assert!(
        message.contains("model.example:80 (through the proxy http://127.0.0.1:1)"),
        "{message}"
    );
    assert!(!message.contains("secret"), "{message}");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named_and_not_asked_again() {
    for answer in [
        "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n",
    ] {
        let proxy = canned(answer).await;
        let client = through(proxy.to_string(), "");
        let request = HttpRequest::get("https://model.example/".parse().unwrap());
        let error = client.send(request, &CancellationToken::new()).await.unwrap_err();
        assert!(matches!(error, Error::Proxy { .. }), "{error:?}");
        assert!(!error.is_retryable_transport());
    }
}

#[tokio::test]
async fn socks5_resolves_the_name_at_the_proxy() {
    let proxy = raw(|mut socket| async move {
        let mut greeting = [0; 2];
        socket.read_exact(&mut greeting).await.unwrap();
        let mut methods = vec![0; usize::from(greeting[1])];
        socket.read_exact(&mut methods).await.unwrap();
        socket.write_all(&[5, 0]).await.unwrap();
        let mut request = [0; 5];
        socket.read_exact(&mut request).await.unwrap();
        assert_eq!(request[..4], [5, 1, 0, 3], "connect to a name");
        let mut name = vec![0; usize::from(request[4]) + 2];
        socket.read_exact(&mut name).await.unwrap();
        socket.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
        read_head(&mut socket).await;
        let name = String::from_utf8_lossy(&name[..name.len() - 2]).into_owned();
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{name}", name.len());
        socket.write_all(answer.as_bytes()).await.unwrap();
    })
    .await;
    let client = through(format!("socks5h://{}", host_and_port(&proxy)), "");
    let request = HttpRequest::get("http://model.example/".parse().unwrap());
    assert_eq!(text(&client, request).await, "model.example");
}
