//! Vertex AI and Code Assist, with their credentials from services on loopback.

use pollux_models::{ModelsOptions, assemble};
use pollux_protocol::{CancellationToken, JsonRequest, ModelErrorKind, SelectContext};
use pollux_testkit::{CapturedRequest, Endpoint, ModelServer, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::harness::{answer, options, say, select, settings, text};

/// A server for models and tokens, and a file with a user's credentials.
struct Cloud {
    server: ModelServer,
    folder: TempDir,
}

impl Cloud {
    fn start() -> Self {
        let server = ModelServer::start();
        server.route("/token", |_| reply().json(json!({"access_token": "T", "expires_in": 3599})));
        let folder = tempfile::tempdir().unwrap();
        let file = json!({"type": "authorized_user", "client_id": "i", "client_secret": "s",
            "refresh_token": "r", "token_uri": format!("{}/token", server.url()),
            "quota_project_id": "quota"});
        std::fs::write(folder.path().join("adc.json"), file.to_string()).unwrap();
        Self { server, folder }
    }

    fn options(&self, variables: &[(&str, &str)]) -> ModelsOptions {
        let file = self.folder.path().join("adc.json");
        let url = self.server.url();
        let common = [
            ("GOOGLE_APPLICATION_CREDENTIALS", file.to_str().unwrap()),
            ("GOOGLE_VERTEX_BASE_URL", &url),
            ("CODE_ASSIST_ENDPOINT", &url),
            ("POLLUX_RETRY_BASE_MS", "0"),
        ];
        options(&[&common[..], variables].concat())
    }

    async fn ask(&self, variables: &[(&str, &str)]) -> Result<String, String> {
        let models = assemble(&self.options(variables)).map_err(|error| error.to_string())?;
        let model = select(&models, "gemini-2.5-pro").await;
        answer(&model).await.map(|chunks| text(&chunks)).map_err(|(_, error)| error.to_string())
    }

    fn paths(&self) -> Vec<String> {
        self.server.requests().into_iter().map(|request| request.path).collect()
    }
}

const VERTEX: (&str, &str) = ("GOOGLE_GENAI_USE_VERTEXAI", "true");
const GCA: (&str, &str) = ("GOOGLE_GENAI_USE_GCA", "true");
const PROJECT: (&str, &str) = ("GOOGLE_CLOUD_PROJECT", "my-project");

fn header(request: &CapturedRequest, name: &str) -> Option<String> {
    request.header(name).map(str::to_owned)
}

#[tokio::test]
async fn vertex_with_the_credentials_of_the_user() {
    let cloud = Cloud::start();
    cloud.server.stream(reply().text("hi")).stream(reply().text("again"));
    let location = ("GOOGLE_CLOUD_LOCATION", "europe-west4");
    let file =
        json!({"billing": {"vertexAi": {"requestType": "shared", "sharedRequestType": "flex"}}});
    let options =
        ModelsOptions { settings: settings(&file), ..cloud.options(&[VERTEX, PROJECT, location]) };
    let models = assemble(&options).unwrap();
    let model = select(&models, "gemini-2.5-pro").await;
    assert_eq!(text(&answer(&model).await.unwrap()), "hi");
    assert_eq!(text(&answer(&model).await.unwrap()), "again");
    let path = "/v1beta1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-2.5-pro:streamGenerateContent";
    assert_eq!(cloud.paths(), ["/token", path, path], "the token is kept");
    let request = cloud.server.last_request();
    for (name, expected) in [
        ("authorization", Some("Bearer T")),
        ("x-goog-user-project", Some("quota")),
        ("x-vertex-ai-llm-request-type", Some("shared")),
        ("x-vertex-ai-llm-shared-request-type", Some("flex")),
        ("x-goog-api-key", None),
    ] {
        assert_eq!(header(&request, name).as_deref(), expected, "{name}");
    }
    assert_eq!(request.query, "alt=sse");
    cloud.server.assert_all_valid();
    let count = model.count_tokens(say("x"), CancellationToken::new()).await.unwrap();
    assert_eq!(count, 1000);
    let error = model.embed(vec!["x".to_owned()], CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Invalid);
}

#[tokio::test]
async fn vertex_with_a_key() {
    let cloud = Cloud::start();
    cloud.server.stream(reply().text("hi"));
    let variables =
        [VERTEX, PROJECT, ("GOOGLE_CLOUD_LOCATION", "l"), ("GOOGLE_API_KEY", "express")];
    assert_eq!(cloud.ask(&variables).await.unwrap(), "hi");
    let path = "/v1beta1/publishers/google/models/gemini-2.5-pro:streamGenerateContent";
    assert_eq!(cloud.paths(), [path]);
    let request = cloud.server.last_request();
    assert_eq!(header(&request, "x-goog-api-key").as_deref(), Some("express"));
    assert_eq!(header(&request, "authorization"), None);
}

#[tokio::test]
async fn a_token_that_vertex_rejects_is_renewed_once() {
    let cloud = Cloud::start();
    let refusal = || {
        let error = json!({"code": 401, "message": "Expired.", "status": "UNAUTHENTICATED"});
        reply().status(401, json!({"error": error}))
    };
    cloud.server.stream(refusal()).stream(reply().text("hi")).stream(refusal()).stream(refusal());
    let variables = [VERTEX, PROJECT, ("GOOGLE_CLOUD_LOCATION", "global")];
    let models = assemble(&cloud.options(&variables)).unwrap();
    let model = select(&models, "gemini-2.5-pro").await;
    assert_eq!(text(&answer(&model).await.unwrap()), "hi");
    let (_, error) = answer(&model).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Auth);
    assert!(error.message.contains("GOOGLE_APPLICATION_CREDENTIALS"), "{error}");
    let tokens = cloud.paths().iter().filter(|path| *path == "/token").count();
    assert_eq!(tokens, 3);
}

#[tokio::test]
async fn refused_credentials_are_described() {
    let cloud = Cloud::start();
    cloud.server.route("/token", |_| {
        reply().status(400, json!({"error": "invalid_grant", "error_description": "Revoked."}))
    });
    let variables = [VERTEX, PROJECT, ("GOOGLE_CLOUD_LOCATION", "global")];
    let error = cloud.ask(&variables).await.unwrap_err();
    for part in ["adc.json", "invalid_grant - Revoked", "gcloud auth application-default login"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(cloud.paths(), ["/token"], "it is not tried again");
    // Another method is enforced.
    let file = json!({"security": {"auth": {"enforcedType": "gemini-api-key"}}});
    let options = ModelsOptions { settings: settings(&file), ..cloud.options(&variables) };
    let error = assemble(&options).err().unwrap().to_string();
    assert!(error.contains("the current type is 'vertex-ai'"), "{error}");
}

/// Answers Code Assist's set-up with these bodies, and a stream.
fn code_assist(cloud: &Cloud, loaded: Value) {
    cloud.server.route("/v1internal:loadCodeAssist", move |_| reply().json(loaded.clone()));
    cloud.server.route("/v1internal:onboardUser", |_| {
        let project = json!({"cloudaicompanionProject": {"id": "managed", "name": "m"}});
        reply().json(json!({"name": "operations/1", "done": true, "response": project}))
    });
    cloud.server.route("/v1internal:streamGenerateContent", |_| {
        let candidate = json!({"content": {"role": "model", "parts": [{"text": "hi"}]},
            "finishReason": "STOP"});
        let usage = json!({"promptTokenCount": 7, "totalTokenCount": 9});
        let inner = json!({"candidates": [candidate], "usageMetadata": usage});
        let chunk = json!({"response": inner, "traceId": "trace"});
        reply().no_finish().no_usage().chunks(vec![chunk])
    });
}

#[tokio::test]
async fn code_assist_with_the_project_of_the_user() {
    let cloud = Cloud::start();
    code_assist(&cloud, json!({"currentTier": {"id": "standard-tier"}}));
    let models = assemble(&cloud.options(&[GCA, PROJECT])).unwrap();
    let model = select(&models, "gemini-2.5-pro").await;
    for _ in 0..2 {
        let chunks = answer(&model).await.unwrap();
        assert_eq!(text(&chunks), "hi");
        assert_eq!(chunks[0].response_id.as_deref(), Some("trace"));
        assert_eq!(chunks[0].usage.unwrap().prompt, 7);
    }
    let stream = "/v1internal:streamGenerateContent";
    assert_eq!(cloud.paths(), ["/token", "/v1internal:loadCodeAssist", stream, stream]);
    let requests = cloud.server.requests();
    assert_eq!(requests[1].body["cloudaicompanionProject"], "my-project");
    assert_eq!(requests[1].body["metadata"]["pluginType"], "GEMINI");
    let body = &requests[2].body;
    assert_eq!(
        (&body["model"], &body["project"]),
        (&json!("gemini-2.5-pro"), &json!("my-project"))
    );
    assert!(body["request"]["contents"].is_array(), "{body}");
    assert_eq!(header(&requests[2], "authorization").as_deref(), Some("Bearer T"));
    cloud.server.assert_all_valid();
    cloud.server.enqueue(Endpoint::CountTokens, reply().tokens(5));
    let count = model.count_tokens(say("x"), CancellationToken::new()).await.unwrap();
    assert_eq!(count, 5);
    assert_eq!(cloud.server.last_request().body["request"]["model"], "models/gemini-2.5-pro");
}

#[tokio::test]
async fn the_name_of_a_model_asks_for_code_assist() {
    let cloud = Cloud::start();
    code_assist(&cloud, json!({"currentTier": {"id": "standard-tier"}}));
    let key = ("GEMINI_API_KEY", "k");
    let models = assemble(&cloud.options(&[key, PROJECT])).unwrap();
    let model = select(&models, "code-assist/gemini-2.5-pro").await;
    assert_eq!(text(&answer(&model).await.unwrap()), "hi");
    let request = cloud.server.last_request();
    assert_eq!(header(&request, "authorization").as_deref(), Some("Bearer T"));
    assert_eq!(header(&request, "x-goog-api-key"), None);
    let listed = models.list().await;
    assert!(listed.iter().any(|model| model.name == "code-assist/gemini-2.5-pro"));

    let enforced = |name: &str| {
        let file = json!({"security": {"auth": {"enforcedType": name}}});
        let startup_model = "code-assist/gemini-2.5-pro".to_owned();
        let options = cloud.options(&[key, PROJECT]);
        assemble(&ModelsOptions { settings: settings(&file), startup_model, ..options })
    };
    assert!(enforced("oauth-personal").is_ok());
    let error = enforced("gemini-api-key").err().unwrap().to_string();
    assert!(error.contains("the current type is 'oauth-personal'"), "{error}");
    // Without credentials, its models are not listed.
    let models = assemble(&options(&[key])).unwrap();
    let requested = "code-assist/gemini-2.5-pro".to_owned();
    let context = SelectContext { requested, ..SelectContext::default() };
    let error = models.select(&context).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Auth);
    assert!(error.message.contains("GOOGLE_GENAI_USE_GCA"), "{error}");
    assert!(models.list().await.iter().all(|model| !model.name.starts_with("code-assist/")));
}

#[tokio::test]
async fn code_assist_sets_up_a_new_account() {
    let cloud = Cloud::start();
    let tiers = json!([{"id": "standard-tier"}, {"id": "free-tier", "isDefault": true}]);
    code_assist(&cloud, json!({"allowedTiers": tiers}));
    assert_eq!(cloud.ask(&[GCA]).await.unwrap(), "hi");
    let requests = cloud.server.requests();
    assert_eq!(requests[2].body["tierId"], "free-tier");
    assert_eq!(requests[2].body.get("cloudaicompanionProject"), None);
    assert_eq!(requests[3].body["project"], "managed");
}

#[tokio::test]
async fn code_assist_says_what_is_missing() {
    let cloud = Cloud::start();
    let ineligible = json!([{"reasonMessage": "Not in\n your \u{1b}[2Jcountry."}]);
    code_assist(&cloud, json!({"currentTier": {}, "ineligibleTiers": ineligible}));
    let error = cloud.ask(&[GCA]).await.unwrap_err();
    assert!(error.contains("Set GOOGLE_CLOUD_PROJECT"), "{error}");
    assert!(error.contains("country.") && !error.contains('\u{1b}'), "{error:?}");
    let error = cloud.ask(&[GCA, ("GOOGLE_CLOUD_PROJECT", "12345")]).await.unwrap_err();
    assert!(error.contains("project number"), "{error}");
    // A perimeter forbids the question about the account only.
    cloud.server.route("/v1internal:loadCodeAssist", |_| {
        let details = json!([{"reason": "SECURITY_POLICY_VIOLATED"}]);
        let error = json!({"code": 403, "message": "Denied by SECURITY_POLICY_VIOLATED.",
            "status": "PERMISSION_DENIED", "details": details});
        reply().status(403, json!({"error": error}))
    });
    assert_eq!(cloud.ask(&[GCA, PROJECT]).await.unwrap(), "hi");
}

#[tokio::test]
async fn code_assist_with_the_account_of_the_machine() {
    let cloud = Cloud::start();
    code_assist(&cloud, json!({"currentTier": {"id": "standard-tier"}}));
    cloud.server.route("/computeMetadata/v1/instance/service-accounts/default/token", |_| {
        let token = reply().json(json!({"access_token": "M", "expires_in": 3599}));
        token.header("Metadata-Flavor", "Google")
    });
    let host = cloud.server.address().to_string();
    let compute = ("GEMINI_CLI_USE_COMPUTE_ADC", "true");
    let variables = [compute, PROJECT, ("GCE_METADATA_HOST", host.as_str())];
    assert_eq!(cloud.ask(&variables).await.unwrap(), "hi");
    let request = cloud.server.last_request();
    assert_eq!(header(&request, "authorization").as_deref(), Some("Bearer M"));
}

/// Writes the file of a sign-in whose token expires then, and returns options that use it.
fn stored(cloud: &Cloud, variables: &[(&str, &str)], expires_in: i64) -> ModelsOptions {
    code_assist(cloud, json!({"currentTier": {"id": "standard-tier"}}));
    let expiry = milliseconds() + expires_in * 1000;
    let file = json!({"access_token": "STORED", "refresh_token": "R0", "scope": "s",
        "token_type": "Bearer", "id_token": "ID", "expiry_date": expiry});
    std::fs::write(cloud.folder.path().join("oauth_creds.json"), file.to_string()).unwrap();
    ModelsOptions {
        user_settings: cloud.folder.path().join("settings.json"),
        ..cloud.options(variables)
    }
}

/// Returns the time in milliseconds since 1970.
fn milliseconds() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

fn tokens_of(server: &ModelServer) -> Vec<String> {
    let streams =
        server.requests().into_iter().filter(|one| one.path.ends_with("streamGenerateContent"));
    streams.map(|request| header(&request, "authorization").unwrap()).collect()
}

#[tokio::test]
async fn a_stored_sign_in_is_used_until_it_expires() {
    let cloud = Cloud::start();
    let options = stored(&cloud, &[GCA, PROJECT], 3600);
    let model = select(&assemble(&options).unwrap(), "gemini-2.5-pro").await;
    assert_eq!(text(&answer(&model).await.unwrap()), "hi");
    assert_eq!(tokens_of(&cloud.server), ["Bearer STORED"]);
    // Without a client it cannot be renewed: other credentials are used.
    let options = stored(&cloud, &[GCA, PROJECT], -10);
    let model = select(&assemble(&options).unwrap(), "gemini-2.5-pro").await;
    answer(&model).await.unwrap();
    assert_eq!(tokens_of(&cloud.server), ["Bearer STORED", "Bearer T"]);
    // There are none.
    let none = ("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/adc.json");
    let options = stored(&cloud, &[GCA, PROJECT, none], -10);
    let model = select(&assemble(&options).unwrap(), "gemini-2.5-pro").await;
    let (_, error) = answer(&model).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Auth);
    for part in ["oauth_creds.json has expired", "GEMINI_API_KEY", "pollux auth login"] {
        assert!(error.message.contains(part), "{error}");
    }
}

#[tokio::test]
async fn a_stored_sign_in_is_renewed_by_one_process() {
    let cloud = Cloud::start();
    cloud.server.route("/oauth", |_| {
        reply().json(json!({"access_token": "NEW", "expires_in": 3599, "token_type": "Bearer"}))
    });
    let url = format!("{}/oauth", cloud.server.url());
    let client = [
        ("POLLUX_GOOGLE_OAUTH_CLIENT_ID", "cid"),
        ("POLLUX_GOOGLE_OAUTH_CLIENT_SECRET", "secret"),
        ("POLLUX_GOOGLE_OAUTH_TOKEN_URL", url.as_str()),
    ];
    let options = stored(&cloud, &[&[GCA, PROJECT][..], &client].concat(), 60);
    let run = |options: ModelsOptions| async move {
        let model = select(&assemble(&options).unwrap(), "gemini-2.5-pro").await;
        text(&answer(&model).await.unwrap())
    };
    // As two processes, which share nothing but the file.
    let (one, two) = tokio::join!(run(options.clone()), run(options));
    assert_eq!((one.as_str(), two.as_str()), ("hi", "hi"));
    assert_eq!(tokens_of(&cloud.server), ["Bearer NEW", "Bearer NEW"]);
    let renewals: Vec<CapturedRequest> =
        cloud.server.requests().into_iter().filter(|one| one.path == "/oauth").collect();
    assert_eq!(renewals.len(), 1);
    let form = String::from_utf8(renewals[0].raw.to_vec()).unwrap();
    assert_eq!(
        form,
        "grant_type=refresh_token&refresh_token=R0&client_id=cid&client_secret=secret"
    );
    let path = cloud.folder.path().join("oauth_creds.json");
    let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for (name, expected) in
        [("access_token", "NEW"), ("refresh_token", "R0"), ("scope", "s"), ("id_token", "ID")]
    {
        assert_eq!(file[name], expected, "{name}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn the_report_explains_which_sign_in_is_used() {
    let cloud = Cloud::start();
    let variables =
        [VERTEX, PROJECT, ("GOOGLE_CLOUD_LOCATION", "global"), ("GEMINI_API_KEY", "secret-key")];
    let report = pollux_models::sign_in_report(&cloud.options(&variables)).await;
    assert_eq!(report.used.as_deref(), Some("vertex-ai"));
    assert_eq!(report.selected_by.as_deref(), Some("GOOGLE_GENAI_USE_VERTEXAI is set"));
    let way = |id: &str| report.ways.iter().find(|way| way.id == id).unwrap().clone();
    assert!(way("vertex-ai").ready && way("vertex-ai").credentials.unwrap().contains("adc.json"));
    let key = way("gemini-api-key");
    assert_eq!(
        (key.used, key.ready, key.credentials.as_deref()),
        (false, true, Some("GEMINI_API_KEY"))
    );
    assert!(key.reason.unwrap().contains("takes precedence"));
    let openai = way("openai");
    assert_eq!(
        (openai.ready, openai.reason.as_deref()),
        (false, Some("OPENAI_API_KEY is not set"))
    );
    assert!(!format!("{report:?}").contains("secret-key"));
    let nothing = pollux_models::sign_in_report(&options(&[("NO_GCE_CHECK", "true")])).await;
    assert_eq!((nothing.used, nothing.selected_by), (None, None));
    assert!(nothing.ways.iter().all(|way| !way.used && !way.ready && way.reason.is_some()));
    let other = pollux_models::sign_in_report(&options(&[("OPENAI_API_KEY", "k")])).await;
    assert_eq!(other.used.as_deref(), Some("openai"));
    assert_eq!(other.selected_by.as_deref(), Some("OPENAI_API_KEY is set"));
}

#[tokio::test]
async fn the_report_is_about_the_requested_model() {
    let cloud = Cloud::start();
    let (gemini, anthropic) = (("GEMINI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k"));
    let location = ("GOOGLE_CLOUD_LOCATION", "global");
    for (model, variables, used, is_ready) in [
        ("local/qwen3", &[][..], "local", true),
        ("ollama/qwen3", &[gemini], "ollama", true),
        ("anthropic/sonnet", &[gemini, anthropic], "anthropic", true),
        ("anthropic/sonnet", &[gemini], "anthropic", false),
        ("groq/x", &[], "groq", false),
        ("vertex/gemini-2.5-pro", &[gemini, PROJECT, location], "vertex-ai", true),
        ("vertex/claude-opus-4-5", &[gemini, PROJECT, location], "vertex-ai", true),
        ("code-assist/gemini-2.5-pro", &[gemini, PROJECT], "oauth-personal", true),
        ("gemini/pro", &[GCA, PROJECT, gemini], "gemini-api-key", true),
    ] {
        let startup_model = model.to_owned();
        let options = ModelsOptions { startup_model, ..cloud.options(variables) };
        let report = pollux_models::sign_in_report(&options).await;
        let ways: Vec<_> = report.ways.iter().filter(|way| way.used).collect();
        assert_eq!(ways.len(), 1, "{model}: {report:?}");
        let is_explained = ways[0].reason.is_none() == is_ready;
        assert_eq!((&*ways[0].id, ways[0].ready, is_explained), (used, is_ready, true), "{model}");
        assert_eq!(report.selected_by, Some(format!("the model is {model}")));
    }
    let startup_model = "gemini-2.5-pro".to_owned();
    let options = ModelsOptions { startup_model, ..cloud.options(&[gemini, anthropic]) };
    let report = pollux_models::sign_in_report(&options).await;
    assert_eq!(report.selected_by.as_deref(), Some("GEMINI_API_KEY is set"));
}

#[tokio::test]
async fn models_of_anthropic_on_vertex_speak_their_own_dialect() {
    let cloud = Cloud::start();
    let base = "/v1/projects/my-project/locations/europe-west4/publishers/anthropic/models";
    let path = |method: &str| format!("{base}/claude-opus-4-5@20251101:{method}");
    let (stream, whole) = (path("streamRawPredict"), path("rawPredict"));
    let busy = json!({"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED"});
    cloud.server.message(reply().status(429, json!([{ "error": busy }])));
    cloud.server.message(reply().text("hi"));
    cloud.server.message(reply().text("{\"a\": 1}"));
    let location = ("GOOGLE_CLOUD_LOCATION", "europe-west4");
    let name = "vertex/claude-opus-4-5@20251101";
    let options = cloud.options(&[PROJECT, location]);
    let options = ModelsOptions { startup_model: name.to_owned(), ..options };
    let model = select(&assemble(&options).unwrap(), name).await;
    assert_eq!((model.name(), model.vendor()), ("claude-opus-4-5@20251101", "vertex"));
    assert_eq!(text(&answer(&model).await.unwrap()), "hi");
    let sent = cloud.server.last_request();
    assert_eq!(sent.path, stream);
    assert_eq!(header(&sent, "authorization").as_deref(), Some("Bearer T"));
    assert_eq!(header(&sent, "anthropic-version"), None);
    assert_eq!(header(&sent, "x-goog-user-project").as_deref(), Some("quota"));
    assert_eq!(
        (&sent.body["anthropic_version"], &sent.body["stream"]),
        (&json!("vertex-2023-10-16"), &json!(true))
    );
    assert_eq!((&sent.body["model"], &sent.body["max_tokens"]), (&Value::Null, &json!(32_000)));
    let request =
        JsonRequest { request: say("go"), schema: json!({"type": "object"}), max_attempts: 1 };
    let (value, _) = model.generate_json(request, CancellationToken::new()).await.unwrap();
    assert_eq!((value, cloud.server.last_request().path), (json!({"a": 1}), whole));
    cloud.server.assert_all_valid();
}
