//! Detection and masking of credentials in the settings.

use serde_json::Value;

use crate::assign::is_reference;

#[cfg(test)]
mod tests;

/// Text that replaces a credential.
const MASK: &str = "********";

/// Endings of names whose values are credentials. Letters only, lower case.
const SECRET_NAMES: [&str; 12] = [
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "credentials",
    "authorization",
];

/// Prefixes of the keys of known services.
const SECRET_STARTS: [&str; 13] = [
    "sk-",
    "AIza",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "ya29.",
    "hf_",
    "Bearer ",
];

/// Minimum length of a text with such a prefix to count as a key.
const SECRET_LENGTH: usize = 12;

/// Returns the value of the dotted `key` with every credential replaced by asterisks: everything
/// under `env` and `headers`, values recognized by name or prefix, and passwords and keys in URLs.
/// References to variables (`$NAME`) are left unchanged.
#[must_use]
pub fn masked(key: &str, value: &Value) -> Value {
    let names = || key.split('.');
    let in_secret = names().any(|name| matches!(name, "env" | "headers")) && key.contains('.');
    let by_name = names().next_back().is_some_and(is_secret_name);
    mask(value, in_secret || by_name)
}

fn mask(value: &Value, is_secret: bool) -> Value {
    match value {
        Value::String(text) => Value::String(mask_text(text, is_secret)),
        Value::Array(items) => mask_items(items, is_secret),
        Value::Object(map) => {
            let below = map.iter().map(|(name, value)| {
                let is_secret =
                    is_secret || matches!(name.as_str(), "env" | "headers") || is_secret_name(name);
                (name.clone(), mask(value, is_secret))
            });
            Value::Object(below.collect())
        }
        other => other.clone(),
    }
}

/// Masks the items of a list. The item after an option such as `--token` is a credential.
fn mask_items(items: &[Value], is_secret: bool) -> Value {
    let mut follows = false;
    let masked = items.iter().map(|item| {
        let shown = mask(item, is_secret || follows);
        follows = item.as_str().is_some_and(|text| text.starts_with('-') && is_secret_name(text));
        shown
    });
    Value::Array(masked.collect())
}

fn is_secret_name(name: &str) -> bool {
    let letters: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    SECRET_NAMES.iter().any(|ending| letters.ends_with(ending))
}

fn mask_text(text: &str, is_secret: bool) -> String {
    // The default in a reference would be as secret as the variable's value.
    let is_name = is_reference(text) && !text.contains(":-");
    if text.is_empty() || is_name {
        return text.to_owned();
    }
    let begins_so = |start: &&str| text.starts_with(*start) && text.len() >= SECRET_LENGTH;
    if is_secret || SECRET_STARTS.iter().any(begins_so) {
        return MASK.to_owned();
    }
    if let Some((option, _)) = text.split_once('=').filter(|_| text.starts_with('-'))
        && is_secret_name(option)
    {
        return format!("{option}={MASK}");
    }
    mask_address(text)
}

/// Masks the password and the values of `key=` and similar parameters in a URL.
fn mask_address(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{MASK}@{host}"),
        None => authority.to_owned(),
    };
    let Some((path, query)) = tail.split_once('?') else {
        return format!("{scheme}://{authority}{tail}");
    };
    let parameter = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if name == "key" || is_secret_name(name) => format!("{name}={MASK}"),
        _ => parameter.to_owned(),
    };
    let query: Vec<_> = query.split('&').map(parameter).collect();
    format!("{scheme}://{authority}{path}?{}", query.join("&"))
}
