//! Names of the servers' tools for models.
//!
//! `mcp_<server>_<tool>`, as in Gemini CLI: policies, hooks and recorded conversations refer to
//! these names.

use std::collections::HashSet;

/// Beginning of every name.
const PREFIX: &str = "mcp_";
/// Maximum length of a name, which is that of the Gemini API.
const LONGEST: usize = 63;
/// Number of characters that are kept at each end of a name that is too long.
const KEPT: usize = 30;

/// Returns the name of a server's tool for models.
pub fn qualified_name(server: &str, tool: &str) -> String {
    let name = format!("{server}_{tool}");
    sanitized(&if name.starts_with(PREFIX) { name } else { format!("{PREFIX}{name}") })
}

/// Replaces the characters that the Gemini API does not allow in the name of a tool, and shortens
/// the name if it is too long.
pub fn sanitized(name: &str) -> String {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let mut name: String = name.chars().map(|c| if is_valid(c) { c } else { '_' }).collect();
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        name.insert(0, '_');
    }
    if name.len() > LONGEST {
        name = format!("{}...{}", &name[..KEPT], &name[name.len() - KEPT..]);
    }
    name
}

/// Gives each tool of a server a name of its own.
#[derive(Debug, Default)]
pub(crate) struct UniqueNames {
    taken: HashSet<String>,
}

impl UniqueNames {
    /// Returns the qualified name, with a number at its end if an earlier tool has the same name.
    pub(crate) fn next(&mut self, server: &str, tool: &str) -> String {
        let name = qualified_name(server, tool);
        let numbered = |number: usize| {
            let number = format!("_{number}");
            let kept = name.len().min(LONGEST - number.len());
            format!("{}{number}", &name[..kept])
        };
        let mut candidates = std::iter::once(name.clone()).chain((2..).map(numbered));
        // The numbers do not end, so there is always a free name.
        let free = candidates.find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.insert(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_those_of_gemini_cli() {
        for (server, tool, name) in [
            ("local", "read", "mcp_local_read"),
            ("mcp_local", "read", "mcp_local_read"),
            ("my server", "read file/now", "mcp_my_server_read_file_now"),
            ("a.b", "c:d-e", "mcp_a.b_c:d-e"),
            ("s", "größe", "mcp_s_gr__e"),
            ("s", "日本", "mcp_s___"),
        ] {
            assert_eq!(qualified_name(server, tool), name);
        }
        assert_eq!(sanitized("9lives"), "_9lives");
        assert_eq!(sanitized(""), "_");
        let long = qualified_name("server", &"x".repeat(300));
        let expected = format!("mcp_server_{}...{}", "x".repeat(19), "x".repeat(30));
        assert_eq!((long.len(), long), (63, expected));
    }

    #[test]
    fn equal_names_are_numbered() {
        let mut names = UniqueNames::default();
        let given: Vec<String> = ["a b", "a_b", "a b"].map(|tool| names.next("s", tool)).into();
        assert_eq!(given, ["mcp_s_a_b", "mcp_s_a_b_2", "mcp_s_a_b_3"]);
        let long = |letter: &str| format!("{}{}", letter.repeat(100), "x".repeat(100));
        let given: Vec<String> =
            ["m", "n"].map(|letter| names.next(&"s".repeat(40), &long(letter))).into();
        assert!(given[0] != given[1] && given.iter().all(|name| name.len() == 63), "{given:?}");
    }

    proptest! {
        #[test]
        fn every_name_is_valid(server in ".{0,80}", tools in prop::collection::vec(".{0,80}", 1..9)) {
            let mut names = UniqueNames::default();
            let given: Vec<String> = tools.iter().map(|tool| names.next(&server, tool)).collect();
            for name in &given {
                prop_assert!(name.starts_with("mcp_") && name.len() <= LONGEST);
                prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:".contains(&b)));
            }
            let distinct: HashSet<&String> = given.iter().collect();
            prop_assert_eq!(distinct.len(), given.len());
        }
    }
}
