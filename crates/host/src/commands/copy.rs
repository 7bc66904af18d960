//! `/copy`: the last answer of the model, in the clipboard.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pollux_config::Environment;
use pollux_models::catalog::credential_variables;
use pollux_protocol::{
    Command, CommandContext, CommandError, CommandReport, Op, TranscriptFrom, TranscriptItem,
};
use pollux_session::SessionLog;
use pollux_shell::{ChildSpec, PipedCommand, Program, run_piped};

use crate::setup::Setup;

/// Number of messages that are read from the log at once.
const PAGE: usize = 20;
/// Maximum time that a program of the clipboard may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum size, in bytes, of a text for the clipboard of the terminal. Terminals ignore longer
/// sequences.
const LARGEST: usize = 74_000;

/// `/copy`, with the log of the session; `None` before the session runs.
pub(super) struct Copy {
    pub(super) setup: Arc<Setup>,
    pub(super) log: Option<Arc<SessionLog>>,
}

#[async_trait]
impl Command for Copy {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn description(&self) -> &'static str {
        "copy the last answer to the clipboard"
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let Some(text) = self.last_answer().await? else {
            context.say("No output in history");
            return Ok(None);
        };
        let environment = &self.setup.loaded.environment;
        for program in programs(environment, std::env::consts::OS) {
            if self.is_taken_by(program, &text, &context).await {
                context.say("Last output copied to the clipboard");
                return Ok(None);
            }
        }
        if text.len() > LARGEST {
            let message = "The answer is too long for the clipboard of the terminal. Install wl-copy, xclip or xsel.";
            return Err(CommandError(message.to_owned()));
        }
        context.send(Op::Report(CommandReport::ForClipboard(text)));
        context.say("Last output copied to the clipboard");
        Ok(None)
    }
}

impl Copy {
    /// Returns the text of the last answer that has one.
    async fn last_answer(&self) -> Result<Option<String>, CommandError> {
        let Some(log) = &self.log else { return Ok(None) };
        let mut from = TranscriptFrom::End;
        loop {
            let page = log.transcript(from, PAGE).await;
            let page = page.map_err(|error| CommandError(error.to_string()))?;
            let texts = page.items.iter().rev().filter_map(answer);
            if let Some(text) = texts.into_iter().find(|text| !text.trim().is_empty()) {
                return Ok(Some(text));
            }
            match page.before {
                Some(before) => from = TranscriptFrom::Before(before),
                None => return Ok(None),
            }
        }
    }

    /// Passes the text to a program. Returns false if it is not there or fails.
    async fn is_taken_by(
        &self,
        (name, arguments): (&str, &[&str]),
        text: &str,
        context: &CommandContext,
    ) -> bool {
        let environment = self.setup.loaded.environment.for_children();
        let search = self.setup.loaded.environment.get("PATH").unwrap_or_default().to_owned();
        let name = name.to_owned();
        let found = tokio::task::spawn_blocking(move || locate(&name, &search)).await;
        let Ok(Some(path)) = found else { return false };
        let arguments = arguments.iter().map(Into::into).collect();
        let program = Program::File { path, arguments };
        let folder = self.setup.input.request.folder.clone();
        let names = credential_variables();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let environment = pollux_shell::child_environment(environment, &names, None);
        let child = ChildSpec::new(program, folder, environment);
        let input = text.as_bytes().to_vec();
        let command = PipedCommand { child, input, timeout: PATIENCE, limit: 1024 };
        let outcome = run_piped(command, &context.cancel).await;
        outcome.is_ok_and(|outcome| outcome.exit_code == Some(0))
    }
}

fn answer(item: &TranscriptItem) -> Option<String> {
    let TranscriptItem::Answer(answer) = item else { return None };
    Some(answer.parts.iter().filter_map(|part| part.as_text()).collect())
}

/// Returns the programs that write to the clipboard of the user's screen, the best first. There is
/// none in a remote shell, whose screen is elsewhere.
fn programs(
    environment: &Environment,
    system: &str,
) -> Vec<(&'static str, &'static [&'static str])> {
    let is_set = |name: &str| environment.non_empty(name).is_some();
    if ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"].into_iter().any(is_set) {
        return Vec::new();
    }
    match system {
        "macos" => vec![("pbcopy", &[])],
        "windows" => vec![("clip.exe", &[])],
        _ => {
            let mut programs: Vec<(&str, &[&str])> = Vec::new();
            if is_set("WAYLAND_DISPLAY") {
                programs.push(("wl-copy", &[]));
            }
            if is_set("DISPLAY") {
                programs.push(("xclip", &["-selection", "clipboard"]));
                programs.push(("xsel", &["--clipboard", "--input"]));
            }
            programs
        }
    }
}

/// Returns the path of a program; `None` if no folder of the search path has it. Relative folders
/// are left out, because the project could contain them.
fn locate(name: &str, search: &str) -> Option<PathBuf> {
    let folders = std::env::split_paths(search).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_clipboard_of_the_screen_is_used_only_on_this_machine() {
        for (variables, system, expected) in [
            (&[][..], "linux", &[][..]),
            (&["DISPLAY"], "linux", &["xclip", "xsel"]),
            (&["WAYLAND_DISPLAY", "DISPLAY"], "linux", &["wl-copy", "xclip", "xsel"]),
            (&["DISPLAY", "SSH_TTY"], "linux", &[]),
            (&[], "macos", &["pbcopy"]),
            (&["SSH_CONNECTION"], "macos", &[]),
        ] {
            let pairs = variables.iter().map(|name| ((*name).to_owned(), "1".to_owned()));
            let found = programs(&Environment::from_pairs(pairs), system);
            let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, expected, "{variables:?} {system}");
        }
    }

    #[test]
    fn relative_folders_are_not_searched() {
        assert_eq!(locate("Cargo.toml", "."), None);
        assert_eq!(locate("Cargo.toml", env!("CARGO_MANIFEST_DIR")).is_some(), cfg!(unix));
    }
}
