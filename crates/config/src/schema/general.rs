//! The root, `general`, `output`, `privacy`, `ide`, `billing`, `telemetry` and our own `pollux`.

use super::setting::{Kind, Setting, boolean, choice, integer, object, text, texts, unset};

const EDITORS: &[&str] = &[
    "vscode",
    "vscodium",
    "windsurf",
    "cursor",
    "zed",
    "antigravity",
    "sublimetext",
    "lapce",
    "nova",
    "bbedit",
    "vim",
    "neovim",
    "emacs",
    "hx",
    "emacsclient",
    "micro",
];

// One row per line reads better than what the formatter makes of it.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    unset("$schema", Kind::Text, "Address of the JSON schema, for editors."),
    object("mcpServers", "Model Context Protocol servers by name.").restart(),
    texts("policyPaths", &[], "More files and folders of the person's policy rules.").restart(),
    texts("adminPolicyPaths", &[], "More files and folders of administrator policy rules.").restart(),
    boolean("useWriteTodos", true, "Offers the to-do tool to the model."),
    object("pollux", "Settings that only Pollux knows.").restart(),

    unset("general.preferredEditor", Kind::Choice(EDITORS), "Editor for texts and diffs."),
    boolean("general.openEditorInNewWindow", false, "Opens editors of the VS Code family in a new window."),
    boolean("general.vimMode", false, "Vi keys in the input line."),
    choice("general.defaultApprovalMode", &["default", "auto_edit", "plan"], "default", "Approval mode at start; yolo is only available as a flag."),
    boolean("general.devtools", false, "Starts the developer tools server."),
    boolean("general.enableAutoUpdate", true, "Installs updates."),
    boolean("general.enableAutoUpdateNotification", true, "Tells about updates."),
    boolean("general.enableNotifications", false, "Notifies through the terminal when attention is needed."),
    choice("general.notificationMethod", &["auto", "osc9", "osc777", "bell"], "auto", "How the terminal is asked to notify."),
    boolean("general.checkpointing.enabled", false, "Keeps snapshots of files for `/restore`.").restart(),
    boolean("general.plan.enabled", true, "Makes plan mode available.").restart(),
    unset("general.plan.directory", Kind::Text, "Folder in the project where plans are kept.").restart(),
    boolean("general.plan.modelRouting", true, "Uses a stronger model for planning and a faster one afterwards."),
    boolean("general.retryFetchErrors", true, "Tries again after network errors."),
    integer("general.maxAttempts", 10, "How often a request is tried, at most 10."),
    boolean("general.debugKeystrokeLogging", false, "Logs keys in debug mode."),
    // Off by default, unlike in Gemini CLI: nothing that a person did is deleted unasked.
    boolean("general.sessionRetention.enabled", false, "Deletes old sessions."),
    text("general.sessionRetention.maxAge", "30d", "Age at which a session is deleted: a number and `h`, `d`, `w` or `m`."),
    unset("general.sessionRetention.maxCount", Kind::Number, "How many sessions are kept."),
    text("general.sessionRetention.minRetention", "1d", "The least that `maxAge` may be."),
    boolean("general.topicUpdateNarration", true, "Offers the tool with which the model names its topic."),
    boolean("general.logRagSnippets", false, "Writes code customisation snippets to a trace file."),

    choice("output.format", &["text", "json"], "text", "Output format of headless runs; `stream-json` is only available as a flag."),
    boolean("privacy.usageStatisticsEnabled", true, "Sends the installation id with requests.").restart(),
    boolean("ide.enabled", false, "Connects to the companion in an editor.").restart(),
    boolean("ide.hasSeenNudge", false, "Whether the hint about the companion was shown."),
    choice("billing.overageStrategy", &["ask", "always", "never"], "ask", "Whether credits are spent when the quota is used up."),
    unset("billing.vertexAi.requestType", Kind::Choice(&["dedicated", "shared"]), "Request type sent to Vertex AI.").restart(),
    unset("billing.vertexAi.sharedRequestType", Kind::Choice(&["priority", "flex"]), "Kind of shared request sent to Vertex AI.").restart(),

    unset("telemetry.enabled", Kind::Boolean, "Produces telemetry.").restart(),
    unset("telemetry.target", Kind::Text, "Where telemetry goes: `local` or `gcp`.").restart(),
    unset("telemetry.otlpEndpoint", Kind::Text, "Address of an OTLP collector.").restart(),
    unset("telemetry.otlpProtocol", Kind::Choice(&["grpc", "http"]), "Protocol of the OTLP collector.").restart(),
    unset("telemetry.logPrompts", Kind::Boolean, "Includes the text of prompts.").restart(),
    unset("telemetry.outfile", Kind::Text, "File that telemetry is written to.").restart(),
    unset("telemetry.useCollector", Kind::Boolean, "Sends to a collector instead of directly to Google Cloud.").restart(),
    unset("telemetry.useCliAuth", Kind::Boolean, "Sends with the credentials of the program.").restart(),
    unset("telemetry.traces", Kind::Boolean, "Produces detailed spans.").restart(),
];
