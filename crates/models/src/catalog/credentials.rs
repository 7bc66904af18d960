//! Variables that hold credentials of models.

use pollux_config::names;

use super::{Vendor, all};

/// Variables of Google's services that belong to no vendor of the catalog alone.
const GOOGLE: [&str; 2] =
    [names::GOOGLE_CLOUD_ACCESS_TOKEN, names::POLLUX_GOOGLE_OAUTH_CLIENT_SECRET];

/// Variables of vendors that are not in the catalog, for other agents and for libraries.
const OTHERS: [&str; 9] = [
    "AWS_BEARER_TOKEN_BEDROCK",
    "AZURE_OPENAI_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "COHERE_API_KEY",
    "CO_API_KEY",
    "HUGGING_FACE_HUB_TOKEN",
    "PERPLEXITY_API_KEY",
    "REPLICATE_API_TOKEN",
    "VOYAGE_API_KEY",
];

/// Returns the names of all variables that hold credentials of models, such as keys and custom
/// headers: commands, hooks and servers that Pollux starts do not receive them.
pub fn credential_variables() -> Vec<String> {
    let vendors = all().iter().flat_map(Vendor::secret_variables).cloned();
    let more = GOOGLE.into_iter().chain(OTHERS).map(str::to_owned);
    let mut names: Vec<String> = vendors.chain(more).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variables that programs need for purposes other than models.
    const PASSED_ON: [&str; 1] = [names::GITHUB_TOKEN];

    #[test]
    fn every_variable_with_a_secret_is_known() {
        let known = credential_variables();
        let endings = ["_KEY", "_TOKEN", "_SECRET", "_HEADERS", "_PASSWORD"];
        let secrets = names::all().map(|variable| variable.name).filter(|name| {
            !PASSED_ON.contains(name) && endings.iter().any(|ending| name.ends_with(ending))
        });
        let missing: Vec<&str> =
            secrets.filter(|name| !known.iter().any(|known| known == name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
