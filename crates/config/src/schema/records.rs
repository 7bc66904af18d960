//! Types of the objects with known keys in settings.

use super::kind::{Field, ObjectKind, SettingKind};

const fn field(name: &'static str, kind: SettingKind) -> Field {
    Field { name, kind, is_required: false }
}

const fn required(name: &'static str, kind: SettingKind) -> Field {
    Field { name, kind, is_required: true }
}

const fn strict(name: &'static str, fields: &'static [Field]) -> ObjectKind {
    ObjectKind { name, fields, is_strict: true }
}

const fn open(name: &'static str, fields: &'static [Field]) -> ObjectKind {
    ObjectKind { name, fields, is_strict: false }
}

/// `pollux.safetyCheckers.<name>`.
pub(super) static CHECKER: ObjectKind = strict(
    "SafetyChecker",
    &[required("command", SettingKind::Text), field("args", SettingKind::TEXTS)],
);

const AUTH_PROVIDERS: SettingKind = SettingKind::Choice(&[
    "dynamic_discovery",
    "google_credentials",
    "service_account_impersonation",
]);

/// `mcpServers.<name>`.
pub(super) static SERVER: ObjectKind = strict(
    "McpServer",
    &[
        field("command", SettingKind::Text),
        field("args", SettingKind::TEXTS),
        field("env", SettingKind::TEXT_MAP),
        field("cwd", SettingKind::Text),
        field("url", SettingKind::Text),
        field("httpUrl", SettingKind::Text),
        field("headers", SettingKind::TEXT_MAP),
        field("tcp", SettingKind::Text),
        field("type", SettingKind::Choice(&["stdio", "sse", "http"])),
        field("timeout", SettingKind::Number),
        field("trust", SettingKind::Boolean),
        field("description", SettingKind::Text),
        field("includeTools", SettingKind::TEXTS),
        field("excludeTools", SettingKind::TEXTS),
        field("extension", SettingKind::OBJECT),
        field("oauth", SettingKind::Record(&OAUTH)),
        field("authProviderType", AUTH_PROVIDERS),
        field("targetAudience", SettingKind::Text),
        field("targetServiceAccount", SettingKind::Text),
    ],
);

/// A server that an administrator requires; set remotely only.
pub(super) static REQUIRED_SERVER: ObjectKind = strict(
    "RequiredMcpServer",
    &[
        field("url", SettingKind::Text),
        field("type", SettingKind::Choice(&["sse", "http"])),
        field("headers", SettingKind::TEXT_MAP),
        field("timeout", SettingKind::Number),
        field("trust", SettingKind::Boolean),
        field("description", SettingKind::Text),
        field("includeTools", SettingKind::TEXTS),
        field("excludeTools", SettingKind::TEXTS),
        field("oauth", SettingKind::Record(&OAUTH)),
        field("authProviderType", AUTH_PROVIDERS),
        field("targetAudience", SettingKind::Text),
        field("targetServiceAccount", SettingKind::Text),
    ],
);

static OAUTH: ObjectKind = open(
    "McpOAuth",
    &[
        field("enabled", SettingKind::Anything),
        field("clientId", SettingKind::Anything),
        field("clientSecret", SettingKind::Anything),
        field("authorizationUrl", SettingKind::Anything),
        field("issuer", SettingKind::Anything),
        field("tokenUrl", SettingKind::Anything),
        field("scopes", SettingKind::Anything),
        field("audiences", SettingKind::Anything),
        field("redirectUri", SettingKind::Anything),
        field("tokenParamName", SettingKind::Anything),
        field("registrationUrl", SettingKind::Anything),
    ],
);

/// `tools.sandbox` as an object.
pub(super) static SANDBOX: ObjectKind = strict(
    "Sandbox",
    &[
        field("enabled", SettingKind::Boolean),
        field("command", SettingKind::Text),
        field("image", SettingKind::Text),
        field("allowedPaths", SettingKind::TEXTS),
        field("networkAccess", SettingKind::Boolean),
    ],
);

/// `agents.overrides.<name>`.
pub(super) static AGENT: ObjectKind = strict(
    "AgentOverride",
    &[
        field("modelConfig", SettingKind::OBJECT),
        field("runConfig", SettingKind::Record(&RUN)),
        field("enabled", SettingKind::Boolean),
        field("tools", SettingKind::List(&SettingKind::Text)),
        field("mcpServers", SettingKind::OBJECT),
    ],
);

static RUN: ObjectKind = strict(
    "AgentRun",
    &[field("maxTimeMinutes", SettingKind::Number), field("maxTurns", SettingKind::Number)],
);

/// One entry of `hooks.<event>`.
pub(super) static HOOKS: ObjectKind = open(
    "HookGroup",
    &[
        field("matcher", SettingKind::Text),
        field("sequential", SettingKind::Boolean),
        field("hooks", SettingKind::List(&SettingKind::Record(&HOOK))),
    ],
);

static HOOK: ObjectKind = open(
    "Hook",
    &[
        field("name", SettingKind::Text),
        field("type", SettingKind::Text),
        field("command", SettingKind::Text),
        field("description", SettingKind::Text),
        field("timeout", SettingKind::Number),
        field("env", SettingKind::OBJECT),
    ],
);

/// `model.summarizeToolOutput.<tool>`.
pub(super) static SUMMARY: ObjectKind =
    strict("Summary", &[field("tokenBudget", SettingKind::Number)]);

/// `advanced.bugCommand`.
pub(super) static BUG_COMMAND: ObjectKind =
    strict("BugCommand", &[required("urlTemplate", SettingKind::Text)]);

/// `ui.customThemes.<name>`.
pub(super) static THEME: ObjectKind = strict(
    "CustomTheme",
    &[
        required("type", SettingKind::Choice(&["custom"])),
        required("name", SettingKind::Text),
        field("text", SettingKind::Record(&THEME_TEXT)),
        field("background", SettingKind::Record(&THEME_BACKGROUND)),
        field("border", SettingKind::Record(&THEME_BORDER)),
        field("ui", SettingKind::Record(&THEME_UI)),
        field("status", SettingKind::Record(&THEME_STATUS)),
        field("Background", SettingKind::Text),
        field("Foreground", SettingKind::Text),
        field("LightBlue", SettingKind::Text),
        field("AccentBlue", SettingKind::Text),
        field("AccentPurple", SettingKind::Text),
        field("AccentCyan", SettingKind::Text),
        field("AccentGreen", SettingKind::Text),
        field("AccentYellow", SettingKind::Text),
        field("AccentRed", SettingKind::Text),
        field("DiffAdded", SettingKind::Text),
        field("DiffRemoved", SettingKind::Text),
        field("Comment", SettingKind::Text),
        field("Gray", SettingKind::Text),
        field("DarkGray", SettingKind::Text),
        field("GradientColors", SettingKind::TEXTS),
    ],
);

static THEME_TEXT: ObjectKind = strict(
    "ThemeText",
    &[
        field("primary", SettingKind::Text),
        field("secondary", SettingKind::Text),
        field("link", SettingKind::Text),
        field("accent", SettingKind::Text),
        field("response", SettingKind::Text),
    ],
);

static THEME_BACKGROUND: ObjectKind = strict(
    "ThemeBackground",
    &[field("primary", SettingKind::Text), field("diff", SettingKind::Record(&THEME_DIFF))],
);

static THEME_DIFF: ObjectKind =
    strict("ThemeDiff", &[field("added", SettingKind::Text), field("removed", SettingKind::Text)]);

static THEME_BORDER: ObjectKind = strict(
    "ThemeBorder",
    &[field("default", SettingKind::Text), field("focused", SettingKind::Text)],
);

static THEME_UI: ObjectKind = strict(
    "ThemeUi",
    &[
        field("comment", SettingKind::Text),
        field("symbol", SettingKind::Text),
        field("active", SettingKind::Text),
        field("focus", SettingKind::Text),
        field("gradient", SettingKind::TEXTS),
    ],
);

static THEME_STATUS: ObjectKind = strict(
    "ThemeStatus",
    &[
        field("error", SettingKind::Text),
        field("success", SettingKind::Text),
        field("warning", SettingKind::Text),
    ],
);

/// `modelConfigs.modelDefinitions.<id>`.
pub(super) static MODEL: ObjectKind = open(
    "ModelDefinition",
    &[
        field("displayName", SettingKind::Text),
        field("tier", SettingKind::Anything),
        field("family", SettingKind::Text),
        field("isPreview", SettingKind::Boolean),
        field("isVisible", SettingKind::Boolean),
        field("dialogDescription", SettingKind::Text),
        field("features", SettingKind::Record(&MODEL_FEATURES)),
    ],
);

static MODEL_FEATURES: ObjectKind = open(
    "ModelFeatures",
    &[field("thinking", SettingKind::Boolean), field("multimodalToolUse", SettingKind::Boolean)],
);

/// Resolution of the name of a model or tier.
pub(super) static RESOLUTION: ObjectKind = open(
    "ModelResolution",
    &[
        field("default", SettingKind::Text),
        field("contexts", SettingKind::List(&SettingKind::OBJECT)),
    ],
);
