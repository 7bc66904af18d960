//! `agents`, `extensions`, `skills`, `hooks`, `contextManagement` and `admin`.

use super::setting::{
    Kind, Setting, boolean, choice, fraction, integer, list, object, texts, unset,
};

// One row per line reads better than what the formatter makes of it.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    object("agents.overrides", "Changes to subagents by name.").restart(),
    choice("agents.browser.sessionMode", &["persistent", "isolated", "existing"], "persistent", "Which browser profile the browser agent uses.").restart(),
    boolean("agents.browser.headless", false, "Hides the browser.").restart(),
    unset("agents.browser.profilePath", Kind::Text, "Folder of the browser profile.").restart(),
    unset("agents.browser.visualModel", Kind::Text, "Model that looks at pages.").restart(),
    texts("agents.browser.allowedDomains", &["github.com", "*.google.com", "localhost"], "Hosts that the browser agent may visit.").restart(),
    boolean("agents.browser.disableUserInput", true, "Keeps the person from typing into the browser."),
    integer("agents.browser.maxActionsPerTask", 100, "Actions after which a task ends."),
    boolean("agents.browser.confirmSensitiveActions", false, "Asks before sensitive actions.").restart(),
    boolean("agents.browser.blockFileUploads", false, "Forbids uploads.").restart(),

    texts("extensions.disabled", &[], "Extensions that are not loaded.").restart(),
    texts("extensions.workspacesWithMigrationNudge", &[], "Folders in which the hint about extensions was shown."),
    boolean("skills.enabled", true, "Loads skills.").restart(),
    texts("skills.disabled", &[], "Skills that are not loaded.").restart(),
    boolean("hooksConfig.enabled", true, "Runs hooks.").restart(),
    texts("hooksConfig.disabled", &[], "Hooks that do not run."),
    boolean("hooksConfig.notifications", true, "Shows that a hook runs."),
    list("hooks.BeforeTool", "Programs that run before a tool."),
    list("hooks.AfterTool", "Programs that run after a tool."),
    list("hooks.BeforeAgent", "Programs that run before a prompt is worked on."),
    list("hooks.AfterAgent", "Programs that run after a prompt was worked on."),
    list("hooks.Notification", "Programs that run when the person is notified."),
    list("hooks.SessionStart", "Programs that run when a session starts."),
    list("hooks.SessionEnd", "Programs that run when a session ends."),
    list("hooks.PreCompress", "Programs that run before the conversation is compressed."),
    list("hooks.BeforeModel", "Programs that run before a request."),
    list("hooks.AfterModel", "Programs that run after a response."),
    list("hooks.BeforeToolSelection", "Programs that run before tools are offered."),

    integer("contextManagement.historyWindow.maxTokens", 150_000, "Tokens of history at which the oldest are dropped.").restart(),
    integer("contextManagement.historyWindow.retainedTokens", 40_000, "Tokens of history that are kept.").restart(),
    integer("contextManagement.messageLimits.normalMaxTokens", 2_500, "Tokens at which an old message is shortened.").restart(),
    integer("contextManagement.messageLimits.retainedMaxTokens", 12_000, "Tokens at which a recent message is shortened.").restart(),
    fraction("contextManagement.messageLimits.normalizationHeadRatio", 0.25, "Share of a shortened message that comes from its start.").restart(),
    integer("contextManagement.tools.distillation.maxOutputTokens", 10_000, "Tokens at which tool output is distilled.").restart(),
    integer("contextManagement.tools.distillation.summarizationThresholdTokens", 20_000, "Tokens at which tool output is summarised.").restart(),
    integer("contextManagement.tools.outputMasking.protectionThresholdTokens", 50_000, "Tokens of recent tool output that are never masked.").restart(),
    integer("contextManagement.tools.outputMasking.minPrunableThresholdTokens", 30_000, "Tokens that masking must save.").restart(),
    boolean("contextManagement.tools.outputMasking.protectLatestTurn", true, "Never masks the latest turn.").restart(),

    // Only what the account's administrator says remotely counts; files cannot set these.
    boolean("admin.secureModeEnabled", false, "Forbids yolo mode."),
    boolean("admin.extensions.enabled", true, "Allows extensions."),
    boolean("admin.mcp.enabled", true, "Allows Model Context Protocol servers."),
    object("admin.mcp.config", "The only servers that are allowed."),
    object("admin.mcp.requiredConfig", "Servers that are always loaded."),
    boolean("admin.skills.enabled", true, "Allows skills."),
];
