//! Secure connections, with a certificate authority that only the tests trust.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use pollux_net::client::ProxySetting;
use pollux_net::{ClientOptions, Error, HttpClient, HttpRequest, install_crypto_provider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::proxies::connect_proxy;
use super::server::raw;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Starts a blocking HTTPS server for `localhost` and 127.0.0.1, with a certificate signed by
/// `authority.pem`.
fn secure_server() -> Url {
    install_crypto_provider();
    let certificates = vec![CertificateDer::from_pem_file(data("server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(data("server.key")).unwrap();
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap()).parse().unwrap();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let mut session = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::Stream::new(&mut session, &mut socket);
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                head.push(byte[0]);
            }
            // A client that does not trust this server has already closed the connection.
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecure";
            drop(stream.write_all(answer).and_then(|()| stream.flush()));
        }
    });
    url
}

fn client(ca_files: Vec<PathBuf>) -> HttpClient {
    HttpClient::new(ClientOptions { ca_files, ..ClientOptions::default() }).unwrap()
}

async fn fetch(client: &HttpClient, url: &Url) -> Result<String, Error> {
    let response = client.send(HttpRequest::get(url.clone()), &CancellationToken::new()).await?;
    Ok(String::from_utf8_lossy(&response.bytes(100).await?).into_owned())
}

#[tokio::test]
async fn an_authority_from_a_file_is_trusted() {
    let url = secure_server();
    let client = client(vec![data("authority.pem")]);
    client.prepare(&url);
    assert_eq!(fetch(&client, &url).await.unwrap(), "secure");
}

#[tokio::test]
async fn an_unknown_authority_is_refused_with_the_way_out() {
    let url = secure_server();
    let missing = PathBuf::from("/nonexistent/corporate.pem");
    let error = fetch(&client(vec![missing]), &url).await.unwrap_err();
    assert_eq!(error.node_code(), Some("UNABLE_TO_GET_ISSUER_CERT_LOCALLY"), "{error:?}");
    assert!(!error.is_retryable_transport());
    let message = error.to_string();
    for part in ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "/nonexistent/corporate.pem was not used"]
    {
        assert!(message.contains(part), "{message}");
    }
}

#[tokio::test]
async fn a_file_without_certificates_does_not_stop_the_others() {
    let url = secure_server();
    let client = client(vec![data("server.key"), data("authority.pem")]);
    assert_eq!(fetch(&client, &url).await.unwrap(), "secure");
}

#[tokio::test]
async fn a_plain_server_at_a_secure_address_is_named_as_such() {
    let url = raw(|mut socket| async move {
        let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
        socket.write_all(answer).await.unwrap();
        while socket.read_u8().await.is_ok() {}
    })
    .await;
    let url = url.as_str().replace("http:", "https:").parse().unwrap();
    let error = fetch(&client(Vec::new()), &url).await.unwrap_err();
    assert_eq!(error.node_code(), Some("ERR_SSL_WRONG_VERSION_NUMBER"), "{error:?}");
}

#[tokio::test]
async fn secure_requests_tunnel_through_the_proxy() {
    let url = secure_server();
    let proxy = ProxySetting {
        url: connect_proxy().await.to_string(),
        source: "HTTPS_PROXY".into(),
        exceptions: String::new(),
    };
    let options = ClientOptions {
        ca_files: vec![data("authority.pem")],
        proxy: Some(proxy),
        ..ClientOptions::default()
    };
    let client = HttpClient::new(options).unwrap();
    assert_eq!(fetch(&client, &url).await.unwrap(), "secure");
}
