//! What the names of models stand for, and what a name tells about a model.
//!
//! The figures are those of Gemini CLI 0.61 for a person with an API key, who counts as having access
//! to previews and to the latest flash models.

use pollux_protocol::{Limits, PromptFamily};

/// The name that leaves the choice to Pollux. Until there is a router it stands for the pro model, so
/// that no model is asked only to choose one.
pub const AUTO: &str = "auto";

/// What texts are embedded with.
pub const EMBEDDING_MODEL: &str = "gemini-embedding-001";

const PRO: &str = "gemini-3.1-pro-preview";
const FLASH: &str = "gemini-3.8-flash";
const FLASH_LITE: &str = "gemini-3.5-flash-lite";
const PRO_2_5: &str = "gemini-2.5-pro";

/// The tokens that every Gemini model takes, question and answer together.
const CONTEXT: u64 = 1_048_576;

/// The tokens that the Gemma models take.
const GEMMA_CONTEXT: u64 = 256_000;

/// The model that a name stands for. Names that are no abbreviation stand for themselves; a `models/`
/// before them is dropped.
pub fn resolve(requested: &str) -> &str {
    let name = requested.trim();
    let name = name.strip_prefix("models/").unwrap_or(name);
    match name {
        "" | AUTO | "pro" | "auto-gemini-3" | "gemini-3-pro-preview" => PRO,
        "auto-gemini-2.5" => PRO_2_5,
        "flash" => FLASH,
        "flash-lite" | "none" => FLASH_LITE,
        other => other,
    }
}

/// Whether the person left the choice to Pollux.
pub fn is_auto(requested: &str) -> bool {
    let name = requested.trim();
    name.is_empty() || name == AUTO || name.starts_with("auto-gemini-")
}

/// What a model can take.
pub fn limits(name: &str) -> Limits {
    let name = resolve(name);
    let context = if name.starts_with("gemma-4") { GEMMA_CONTEXT } else { CONTEXT };
    // Only the first generation 3 models are known to take media there; `gemini-3.1-…` is not one.
    let media_in_responses = name.starts_with("gemini-3-");
    let vendor = Limits { web_search: true, reads_urls: true, ..Limits::default() };
    Limits { context, media_in_responses, ..vendor }
}

/// Returns the prompt family of a model.
pub fn family(name: &str) -> PromptFamily {
    let name = resolve(name);
    if name.starts_with("gemini-3") || is_custom(name) {
        PromptFamily::Modern
    } else {
        PromptFamily::Legacy
    }
}

/// Whether the model refuses function calls without a thought signature in the running turn.
pub(crate) fn wants_signatures(name: &str) -> bool {
    let name = resolve(name);
    name.starts_with("gemini-2") || name.starts_with("gemini-3") || is_custom(name)
}

/// Lists name models for other ends too; none of them is a good first choice.
pub(crate) fn converses(name: &str) -> bool {
    const OTHERS: [&str; 12] = [
        "embed",
        "whisper",
        "tts",
        "dall-e",
        "moderation",
        "image",
        "audio",
        "realtime",
        "rerank",
        "transcribe",
        "sora",
        "guard",
    ];
    let name = name.to_ascii_lowercase();
    !OTHERS.iter().any(|word| name.contains(word))
}

fn is_custom(name: &str) -> bool {
    !name.starts_with("gemini-")
}

#[cfg(test)]
mod tests;
