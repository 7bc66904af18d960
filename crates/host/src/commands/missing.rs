//! Slash commands of Gemini CLI that this version does not have.

use std::sync::Arc;

use pollux_protocol::CommandExplainer;

/// Names of the commands, each with what can be done instead.
const MISSING: [(&str, &str); 36] = [
    ("agents", ""),
    ("auth", "The key comes from the environment or from ~/.gemini/.env."),
    ("bashes", ""),
    ("bug", ""),
    ("chat", "Sessions are saved without a command: see --list-sessions and --resume."),
    ("copy", ""),
    ("corgi", ""),
    ("dir", "Use --include-directories at the start."),
    ("directory", "Use --include-directories at the start."),
    ("docs", ""),
    ("editor", "Ctrl-G opens $VISUAL or $EDITOR."),
    ("extensions", ""),
    ("footer", ""),
    ("gemma", ""),
    ("ide", ""),
    ("init", "Ask for a GEMINI.md instead."),
    ("policies", "Use the subcommand policy list."),
    ("privacy", ""),
    ("profile", ""),
    ("restore", ""),
    ("resume", "Use --resume at the start."),
    ("rewind", ""),
    ("settings", "Use the subcommand config."),
    ("setup-github", ""),
    ("shells", ""),
    ("shortcuts", "docs/line-mode.md lists the keys."),
    ("skills", ""),
    ("tasks", ""),
    ("terminal-setup", ""),
    ("theme", ""),
    ("tools", "Use the subcommand prompt show."),
    ("upgrade", ""),
    ("vim", ""),
    ("voice", ""),
    ("worktree", ""),
    ("undo", ""),
];

/// Names of commands that this version has only in some sessions.
const OF_SOME_SESSIONS: [&str; 12] = [
    "clear",
    "commands",
    "compress",
    "hooks",
    "mcp",
    "memory",
    "mode",
    "model",
    "permissions",
    "plan",
    "shell",
    "stats",
];

/// Returns the names that no other command may have, so that custom commands have the same names in
/// every session, and keep them when a later version has more commands.
pub(super) fn built_in_names() -> impl Iterator<Item = &'static str> {
    MISSING.into_iter().map(|(name, _)| name).chain(OF_SOME_SESSIONS)
}

/// Returns the function that explains the commands that are missing.
pub(super) fn explainer() -> CommandExplainer {
    Arc::new(|name| {
        let (_, instead) = MISSING.iter().find(|(missing, _)| *missing == name)?;
        let text = format!("/{name} is not available in this version of Pollux yet. {instead}");
        Some(text.trim_end().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_is_missing_is_explained() {
        let explain = explainer();
        assert_eq!(
            explain("copy").unwrap(),
            "/copy is not available in this version of Pollux yet."
        );
        assert!(explain("tools").unwrap().ends_with(" prompt show."));
        assert_eq!(explain("hlp"), None);
    }
}
