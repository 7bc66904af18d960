//! The root, `general` and `output`.

use super::kind::SettingKind;
use super::records;
use super::setting::{Setting, boolean, choice, integer, object, text, texts, unset};

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

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    unset("$schema", SettingKind::Text, "Address of the JSON schema, for editors."),
    object("mcpServers", &SettingKind::Record(&records::SERVER), "Model Context Protocol servers by name.").restart().shallow().idle(),
    texts("policyPaths", &[], "More files and folders of the person's policy rules.").restart().union().flag("--policy"),
    texts("adminPolicyPaths", &[], "More files and folders of administrator policy rules.").restart().union().flag("--admin-policy"),

    unset("general.preferredEditor", SettingKind::Choice(EDITORS), "Editor for texts and diffs.").idle(),
    boolean("general.openEditorInNewWindow", false, "Opens editors of the VS Code family in a new window.").idle(),
    boolean("general.vimMode", false, "Vi keys in the input line.").idle(),
    choice("general.defaultApprovalMode", &["default", "auto_edit", "plan"], "default", "Approval mode at start; yolo is only available as a flag.").flag("--approval-mode"),
    boolean("general.devtools", false, "Starts the developer tools server.").idle(),
    boolean("general.enableAutoUpdate", true, "Installs updates.").idle(),
    boolean("general.enableAutoUpdateNotification", true, "Tells about updates.").idle(),
    boolean("general.enableNotifications", false, "Notifies through the terminal when attention is needed.").idle(),
    choice("general.notificationMethod", &["auto", "osc9", "osc777", "bell"], "auto", "How the terminal is asked to notify.").idle(),
    boolean("general.checkpointing.enabled", false, "Keeps snapshots of files for `/restore`.").restart().idle(),
    boolean("general.plan.enabled", true, "Makes plan mode available.").restart(),
    unset("general.plan.directory", SettingKind::Text, "Folder in the project where plans are kept.").restart(),
    boolean("general.plan.modelRouting", true, "Uses a stronger model for planning and a faster one afterwards.").idle(),
    boolean("general.retryFetchErrors", true, "Tries again after network errors."),
    integer("general.maxAttempts", 10, "How often a request is tried, at most 10."),
    boolean("general.debugKeystrokeLogging", false, "Logs keys in debug mode.").idle(),
    // Off by default, unlike in Gemini CLI: the user's work is never deleted without a request.
    boolean("general.sessionRetention.enabled", false, "Deletes old sessions at start. Pollux never deletes a session unasked.").idle(),
    text("general.sessionRetention.maxAge", "30d", "Age at which a session is deleted: a number and `h`, `d`, `w` or `m`.").idle(),
    unset("general.sessionRetention.maxCount", SettingKind::Number, "How many sessions are kept.").idle(),
    text("general.sessionRetention.minRetention", "1d", "The least that `maxAge` may be.").idle(),
    boolean("general.topicUpdateNarration", true, "Offers the tool with which the model names its topic."),
    boolean("general.logRagSnippets", false, "Writes code customisation snippets to a trace file.").idle(),

    choice("output.format", &["text", "json"], "text", "Output format of headless runs; `stream-json` is only available as a flag.").flag("--output-format"),
];
