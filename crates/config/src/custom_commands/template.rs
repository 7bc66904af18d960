//! Placeholders in the prompt of a custom command. Pure.
//!
//! | placeholder | stands for |
//! |---|---|
//! | `{{args}}` | the arguments as they were typed; inside of `!{…}`, as one quoted word |
//! | `!{command}` | the output of a command |
//! | `@{path}` | the content of a file or folder |
//!
//! As in Gemini CLI, `@{…}` is found first, and `!{…}` in the text between. What is inserted is
//! never searched for placeholders.

/// Placeholder for the arguments.
const ARGUMENTS: &str = "{{args}}";
const CONTENT: &str = "@{";
const COMMAND: &str = "!{";

/// Piece of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that is sent unchanged.
    Text(String),
    /// The arguments as they were typed.
    Arguments,
    /// A command line, which may contain [`Template::ARGUMENTS`]. Never empty.
    Command(String),
    /// The path of a file or folder.
    Content(String),
}

/// Prompt with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Pieces in the order of the prompt.
    pub pieces: Vec<Piece>,
    /// True if the prompt contains `{{args}}`. Otherwise arguments are added at its end.
    pub takes_arguments: bool,
}

/// Error of a placeholder whose braces are not balanced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "Unclosed injection starting at index {index} ('{start}'). Braces inside of '{start}…}}' must be balanced."
)]
pub struct UnclosedPlaceholder {
    /// First characters of the placeholder.
    pub start: &'static str,
    /// Position in the text that is searched, in UTF-16 units.
    pub index: usize,
}

impl Template {
    /// Placeholder for the arguments in command lines.
    pub const ARGUMENTS: &str = ARGUMENTS;

    /// Finds the placeholders of a prompt. The time is linear in the length.
    ///
    /// # Errors
    /// For a placeholder without an end.
    pub fn parse(prompt: &str) -> Result<Self, UnclosedPlaceholder> {
        let mut pieces = Vec::new();
        for found in split(prompt, CONTENT)? {
            match found {
                Found::Inside(path) => pieces.push(Piece::Content(path.to_owned())),
                Found::Outside(text) => {
                    for found in split(text, COMMAND)? {
                        match found {
                            Found::Inside("") => {}
                            Found::Inside(line) => pieces.push(Piece::Command(line.to_owned())),
                            Found::Outside(text) => add_text(&mut pieces, text),
                        }
                    }
                }
            }
        }
        Ok(Self { pieces, takes_arguments: prompt.contains(ARGUMENTS) })
    }
}

/// Adds a text, with the places of the arguments.
fn add_text(pieces: &mut Vec<Piece>, text: &str) {
    for (index, part) in text.split(ARGUMENTS).enumerate() {
        if index > 0 {
            pieces.push(Piece::Arguments);
        }
        if !part.is_empty() {
            pieces.push(Piece::Text(part.to_owned()));
        }
    }
}

enum Found<'a> {
    Outside(&'a str),
    /// Text between the braces, trimmed.
    Inside(&'a str),
}

/// Splits a text at the placeholders with this start.
fn split<'a>(text: &'a str, start: &'static str) -> Result<Vec<Found<'a>>, UnclosedPlaceholder> {
    let mut found = Vec::new();
    let mut position = 0;
    while let Some(offset) = text[position..].find(start) {
        let begin = position + offset;
        let inside = begin + start.len();
        let length = closing_brace(&text[inside..]).ok_or_else(|| {
            let index = text[..begin].encode_utf16().count();
            UnclosedPlaceholder { start, index }
        })?;
        found.push(Found::Outside(&text[position..begin]));
        found.push(Found::Inside(text[inside..inside + length].trim()));
        position = inside + length + 1;
    }
    found.push(Found::Outside(&text[position..]));
    Ok(found)
}

/// Returns the position of the brace that closes an open one before the text.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    text.bytes().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

#[cfg(test)]
mod tests {
    use Piece::{Arguments, Command, Content, Text};
    use pretty_assertions::assert_eq;

    use super::*;

    fn text(text: &str) -> Piece {
        Text(text.to_owned())
    }

    fn command(line: &str) -> Piece {
        Command(line.to_owned())
    }

    fn content(path: &str) -> Piece {
        Content(path.to_owned())
    }

    #[test]
    fn placeholders_are_found() {
        for (prompt, expected) in [
            ("", vec![]),
            ("plain {text} $1 $&", vec![text("plain {text} $1 $&")]),
            ("{{args}}", vec![Arguments]),
            ("a {{args}}{{args}} b", vec![text("a "), Arguments, Arguments, text(" b")]),
            ("{{ args }} {args}", vec![text("{{ args }} {args}")]),
            ("!{git diff -- {{args}}}.", vec![command("git diff -- {{args}}"), text(".")]),
            ("!{ awk '{print $1}' }", vec![command("awk '{print $1}'")]),
            ("x!{}y!{  }z", vec![text("x"), text("y"), text("z")]),
            ("@{ docs/a b.md }", vec![content("docs/a b.md")]),
            ("@{a}!{b}{{args}}", vec![content("a"), command("b"), Arguments]),
            ("@{}", vec![content("")]),
            ("@{a{{args}}}", vec![content("a{{args}}")]),
            ("mail@x.org!", vec![text("mail@x.org!")]),
        ] {
            let template = Template::parse(prompt).unwrap();
            assert_eq!(template.pieces, expected, "{prompt:?}");
            assert_eq!(template.takes_arguments, prompt.contains("{{args}}"), "{prompt:?}");
        }
    }

    #[test]
    fn an_open_placeholder_is_an_error() {
        for (prompt, start, index) in [
            ("€ !{ls", "!{", 2),
            ("!{awk '{print'}", "!{", 0),
            ("@{a", "@{", 0),
            // A file inside of a command splits the command.
            ("ab!{cat @{file}}", "!{", 2),
        ] {
            let error = Template::parse(prompt).unwrap_err();
            assert_eq!(error, UnclosedPlaceholder { start, index }, "{prompt:?}");
        }
        let shown = Template::parse("x!{").unwrap_err().to_string();
        assert!(shown.starts_with("Unclosed injection starting at index 1 ('!{')."), "{shown}");
    }
}
