//! Vendors as data: one JSON file each, in `catalog/`.
//!
//! A file describes the vendor's dialect, its address, how requests are signed, the capabilities of
//! its models, and its deviations from the dialect. A new vendor needs a file and an entry here.
//! Limits are those on the vendors' model pages; a model that is not listed counts as unknown.

use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;
use pollux_protocol::{ModelError, ModelErrorKind, spelling};
use serde::Deserialize;

use crate::names;
use crate::prices::PriceBook;

mod credentials;

pub use credentials::credential_variables;

/// Assumed context size, in tokens, of a model whose real context size is unknown.
pub const UNKNOWN_CONTEXT: u64 = 128_000;

/// Id and file of each vendor.
const FILES: [(&str, &str); 22] = [
    (GEMINI, include_str!("../catalog/gemini.json")),
    (VERTEX, include_str!("../catalog/vertex.json")),
    (VERTEX_ANTHROPIC, include_str!("../catalog/vertex-anthropic.json")),
    (CODE_ASSIST, include_str!("../catalog/code-assist.json")),
    (OPENAI, include_str!("../catalog/openai.json")),
    ("anthropic", include_str!("../catalog/anthropic.json")),
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

/// Vendor that is used when no other is configured.
pub(crate) const GEMINI: &str = "gemini";
/// Vendor of the Gemini models in Google Cloud.
pub(crate) const VERTEX: &str = "vertex";
/// Vendor of Anthropic's models in Google Cloud.
pub(crate) const VERTEX_ANTHROPIC: &str = "vertex-anthropic";
/// Vendor of the Gemini models for users who sign in to Google.
pub(crate) const CODE_ASSIST: &str = "code-assist";

/// Vendor of the dialect that most other vendors use.
pub const OPENAI: &str = "openai";

/// Description of one vendor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vendor {
    /// Id before the slash in `--model VENDOR/NAME`.
    pub id: String,
    /// Display name of the vendor.
    pub name: String,
    /// Wire format of the vendor: a folder of this crate.
    pub dialect: String,
    /// Family of the vendor's models.
    #[serde(default)]
    pub family: Family,
    /// Vendor part of the models' names in the price tables, if it is not the id. Empty for the
    /// price list of the Gemini API, whose names have no such part.
    #[serde(default)]
    pub price_list: Option<String>,
    /// Folder of the models in the paths of requests, for dialects whose paths name the model.
    #[serde(default)]
    pub models_path: Option<String>,
    /// Version of the API in the body of requests whose paths name the model.
    #[serde(default)]
    pub body_version: Option<String>,
    /// Vendor whose models these are: their properties apply, whatever separates the version from
    /// the name (`-` or `@`).
    #[serde(default)]
    pub models_of: Option<String>,
    /// Wire format at the vendor's own address, if it differs from the one at an address that the
    /// user sets.
    #[serde(default)]
    pub native_dialect: Option<String>,
    /// Environment variable that replaces the wire format: `chat` or `responses`.
    #[serde(default)]
    pub dialect_variable: Option<String>,
    /// Address that paths such as `/chat/completions` are appended to.
    pub base_url: String,
    /// Environment variable that replaces the address.
    #[serde(default)]
    pub base_url_variable: Option<String>,
    /// Version segment between the address and the paths; an address may already end with it.
    #[serde(default)]
    pub api_version: Option<String>,
    /// Environment variable that replaces the version segment.
    #[serde(default)]
    pub api_version_variable: Option<String>,
    /// Headers of every request, except credentials: maps the header name to a value, or to `$NAME`
    /// for the value of an environment variable. A header without a value is not sent.
    #[serde(default)]
    pub headers: IndexMap<String, String>,
    /// Environment variable with more headers, `Name: value, Name: value`. They take precedence
    /// over other headers.
    #[serde(default)]
    pub headers_variable: Option<String>,
    /// Method of signing requests.
    #[serde(default)]
    pub sign_in: SignIn,
    /// Environment variable with the key; `None` for a server that needs no key.
    #[serde(default)]
    pub key_variable: Option<String>,
    /// Environment variable with a token that is used if no key is set.
    #[serde(default)]
    pub token_variable: Option<String>,
    /// Page where a key can be obtained.
    #[serde(default)]
    pub key_page: Option<String>,
    /// Environment variable with the model that is used when no model is named.
    #[serde(default)]
    pub model_variable: Option<String>,
    /// True if this may be the only configured vendor, so that its models can be named without the
    /// vendor's name.
    #[serde(default)]
    pub stands_alone: bool,
    /// Model that computes embeddings of texts.
    #[serde(default)]
    pub embedding_model: Option<String>,
    /// Short names of models, with the names that they stand for.
    #[serde(default)]
    pub short_names: IndexMap<String, String>,
    /// Properties of models, by a pattern of their names in which `*` matches any text. The first
    /// matching pattern is used.
    #[serde(default)]
    pub models: IndexMap<String, ModelFacts>,
    /// Deviations of the vendor from its dialect.
    #[serde(default)]
    pub quirks: Quirks,
    /// The user's own table of models; empty in the catalog.
    #[serde(skip)]
    pub own: Arc<PriceBook>,
}

/// Family of models, whoever serves them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Google's Gemini models: the abbreviations, limits and configurations that come with the
    /// program are for them.
    Gemini,
    /// Any other models.
    #[default]
    Other,
}

/// Method of signing requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignIn {
    /// Sends the key as a bearer token.
    #[default]
    Key,
    /// Sends a key for the Gemini API, or none through a gateway.
    Google,
    /// Sends the key as `x-api-key`, and a token as a bearer token. A gateway also gets the key as
    /// a bearer token: newer clients send it like that.
    Anthropic,
    /// Sends a key for Vertex AI, or a token of the user's Google credentials.
    Vertex,
    /// Sends a token of the user who signed in to Google, or of the machine.
    CodeAssist,
}

impl SignIn {
    /// True if a sign-in method of Google applies, as `security.auth` selects it.
    pub fn is_googles(self) -> bool {
        matches!(self, Self::Google | Self::Vertex | Self::CodeAssist)
    }
}

/// Known properties of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    /// Maximum tokens of a request and its response together.
    #[serde(default)]
    pub context: Option<u64>,
    /// Maximum tokens of a response.
    #[serde(default)]
    pub max_output: Option<u64>,
    /// True if the model supports native tool calls; if unknown, this is assumed until the server
    /// reports otherwise.
    #[serde(default)]
    pub tools: Option<bool>,
    /// True if the model accepts images; if unknown, this is assumed.
    #[serde(default)]
    pub vision: Option<bool>,
    /// True if the model reasons; if unknown, this is assumed until the server reports otherwise.
    #[serde(default)]
    pub reasoning: Option<bool>,
    /// True if the model can decide itself how much it thinks, and is asked to.
    #[serde(default)]
    pub adaptive_thinking: bool,
}

impl ModelFacts {
    /// Returns these properties, completed by others where they are unknown.
    pub(crate) fn or(self, others: Self) -> Self {
        Self {
            context: self.context.or(others.context),
            max_output: self.max_output.or(others.max_output),
            tools: self.tools.or(others.tools),
            vision: self.vision.or(others.vision),
            reasoning: self.reasoning.or(others.reasoning),
            adaptive_thinking: self.adaptive_thinking || others.adaptive_thinking,
        }
    }
}

/// Deviations of a vendor from its dialect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quirks {
    /// True if the vendor accepts `stream_options.include_usage`.
    pub stream_usage: bool,
    /// Method of requesting JSON responses.
    pub json: JsonFormat,
    /// Format of the ids of calls.
    pub call_ids: CallIds,
    /// True if a user message may directly follow tool results.
    pub user_after_tool: bool,
    /// True if the vendor accepts PDF documents.
    pub documents: bool,
    /// True if the vendor accepts audio.
    pub audio: bool,
    /// Key under which reasoning is sent back with the calls that it led to.
    pub return_reasoning: Option<ReasoningKey>,
    /// Key of the maximum response size, for vendors whose default is small.
    pub max_tokens_key: Option<String>,
    /// True for a server on the user's own machine.
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
            local: false,
        }
    }
}

/// Method of requesting JSON responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JsonFormat {
    /// Uses `response_format` with the schema.
    Schema,
    /// Uses `response_format` with `json_object`; the schema is part of the instruction.
    Object,
    /// Uses the instruction only.
    None,
}

/// Format of the ids of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallIds {
    /// Up to 40 letters, digits, `_` and `-`.
    Standard,
    /// Exactly nine letters and digits.
    NineAlphanumeric,
}

/// Key of a message under which reasoning is received and sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningKey {
    /// Key whose value is a text.
    ReasoningContent,
    /// Key of OpenRouter and vLLM whose value is a text.
    Reasoning,
    /// Key whose value is a list of objects that only the vendor understands.
    ReasoningDetails,
}

impl ReasoningKey {
    /// All keys.
    pub(crate) const ALL: [Self; 3] =
        [Self::ReasoningContent, Self::Reasoning, Self::ReasoningDetails];

    /// Returns the key as used in messages to and from the vendor.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ReasoningContent => "reasoning_content",
            Self::Reasoning => "reasoning",
            Self::ReasoningDetails => "reasoning_details",
        }
    }
}

impl Vendor {
    /// Returns the vendor part of the models' names in the price tables.
    pub fn price_list(&self) -> &str {
        self.price_list.as_deref().unwrap_or(&self.id)
    }

    /// Returns the name of one of the vendor's models as `--model` accepts it.
    pub fn full_name(&self, model: &str) -> String {
        match self.id.as_str() {
            GEMINI => model.to_owned(),
            VERTEX_ANTHROPIC => format!("{VERTEX}/{model}"),
            id => format!("{id}/{model}"),
        }
    }

    /// Returns the known properties of a model; the default for an unknown model. Those in the
    /// user's own table take precedence.
    pub fn facts(&self, model: &str) -> ModelFacts {
        let known = self.models.iter().find(|(pattern, _)| matches(pattern, model));
        let known = known.map(|(_, facts)| *facts).or_else(|| {
            let maker = vendor(self.models_of.as_deref()?).ok()?;
            Some(maker.facts(&model.replace('@', "-")))
        });
        self.own_facts(model).or(known.unwrap_or_default())
    }

    /// Returns the properties of a model in the user's own table.
    pub(crate) fn own_facts(&self, model: &str) -> ModelFacts {
        self.own.facts(self.price_list(), model)
    }

    /// Returns the name of the model that a name stands for.
    pub fn resolve<'a>(&'a self, model: &'a str) -> &'a str {
        self.short_names.get(model).map_or(model, String::as_str)
    }

    /// Returns the variables that contain credentials.
    pub fn credential_variables(&self) -> impl Iterator<Item = &String> {
        self.key_variable.iter().chain(&self.token_variable)
    }

    /// Returns the variables whose values are secret: credentials and custom headers.
    fn secret_variables(&self) -> impl Iterator<Item = &String> {
        self.credential_variables().chain(&self.headers_variable)
    }

    /// True if the catalog contains a model of this name, or this short name.
    pub fn knows(&self, model: &str) -> bool {
        self.short_names.contains_key(model)
            || self.models.keys().any(|pattern| matches(pattern, model))
    }
}

/// Returns the question whether another model of the vendor was meant; empty if no name is similar.
pub(crate) fn suggestion(id: &str, model: &str) -> String {
    let Some(vendor) = vendor(id).ok().filter(|vendor| !vendor.knows(model)) else {
        return String::new();
    };
    let names = vendor.short_names.keys().chain(vendor.models.keys()).map(String::as_str);
    let meant = spelling::nearest(model, names.filter(|name| !name.contains('*')));
    meant.map(|name| format!("Did you mean {}? ", vendor.full_name(name))).unwrap_or_default()
}

/// Returns the ids of all vendors.
pub fn ids() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(id, _)| *id)
}

/// Returns the vendor with this id.
///
/// # Errors
/// [`ModelErrorKind::Config`] if no vendor has this id.
pub fn vendor(id: &str) -> Result<&'static Vendor, ModelError> {
    all().iter().find(|vendor| vendor.id == id).ok_or_else(|| {
        let known: Vec<&str> = ids().collect();
        let message = format!("Unknown vendor \"{id}\". Known vendors: {}.", known.join(", "));
        ModelError::new(ModelErrorKind::Config, message)
    })
}

/// Returns all vendors, which are parsed once.
pub(crate) fn all() -> &'static [Vendor] {
    // A test checks that every file can be parsed.
    static ALL: LazyLock<Vec<Vendor>> = LazyLock::new(|| {
        FILES.iter().filter_map(|(_, file)| serde_json::from_str(file).ok()).collect()
    });
    &ALL
}

/// Returns the names that `--model` accepts and the catalog lists: the abbreviations, the Gemini
/// models, and the models of other vendors as `vendor/name`, by their short names if they have any.
/// Patterns of names are omitted.
pub fn model_names() -> impl Iterator<Item = String> {
    let listed = all().iter().flat_map(|vendor| {
        let short = vendor.short_names.keys();
        let full = vendor.models.keys().filter(|_| vendor.short_names.is_empty());
        short.chain(full).filter(|name| !name.contains('*')).map(|name| vendor.full_name(name))
    });
    names::ABBREVIATIONS.into_iter().map(str::to_owned).chain(listed)
}

/// Splits `VENDOR/NAME`, whatever the letter case of the vendor; `None` if the text before the
/// slash is not a vendor. Models of the Gemini API have no prefix: `gemini/` only means that no
/// other vendor is requested.
pub fn split(requested: &str) -> Option<(&'static str, &str)> {
    let (prefix, name) = requested.trim().split_once('/')?;
    let id = ids().find(|id| id.eq_ignore_ascii_case(prefix) && *id != GEMINI)?;
    (!name.trim().is_empty()).then_some((id, name.trim()))
}

/// Returns the name after this prefix and a slash, whatever the letter case of the prefix.
pub fn after_prefix<'a>(requested: &'a str, prefix: &str) -> Option<&'a str> {
    let (found, name) = requested.trim().split_once('/')?;
    found.eq_ignore_ascii_case(prefix).then_some(name)
}

/// True if a name matches a pattern in which `*` matches any text.
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
