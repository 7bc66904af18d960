//! Files of custom commands: any text is a command with a prompt and a description in one short
//! line, or an error in one line. What the user is asked about shows no control characters.

use pollux_config::custom_commands::{CommandFile, CommandText};

/// Maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 100;

pub(crate) fn run(text: &str) {
    let file =
        CommandFile { name: "c".to_owned(), label: "/c".to_owned(), path: "c.toml".into() };
    let text = CommandText::from(text.to_owned());
    let item = file.item(&text);
    assert_eq!(item.hash, file.item(&text).hash, "not the same twice");
    match file.definition(&text) {
        Ok(definition) => {
            assert!(!definition.prompt.trim().is_empty(), "an empty prompt");
            let description = definition.description.unwrap_or_else(|| "none".to_owned());
            assert!(!description.is_empty(), "an empty description");
            assert!(!description.contains(char::is_control), "{description:?}");
            assert!(description.chars().count() <= MAX_DESCRIPTION, "{description:?}");
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("[FileCommandLoader] "), "{message}");
            assert!(!message.contains(char::is_control), "{message:?}");
        }
    }
}
