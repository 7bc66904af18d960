//! Secure connections, with a certificate authority that only the tests trust.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use pollux_net::client::ProxySetting;
use pollux_net::{
    ClientCertificate, ClientOptions, Error, HttpClient, HttpRequest, install_crypto_provider,
};
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
    serve("server", None)
}

/// Starts a blocking HTTPS server on 127.0.0.1 with the certificate of this name. With the name of
/// an authority, it accepts only clients with a certificate that this authority has signed.
fn serve(certificate: &str, client_authority: Option<&str>) -> Url {
    install_crypto_provider();
    let pem = |name: &str| CertificateDer::from_pem_file(data(&format!("{name}.pem"))).unwrap();
    let key = PrivateKeyDer::from_pem_file(data(&format!("{certificate}.key"))).unwrap();
    let builder = rustls::ServerConfig::builder();
    let builder = match client_authority {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = rustls::RootCertStore::empty();
            roots.add(pem(authority)).unwrap();
            let verifier = rustls::server::WebPkiClientVerifier::builder(Arc::new(roots));
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let config = Arc::new(builder.with_single_cert(vec![pem(certificate)], key).unwrap());
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
    for part in [
        "the issuer of the certificate is Pollux test authority",
        "SSL_CERT_FILE",
        "NODE_EXTRA_CA_CERTS",
        "/nonexistent/corporate.pem was not used",
    ] {
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

#[tokio::test]
async fn exactly_the_self_signed_certificate_in_a_file_is_accepted() {
    // Certificates of `openssl req -x509`: with `CA:TRUE`, and one with `CA:FALSE`.
    for name in ["self_signed", "leaf"] {
        let url = serve(name, None);
        let trusting = client(vec![data(&format!("{name}.pem"))]);
        assert_eq!(fetch(&trusting, &url).await.unwrap(), "secure", "{name}");
        let localhost = url.as_str().replace("127.0.0.1", "localhost").parse().unwrap();
        assert_eq!(fetch(&trusting, &localhost).await.unwrap(), "secure", "{name}");
    }
}

#[tokio::test]
async fn another_self_signed_certificate_is_refused_with_the_way_out() {
    let url = serve("self_signed", None);
    for file in ["authority", "leaf", "renewed"] {
        let error = fetch(&client(vec![data(&format!("{file}.pem"))]), &url).await.unwrap_err();
        assert!(matches!(error, Error::Tls { .. }), "{file}: {error:?}");
        let message = error.to_string();
        assert!(message.contains("SSL_CERT_FILE") && message.contains("has now"), "{message}");
    }
    let error = fetch(&client(Vec::new()), &url).await.unwrap_err();
    assert!(error.to_string().contains("NODE_EXTRA_CA_CERTS"), "{error}");
}

#[tokio::test]
async fn a_certificate_in_a_file_is_accepted_for_its_names_and_its_time_only() {
    for (name, code) in
        [("other_name", "ERR_TLS_CERT_ALTNAME_INVALID"), ("expired", "CERT_HAS_EXPIRED")]
    {
        let url = serve(name, None);
        let error = fetch(&client(vec![data(&format!("{name}.pem"))]), &url).await.unwrap_err();
        assert_eq!(error.node_code(), Some(code), "{error:?}");
    }
}

#[tokio::test]
async fn a_server_that_asks_for_a_certificate_gets_it() {
    let url = serve("self_signed", Some("client_authority"));
    let with = |name: &str| {
        let (certificate, key) = (data(&format!("{name}.pem")), data(&format!("{name}.key")));
        let own = ClientCertificate::read(&certificate, &key).unwrap();
        HttpClient::new(ClientOptions {
            ca_files: vec![data("self_signed.pem")],
            client_certificate: Some(own),
            ..ClientOptions::default()
        })
    };
    assert_eq!(fetch(&with("client").unwrap(), &url).await.unwrap(), "secure");
    // One of another authority, and none at all.
    for client in [with("leaf").unwrap(), client(vec![data("self_signed.pem")])] {
        let error = fetch(&client, &url).await.unwrap_err();
        assert!(error.to_string().contains("pollux.tls.clientCertificate"), "{error:?}");
        assert!(error.wants_client_certificate() && !error.is_retryable_transport(), "{error:?}");
    }
}

#[test]
fn a_client_certificate_that_cannot_be_used_is_named() {
    for (certificate, key, text) in [
        ("none.pem", "client.key", "none.pem"),
        ("client.key", "client.key", "no certificate in PEM format"),
        ("client.pem", "client.pem", "client.pem"),
        ("client.pem", "leaf.key", "leaf.key"),
    ] {
        let error = ClientCertificate::read(&data(certificate), &data(key)).unwrap_err();
        assert!(matches!(error, Error::InvalidOptions(_)), "{error:?}");
        assert!(error.to_string().contains(text), "{error}");
    }
}
