//! The file of key bindings: `~/.gemini/keybindings.json`, a list of commands with their keys.

use std::path::Path;

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged;

use crate::jsonc;

/// Maximum size of the file, in bytes.
const LARGEST: u64 = 1 << 20;
/// Maximum number of bindings.
const MOST: usize = 1000;

/// A command and a key for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyBinding {
    /// Line in the file, from 1.
    pub line: usize,
    /// Name of the command; with a minus sign before it, the key is taken from the command.
    pub command: String,
    /// Name of the key, such as `ctrl+shift+a`.
    pub key: String,
}

/// Reads the file; a missing file has no bindings. Also returns a message for each entry that is
/// left out, or for a file that cannot be used.
pub fn read_key_bindings(path: &Path) -> (Vec<KeyBinding>, Vec<String>) {
    let text = match pollux_fs::read_text(path, LARGEST) {
        Ok(file) => file.text,
        Err(error) if error.is_not_found() => return Default::default(),
        Err(error) => return (Vec::new(), vec![format!("{error}. The usual keys are used.")]),
    };
    parse(path, &text)
}

fn parse(path: &Path, text: &str) -> (Vec<KeyBinding>, Vec<String>) {
    let text = jsonc::without_mark(text);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let entries = match jsonc::nodes(path, text) {
        Ok(Some(Node::Array(entries))) => entries.elements,
        Ok(None) => return Default::default(),
        Ok(Some(_)) => {
            let message =
                format!("{name}: the file is not a list of bindings. The usual keys are used.");
            return (Vec::new(), vec![message]);
        }
        Err(error) => return (Vec::new(), vec![format!("{error}. The usual keys are used.")]),
    };
    let (mut bindings, mut messages) = (Vec::new(), Vec::new());
    for entry in entries.iter().take(MOST) {
        let line = jsonc::position(text, entry.start()).line;
        match binding(entry, line) {
            Some(binding) => bindings.push(binding),
            None => messages.push(format!(
                "{name}, line {line}: a binding is an object with the texts \"command\" and \"key\"."
            )),
        }
    }
    if entries.len() > MOST {
        messages.push(format!("{name}: only the first {MOST} bindings are used."));
    }
    (bindings, messages)
}

fn binding(entry: &Node<'_>, line: usize) -> Option<KeyBinding> {
    let Node::Object(entry) = entry else { return None };
    let text = |entry: &Object<'_>, name| match &entry.get(name)?.value {
        Node::StringLit(text) => Some(text.value.to_string()),
        _ => None,
    };
    Some(KeyBinding { line, command: text(entry, "command")?, key: text(entry, "key")? })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn bindings_are_read_with_their_lines() {
        let text = "// my keys\n[\n  {\"command\": \"input.submit\", \"key\": \"ctrl+s\"}, // mine\n  \
                    {\"command\": \"x\"},\n  7,\n  {\"command\": \"-edit.undo\",\n   \"key\": \"alt+z\"}\n]\n";
        let (bindings, messages) = parse(Path::new("/h/keys.json"), text);
        let found: Vec<_> =
            bindings.iter().map(|found| (found.line, &*found.command, &*found.key)).collect();
        assert_eq!(found, [(3, "input.submit", "ctrl+s"), (6, "-edit.undo", "alt+z")]);
        let expected = |line| {
            format!(
                "keys.json, line {line}: a binding is an object with the texts \"command\" and \"key\"."
            )
        };
        assert_eq!(messages, [expected(4), expected(5)]);
    }

    #[test]
    fn a_file_with_errors_leaves_the_usual_keys() {
        for (text, expected) in [
            ("{}", "not a list"),
            ("[{\"command\": }]", "line 1"),
            ("[{\"command\": \"a\", \"key\": \"b\"}", "line 1"),
        ] {
            let (bindings, messages) = parse(Path::new("/h/keys.json"), text);
            assert_eq!(bindings, []);
            assert!(messages.len() == 1 && messages[0].contains(expected), "{messages:?}");
            assert!(messages[0].ends_with("The usual keys are used."), "{messages:?}");
        }
        assert_eq!(parse(Path::new("/h/keys.json"), " "), Default::default());
        assert_eq!(read_key_bindings(Path::new("/no/such/file")), Default::default());
    }
}
