//! Which settings of a project take effect in a trusted folder at once, and which are asked about.
//!
//! A table, so that it can be read beside the settings. The longest key that covers a setting decides.

use serde_json::Value;

use Judgement::{Asked, AskedUnless, Each, Elsewhere, Free, IfChanged, IfOtherVendor};

/// What is asked about a setting of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Nothing: it starts nothing, sends nothing elsewhere and loosens no rule.
    Free,
    /// It is an item, for this reason.
    Asked(&'static str),
    /// An item, unless its value is this, which only tightens.
    AskedUnless(Tight, &'static str),
    /// An item when the person, or the system, has set it to something else.
    IfChanged(&'static str),
    /// An item when a model that it names may be another vendor's than the person's.
    IfOtherVendor(&'static str),
    /// An object of which each entry is an item.
    Each(Entry),
    /// Another crate lists its items. A value that is no object would take the person's own away, and
    /// is an item.
    Elsewhere,
}

/// A value that nobody needs to be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tight {
    True,
    False,
    Text(&'static str),
}

impl Tight {
    /// Whether `value` is this one. Texts become truth values where the schema wants them.
    pub(crate) fn is(self, value: &Value) -> bool {
        let text = match self {
            Self::True => "true",
            Self::False => "false",
            Self::Text(text) => return value.as_str() == Some(text),
        };
        value.as_str() == Some(text) || value.as_bool() == Some(self == Self::True)
    }
}

/// What the entries of an object are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Servers of `mcpServers`.
    Server,
    /// Other definitions.
    Definition,
}

const ASKS_LESS: &str = "calls run without being asked about";
/// Reason of settings whose text is a command line.
pub(crate) const PROGRAM: &str = "a program runs";
const SENDS: &str = "decides what is sent or written where";
const WIDENS: &str = "more of the disk can be read and changed";
const CREDENTIALS: &str = "decides which credentials are used";
const LOOSENS: &str = "a rule of yours is loosened";
const SPENDS: &str = "decides what is paid for";
const VENDOR: &str = "decides which vendor the conversation is sent to";
const DELETES: &str = "old sessions are deleted";

/// The judgements. Groups come before their parts, and cover the parts that have no row.
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
    ("general.plan.directory", Asked("plan mode can write there")),
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
    // It has no effect in a project's file at all: nobody can agree to it.
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
    // Nor has this.
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

/// Settings that no run without a person agrees to, not even the first in a trusted folder.
pub(crate) const ONLY_BY_A_PERSON: [&str; 3] = ["model", MODEL_NAME, MODEL_CONFIGS];

/// Returns true if each model that `value`, the setting `key`, names is surely of the vendor that `own`, the person's
/// `model.name`, is of.
pub(crate) fn keeps_vendor(key: &str, value: &Value, own: Option<&Value>) -> bool {
    if key == MODEL_NAME { is_of_same_vendor(value, own) } else { all_keep_vendor(value, own) }
}

/// The same of the fields called `model` in a value.
fn all_keep_vendor(value: &Value, own: Option<&Value>) -> bool {
    let field = |(name, value): (&String, &Value)| match value {
        Value::Object(_) => all_keep_vendor(value, own),
        _ if name == "model" => is_of_same_vendor(value, own),
        _ => all_keep_vendor(value, own),
    };
    match value {
        Value::Object(fields) => fields.iter().all(field),
        // The `match` of an override says for which models it is.
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

/// Returns the vendor that the name of a model begins with, empty for a name of Gemini's that any vendor reads as its own
/// choice; `None` where the name alone does not say who answers.
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

/// The judgement about a dotted key. Settings that nobody knows are free: nothing acts on them.
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

/// Whether parts of the group have rows of their own.
pub(crate) fn is_divided(key: &str) -> bool {
    TABLE.iter().any(|(row, _)| row.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}
