//! A server and its authorization server on this machine, which answer by a script and record all
//! requests.

use std::sync::{Arc, Mutex};

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use pollux_mcp::{Authorization, AuthorizationOptions, ServerConfig, ServersOptions};
use pollux_net::google::GoogleSetup;
use pollux_net::{ClientOptions, CredentialFormat, CredentialStore, StoredCredentials};
use serde_json::{Value, json};

/// Name of the server in the settings.
pub(crate) const NAME: &str = "s";

/// Request as it was received.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Address of the service, without a slash at the end.
    pub(crate) base: String,
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: String,
}

impl Asked {
    /// Returns a parameter of the form in the body.
    pub(crate) fn form(&self, name: &str) -> Option<String> {
        let mut pairs = url::form_urlencoded::parse(self.body.as_bytes());
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }
}

/// Response: status, headers, body.
#[derive(Debug, Clone)]
pub(crate) struct Answer(pub(crate) u16, pub(crate) Vec<(&'static str, String)>, pub(crate) String);

impl Answer {
    pub(crate) fn json(status: u16, value: &Value) -> Self {
        Self(status, vec![("content-type", "application/json".to_owned())], value.to_string())
    }
}

/// Running service.
pub(crate) struct Service {
    pub(crate) base: String,
    requests: Arc<Mutex<Vec<Asked>>>,
    pub(crate) home: tempfile::TempDir,
}

impl Service {
    /// Starts a service. `script` answers first; requests for which it returns `None` get the
    /// [`usual`] answer.
    pub(crate) async fn start(
        script: impl Fn(&Asked) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (known, recorded, script) = (base.clone(), Arc::clone(&requests), Arc::new(script));
        let handler = move |request: Request| {
            let (base, recorded, script) =
                (known.clone(), Arc::clone(&recorded), Arc::clone(&script));
            async move {
                let (head, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
                let header = head.headers.get("authorization");
                let asked = Asked {
                    base,
                    method: head.method.to_string(),
                    target: head.uri.to_string(),
                    authorization: header.map(|value| value.to_str().unwrap().to_owned()),
                    body: String::from_utf8(body.to_vec()).unwrap(),
                };
                recorded.lock().unwrap().push(asked.clone());
                response(script(&asked).unwrap_or_else(|| usual(&asked)))
            }
        };
        let router = axum::Router::new().fallback(handler);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { base, requests, home: tempfile::tempdir().unwrap() }
    }

    /// Returns all requests so far.
    pub(crate) fn requests(&self) -> Vec<Asked> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the requests whose target begins with this text.
    pub(crate) fn requests_to(&self, target: &str) -> Vec<Asked> {
        let requests = self.requests().into_iter();
        requests.filter(|request| request.target.starts_with(target)).collect()
    }

    /// Returns method and target of all requests.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |asked: Asked| format!("{} {}", asked.method, asked.target);
        self.requests().into_iter().map(line).collect()
    }

    pub(crate) fn store(&self) -> CredentialStore {
        CredentialStore::of_servers(self.home.path(), CredentialFormat::Plain)
    }

    /// Returns the sign-ins of another process.
    pub(crate) fn authorization(&self) -> Arc<Authorization> {
        let google = self.google();
        Authorization::new(self.store(), AuthorizationOptions { google, ..Default::default() })
    }

    /// Returns where Google credentials are: a file of a user, whose tokens the service gives.
    fn google(&self) -> GoogleSetup {
        let file = self.home.path().join("adc.json");
        let user = json!({"type": "authorized_user", "client_id": "i", "client_secret": "s",
            "refresh_token": "r", "token_uri": format!("{}/token", self.base)});
        std::fs::write(&file, user.to_string()).unwrap();
        GoogleSetup { named_file: Some(file), iam: self.base.clone(), ..GoogleSetup::default() }
    }

    /// Returns the sign-ins with the address of a document about the client.
    pub(crate) fn with_document(&self, address: &str) -> Arc<Authorization> {
        let client_document = Some(address.to_owned());
        let options = AuthorizationOptions { client_document, ..AuthorizationOptions::default() };
        Authorization::new(self.store(), options)
    }

    /// Returns the entry of the server, with these settings for signing in.
    pub(crate) fn config(&self, oauth: &Value) -> ServerConfig {
        let entry = json!({
            "url": format!("{}/mcp", self.base), "type": "http", "timeout": 20_000, "oauth": oauth,
        });
        ServerConfig::read(NAME, &entry).unwrap().unwrap()
    }

    pub(crate) fn options(&self, authorization: &Arc<Authorization>) -> ServersOptions {
        ServersOptions {
            folder: self.home.path().to_owned(),
            environment: Vec::new(),
            client: ClientOptions::default(),
            version: "1".to_owned(),
            roots: Arc::new(Vec::new),
            operator: Arc::new(pollux_protocol::NoUser),
            sampler: None,
            origin: Arc::default(),
            truncate_threshold: 0,
            spill_directory: self.home.path().to_owned(),
            authorization: Arc::clone(authorization),
        }
    }

    /// Stores a token that expires in this number of milliseconds.
    pub(crate) fn keep(&self, access_token: &str, expires_in: i64) {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64;
        let stored: StoredCredentials = serde_json::from_value(json!({
            "serverName": NAME,
            "token": {
                "accessToken": access_token, "tokenType": "Bearer", "refreshToken": "R0",
                "expiresAt": now + expires_in, "scope": "a",
            },
            "clientId": "cid",
            "tokenUrl": format!("{}/token", self.base),
            "mcpServerUrl": format!("{}/mcp", self.base),
            "updatedAt": now - 3_600_000,
        }))
        .unwrap();
        self.store().set(&stored).unwrap();
    }

    /// Returns the stored credentials.
    pub(crate) fn kept(&self) -> Option<StoredCredentials> {
        self.store().get(NAME).unwrap()
    }
}

/// Returns the metadata of the authorization server at this address.
pub(crate) fn metadata(base: &str) -> Value {
    json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize?tenant=1"),
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "code_challenge_methods_supported": ["S256"],
    })
}

/// Answers as a server that requires the token `A1`, `A2` or `A3`.
pub(crate) fn usual(asked: &Asked) -> Answer {
    let base = &asked.base;
    match asked.target.as_str() {
        "/.well-known/oauth-protected-resource/mcp" => {
            let resource = format!("{base}/mcp");
            Answer::json(
                200,
                &json!({
                    "resource": resource, "authorization_servers": [base],
                    "scopes_supported": ["a", "b"],
                }),
            )
        }
        "/.well-known/oauth-authorization-server" => Answer::json(200, &metadata(base)),
        "/register" => Answer::json(201, &json!({"client_id": "cid"})),
        "/token" => Answer::json(
            200,
            &json!({
                "access_token": "A1", "refresh_token": "R1", "expires_in": 3600,
                "token_type": "Bearer", "scope": "a b",
            }),
        ),
        "/mcp" => server(asked),
        _ => Answer(404, Vec::new(), "not here".to_owned()),
    }
}

/// Answers the messages of the protocol.
fn server(asked: &Asked) -> Answer {
    let token = asked.authorization.as_deref().and_then(|header| header.strip_prefix("Bearer "));
    if !matches!(token, Some("A1" | "A2" | "A3")) {
        let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", asked.base);
        let challenge = format!("Bearer resource_metadata=\"{metadata}\"");
        return Answer(401, vec![("www-authenticate", challenge)], String::new());
    }
    if asked.method != "POST" {
        return Answer(405, Vec::new(), String::new());
    }
    let message: Value = serde_json::from_str(&asked.body).unwrap();
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "guarded", "version": "1"},
        }),
        "tools/list" => json!({"tools": [
            {"name": "look", "inputSchema": {"type": "object", "properties": {}}}
        ]}),
        "ping" => json!({}),
        _ => return Answer(202, Vec::new(), String::new()),
    };
    Answer::json(200, &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

fn response(answer: Answer) -> Response {
    let Answer(status, headers, body) = answer;
    let mut response = (StatusCode::from_u16(status).unwrap(), body).into_response();
    for (name, value) in headers {
        let value = HeaderValue::from_str(&value).unwrap();
        response.headers_mut().insert(HeaderName::from_static(name), value);
    }
    response
}
