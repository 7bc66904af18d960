//! Model names: their abbreviations, and the properties that follow from a name.
//!
//! The values are those of Gemini CLI 0.61 for a user with an API key, who is assumed to have
//! access to previews and to the latest flash models.

use pollux_protocol::{Classifier, ModelLimits, ModelTier, PromptFamily};

/// Name that leaves the choice to Pollux: the pro model, unless the router chooses another tier.
pub const AUTO: &str = "auto";

/// Abbreviations that [`resolve`] accepts, for completions.
pub(crate) const ABBREVIATIONS: [&str; 4] = [AUTO, "pro", "flash", "flash-lite"];

/// Model that computes embeddings of texts.
pub const EMBEDDING_MODEL: &str = "gemini-embedding-001";

const PRO: &str = "gemini-3.1-pro-preview";
const FLASH: &str = "gemini-3.8-flash";
const FLASH_LITE: &str = "gemini-3.5-flash-lite";
const PRO_2_5: &str = "gemini-2.5-pro";
const FLASH_2_5: &str = "gemini-2.5-flash";
/// Name that leaves the choice between the models of generation 2.5 to Pollux.
const AUTO_2_5: &str = "auto-gemini-2.5";

/// Context size of every Gemini model in tokens, for request and response together.
const CONTEXT: u64 = 1_048_576;

/// Context size of the Gemma models in tokens.
const GEMMA_CONTEXT: u64 = 256_000;

/// Returns the full model name for an abbreviation. Other names are returned unchanged, except that
/// a prefix `models/` is removed.
pub fn resolve(requested: &str) -> &str {
    let name = requested.trim();
    let name = name.strip_prefix("models/").unwrap_or(name);
    match name {
        "" | AUTO | "pro" | "auto-gemini-3" | "gemini-3-pro-preview" => PRO,
        AUTO_2_5 => PRO_2_5,
        "flash" => FLASH,
        "flash-lite" | "none" => FLASH_LITE,
        other => other,
    }
}

/// True if the user left the choice to Pollux.
pub fn is_auto(requested: &str) -> bool {
    let name = requested.trim();
    name.is_empty() || name == AUTO || name.starts_with("auto-gemini-")
}

/// Returns the model of a tier for a name that leaves the choice to Pollux.
pub(crate) fn of_tier(requested: &str, tier: ModelTier) -> &'static str {
    match (requested.trim() == AUTO_2_5, tier) {
        (false, ModelTier::Pro) => PRO,
        (false, ModelTier::Flash) => FLASH,
        (true, ModelTier::Pro) => PRO_2_5,
        (true, ModelTier::Flash) => FLASH_2_5,
    }
}

/// Returns the method by which a model chooses the tier for a name that leaves the choice to
/// Pollux.
pub(crate) fn classifier(requested: &str) -> Classifier {
    if requested.trim() == AUTO_2_5 { Classifier::Choice } else { Classifier::Score }
}

/// Returns the models that can take the place of this one, the best first, with the model itself.
pub(crate) fn substitutes(model: &str) -> &'static [&'static str] {
    match resolve(model) {
        PRO | "gemini-3.1-pro-preview-customtools" => &[PRO, FLASH],
        PRO_2_5 => &[PRO_2_5, FLASH_2_5],
        FLASH_LITE => &[FLASH_LITE, FLASH_2_5, PRO_2_5],
        _ => &[],
    }
}

/// Returns the limits of a model.
pub fn limits(name: &str) -> ModelLimits {
    let name = resolve(name);
    let context = if name.starts_with("gemma-4") { GEMMA_CONTEXT } else { CONTEXT };
    // Only the first generation 3 models are known to accept media there; `gemini-3.1-…` is not
    // one.
    let media_in_responses = name.starts_with("gemini-3-");
    let vendor = ModelLimits { web_search: true, reads_urls: true, ..ModelLimits::default() };
    ModelLimits { context, media_in_responses, ..vendor }
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

/// True if the model refuses function calls without a thought signature in the running turn.
pub(crate) fn wants_signatures(name: &str) -> bool {
    let name = resolve(name);
    name.starts_with("gemini-2") || name.starts_with("gemini-3") || is_custom(name)
}

/// True if the model is for conversations. Model lists also contain models for other purposes,
/// which are not a good default.
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
