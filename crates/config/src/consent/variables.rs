//! Consent items of the variables in a project's `.env` file.

use pollux_protocol::ConsentItem;

use super::{Accepted, item, kinds};
use crate::dotenv::{DotEnv, UNTRUSTED_KEYS};

/// Parts of a variable's name that mark its value as secret. Secret values are not shown.
const SECRETS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Returns one item for each variable, except for the four that any folder may set.
pub(crate) fn items(file: &DotEnv) -> Vec<ConsentItem> {
    let asked = file.variables.iter().filter(|(name, _)| !UNTRUSTED_KEYS.contains(&name.as_str()));
    asked.map(|(name, value)| variable(file, name, value)).collect()
}

/// Returns the file without the project's variables that lack consent.
pub(crate) fn agreed(mut file: DotEnv, accepted: &Accepted) -> DotEnv {
    if file.of_project {
        let refused: Vec<_> = items(&file)
            .into_iter()
            .filter(|item| !accepted.accepts(item))
            .map(|item| item.name)
            .collect();
        file.variables.retain(|(name, _)| !refused.contains(name));
    }
    file
}

/// Returns the item of one variable.
pub(crate) fn variable(file: &DotEnv, name: &str, value: &str) -> ConsentItem {
    let upper = name.to_uppercase();
    let shown = if SECRETS.iter().any(|word| upper.contains(word)) {
        format!("({} characters)", value.chars().count())
    } else {
        value.to_owned()
    };
    let detail = format!("{shown}, from {}", file.path.display());
    item(kinds::VARIABLE, name, detail, value.as_bytes())
}
