//! Slash commands of Gemini CLI that this version does not have.

use std::path::PathBuf;
use std::sync::Arc;

use pollux_protocol::CommandExplainer;

use crate::idle;

/// Names of the commands, each with what can be done instead.
const MISSING: [(&str, &str); 37] = [
    ("agents", ""),
    ("auth", "The key comes from the environment or from ~/.gemini/.env."),
    ("bashes", ""),
    ("bug", ""),
    ("chat", "Sessions are saved without a command: see --list-sessions and --resume."),
    ("commands", ""),
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

/// Returns the function that explains the commands that are missing; `folders` may contain custom
/// commands.
pub(super) fn explainer(folders: Vec<PathBuf>) -> CommandExplainer {
    Arc::new(move |name| {
        if let Some(file) = idle::custom_command(name, &folders) {
            return Some(idle::custom_command_message(&file));
        }
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
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("git")).unwrap();
        std::fs::write(folder.path().join("git/review.toml"), "").unwrap();
        let explain = explainer(vec!["/nosuch".into(), folder.path().to_owned()]);
        let custom = explain("git:review").unwrap();
        assert!(custom.contains("not available") && custom.contains("review.toml"), "{custom}");
        assert_eq!(
            explain("copy").unwrap(),
            "/copy is not available in this version of Pollux yet."
        );
        assert!(explain("tools").unwrap().ends_with(" prompt show."));
        assert_eq!(explain("hlp"), None);
    }
}
