//! Placeholders in the prompts of custom commands: they are found in the same way whatever stands
//! in the text around them, and arguments never change the words of a command line around them.

use pollux_config::custom_commands::{Piece, Template};
use pollux_shell::{Dialect, with_argument};

/// Checks a prompt; the last line is the argument.
pub(crate) fn run(text: &str) {
    let (prompt, argument) = text.rsplit_once('\n').unwrap_or((text, ""));
    let Ok(template) = Template::parse(prompt) else { return };
    let mut again = String::new();
    for piece in &template.pieces {
        match piece {
            Piece::Text(text) => {
                assert!(!text.is_empty() && !text.contains(Template::ARGUMENTS), "{text:?}");
                assert!(!text.contains("!{") && !text.contains("@{"), "{text:?}");
                again.push_str(text);
            }
            Piece::Arguments => again.push_str(Template::ARGUMENTS),
            Piece::Command(line) => {
                assert!(!line.is_empty() && line.trim() == line, "{line:?}");
                again.extend(["!{", line, "}"]);
                check_line(line, argument);
            }
            Piece::Content(path) => again.extend(["@{", path, "}"]),
        }
    }
    // Without an empty command, the text before it and behind it can form a placeholder.
    let has_empty = prompt.split("!{").skip(1).any(|rest| rest.trim_start().starts_with('}'));
    if has_empty {
        return;
    }
    let parsed = Template::parse(&again).map(|template| template.pieces);
    assert_eq!(parsed, Ok(template.pieces), "another reading of {again:?}");
}

/// Checks that a command line with an argument contains the text around its placeholders.
fn check_line(line: &str, argument: &str) {
    for dialect in [Dialect::Bash, Dialect::PowerShell] {
        let Ok(filled) = with_argument(line, Template::ARGUMENTS, argument, dialect) else {
            continue;
        };
        let parts: Vec<&str> = line.split(Template::ARGUMENTS).collect();
        let (first, last) = (parts.first().copied(), parts.last().copied());
        assert!(filled.starts_with(first.unwrap_or_default()), "{filled:?}");
        assert!(filled.ends_with(last.unwrap_or_default()), "{filled:?}");
    }
}
