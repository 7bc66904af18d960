//! Variables that hold credentials of models.

use pollux_config::names as variables;

/// Variables of the Gemini API, which commands do not receive.
const GEMINI: [&str; 4] = [
    variables::GEMINI_API_KEY,
    variables::GOOGLE_API_KEY,
    variables::GOOGLE_CLOUD_ACCESS_TOKEN,
    variables::GEMINI_CLI_CUSTOM_HEADERS,
];

/// Returns the names of all variables that hold credentials of models.
pub(crate) fn credentials() -> Vec<String> {
    let own = GEMINI.map(str::to_owned);
    own.into_iter().chain(pollux_models::catalog::key_variables()).collect()
}
