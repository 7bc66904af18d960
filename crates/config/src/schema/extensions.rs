//! `extensions`, `skills`, `hooks`, `contextManagement` and `admin`.

use super::kind::SettingKind;
use super::records;
use super::setting::{Setting, boolean, fraction, integer, list, object, texts};

const HOOKS: &SettingKind = &SettingKind::Record(&records::HOOKS);

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    texts("extensions.disabled", &[], "Extensions that are not loaded.").restart().union(),
    texts("extensions.workspacesWithMigrationNudge", &[], "Folders in which the hint about extensions has been shown.").union().idle(),

    boolean("skills.enabled", true, "Loads skills.").restart(),
    texts("skills.disabled", &[], "Skills that are not offered: /skills.").union(),

    boolean("hooksConfig.enabled", true, "Runs hooks.").restart(),
    texts("hooksConfig.disabled", &[], "Hooks that do not run.").union(),
    boolean("hooksConfig.notifications", true, "Shows a notice while a hook runs.").idle(),

    list("hooks.BeforeTool", HOOKS, "Programs that run before a tool.").concat(),
    list("hooks.AfterTool", HOOKS, "Programs that run after a tool.").concat(),
    list("hooks.BeforeAgent", HOOKS, "Programs that run before the agent processes a prompt.").concat(),
    list("hooks.AfterAgent", HOOKS, "Programs that run after the agent has processed a prompt.").concat(),
    list("hooks.Notification", HOOKS, "Programs that run when the user is notified.").concat(),
    list("hooks.SessionStart", HOOKS, "Programs that run when a session starts.").concat(),
    list("hooks.SessionEnd", HOOKS, "Programs that run when a session ends.").concat(),
    list("hooks.PreCompress", HOOKS, "Programs that run before the conversation is compressed.").concat(),
    list("hooks.BeforeModel", HOOKS, "Programs that run before a request.").concat(),
    list("hooks.AfterModel", HOOKS, "Programs that run after a response.").concat(),
    list("hooks.BeforeToolSelection", HOOKS, "Programs that run before the available tools are selected.").concat(),

    integer("contextManagement.historyWindow.maxTokens", 150_000, "Number of history tokens at which the oldest are dropped.").restart().idle(),
    integer("contextManagement.historyWindow.retainedTokens", 40_000, "Number of history tokens that are kept.").restart().idle(),
    integer("contextManagement.messageLimits.normalMaxTokens", 2_500, "Tokens at which an old message is shortened.").restart().idle(),
    integer("contextManagement.messageLimits.retainedMaxTokens", 12_000, "Tokens at which a recent message is shortened.").restart().idle(),
    fraction("contextManagement.messageLimits.normalizationHeadRatio", 0.25, "Share of a shortened message that comes from its start.").restart().idle(),
    integer("contextManagement.tools.distillation.maxOutputTokens", 10_000, "Tokens at which tool output is distilled.").restart().idle(),
    integer("contextManagement.tools.distillation.summarizationThresholdTokens", 20_000, "Tokens at which tool output is summarised.").restart().idle(),
    integer("contextManagement.tools.outputMasking.protectionThresholdTokens", 50_000, "Number of tokens of recent tool output that are never masked.").restart(),
    integer("contextManagement.tools.outputMasking.minPrunableThresholdTokens", 30_000, "Minimum number of tokens that masking must save.").restart(),
    boolean("contextManagement.tools.outputMasking.protectLatestTurn", true, "Never masks the latest turn.").restart(),

    // Only values that the account's administrator sets remotely take effect; files cannot set
    // these.
    boolean("admin.secureModeEnabled", false, "Forbids yolo mode.").remote(),
    boolean("admin.extensions.enabled", true, "Allows extensions.").remote(),
    boolean("admin.mcp.enabled", true, "Allows Model Context Protocol servers.").remote().idle(),
    object("admin.mcp.config", &SettingKind::Record(&records::SERVER), "The only servers that are allowed.").remote().idle(),
    object("admin.mcp.requiredConfig", &SettingKind::Record(&records::REQUIRED_SERVER), "Servers that are always loaded.").remote().idle(),
    boolean("admin.skills.enabled", true, "Allows skills.").remote(),
];
