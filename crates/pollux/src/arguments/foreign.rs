//! Subcommands of other agents, which must not become prompts: a prompt costs money and may change
//! files.

use pollux_protocol::spelling;

use super::line::Line;

/// Subcommands of other agents, each with what Pollux offers instead. Refused if they are the only
/// word of a line.
const WORDS: [(&str, &str); 15] = [
    ("acp", ""),
    ("agents", ""),
    ("apply", ""),
    ("chat", "Without arguments, Pollux starts a conversation."),
    ("init", ""),
    ("install", ""),
    (
        "login",
        "Keys are read from the environment, such as GEMINI_API_KEY, and from ~/.gemini/.env.",
    ),
    ("logout", "Keys are read from the environment and from ~/.gemini/.env."),
    ("resume", "Use --resume."),
    ("review", ""),
    ("run", "Use --prompt for a headless run."),
    ("serve", ""),
    ("status", ""),
    ("update", "Install a new version as you installed this one."),
    ("upgrade", "Install a new version as you installed this one."),
];

/// Subcommand of other agents for a headless run. It is refused with any further words.
const EXEC: &str = "exec";

/// Flags of lines that continue a session, in which a single word is a prompt.
const CONTINUING: [&str; 3] = ["resume", "session-file", "session-id"];

/// Minimum length of a subcommand whose misspellings are refused. Shorter names are similar to too
/// many words.
const SHORTEST: usize = 4;

/// Returns the message for a line that is a subcommand of another agent, or a misspelt one of
/// Pollux; `None` for a prompt.
pub(super) fn refusal(line: &Line<'_>, known: &[String], called_as: &str) -> Option<String> {
    if CONTINUING.iter().any(|flag| line.is_given(flag)) {
        return None;
    }
    let words = line.command_words();
    let (first, rest) = words.split_first()?;
    if *first == EXEC {
        let prompt = rest.join(" ");
        let use_prompt = match rest {
            [] => format!("Use --prompt for a headless run: {called_as} -p \"...\""),
            _ => format!("Use --prompt for a headless run: {called_as} -p \"{prompt}\""),
        };
        return Some(format!("There is no subcommand \"{EXEC}\". {use_prompt}\n"));
    }
    if !rest.is_empty() {
        return None;
    }
    let instead = if let Some((_, instead)) = WORDS.iter().find(|(word, _)| word == first) {
        (*instead).to_owned()
    } else {
        let mut long = known.iter().filter(|name| name.len() >= SHORTEST);
        let meant = long.find(|name| spelling::is_one_edit(first, name))?;
        format!("Did you mean \"{called_as} {meant}\"?")
    };
    let message = format!("There is no subcommand \"{first}\". {instead}");
    Some(format!("{}\nTo send it as a prompt: {called_as} -p {first}\n", message.trim_end()))
}
