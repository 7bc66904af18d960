//! `security` and `advanced`.

use super::setting::{Kind, Setting, boolean, texts, unset};

// One row per line reads better than what the formatter makes of it.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    boolean("security.toolSandboxing", false, "Isolates each tool.").restart(),
    boolean("security.disableYoloMode", false, "Forbids yolo mode.").restart(),
    boolean("security.disableAlwaysAllow", false, "Hides the answers that allow for good.").restart(),
    boolean("security.enablePermanentToolApproval", false, "Offers to keep an approval for later sessions."),
    boolean("security.autoAddToPolicyByDefault", false, "Preselects keeping an approval."),
    boolean("security.blockGitExtensions", false, "Forbids extensions from Git.").restart(),
    texts("security.allowedExtensions", &[], "Patterns of the sources that extensions may come from.").restart(),
    boolean("security.folderTrust.enabled", true, "Asks whether a folder is trusted; not honoured in a project's own file.").restart(),
    boolean("security.environmentVariableRedaction.enabled", false, "Hides secrets from commands.").restart(),
    texts("security.environmentVariableRedaction.allowed", &[], "Variables that are never hidden.").restart(),
    texts("security.environmentVariableRedaction.blocked", &[], "Variables that are always hidden.").restart(),
    unset("security.auth.selectedType", Kind::Text, "How to sign in.").restart(),
    unset("security.auth.enforcedType", Kind::Text, "The only way to sign in that is allowed.").restart(),
    unset("security.auth.useExternal", Kind::Boolean, "Leaves the check of the sign-in to someone else.").restart(),
    boolean("security.enableConseca", false, "Has a model check calls for safety.").restart(),

    boolean("advanced.autoConfigureMemory", true, "Accepted for compatibility; Pollux has no heap to size.").restart(),
    unset("advanced.dnsResolutionOrder", Kind::Text, "`ipv4first` or `verbatim`.").restart(),
    texts("advanced.excludedEnvVars", &["DEBUG", "DEBUG_MODE"], "Variables that are not taken from a project's `.env`."),
    boolean("advanced.ignoreLocalEnv", false, "Skips `.env` outside of the home directory.").restart(),
    unset("advanced.bugCommand", Kind::Object, "Address of the form for bug reports."),
];
