//! `${name}` in the files of an extension.

use std::path::Path;

use serde_json::Value;

/// Keys that are removed from objects, as in Gemini CLI: JavaScript gives them a meaning.
const DROPPED: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// Values of the variables that the files of an extension may name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(Vec<(String, String)>);

impl Variables {
    /// Creates the variables of an extension in a folder, for a session in the folder `workspace`.
    pub fn new(extension: &Path, workspace: &Path) -> Self {
        let separator = std::path::MAIN_SEPARATOR_STR;
        let pairs = [
            ("extensionPath", extension.to_string_lossy().into_owned()),
            ("workspacePath", workspace.to_string_lossy().into_owned()),
            ("/", separator.to_owned()),
            ("pathSeparator", separator.to_owned()),
        ];
        Self(pairs.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// Adds variables. They do not replace those that exist.
    #[must_use]
    pub fn with<'a>(mut self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        self.0.extend(pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
        self
    }

    /// Replaces the variables in every string of a value. Unknown ones stay as they are written.
    pub fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if text.contains("${") {
                    *text = self.fill_text(text);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::Object(map) => {
                map.retain(|key, _| !DROPPED.contains(&key.as_str()));
                map.values_mut().for_each(|item| self.fill(item));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Replaces the variables in a text. Variables in the value of a variable are not replaced.
    pub fn fill_text(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            filled.push_str(&rest[..start]);
            let after = &rest[start + 2..];
            let known = self.0.iter().find_map(|(name, value)| {
                Some((after.strip_prefix(name.as_str())?.strip_prefix('}')?, value.as_str()))
            });
            let (value, behind) = known.map_or(("${", after), |(behind, value)| (value, behind));
            filled.push_str(value);
            rest = behind;
        }
        filled + rest
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_known_variables_are_replaced() {
        let variables = Variables::new(Path::new("/e"), Path::new("/w"))
            .with([("TOKEN", "${extensionPath}"), ("extensionPath", "no")]);
        for (text, filled) in [
            ("${extensionPath}${/}a", "/e/a"),
            ("${workspacePath}${pathSeparator}", "/w/"),
            ("${TOKEN}", "${extensionPath}"),
            ("${HOME} $HOME ${extensionPath", "${HOME} $HOME ${extensionPath"),
            ("${${extensionPath}}", "${/e}"),
            ("${extensionPath }", "${extensionPath }"),
            ("", ""),
        ] {
            assert_eq!(variables.fill_text(text), filled);
        }
        let mut value = json!({"a": ["${/}"], "__proto__": {}, "b": {"constructor": 1, "c": 2}});
        variables.fill(&mut value);
        assert_eq!(value, json!({"a": ["/"], "b": {"c": 2}}));
    }
}
