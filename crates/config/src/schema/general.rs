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
    object("mcpServers", &SettingKind::Record(&records::SERVER), "Model Context Protocol servers by name.").restart().shallow(),
    texts("policyPaths", &[], "Additional files and folders with the user's policy rules.").restart().union().flag("--policy"),
    texts("adminPolicyPaths", &[], "Additional files and folders with administrator policy rules.").restart().union().flag("--admin-policy"),

    unset("general.preferredEditor", SettingKind::Choice(EDITORS), "Editor for texts and diffs.").idle(),
    boolean("general.openEditorInNewWindow", false, "Opens editors of the VS Code family in a new window.").idle(),
    boolean("general.vimMode", false, "Vi keys in the input of the screen."),
    choice("general.defaultApprovalMode", &["default", "auto_edit", "plan"], "default", "Approval mode at start; yolo is only available as a flag.").flag("--approval-mode"),
    boolean("general.devtools", false, "Starts the developer tools server.").idle(),
    boolean("general.enableAutoUpdate", true, "Installs updates.").idle(),
    boolean("general.enableAutoUpdateNotification", true, "Notifies about updates.").idle(),
    boolean("general.enableNotifications", false, "Sends a notification through the terminal when a question waits or the work has ended, unless the window has the focus."),
    choice("general.notificationMethod", &["auto", "osc9", "osc777", "bell"], "auto", "Method for terminal notifications."),
    boolean("general.checkpointing.enabled", false, "Saves checkpoints of files for `/restore`.").restart(),
    boolean("general.plan.enabled", true, "Enables plan mode.").restart(),
    unset("general.plan.directory", SettingKind::Text, "Folder in the project where plans are kept.").restart(),
    boolean("general.plan.modelRouting", true, "Uses a stronger model for planning and a faster one afterwards, if the model is `auto`.").restart(),
    boolean("general.retryFetchErrors", true, "Retries requests after network errors."),
    integer("general.maxAttempts", 10, "Maximum number of attempts for a request, at most 10.").within(1, 10),
    boolean("general.debugKeystrokeLogging", false, "Logs keystrokes in debug mode.").idle(),
    // Off by default, unlike in Gemini CLI: the user's work is never deleted without a request.
    boolean("general.sessionRetention.enabled", false, "Deletes old sessions at start. Pollux only deletes a session on request.").idle(),
    text("general.sessionRetention.maxAge", "30d", "Age at which a session is deleted: a number and `h`, `d`, `w` or `m`.").idle(),
    unset("general.sessionRetention.maxCount", SettingKind::Number, "Maximum number of sessions that are kept.").idle(),
    text("general.sessionRetention.minRetention", "1d", "Minimum value of `maxAge`.").idle(),
    boolean("general.topicUpdateNarration", true, "Offers the tool with which the model reports its topic."),
    boolean("general.logRagSnippets", false, "Writes code customisation snippets to a trace file.").idle(),

    choice("output.format", &["text", "json"], "text", "Output format of headless runs; `stream-json` is only available as a flag.").flag("--output-format"),
];
