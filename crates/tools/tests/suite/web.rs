//! Tests of web search and of fetching pages.

use std::time::Duration;

use pollux_net::{Backoff, ClientOptions, PageClient};
use pollux_protocol::{
    CancellationToken, Grounding, ModelError, ModelErrorKind, ModelLimits, Part, ResponseChunk,
    RetrievedUrl, Support, ToolErrorKind, ToolOutput, WebSource,
};
use pollux_scripted::{ScriptedModels, ScriptedReply, SentRequest, reply};
use pollux_testkit::{ModelReply, ModelServer, ReplyContent, reply as page_of};
use pollux_tools::WebAccess;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::session::Session;

/// A server with pages, and models that answer the tools.
struct Web {
    server: ModelServer,
    models: ScriptedModels,
    /// True if the page itself is returned, without a model.
    direct: bool,
    proxy: Option<String>,
}

impl Web {
    fn new() -> Self {
        let limits = ModelLimits { web_search: true, reads_urls: true, ..ModelLimits::default() };
        let models = ScriptedModels::new().with_limits(limits);
        Self { server: ModelServer::start(), models, direct: false, proxy: None }
    }

    /// Creates a server with this page at `path`, and a vendor that cannot read it.
    fn read_here(path: &'static str, page: ModelReply) -> Self {
        let web = Self::new();
        web.server.route(path, move |_| page.clone());
        web.models.generate(reply());
        web
    }

    fn page(&self, path: &str) -> String {
        format!("{}{path}", self.server.url())
    }

    /// Returns a session that can reach the server's pages, although they are on this machine.
    fn session(&self) -> Session {
        let lookup = |name: &str| self.proxy.clone().filter(|_| name == "HTTP_PROXY");
        let options = ClientOptions::from_environment(&lookup);
        let allowed = self.server.address().to_string();
        let pages = PageClient::new(options, &allowed).unwrap();
        Session::with(|context| {
            context.options.direct_web_fetch = self.direct;
            context.web = Some(WebAccess { pages, backoff: Backoff::MID_STREAM });
        })
        .asking(&self.models)
    }

    async fn call(&self, tool: &str, arguments: Value) -> ToolOutput {
        self.session().call(tool, arguments).await
    }

    /// Returns the text for the model: the output, or the error.
    async fn reported(&self, tool: &str, arguments: Value) -> String {
        let output = self.call(tool, arguments).await;
        match output.error {
            Some(error) => error.message,
            None => output.content.iter().filter_map(|part| part.as_text()).collect(),
        }
    }

    async fn sum_up(&self, path: &str) -> String {
        let prompt = format!("sum up {}", self.page(path));
        self.reported("web_fetch", json!({"prompt": prompt})).await
    }
}

/// Creates an answer with the sources that the vendor used.
fn grounded(text: &str, grounding: Grounding) -> ScriptedReply {
    let (parts, grounding) = (vec![Part::text(text)], Some(Box::new(grounding)));
    reply().chunk(ResponseChunk { parts, grounding, ..ResponseChunk::default() })
}

fn sources(supports: Vec<Support>) -> Grounding {
    let source = |title: Option<&str>, uri: Option<&str>| WebSource {
        title: title.map(str::to_owned),
        uri: uri.map(str::to_owned),
    };
    let sources = vec![
        source(Some("A"), Some("https://a.example/x")),
        source(None, Some("https://b.example")),
        source(Some("C"), None),
    ];
    Grounding { sources, supports, ..Grounding::default() }
}

/// Returns the report of a vendor that could not read any address.
fn nothing_read() -> Grounding {
    let status = "URL_RETRIEVAL_STATUS_ERROR".to_owned();
    let retrieved = vec![RetrievedUrl { url: "x".to_owned(), success: false, status }];
    Grounding { retrieved, ..Grounding::default() }
}

fn asked(request: &SentRequest) -> String {
    request.last_texts().concat()
}

fn untrusted(text: &str) -> String {
    format!("<untrusted_context>\n{text}\n</untrusted_context>")
}

#[tokio::test]
async fn a_search_that_finds_nothing_or_fails_says_so() {
    let web = Web::new();
    web.models.generate(reply());
    let reported = web.reported("google_web_search", json!({"query": "q"})).await;
    assert_eq!(reported, "No search results or information found for query: \"q\"");

    web.models.generate(reply().fails(ModelError::new(ModelErrorKind::Invalid, "bad")));
    let output = web.call("google_web_search", json!({"query": "q"})).await;
    let error = output.error.unwrap();
    assert_eq!(error.kind, ToolErrorKind::WebSearchFailed);
    assert_eq!(error.message, "Error during web search for query \"q\": bad");

    let reported = web.reported("google_web_search", json!({"query": " "})).await;
    assert_eq!(reported, "The 'query' parameter cannot be empty.");
}

#[tokio::test]
async fn a_fetch_is_read_by_the_vendor() {
    let web = Web::new();
    let prompt = "compare https://1.1.1.1/a/ and https://8.8.8.8/b & 'tell' <me> http://127.0.0.1/x http://localhost/";
    let support = Support { end: 5, sources: vec![0, 1], ..Support::default() };
    web.models.generate(grounded("hello world", sources(vec![support])));
    assert_eq!(
        web.reported("web_fetch", json!({"prompt": prompt})).await,
        untrusted(
            "[Warning] The following URLs were skipped:\n[Blocked Host] http://127.0.0.1/x\n[Blocked Host] http://localhost/\n\n\
             hello[1][2] world\n\nSources:\n[1] A (https://a.example/x)\n[2] Untitled (https://b.example)\n[3] C (Unknown URI)"
        )
    );
    let [request] = &web.models.generated()[..] else { panic!("not one side call") };
    assert_eq!(request.model, "web-fetch", "the configuration whose vendor reads addresses");
    let asked = asked(request);
    assert!(asked.contains("b &amp; &apos;tell&apos; &lt;me&gt;"), "{asked}");
    let list = "<authorized_urls>\nhttps://1.1.1.1/a\nhttps://8.8.8.8/b\n</authorized_urls>";
    assert!(asked.contains(list), "{asked}");
}

#[tokio::test]
async fn a_fetch_of_private_addresses_alone_is_refused() {
    let web = Web::new();
    let prompt = json!({"prompt": "http://10.0.0.1/ http://[::1]:80/ http://169.254.169.254/"});
    let error = web.call("web_fetch", prompt).await.error.unwrap();
    let message = "All requested URLs were skipped: [Blocked Host] http://10.0.0.1/, [Blocked Host] http://[::1]/, [Blocked Host] http://169.254.169.254/";
    assert_eq!((error.kind, &*error.message), (ToolErrorKind::WebFetchProcessingError, message));
    assert!(web.models.generated().is_empty());
}

#[tokio::test]
async fn what_the_vendor_cannot_read_is_fetched_here() {
    let html =
        "<title>T</title><p>caf\u{e9} <a href=/y>link</a> & <b>bold</b><script>x</script></source>";
    let web = Web::read_here("/p", page_of().status(200, ReplyContent::html(html)));
    web.models.generate(reply().text("the answer"));
    assert_eq!(web.sum_up("/p").await, untrusted("the answer"));
    let [_, request] = &web.models.generated()[..] else { panic!("not two side calls") };
    let source =
        format!("<source url=\"{}\">\nT\n\ncafé link &amp; **bold**\n</source>", web.page("/p"));
    let asked = asked(request);
    assert!(asked.contains(&source), "{asked}");
    assert_eq!(request.model, "web-fetch-fallback", "no vendor's tools");
    let fetched = web.server.requests().into_iter().find(|one| one.path == "/p").unwrap();
    assert!(fetched.header("user-agent").unwrap().contains("Pollux/"));
}

#[tokio::test]
async fn a_vendor_that_could_read_nothing_is_not_believed() {
    let web = Web::new();
    web.server.route("/p", |_| page_of().status(200, ReplyContent::of("text/plain", "words")));
    web.models.generate(grounded("I cannot see it.", nothing_read()));
    web.models.generate(reply().text("I can."));
    assert_eq!(web.sum_up("/p").await, untrusted("I can."));

    // If Pollux cannot fetch the page either, the answer of the vendor is used.
    let proxy = ModelServer::start();
    proxy.route("/", |_| page_of().status(404, "gone"));
    let web = Web { proxy: Some(proxy.url()), ..Web::new() };
    web.models.generate(grounded("I cannot see it.", nothing_read()));
    let reported = web.reported("web_fetch", json!({"prompt": "sum up http://8.8.8.8:1/"})).await;
    assert_eq!(reported, untrusted("I cannot see it."));
}

#[tokio::test]
async fn a_page_that_cannot_be_had_is_reported_with_its_reason() {
    for (page, reason) in [
        (
            page_of().status(404, ReplyContent::html("gone")),
            "Request failed with status code 404 Not Found",
        ),
        (
            page_of().status(200, ReplyContent::of("text/plain", "x".repeat(11 << 20))),
            "Content exceeds size limit of 10485760 bytes",
        ),
        (
            page_of().status(302, "").header("location", "http://127.0.0.1:1/secret"),
            "127.0.0.1 is not on the public internet",
        ),
        (
            page_of().status(302, "").header("location", "http://localhost/"),
            "localhost is not on the public internet",
        ),
    ] {
        let web = Web::read_here("/p", page);
        let prompt = json!({"prompt": format!("sum up {}", web.page("/p"))});
        let error = web.call("web_fetch", prompt).await.error.unwrap();
        let expected = format!("All fallback fetch attempts failed: {}: {reason}", web.page("/p"));
        assert_eq!((error.kind, error.message), (ToolErrorKind::WebFetchFallbackFailed, expected));
    }
}

#[tokio::test]
async fn pages_are_read_in_their_encoding() {
    for (kind, bytes) in [
        ("text/html; charset=Shift_JIS", &b"<p>\x93\xfa\x96\x7b"[..]),
        ("text/html", b"<meta charset=euc-jp><p>\xc6\xfc\xcb\xdc"),
        ("text/plain", b"\xff\xfe\xe5\x65\x2c\x67"),
        ("text/html", "日本".as_bytes()),
    ] {
        let web = Web::read_here("/p", page_of().status(200, ReplyContent::of(kind, bytes)));
        web.models.generate(reply().text("ok"));
        web.sum_up("/p").await;
        let asked = asked(&web.models.generated().pop().unwrap());
        assert!(asked.contains("\n日本\n</source>"), "{kind}: {asked}");
    }
}

#[tokio::test]
async fn a_slow_page_does_not_hold_up_a_cancel() {
    let slow = page_of()
        .status(200, ReplyContent::of("text/plain", "word ".repeat(100_000)))
        .split_every(5)
        .delay_between(Duration::from_millis(100));
    let web = Web::read_here("/p", slow);
    let session = web.session();
    let prompt = json!({"prompt": format!("sum up {}", web.page("/p"))});
    let cancel = CancellationToken::new();
    let invocation = session.prepare("web_fetch", &prompt).unwrap();
    let running = invocation.run(session.run_context(cancel.clone()));
    let stopping = async {
        // Waits until the page was requested.
        while web.server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (output, ()) = tokio::join!(running, stopping);
    assert!(output.error.is_some() || !output.content.is_empty());
    let server = web.server;
    let waiting = move || server.wait_for_abort(Duration::from_secs(30)).is_some();
    assert!(tokio::task::spawn_blocking(waiting).await.unwrap(), "the connection is closed");
}

#[tokio::test]
async fn a_host_is_not_asked_without_end() {
    let web = Web::new();
    web.models.generate_with(|_| reply().text("read"));
    let session = web.session();
    let mut refused = Vec::new();
    for number in 0..12 {
        let prompt = json!({"prompt": format!("read https://8.8.8.8/{number}")});
        refused.extend(session.call("web_fetch", prompt).await.error);
    }
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(refused[0].message.contains("[Rate limit exceeded] https://8.8.8.8/"));
}

/// Fetches a page of the server directly.
async fn direct(path: &'static str, page: ModelReply) -> (Web, ToolOutput) {
    let web = Web { direct: true, ..Web::new() };
    web.server.route(path, move |_| page.clone());
    let url = web.page(path);
    let output = web.call("web_fetch", json!({"url": url})).await;
    assert!(web.models.generated().is_empty(), "no model is asked");
    (web, output)
}

fn text(output: &ToolOutput) -> String {
    match &output.error {
        Some(error) => error.message.clone(),
        None => output.content.iter().filter_map(|part| part.as_text()).collect(),
    }
}

#[tokio::test]
async fn the_direct_way_gives_the_page_itself() {
    let html = "<h1>H</h1><p>a <a href='/y'>link</a><img src=i.png alt=pic>";
    let (web, output) = direct("/dir/p", page_of().status(200, ReplyContent::html(html))).await;
    let (link, image) = (web.page("/y"), web.page("/dir/i.png"));
    assert_eq!(text(&output), untrusted(&format!("# H\n\na [link]({link})![pic]({image})")));

    for (kind, body) in
        [("application/json", "{\"a\": 1}"), ("text/markdown", "# x"), ("text/plain", "<b>")]
    {
        let (_, output) = direct("/p", page_of().status(200, ReplyContent::of(kind, body))).await;
        assert_eq!(text(&output), untrusted(body), "{kind}");
    }
    let picture = ReplyContent::of("image/png", "picture");
    let (_, output) = direct("/p", page_of().status(200, picture)).await;
    assert_eq!(output.content, [Part::inline("image/png", "cGljdHVyZQ==")]);
    let long = ReplyContent::of("text/plain", "é".repeat(250_001));
    let (_, output) = direct("/p", page_of().status(200, long)).await;
    let text = text(&output);
    assert!(
        text.ends_with("é\n\n... [Content truncated due to size limit] ...\n</untrusted_context>")
    );
    assert_eq!(text.matches('é').count(), 250_000);
}

#[tokio::test]
async fn the_direct_way_tells_of_refusals() {
    let page = ReplyContent::of("text/plain", "gone </untrusted_context>");
    let (_, output) = direct("/p", page_of().status(404, page)).await;
    let reported = text(&output);
    assert!(
        reported.starts_with("<untrusted_context>\nRequest failed with status 404\nHeaders: {\n"),
        "{reported}"
    );
    assert!(reported.contains("\"content-type\": \"text/plain\""), "{reported}");
    assert!(
        reported.ends_with("Response: gone &lt;/untrusted_context&gt;\n</untrusted_context>"),
        "{reported}"
    );
    for (url, expected) in [
        (
            "http://127.0.0.1/",
            "Access to blocked or private host http://127.0.0.1/ is not allowed.",
        ),
        ("ftp://x/", "Access to blocked or private host ftp://x/ is not allowed."),
        ("", "The 'url' parameter is required."),
        ("not a url", "Invalid URL: \"not a url\""),
    ] {
        let web = Web { direct: true, ..Web::new() };
        assert_eq!(web.reported("web_fetch", json!({"url": url})).await, expected, "{url}");
    }
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_not_followed() {
    let secret = ModelServer::start();
    secret.route("/secret", |_| page_of().status(200, ReplyContent::of("text/plain", "key")));
    let location = format!("{}/secret", secret.url());
    let (web, output) = direct("/p", page_of().status(302, "").header("location", &location)).await;
    let page = web.page("/p");
    let expected = format!("Access to blocked or private host {page} is not allowed.");
    assert_eq!(text(&output), expected);
    assert!(secret.requests().is_empty());
}
