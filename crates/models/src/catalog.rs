//! Vendors as data: one JSON file each, in `catalog/`.
//!
//! A file says which dialect a vendor speaks, where it is, how requests are signed, what its models can
//! take, and where it departs from the dialect. A new vendor is a file and a line here. Limits are what
//! the vendors' model pages say; what is not listed is taken for an unknown model.

use std::sync::LazyLock;

use indexmap::IndexMap;
use pollux_protocol::{ModelError, ModelErrorKind};
use serde::Deserialize;

/// Stands for the tokens that a model takes when nobody knows.
pub const UNKNOWN_CONTEXT: u64 = 128_000;

/// Id and file of each vendor.
const FILES: [(&str, &str); 18] = [
    (GEMINI, include_str!("../catalog/gemini.json")),
    (OPENAI, include_str!("../catalog/openai.json")),
    ("openrouter", include_str!("../catalog/openrouter.json")),
    ("groq", include_str!("../catalog/groq.json")),
    ("mistral", include_str!("../catalog/mistral.json")),
    ("deepseek", include_str!("../catalog/deepseek.json")),
    ("xai", include_str!("../catalog/xai.json")),
    ("together", include_str!("../catalog/together.json")),
    ("fireworks", include_str!("../catalog/fireworks.json")),
    ("cerebras", include_str!("../catalog/cerebras.json")),
    ("nvidia", include_str!("../catalog/nvidia.json")),
    ("moonshot", include_str!("../catalog/moonshot.json")),
    ("deepinfra", include_str!("../catalog/deepinfra.json")),
    ("huggingface", include_str!("../catalog/huggingface.json")),
    ("ollama", include_str!("../catalog/ollama.json")),
    ("lmstudio", include_str!("../catalog/lmstudio.json")),
    ("llamacpp", include_str!("../catalog/llamacpp.json")),
    ("vllm", include_str!("../catalog/vllm.json")),
];

/// Vendor that answers when nothing else is configured.
pub(crate) const GEMINI: &str = "gemini";

/// Vendor of the dialect that most others speak.
pub const OPENAI: &str = "openai";

/// One vendor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vendor {
    /// What stands before the slash in `--model VENDOR/NAME`.
    pub id: String,
    /// The name as a person knows it.
    pub name: String,
    /// Wire format that it speaks: a folder of this crate.
    pub dialect: String,
    /// The address that paths such as `/chat/completions` are appended to.
    pub base_url: String,
    /// The environment variable that replaces the address.
    #[serde(default)]
    pub base_url_variable: Option<String>,
    /// Version segment between the address and the paths.
    #[serde(default)]
    pub api_version: Option<String>,
    /// The environment variable that replaces the version segment.
    #[serde(default)]
    pub api_version_variable: Option<String>,
    /// Headers of every request that are no credentials: from the name to a value, or to `$NAME` for the
    /// value of an environment variable. One without a value is left out.
    #[serde(default)]
    pub headers: IndexMap<String, String>,
    /// The environment variable with more headers, `Name: value, Name: value`. They win over others.
    #[serde(default)]
    pub headers_variable: Option<String>,
    /// How requests are signed.
    #[serde(default)]
    pub sign_in: SignIn,
    /// The environment variable with the key; none for a server that wants none.
    #[serde(default)]
    pub key_variable: Option<String>,
    /// Where a key can be had.
    #[serde(default)]
    pub key_page: Option<String>,
    /// The environment variable with the model to use when none is named.
    #[serde(default)]
    pub model_variable: Option<String>,
    /// Its models can be asked for without its name: it may be the only vendor that is configured.
    #[serde(default)]
    pub stands_alone: bool,
    /// What texts are embedded with.
    #[serde(default)]
    pub embedding_model: Option<String>,
    /// What is known of models, by a pattern of their names in which `*` stands for any text. The
    /// first that matches counts.
    #[serde(default)]
    pub models: IndexMap<String, ModelFacts>,
    /// How the vendor departs from its dialect.
    #[serde(default)]
    pub quirks: Quirks,
}

/// A way of signing requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignIn {
    /// The key as a bearer token.
    #[default]
    Key,
    /// The ways of signing in to Google that `security.auth` names.
    Google,
}

/// What is known of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    /// Tokens of a request and its answer together.
    #[serde(default)]
    pub context: Option<u64>,
    /// Tokens of an answer.
    #[serde(default)]
    pub max_output: Option<u64>,
    /// Whether it calls tools natively; unknown counts as yes until the server says otherwise.
    #[serde(default)]
    pub tools: Option<bool>,
    /// Whether it sees images; unknown counts as yes.
    #[serde(default)]
    pub vision: Option<bool>,
}

/// Departures of a vendor from its dialect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quirks {
    /// Takes `stream_options.include_usage`.
    pub stream_usage: bool,
    /// How JSON answers are asked for.
    pub json: JsonFormat,
    /// What ids of calls look like.
    pub call_ids: CallIds,
    /// A user message may follow the results of tools directly.
    pub user_after_tool: bool,
    /// Takes PDF documents.
    pub documents: bool,
    /// Takes sound.
    pub audio: bool,
    /// The key under which reasoning is sent back with the calls that it led to.
    pub return_reasoning: Option<ReasoningKey>,
    /// The key under which the largest answer is asked for, where a missing one means a small one.
    pub max_tokens_key: Option<String>,
    /// Models may write their thoughts as `<think>…</think>` before the answer.
    pub think_tags: bool,
    /// A server on the person's own machine.
    pub local: bool,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            stream_usage: true,
            json: JsonFormat::Schema,
            call_ids: CallIds::Standard,
            user_after_tool: true,
            documents: false,
            audio: false,
            return_reasoning: None,
            max_tokens_key: None,
            think_tags: false,
            local: false,
        }
    }
}

/// How JSON answers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JsonFormat {
    /// `response_format` with the schema.
    Schema,
    /// `response_format` with `json_object`; the schema goes into the instruction.
    Object,
    /// Only by the instruction.
    None,
}

/// What ids of calls look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallIds {
    /// Up to 40 letters, digits, `_` and `-`.
    Standard,
    /// Exactly nine letters and digits.
    NineAlphanumeric,
}

/// The key of a message under which reasoning comes and goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningKey {
    /// A text.
    ReasoningContent,
    /// A list of objects that only the vendor understands.
    ReasoningDetails,
}

impl ReasoningKey {
    /// The key as the wire has it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ReasoningContent => "reasoning_content",
            Self::ReasoningDetails => "reasoning_details",
        }
    }
}

impl Vendor {
    /// What is known of a model; nothing for an unknown one.
    pub fn facts(&self, model: &str) -> ModelFacts {
        let known = self.models.iter().find(|(pattern, _)| matches(pattern, model));
        known.map(|(_, facts)| *facts).unwrap_or_default()
    }

    /// Whether the catalog knows a model of this name.
    pub fn knows(&self, model: &str) -> bool {
        self.models.keys().any(|pattern| matches(pattern, model))
    }
}

/// The ids of all vendors.
pub fn ids() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(id, _)| *id)
}

/// The vendor with this id.
///
/// # Errors
/// [`ModelErrorKind::Config`] when there is none.
pub fn vendor(id: &str) -> Result<&'static Vendor, ModelError> {
    all().iter().find(|vendor| vendor.id == id).ok_or_else(|| {
        let known: Vec<&str> = ids().collect();
        let message = format!("There is no vendor \"{id}\". Known are: {}.", known.join(", "));
        ModelError::new(ModelErrorKind::Config, message)
    })
}

/// All vendors, read once.
pub(crate) fn all() -> &'static [Vendor] {
    // That every file can be read is a test.
    static ALL: LazyLock<Vec<Vendor>> = LazyLock::new(|| {
        FILES.iter().filter_map(|(_, file)| serde_json::from_str(file).ok()).collect()
    });
    &ALL
}

/// The variables that hold keys: commands that a model runs should not see them.
pub fn key_variables() -> Vec<String> {
    all().iter().filter_map(|vendor| vendor.key_variable.clone()).collect()
}

/// Splits `VENDOR/NAME`; none when what stands before the slash is no vendor. A model of the Gemini API is
/// named bare: `gemini/` only says that no other vendor is meant.
pub fn split(requested: &str) -> Option<(&'static str, &str)> {
    let (prefix, name) = requested.trim().split_once('/')?;
    let id = ids().find(|id| *id == prefix && *id != GEMINI)?;
    (!name.trim().is_empty()).then_some((id, name.trim()))
}

/// Whether a name fits a pattern in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, between)) = pieces.split_last() else { return rest.is_empty() };
    for piece in between {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests;
