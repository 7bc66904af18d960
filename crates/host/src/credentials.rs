//! Variables that hold credentials of models.

use pollux_config::names as variables;

/// Variables of the Gemini API, which commands do not receive.
const GEMINI: [&str; 5] = [
    variables::GEMINI_API_KEY,
    variables::GOOGLE_API_KEY,
    variables::GOOGLE_CLOUD_ACCESS_TOKEN,
    variables::GEMINI_CLI_CUSTOM_HEADERS,
    variables::POLLUX_GOOGLE_OAUTH_CLIENT_SECRET,
];

/// Variables of vendors that are not in the catalog, for other agents and for libraries.
const OTHERS: [&str; 12] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AZURE_OPENAI_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "COHERE_API_KEY",
    "CO_API_KEY",
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "PERPLEXITY_API_KEY",
    "REPLICATE_API_TOKEN",
    "VOYAGE_API_KEY",
];

/// Returns the names of all variables that hold credentials of models.
pub(crate) fn credentials() -> Vec<String> {
    let own = GEMINI.into_iter().chain(OTHERS).map(str::to_owned);
    own.chain(pollux_models::catalog::key_variables()).collect()
}
