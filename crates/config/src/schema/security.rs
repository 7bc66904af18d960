//! `security` and `advanced`.

use super::kind::SettingKind;
use super::records;
use super::setting::{Setting, boolean, texts, unset};

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    boolean("security.toolSandboxing", false, "Confines commands to the workspace, temporary files and caches (level `workspace-write`).").restart(),
    boolean("security.disableYoloMode", false, "Forbids yolo mode.").restart(),
    boolean("security.disableAlwaysAllow", false, "Hides the choices that allow permanently.").restart(),
    boolean("security.enablePermanentToolApproval", false, "Offers to keep an approval for later sessions."),
    boolean("security.autoAddToPolicyByDefault", false, "Makes a permanent approval the default choice for file changes and information requests."),
    boolean("security.blockGitExtensions", false, "Forbids extensions from Git.").restart(),
    texts("security.allowedExtensions", &[], "Patterns of the sources that extensions may come from.").restart(),
    boolean("security.folderTrust.enabled", true, "Asks whether a folder is trusted; ignored in a project's own file.").restart().not_project(),
    texts("security.environmentVariableRedaction.allowed", &[], "Variables that are never hidden.").restart(),
    texts("security.environmentVariableRedaction.blocked", &[], "Variables that are always hidden.").restart(),
    boolean("security.environmentVariableRedaction.enabled", false, "Hides secrets from commands.").restart(),
    unset("security.auth.selectedType", SettingKind::Text, "Sign-in method.").restart(),
    unset("security.auth.enforcedType", SettingKind::Text, "The only sign-in method that is allowed.").restart(),
    unset("security.auth.useExternal", SettingKind::Boolean, "Skips the check of the sign-in because an external program performs it.").restart().idle(),
    boolean("security.enableConseca", false, "Lets a model check each call against the intent of the prompt; if the check fails, the call is allowed.").restart(),

    boolean("advanced.autoConfigureMemory", true, "Sets the heap size of Node.js, which Pollux does not use.").restart().idle(),
    unset("advanced.dnsResolutionOrder", SettingKind::Text, "Order of network addresses: `ipv4first` or `verbatim`. Pollux uses the order of the resolver.").restart().idle(),
    texts("advanced.excludedEnvVars", &["DEBUG", "DEBUG_MODE"], "Variables that are not taken from a project's `.env`.").union(),
    boolean("advanced.ignoreLocalEnv", false, "Ignores `.env` files outside of the home directory.").restart(),
    unset("advanced.bugCommand", SettingKind::Record(&records::BUG_COMMAND), "Address of the form for bug reports."),
];
