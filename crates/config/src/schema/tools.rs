//! `tools` and `mcp`: what the model may use.

use super::setting::{Kind, Setting, boolean, choice, integer, text, texts, unset};

// One row per line reads better than what the formatter makes of it.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    unset("tools.sandbox", Kind::SandboxChoice, "Runs the program in a sandbox.").restart(),
    texts("tools.sandboxAllowedPaths", &[], "Paths that the sandbox may use.").restart(),
    boolean("tools.sandboxNetworkAccess", false, "Allows the sandbox to use the network.").restart(),
    boolean("tools.shell.enableInteractiveShell", true, "Gives commands a terminal.").restart(),
    choice("tools.shell.backgroundCompletionBehavior", &["silent", "inject", "notify"], "silent", "What happens when a background command ends."),
    text("tools.shell.pager", "cat", "Pager that commands see."),
    boolean("tools.shell.showColor", true, "Keeps colours in the output of commands."),
    integer("tools.shell.inactivityTimeout", 300, "Seconds without output after which a command is ended."),
    boolean("tools.shell.enableShellOutputEfficiency", true, "Tells the model to keep output short."),
    unset("tools.core", Kind::Texts, "The only built-in tools that are offered.").restart(),
    unset("tools.allowed", Kind::Texts, "Calls that need no confirmation; policy rules replace it.").restart(),
    unset("tools.confirmationRequired", Kind::Texts, "Tools that always need confirmation.").restart(),
    unset("tools.exclude", Kind::Texts, "Tools that are denied; policy rules replace it.").restart(),
    unset("tools.discoveryCommand", Kind::Text, "Command that lists more tools.").restart(),
    unset("tools.callCommand", Kind::Text, "Command that calls a tool of `tools.discoveryCommand`.").restart(),
    boolean("tools.useRipgrep", true, "Accepted for compatibility; the search is built in."),
    integer("tools.truncateToolOutputThreshold", 40_000, "Characters of output that the model sees; zero or less for all.").restart(),
    boolean("tools.disableLLMCorrection", true, "Does not ask a model to repair failed edits.").restart(),

    unset("mcp.serverCommand", Kind::Text, "Command that starts one server.").restart(),
    unset("mcp.allowed", Kind::Texts, "The only servers that are loaded.").restart(),
    unset("mcp.excluded", Kind::Texts, "Servers that are not loaded.").restart(),
    unset("mcp.autoAllowInHeadless", Kind::Boolean, "Lets headless runs use the tools of servers without a rule.").restart(),
];
