//! Types of the objects with known keys in settings.

use super::kind::{Field, Kind, Record};

const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_required: false }
}

const fn required(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_required: true }
}

const fn strict(name: &'static str, fields: &'static [Field]) -> Record {
    Record { name, fields, is_strict: true }
}

const fn open(name: &'static str, fields: &'static [Field]) -> Record {
    Record { name, fields, is_strict: false }
}

/// `pollux.safetyCheckers.<name>`.
pub(super) static CHECKER: Record =
    strict("SafetyChecker", &[required("command", Kind::Text), field("args", Kind::TEXTS)]);

const AUTH_PROVIDERS: Kind =
    Kind::Choice(&["dynamic_discovery", "google_credentials", "service_account_impersonation"]);

/// `mcpServers.<name>`.
pub(super) static SERVER: Record = strict(
    "McpServer",
    &[
        field("command", Kind::Text),
        field("args", Kind::TEXTS),
        field("env", Kind::TEXT_MAP),
        field("cwd", Kind::Text),
        field("url", Kind::Text),
        field("httpUrl", Kind::Text),
        field("headers", Kind::TEXT_MAP),
        field("tcp", Kind::Text),
        field("type", Kind::Choice(&["stdio", "sse", "http"])),
        field("timeout", Kind::Number),
        field("trust", Kind::Boolean),
        field("description", Kind::Text),
        field("includeTools", Kind::TEXTS),
        field("excludeTools", Kind::TEXTS),
        field("extension", Kind::OBJECT),
        field("oauth", Kind::Record(&OAUTH)),
        field("authProviderType", AUTH_PROVIDERS),
        field("targetAudience", Kind::Text),
        field("targetServiceAccount", Kind::Text),
    ],
);

/// A server that an administrator requires; set remotely only.
pub(super) static REQUIRED_SERVER: Record = strict(
    "RequiredMcpServer",
    &[
        field("url", Kind::Text),
        field("type", Kind::Choice(&["sse", "http"])),
        field("headers", Kind::TEXT_MAP),
        field("timeout", Kind::Number),
        field("trust", Kind::Boolean),
        field("description", Kind::Text),
        field("includeTools", Kind::TEXTS),
        field("excludeTools", Kind::TEXTS),
        field("oauth", Kind::Record(&OAUTH)),
        field("authProviderType", AUTH_PROVIDERS),
        field("targetAudience", Kind::Text),
        field("targetServiceAccount", Kind::Text),
    ],
);

static OAUTH: Record = open(
    "McpOAuth",
    &[
        field("enabled", Kind::Anything),
        field("clientId", Kind::Anything),
        field("clientSecret", Kind::Anything),
        field("authorizationUrl", Kind::Anything),
        field("issuer", Kind::Anything),
        field("tokenUrl", Kind::Anything),
        field("scopes", Kind::Anything),
        field("audiences", Kind::Anything),
        field("redirectUri", Kind::Anything),
        field("tokenParamName", Kind::Anything),
        field("registrationUrl", Kind::Anything),
    ],
);

/// `tools.sandbox` as an object.
pub(super) static SANDBOX: Record = strict(
    "Sandbox",
    &[
        field("enabled", Kind::Boolean),
        field("command", Kind::Text),
        field("image", Kind::Text),
        field("allowedPaths", Kind::TEXTS),
        field("networkAccess", Kind::Boolean),
    ],
);

/// `agents.overrides.<name>`.
pub(super) static AGENT: Record = strict(
    "AgentOverride",
    &[
        field("modelConfig", Kind::OBJECT),
        field("runConfig", Kind::Record(&RUN)),
        field("enabled", Kind::Boolean),
    ],
);

static RUN: Record =
    strict("AgentRun", &[field("maxTimeMinutes", Kind::Number), field("maxTurns", Kind::Number)]);

/// One entry of `hooks.<event>`.
pub(super) static HOOKS: Record = open(
    "HookGroup",
    &[
        field("matcher", Kind::Text),
        field("sequential", Kind::Boolean),
        field("hooks", Kind::List(&Kind::Record(&HOOK))),
    ],
);

static HOOK: Record = open(
    "Hook",
    &[
        field("name", Kind::Text),
        field("type", Kind::Text),
        field("command", Kind::Text),
        field("description", Kind::Text),
        field("timeout", Kind::Number),
    ],
);

/// `model.summarizeToolOutput.<tool>`.
pub(super) static SUMMARY: Record = strict("Summary", &[field("tokenBudget", Kind::Number)]);

/// `advanced.bugCommand`.
pub(super) static BUG_COMMAND: Record =
    strict("BugCommand", &[required("urlTemplate", Kind::Text)]);

/// `ui.customThemes.<name>`.
pub(super) static THEME: Record = strict(
    "CustomTheme",
    &[
        required("type", Kind::Choice(&["custom"])),
        required("name", Kind::Text),
        field("text", Kind::Record(&THEME_TEXT)),
        field("background", Kind::Record(&THEME_BACKGROUND)),
        field("border", Kind::Record(&THEME_BORDER)),
        field("ui", Kind::Record(&THEME_UI)),
        field("status", Kind::Record(&THEME_STATUS)),
        field("Background", Kind::Text),
        field("Foreground", Kind::Text),
        field("LightBlue", Kind::Text),
        field("AccentBlue", Kind::Text),
        field("AccentPurple", Kind::Text),
        field("AccentCyan", Kind::Text),
        field("AccentGreen", Kind::Text),
        field("AccentYellow", Kind::Text),
        field("AccentRed", Kind::Text),
        field("DiffAdded", Kind::Text),
        field("DiffRemoved", Kind::Text),
        field("Comment", Kind::Text),
        field("Gray", Kind::Text),
        field("DarkGray", Kind::Text),
        field("GradientColors", Kind::TEXTS),
    ],
);

static THEME_TEXT: Record = strict(
    "ThemeText",
    &[
        field("primary", Kind::Text),
        field("secondary", Kind::Text),
        field("link", Kind::Text),
        field("accent", Kind::Text),
        field("response", Kind::Text),
    ],
);

static THEME_BACKGROUND: Record = strict(
    "ThemeBackground",
    &[field("primary", Kind::Text), field("diff", Kind::Record(&THEME_DIFF))],
);

static THEME_DIFF: Record =
    strict("ThemeDiff", &[field("added", Kind::Text), field("removed", Kind::Text)]);

static THEME_BORDER: Record =
    strict("ThemeBorder", &[field("default", Kind::Text), field("focused", Kind::Text)]);

static THEME_UI: Record = strict(
    "ThemeUi",
    &[
        field("comment", Kind::Text),
        field("symbol", Kind::Text),
        field("active", Kind::Text),
        field("focus", Kind::Text),
        field("gradient", Kind::TEXTS),
    ],
);

static THEME_STATUS: Record = strict(
    "ThemeStatus",
    &[field("error", Kind::Text), field("success", Kind::Text), field("warning", Kind::Text)],
);

/// `modelConfigs.modelDefinitions.<id>`.
pub(super) static MODEL: Record = open(
    "ModelDefinition",
    &[
        field("displayName", Kind::Text),
        field("tier", Kind::Anything),
        field("family", Kind::Text),
        field("isPreview", Kind::Boolean),
        field("isVisible", Kind::Boolean),
        field("dialogDescription", Kind::Text),
        field("features", Kind::Record(&MODEL_FEATURES)),
    ],
);

static MODEL_FEATURES: Record = open(
    "ModelFeatures",
    &[field("thinking", Kind::Boolean), field("multimodalToolUse", Kind::Boolean)],
);

/// Resolution of the name of a model or tier.
pub(super) static RESOLUTION: Record = open(
    "ModelResolution",
    &[field("default", Kind::Text), field("contexts", Kind::List(&Kind::OBJECT))],
);
