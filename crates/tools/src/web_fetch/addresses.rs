//! Extraction of the addresses in a prompt. Pure functions.

use pollux_protocol::ToolError;
use url::Url;

use crate::validation::invalid;

/// Maximum number of marks after an address that are taken as punctuation of its sentence.
const MOST_MARKS: usize = 16;

/// Returns the addresses in a prompt, each once, in order.
///
/// # Errors
/// `invalid_tool_params` if the prompt is blank, contains no address, or contains an invalid web
/// address.
pub(super) fn in_prompt(prompt: &str) -> Result<Vec<Url>, ToolError> {
    if prompt.trim().is_empty() {
        return Err(invalid(
            "The 'prompt' parameter cannot be empty and must contain URL(s) and instructions.",
        ));
    }
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for written in prompt.split_whitespace().filter_map(written) {
        match Url::parse(written) {
            Ok(url) if !matches!(url.scheme(), "http" | "https") => errors.push(format!(
                "Unsupported protocol in URL: \"{written}\". Only http and https are supported."
            )),
            Ok(url) if url.host().is_some() => found.push(normalised(url)),
            Ok(_) | Err(_) => errors.push(format!("Malformed URL detected: \"{written}\".")),
        }
    }
    if !errors.is_empty() {
        return Err(invalid(format!("Error(s) in prompt URLs:\n- {}", errors.join("\n- "))));
    }
    if found.is_empty() {
        return Err(invalid(
            "The 'prompt' must contain at least one valid URL (starting with http:// or https://).",
        ));
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|url| seen.insert(url.as_str().to_owned()));
    Ok(found)
}

/// Returns the address in a word, without the brackets and punctuation of its sentence.
fn written(word: &str) -> Option<&str> {
    let colon = word.find("://")?;
    let before = &word.as_bytes()[..colon];
    let scheme = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
    let mut address = &word[colon - scheme.count()..];
    // No sentence ends in more marks than this.
    for _ in 0..MOST_MARKS {
        let count = |one: char| address.matches(one).count();
        let shorter = match address.chars().next_back()? {
            '.' | ',' | ';' | '!' | '?' | '"' | '\'' | '>' | '`' | '*' | '。' | '、' => true,
            ')' => count(')') > count('('),
            ']' => count(']') > count('['),
            '}' => count('}') > count('{'),
            _ => false,
        };
        // A word that is only a scheme is reported as written.
        if !shorter || address.ends_with("://") {
            return Some(address);
        }
        address = &address[..address.len() - address.chars().next_back().map_or(1, char::len_utf8)];
    }
    Some(address)
}

/// Normalises an address for comparison: host in lower case, no default port, no slash at the end
/// of a path.
fn normalised(mut url: Url) -> Url {
    if url.path().len() > 1 && url.path().ends_with('/') {
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
    }
    url
}

/// Returns the address of the text of a file on GitHub; other addresses unchanged.
pub(super) fn raw(url: &Url) -> Url {
    if !matches!(url.host_str(), Some("github.com" | "www.github.com")) {
        return url.clone();
    }
    let mut segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
    if segments.get(2) != Some(&"blob") || segments.len() < 5 {
        return url.clone();
    }
    segments.remove(2);
    let mut raw = url.clone();
    let path = segments.join("/");
    // Web addresses accept any host.
    if raw.set_host(Some("raw.githubusercontent.com")).is_ok() {
        raw.set_path(&path);
    }
    raw
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn found(prompt: &str) -> Vec<String> {
        in_prompt(prompt).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn addresses_are_found_made_alike_and_reported_once() {
        let table: [(&str, &[&str]); 14] = [
            ("read https://A.example:443/x/ please", &["https://a.example/x"]),
            (
                "https://a.example https://a.example/ http://a.example:80",
                &["https://a.example/", "http://a.example/"],
            ),
            ("https://a.example/x?q=1#z", &["https://a.example/x?q=1#z"]),
            ("(see https://a.example/x.)", &["https://a.example/x"]),
            ("[text](https://a.example/x)", &["https://a.example/x"]),
            ("<https://a.example/x>", &["https://a.example/x"]),
            ("\"https://a.example/x\",", &["https://a.example/x"]),
            ("https://a.example/Foo_(bar)", &["https://a.example/Foo_(bar)"]),
            ("url=https://a.example/x", &["https://a.example/x"]),
            ("これhttps://a.example/日本。", &["https://a.example/%E6%97%A5%E6%9C%AC"]),
            ("http://0x7f.1/", &["http://127.0.0.1/"]),
            ("http://[::FFFF:8.8.8.8]/", &["http://[::ffff:808:808]/"]),
            ("HTTPS://A.EXAMPLE/Path", &["https://a.example/Path"]),
            ("https://a.example//", &["https://a.example/"]),
        ];
        for (prompt, expected) in table {
            assert_eq!(found(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn what_is_no_address_is_named() {
        let reported = |prompt: &str| in_prompt(prompt).unwrap_err().message;
        assert_eq!(
            reported("ftp://x and http:// and foo://bar https://ok.example"),
            "Error(s) in prompt URLs:\n\
             - Unsupported protocol in URL: \"ftp://x\". Only http and https are supported.\n\
             - Malformed URL detected: \"http://\".\n\
             - Unsupported protocol in URL: \"foo://bar\". Only http and https are supported."
        );
        let none =
            "The 'prompt' must contain at least one valid URL (starting with http:// or https://).";
        for prompt in ["no address", "a.example/x", "https:/a.example"] {
            assert_eq!(reported(prompt), none, "{prompt}");
        }
        for prompt in ["", " \n"] {
            assert!(
                reported(prompt).starts_with("The 'prompt' parameter cannot be empty"),
                "{prompt}"
            );
        }
        for prompt in ["http://a b://", "://", "https://[::1", "http://exa mple://x"] {
            assert!(in_prompt(prompt).is_err(), "{prompt}");
        }
    }

    #[test]
    fn files_on_github_are_read_as_text() {
        for (given, expected) in [
            (
                "https://github.com/a/b/blob/main/x/y.rs",
                "https://raw.githubusercontent.com/a/b/main/x/y.rs",
            ),
            (
                "https://github.com/a/b/blob/main/x?raw=1#L3",
                "https://raw.githubusercontent.com/a/b/main/x?raw=1#L3",
            ),
            ("https://github.com/a/b/tree/main/x", "https://github.com/a/b/tree/main/x"),
            ("https://github.com/a/b/blob/main", "https://github.com/a/b/blob/main"),
            ("https://example.com/a/b/blob/main/x", "https://example.com/a/b/blob/main/x"),
            (
                "https://github.com.evil.example/a/b/blob/main/x",
                "https://github.com.evil.example/a/b/blob/main/x",
            ),
        ] {
            assert_eq!(raw(&Url::parse(given).unwrap()).as_str(), expected);
        }
    }
}
