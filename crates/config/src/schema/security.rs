//! `security` and `advanced`.

use super::kind::SettingKind;
use super::records;
use super::setting::{Setting, boolean, texts, unset};

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    boolean("security.toolSandboxing", false, "Confines commands to the workspace, temporary files and caches (level `workspace-write`).").restart(),
    boolean("security.disableYoloMode", false, "Forbids yolo mode.").restart(),
    boolean("security.disableAlwaysAllow", false, "Hides the answers that allow for good.").restart(),
    boolean("security.enablePermanentToolApproval", false, "Offers to keep an approval for later sessions."),
    boolean("security.autoAddToPolicyByDefault", false, "Makes keeping it what Enter answers, for changes of files and for information."),
    boolean("security.blockGitExtensions", false, "Forbids extensions from Git.").restart().idle(),
    texts("security.allowedExtensions", &[], "Patterns of the sources that extensions may come from.").restart().idle(),
    boolean("security.folderTrust.enabled", true, "Asks whether a folder is trusted; not honoured in a project's own file.").restart().not_project(),
    texts("security.environmentVariableRedaction.allowed", &[], "Variables that are never hidden.").restart(),
    texts("security.environmentVariableRedaction.blocked", &[], "Variables that are always hidden.").restart(),
    boolean("security.environmentVariableRedaction.enabled", false, "Hides secrets from commands.").restart(),
    unset("security.auth.selectedType", SettingKind::Text, "How to sign in.").restart(),
    unset("security.auth.enforcedType", SettingKind::Text, "The only way to sign in that is allowed.").restart(),
    unset("security.auth.useExternal", SettingKind::Boolean, "Leaves the check of the sign-in to someone else.").restart().idle(),
    boolean("security.enableConseca", false, "Has a model check each call against what the prompt asks for; what fails there lets the call pass.").restart(),

    boolean("advanced.autoConfigureMemory", true, "Sizes the heap of Node.js. Pollux has none.").restart().idle(),
    unset("advanced.dnsResolutionOrder", SettingKind::Text, "Which addresses are tried first: `ipv4first` or `verbatim`. Pollux takes the order of the resolver.").restart().idle(),
    texts("advanced.excludedEnvVars", &["DEBUG", "DEBUG_MODE"], "Variables that are not taken from a project's `.env`.").union(),
    boolean("advanced.ignoreLocalEnv", false, "Skips `.env` outside of the home directory.").restart(),
    unset("advanced.bugCommand", SettingKind::Record(&records::BUG_COMMAND), "Address of the form for bug reports.").idle(),
];
