//! `tools` and `mcp`: tools that the model may use.

use super::kind::SettingKind;
use super::records;
use super::setting::{Setting, boolean, choice, integer, text, texts, unset};
use crate::environment::names;

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    unset("tools.sandbox", SettingKind::Either(&[SettingKind::Boolean, SettingKind::Text, SettingKind::Record(&records::SANDBOX)]), "Requests a sandbox: `true` or `false`, a name, or an object. The run ends if the sandbox is not available.").restart().variables(&[names::GEMINI_SANDBOX]).flag("--sandbox"),
    texts("tools.sandboxAllowedPaths", &[], "Paths that the sandbox may use.").restart().idle(),
    boolean("tools.sandboxNetworkAccess", false, "Allows commands in the sandbox of tools to use the network.").restart(),
    boolean("tools.shell.enableInteractiveShell", true, "Gives commands a terminal.").restart(),
    choice("tools.shell.backgroundCompletionBehavior", &["silent", "inject", "notify"], "silent", "Action when a background command ends."),
    text("tools.shell.pager", "cat", "Pager that commands see."),
    boolean("tools.shell.showColor", true, "Keeps colours in the output of commands."),
    integer("tools.shell.inactivityTimeout", 300, "Time without output after which a command is ended, in seconds."),
    boolean("tools.shell.enableShellOutputEfficiency", true, "Instructs the model to keep the output of commands short."),
    unset("tools.core", SettingKind::TEXTS, "List of the built-in tools that are offered; all others are not.").restart(),
    unset("tools.allowed", SettingKind::TEXTS, "Calls that need no confirmation; policy rules replace it.").restart().flag("--allowed-tools"),
    unset("tools.confirmationRequired", SettingKind::TEXTS, "Tools that always need confirmation.").restart(),
    unset("tools.exclude", SettingKind::TEXTS, "Tools that are denied; policy rules replace it.").restart().union(),
    unset("tools.discoveryCommand", SettingKind::Text, "Command that lists additional tools.").restart(),
    unset("tools.callCommand", SettingKind::Text, "Command that calls a tool of `tools.discoveryCommand`.").restart(),
    boolean("tools.useRipgrep", true, "Searches with ripgrep. The search of Pollux is built in.").idle(),
    integer("tools.truncateToolOutputThreshold", 40_000, "Maximum number of characters of output that the model receives; zero or less for no limit.").restart(),
    boolean("tools.disableLLMCorrection", true, "Does not ask a model to repair failed edits.").restart(),

    unset("mcp.serverCommand", SettingKind::Text, "Command that starts one server.").restart(),
    unset("mcp.allowed", SettingKind::TEXTS, "The only servers that are loaded.").restart().flag("--allowed-mcp-server-names"),
    unset("mcp.excluded", SettingKind::TEXTS, "Servers that are not loaded.").restart(),

    boolean("useWriteTodos", true, "Offers the todo tool to the model."),

    unset("mcp.autoAllowInHeadless", SettingKind::Boolean, "Lets headless runs use the tools of servers without a rule.").restart(),
];
