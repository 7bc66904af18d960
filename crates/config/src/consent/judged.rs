//! Table of the project settings that take effect immediately in a trusted folder, and of those
//! that need consent.
//!
//! A table can be compared with the list of settings. The longest key that covers a setting
//! decides.

use serde_json::Value;

use Judgement::{Asked, AskedUnless, Each, Elsewhere, Free, IfChanged, IfOtherVendor};

/// Rule for a setting of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// No consent needed: the setting starts nothing, sends nothing elsewhere and loosens no rule.
    Free,
    /// Consent needed, for this reason.
    Asked(&'static str),
    /// Consent needed, unless the setting has this value, which only tightens a rule.
    AskedUnless(Tight, &'static str),
    /// Consent needed if the user or the system has set another value.
    IfChanged(&'static str),
    /// Consent needed if the setting names a model that may belong to another vendor than the
    /// user's model.
    IfOtherVendor(&'static str),
    /// An object that needs consent for each entry.
    Each(Entry),
    /// Another crate lists the items of the object. A value that is not an object would replace the
    /// user's own object and needs consent.
    Elsewhere,
}

/// Value that needs no consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tight {
    True,
    False,
    Text(&'static str),
}

impl Tight {
    /// Returns true if `value` is this value. A string counts as the boolean that it spells.
    pub(crate) fn is(self, value: &Value) -> bool {
        let text = match self {
            Self::True => "true",
            Self::False => "false",
            Self::Text(text) => return value.as_str() == Some(text),
        };
        value.as_str() == Some(text) || value.as_bool() == Some(self == Self::True)
    }
}

/// Kind of the entries of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Servers of `mcpServers`.
    Server,
    /// Other definitions.
    Definition,
}

const ASKS_LESS: &str = "calls run without approval";
/// Reason for settings whose text is a command line.
pub(crate) const PROGRAM: &str = "a program runs";
const SENDS: &str = "determines which data is sent or written, and its destination";
const WIDENS: &str = "more files can be read and changed";
const CREDENTIALS: &str = "determines which credentials are used";
const LOOSENS: &str = "weakens one of your rules";
const SPENDS: &str = "affects costs";
const VENDOR: &str = "determines the vendor that receives the conversation";
const DELETES: &str = "old sessions are deleted";

/// Rules by key. The rule of a group covers its parts without their own row.
pub(crate) const TABLE: &[(&str, Judgement)] = &[
    ("$schema", Free),
    ("adminPolicyPaths", Asked(LOOSENS)),
    ("advanced", Free),
    ("advanced.bugCommand", Asked(SENDS)),
    ("advanced.ignoreLocalEnv", AskedUnless(Tight::True, LOOSENS)),
    ("agents", Asked(PROGRAM)),
    ("agents.browser", Asked(LOOSENS)),
    ("agents.overrides", Each(Entry::Definition)),
    ("billing", Asked(SPENDS)),
    ("context", Free),
    ("context.includeDirectories", Asked(WIDENS)),
    ("context.loadMemoryFromIncludeDirectories", AskedUnless(Tight::False, WIDENS)),
    ("contextManagement", Free),
    ("experimental", Free),
    ("experimental.autoMemory", AskedUnless(Tight::False, LOOSENS)),
    ("experimental.extensionRegistryURI", Asked(SENDS)),
    ("experimental.gemmaModelRouter", Asked(PROGRAM)),
    ("extensions", Free),
    ("extensions.disabled", Asked(LOOSENS)),
    ("general", Free),
    ("general.defaultApprovalMode", AskedUnless(Tight::Text("default"), ASKS_LESS)),
    ("general.plan.directory", Asked("plan mode can write to this folder")),
    ("general.sessionRetention", Asked(DELETES)),
    ("hooks", Elsewhere),
    ("hooksConfig", Asked(LOOSENS)),
    ("hooksConfig.notifications", Free),
    ("ide", Free),
    ("ide.enabled", IfChanged(LOOSENS)),
    ("mcp", Asked(ASKS_LESS)),
    ("mcp.excluded", Free),
    ("mcp.serverCommand", Asked(PROGRAM)),
    ("mcpServers", Each(Entry::Server)),
    ("model", Free),
    ("model.maxSessionTurns", IfChanged(SPENDS)),
    (MODEL_NAME, IfOtherVendor(VENDOR)),
    (MODEL_CONFIGS, IfOtherVendor(VENDOR)),
    ("output", Free),
    ("policyPaths", Asked(LOOSENS)),
    ("pollux", Asked(LOOSENS)),
    ("pollux.budget", IfChanged(SPENDS)),
    // These settings never take effect in a project's file, so there is nothing to consent to.
    ("pollux.fallback", Free),
    ("pollux.roles", Free),
    ("pollux.safetyCheckers", Free),
    ("pollux.compression.timeout", Free),
    ("pollux.shell.timeout", Free),
    ("privacy", Asked(SENDS)),
    ("privacy.usageStatisticsEnabled", AskedUnless(Tight::False, SENDS)),
    ("security", Asked(LOOSENS)),
    ("security.auth", Asked(CREDENTIALS)),
    ("security.blockGitExtensions", AskedUnless(Tight::True, LOOSENS)),
    ("security.disableAlwaysAllow", AskedUnless(Tight::True, LOOSENS)),
    ("security.disableYoloMode", AskedUnless(Tight::True, LOOSENS)),
    // This setting never takes effect in a project's file either.
    ("security.folderTrust", Free),
    ("security.environmentVariableRedaction.blocked", IfChanged(LOOSENS)),
    ("security.environmentVariableRedaction.enabled", AskedUnless(Tight::True, LOOSENS)),
    ("security.toolSandboxing", AskedUnless(Tight::True, LOOSENS)),
    ("skills", Free),
    ("skills.enabled", IfChanged(LOOSENS)),
    ("telemetry", AskedUnless(Tight::False, SENDS)),
    ("telemetry.enabled", AskedUnless(Tight::False, SENDS)),
    ("telemetry.logPrompts", AskedUnless(Tight::False, SENDS)),
    ("telemetry.traces", AskedUnless(Tight::False, SENDS)),
    ("telemetry.useCliAuth", AskedUnless(Tight::False, CREDENTIALS)),
    ("tools", Asked(PROGRAM)),
    ("tools.allowed", Asked(ASKS_LESS)),
    ("tools.confirmationRequired", IfChanged(LOOSENS)),
    ("tools.core", Asked(ASKS_LESS)),
    ("tools.disableLLMCorrection", Free),
    ("tools.exclude", Free),
    ("tools.sandbox", AskedUnless(Tight::True, LOOSENS)),
    ("tools.sandboxAllowedPaths", Asked(WIDENS)),
    ("tools.sandboxNetworkAccess", AskedUnless(Tight::False, LOOSENS)),
    ("tools.shell", Free),
    ("tools.shell.pager", AskedUnless(Tight::Text("cat"), PROGRAM)),
    ("tools.truncateToolOutputThreshold", Free),
    ("tools.useRipgrep", Free),
    ("ui", Free),
    ("useWriteTodos", Free),
];

const MODEL_NAME: &str = "model.name";
const MODEL_CONFIGS: &str = "modelConfigs";

/// Settings that need the consent of a present user, even in the first run in a trusted folder.
pub(crate) const ONLY_BY_A_PERSON: [&str; 3] = ["model", MODEL_NAME, MODEL_CONFIGS];

/// Returns true if each model in `value`, the value of the setting `key`, certainly belongs to the
/// vendor of `own`, the user's `model.name`.
pub(crate) fn keeps_vendor(key: &str, value: &Value, own: Option<&Value>) -> bool {
    if key == MODEL_NAME { is_of_same_vendor(value, own) } else { all_keep_vendor(value, own) }
}

/// Returns true if this holds for all fields called `model` in a value.
fn all_keep_vendor(value: &Value, own: Option<&Value>) -> bool {
    let field = |(name, value): (&String, &Value)| match value {
        Value::Object(_) => all_keep_vendor(value, own),
        _ if name == "model" => is_of_same_vendor(value, own),
        _ => all_keep_vendor(value, own),
    };
    match value {
        Value::Object(fields) => fields.iter().all(field),
        // The `match` of an override selects the models that the override applies to.
        Value::Array(values) => values.iter().all(|value| match value {
            Value::Object(fields) => fields.iter().filter(|(name, _)| *name != "match").all(field),
            _ => all_keep_vendor(value, own),
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn is_of_same_vendor(name: &Value, own: Option<&Value>) -> bool {
    let vendor = name.as_str().and_then(vendor_of);
    let own_vendor = own.map_or(Some(""), |own| own.as_str().and_then(vendor_of));
    own == Some(name) || (vendor.is_some() && vendor == own_vendor)
}

/// Returns the vendor at the start of a model name. The vendor is empty for a Gemini name, which
/// any vendor interprets as its own choice of model. Returns `None` if the name alone does not
/// determine the vendor.
fn vendor_of(name: &str) -> Option<&str> {
    let name = name.trim();
    let is_written_out = !name.contains(['$', '%']);
    let is_geminis = name.starts_with("gemini-")
        || name.starts_with("auto-gemini-")
        || ["auto", "pro", "flash", "flash-lite"].contains(&name);
    match name.split_once('/') {
        Some((vendor, _)) => Some(vendor),
        None => is_geminis.then_some(""),
    }
    .filter(|_| is_written_out)
}

/// Returns the rule for a dotted key. Unknown settings are free, because nothing acts on them.
pub(crate) fn judgement(key: &str) -> Judgement {
    let mut covering = key;
    loop {
        if let Some((_, judgement)) = TABLE.iter().find(|(row, _)| *row == covering) {
            return *judgement;
        }
        match covering.rsplit_once('.') {
            Some((group, _)) => covering = group,
            None => return Free,
        }
    }
}

/// Returns true if the group has parts with their own rows.
pub(crate) fn is_divided(key: &str) -> bool {
    TABLE.iter().any(|(row, _)| row.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}
