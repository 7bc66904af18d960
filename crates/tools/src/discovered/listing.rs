//! List of tools that a discovery command prints. Pure functions: the content is checked before it
//! is used.

use pollux_protocol::Declaration;
use serde_json::{Map, Value};

/// Prefix of the names of discovered tools.
const PREFIX: &str = "discovered_tool_";
/// Maximum length of a tool name for models.
const LONGEST_NAME: usize = 64;
/// Maximum number of tools in one list.
const MOST_TOOLS: usize = 500;
/// Maximum number of characters of a description.
const LONGEST_DESCRIPTION: usize = 10_000;
/// Maximum size of a schema in bytes.
const LARGEST_SCHEMA: usize = 64 << 10;

/// One tool of the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Listed {
    /// Name for models.
    pub(super) name: String,
    /// Name in the list.
    pub(super) original: String,
    pub(super) description: String,
    pub(super) schema: Value,
}

/// Tools of the list, and warnings about it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Listing {
    pub(super) tools: Vec<Listed>,
    pub(super) warnings: Vec<String>,
}

/// Parses a list: an array of declarations, or of objects with a list of declarations under
/// `function_declarations` or `functionDeclarations`. Other entries are ignored.
///
/// # Errors
/// A message for the user if the output is not a list.
pub(super) fn read(printed: &[u8]) -> Result<Listing, String> {
    let document: Value = serde_json::from_slice(printed)
        .map_err(|error| format!("Tool discovery command did not print JSON: {error}"))?;
    let Value::Array(entries) = document else {
        return Err("Tool discovery command did not print a JSON array of tools.".to_owned());
    };
    let mut listing = Listing::default();
    for entry in entries {
        let Value::Object(mut entry) = entry else { continue };
        match ["function_declarations", "functionDeclarations"]
            .into_iter()
            .find(|key| entry.get(*key).is_some_and(Value::is_array))
        {
            Some(key) => {
                let inner = entry.remove(key).and_then(|value| match value {
                    Value::Array(inner) => Some(inner),
                    _ => None,
                });
                for declaration in inner.into_iter().flatten() {
                    if let Value::Object(declaration) = declaration {
                        listing.add(declaration);
                    }
                }
            }
            None => listing.add(entry),
        }
    }
    Ok(listing)
}

impl Listing {
    fn add(&mut self, mut declaration: Map<String, Value>) {
        let Some(Value::String(original)) = declaration.remove("name") else { return };
        if original.is_empty() || original.contains('\0') {
            return;
        }
        let (name, shown) = (name_for_models(&original), cut(&original, LONGEST_NAME));
        if self.tools.len() == MOST_TOOLS {
            let reported = format!("Only the first {MOST_TOOLS} discovered tools are used.");
            if self.warnings.last() != Some(&reported) {
                self.warnings.push(reported);
            }
            return;
        }
        let schema = match declaration.remove("parametersJsonSchema") {
            Some(Value::Object(schema)) => schema,
            _ => Map::new(),
        };
        if Value::Object(schema.clone()).to_string().len() > LARGEST_SCHEMA {
            self.warnings.push(format!(
                "The discovered tool \"{shown}\" is ignored: its schema is too large."
            ));
            return;
        }
        let description = match declaration.remove("description") {
            Some(Value::String(text)) => cut(&text, LONGEST_DESCRIPTION),
            _ => String::new(),
        };
        let listed =
            Listed { name, original, description, schema: Declaration::with_waiting(schema) };
        // The last tool of each name counts.
        match self.tools.iter_mut().find(|known| known.name == listed.name) {
            None => self.tools.push(listed),
            Some(known) => {
                let name = &listed.name;
                self.warnings.push(format!(
                    "Several discovered tools have the name \"{name}\": the last one is used."
                ));
                *known = listed;
            }
        }
    }
}

fn cut(text: &str, longest: usize) -> String {
    text.chars().take(longest).collect()
}

/// Returns a valid name for models: characters other than letters, digits, `_`, `-` and `.` become
/// `_`.
fn name_for_models(original: &str) -> String {
    let takes = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let safe = original.chars().map(|letter| if takes(letter) { letter } else { '_' });
    PREFIX.chars().chain(safe).take(LONGEST_NAME).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn listed(list: &Value) -> Listing {
        read(list.to_string().as_bytes()).unwrap()
    }

    fn names(listing: &Listing) -> Vec<&str> {
        listing.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    #[test]
    fn lists_of_all_shapes() {
        let listing = listed(&json!([
            {"name": "one", "description": "First.", "parametersJsonSchema": {"type": "object", "required": ["a"]}},
            {"function_declarations": [{"name": "two", "parameters": {"type": "OBJECT"}}, 7]},
            {"functionDeclarations": [{"name": "odd name!"}, {"description": "nameless"}]},
            {"name": ""}, {"name": 5}, 5, null, [], "x"
        ]));
        let expected = ["discovered_tool_one", "discovered_tool_two", "discovered_tool_odd_name_"];
        assert_eq!(names(&listing), expected);
        let [one, two, odd] = &listing.tools[..] else { panic!("{listing:?}") };
        assert_eq!(one.description, "First.");
        assert_eq!(one.schema["required"], json!(["a"]));
        assert_eq!(one.schema["properties"]["wait_for_previous"]["type"], "boolean");
        assert_eq!((&two.schema, odd.original.as_str()), (&json!({}), "odd name!"));
        assert!(listing.warnings.is_empty());
    }

    #[test]
    fn what_is_no_list_says_why() {
        let table = [
            ("", "not print JSON"),
            ("no", "not print JSON"),
            ("{}", "JSON array"),
            ("[1", "not print JSON"),
            ("\"x\"", "JSON array"),
        ];
        for (printed, words) in table {
            let error = read(printed.as_bytes()).unwrap_err();
            assert!(
                error.starts_with("Tool discovery command") && error.contains(words),
                "{error}"
            );
        }
        let deep = "[".repeat(100_000);
        assert!(read(deep.as_bytes()).is_err());
    }

    #[test]
    fn a_list_is_bounded() {
        let many: Vec<Value> =
            (0..2000).map(|number| json!({"name": format!("t{number}")})).collect();
        let listing = listed(&Value::Array(many));
        assert_eq!((listing.tools.len(), listing.warnings.len()), (MOST_TOOLS, 1));
        let long = "x".repeat(1_000_000);
        let listing = listed(&json!([
            {"name": long, "description": long},
            {"name": "large", "parametersJsonSchema": {"x": long}},
            {"name": "twice", "description": "1"}, {"name": "twice", "description": "2"}
        ]));
        let [first, twice] = &listing.tools[..] else { panic!("{}", listing.tools.len()) };
        assert_eq!(
            (first.name.len(), first.description.len()),
            (LONGEST_NAME, LONGEST_DESCRIPTION)
        );
        assert_eq!(twice.description, "2");
        assert_eq!(listing.warnings.len(), 2);
        assert!(listing.warnings.iter().all(|warning| warning.len() < 200));
    }

    proptest! {
        #[test]
        fn names_are_those_that_models_take(names in proptest::collection::vec("\\PC{1,80}", 0..10)) {
            let list = names.iter().map(|name| json!({ "name": name })).collect();
            let listing = listed(&Value::Array(list));
            let distinct: HashSet<_> = listing.tools.iter().map(|tool| &tool.name).collect();
            prop_assert_eq!(distinct.len(), listing.tools.len());
            for tool in &listing.tools {
                prop_assert!(tool.name.len() <= LONGEST_NAME && tool.name.starts_with(PREFIX));
                let takes = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
                prop_assert!(tool.name.chars().all(takes), "{}", tool.name);
            }
        }
    }
}
