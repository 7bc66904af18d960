//! Pages requested by a model.

use axum::routing::any;
use http::HeaderMap;
use pollux_net::client::ProxySetting;
use pollux_net::{ClientOptions, Error, HttpRequest, PageClient, Reach, RedirectReason};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::server::serve;

fn pages(allowed: &str) -> PageClient {
    PageClient::new(ClientOptions::default(), allowed).unwrap()
}

async fn get(client: &PageClient, url: &str) -> Result<(String, String), Error> {
    let url = Url::parse(url).unwrap();
    let page = client.get(url, &HeaderMap::new(), &CancellationToken::new()).await?;
    let body = page.response.bytes(100).await?;
    Ok((page.url.to_string(), String::from_utf8(body.to_vec()).unwrap()))
}

fn to(location: String) -> axum::Router {
    let redirect =
        any(move || async move { (axum::http::StatusCode::FOUND, [("location", location)]) });
    axum::Router::new()
        .route("/", redirect)
        .route("/loop", any(|| async { (axum::http::StatusCode::FOUND, [("location", "/loop")]) }))
        .route(
            "/file",
            any(|| async { (axum::http::StatusCode::FOUND, [("location", "file:///etc/passwd")]) }),
        )
        .route(
            "/named",
            any(|| async {
                (axum::http::StatusCode::FOUND, [("location", "http://me:secret@127.0.0.1/")])
            }),
        )
        .route("/here", any(|| async { "here" }))
}

#[tokio::test]
async fn a_request_stays_on_its_origin_and_away_from_private_hosts() {
    let base = serve(to("https://example.com/".to_owned())).await;
    let send = async |allowed: &str, path: &str| {
        let request = HttpRequest::get(base.join(path).unwrap());
        pages(allowed).execute(request, &CancellationToken::new()).await
    };
    let error = send("", "here").await.unwrap_err();
    assert!(matches!(error, Error::NotPublic { .. }), "{error:?}");
    assert!(send("127.0.0.1", "here").await.unwrap().status().is_success());
    let error = send("127.0.0.1", "").await.unwrap_err();
    let reason = RedirectReason::OtherOrigin;
    assert!(matches!(error, Error::Redirect { reason: found, .. } if found == reason), "{error:?}");
}

#[tokio::test]
async fn private_hosts_are_not_reached() {
    let base = serve(to("/here".to_owned())).await;
    let port = base.port().unwrap();
    for host in [
        "127.0.0.1",
        "localhost",
        "a.localhost.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "2130706433",
        "0x7f.1",
    ] {
        let error = get(&pages(""), &format!("http://{host}:{port}/here")).await.unwrap_err();
        assert!(matches!(error, Error::NotPublic { .. }), "{host}: {error:?}");
    }
    let (url, body) = get(&pages("127.0.0.1"), base.as_str()).await.unwrap();
    assert_eq!((url.as_str(), body.as_str()), (base.join("here").unwrap().as_str(), "here"));
}

#[tokio::test]
async fn a_redirect_is_judged_like_the_first_address() {
    let secret = serve(to("/here".to_owned())).await;
    let base = serve(to(secret.to_string())).await;
    let (secret_port, port) = (secret.port().unwrap(), base.port().unwrap());
    let one_alone = pages(&format!("127.0.0.1:{port}"));
    let error = get(&one_alone, base.as_str()).await.unwrap_err();
    assert!(matches!(error, Error::NotPublic { .. }), "{error:?}");
    let both = pages(&format!("127.0.0.1:{port},127.0.0.1:{secret_port}"));
    assert_eq!(get(&both, base.as_str()).await.unwrap().1, "here");
}

#[tokio::test]
async fn strange_redirects_end() {
    let base = serve(to("/here".to_owned())).await;
    let client = pages("127.0.0.1");
    let at = |path: &str| base.join(path).unwrap().to_string();
    let error = get(&client, &at("loop")).await.unwrap_err();
    assert!(matches!(error, Error::Redirect { reason: RedirectReason::TooMany, .. }), "{error:?}");
    let error = get(&client, &at("file")).await.unwrap_err();
    assert!(
        matches!(error, Error::Redirect { reason: RedirectReason::Unreadable, .. }),
        "{error:?}"
    );
    let error = get(&client, &at("named")).await.unwrap_err();
    assert!(matches!(error, Error::InvalidUrl { .. }), "{error:?}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn hosts_are_judged_before_they_are_asked() {
    let client = pages("intranet.example, 10.1.0.0/16");
    for (url, reach) in [
        ("http://8.8.8.8/", Reach::Public),
        ("http://[::ffff:8.8.8.8]/", Reach::Public),
        ("http://intranet.example/", Reach::Public),
        ("http://10.1.2.3/", Reach::Public),
        ("http://10.2.2.3/", Reach::Private),
        ("http://localhost:3000/", Reach::Private),
        ("http://metadata.google.internal/", Reach::Private),
        ("http://nowhere.invalid/", Reach::Unknown),
    ] {
        assert_eq!(client.reach(&Url::parse(url).unwrap()).await, reach, "{url}");
    }
}

#[tokio::test]
async fn a_proxy_is_not_asked_for_private_hosts() {
    // This proxy answers every request.
    let proxy = serve(axum::Router::new().fallback(any(|| async { "by proxy" }))).await;
    let setting = ProxySetting {
        url: proxy.to_string(),
        source: "HTTP_PROXY".to_owned(),
        exceptions: String::new(),
    };
    let options = ClientOptions { proxy: Some(setting), ..ClientOptions::default() };
    let client = PageClient::new(options, "").unwrap();
    // The proxy's own address may be private, and only the proxy can resolve this name.
    assert_eq!(get(&client, "http://nowhere.invalid/").await.unwrap().1, "by proxy");
    for private in ["http://127.0.0.1/", "http://localhost/", "http://169.254.169.254/"] {
        let error = get(&client, private).await.unwrap_err();
        assert!(matches!(error, Error::NotPublic { .. }), "{private}: {error:?}");
    }
}
