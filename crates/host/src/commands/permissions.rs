//! `/permissions`: shows the user's answers about this folder, and changes them.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use pollux_config::consent::{ConsentStore, counted, short};
use pollux_config::{Places, Trust, TrustLevel, TrustSource, TrustState, TrustStore};
use pollux_protocol::{Command, CommandContext, CommandError, Op};

use crate::reload::LiveSettings;
use crate::setup::Setup;

const USAGE: &str = "Usage: /permissions, /permissions trust [DIR], /permissions distrust [DIR], or /permissions ask";

pub(super) struct Permissions {
    places: Places,
    cwd: PathBuf,
    /// Trust in this conversation; a change takes effect at the next start.
    trust: Trust,
    settings: LiveSettings,
}

impl Permissions {
    pub(super) fn new(setup: &Setup, settings: &LiveSettings) -> Self {
        let (places, cwd) = (setup.places.clone(), setup.input.request.folder.clone());
        Self { places, cwd, trust: setup.loaded.trust, settings: settings.clone() }
    }

    /// Returns the current answers as text.
    fn reported(&self) -> String {
        let mut lines = vec![format!("{}: {}.", self.cwd.display(), level(self.trust))];
        match ConsentStore::load(&self.places) {
            Ok(store) => {
                let pins = store.folder(&self.cwd);
                let answers = pins.map(|pins| pins.answers()).unwrap_or_default();
                for (word, wanted) in [("Allowed", true), ("Off", false)] {
                    let of_word: Vec<_> =
                        answers.iter().filter(|(_, _, yes)| *yes == wanted).collect();
                    if !of_word.is_empty() {
                        lines.push(format!("{word}, by your answers ({}):", of_word.len()));
                        lines.extend(
                            of_word
                                .iter()
                                .map(|(kind, name, _)| format!("  {} {}", kind, short(name))),
                        );
                    }
                }
                if answers.is_empty() {
                    lines.push("You have not been asked about anything in this folder.".to_owned());
                }
            }
            Err(error) => lines.push(error.to_string()),
        }
        lines.push(USAGE.to_owned());
        lines.join("\n")
    }

    fn set(&self, folder: &str, level: TrustLevel) -> Result<String, CommandError> {
        set_trust(&self.places, &self.cwd, folder, level).map_err(CommandError)
    }

    fn ask(&self) -> Result<String, CommandError> {
        let count = ConsentStore::load(&self.places)
            .map_err(|error| CommandError(error.to_string()))?
            .folder(&self.cwd)
            .map_or(0, |pins| pins.answers().len());
        ConsentStore::forget(&self.places, &self.cwd)
            .map_err(|error| CommandError(error.to_string()))?;
        Ok(format!("{} forgotten. The next start asks again.", counted("answer", count)))
    }
}

/// Stores whether a folder is trusted; `folder` is relative to `cwd`. Returns a message.
///
/// # Errors
/// Message about a folder that does not exist, and about a file that cannot be changed.
pub fn set_trust(
    places: &Places,
    cwd: &Path,
    folder: &str,
    level: TrustLevel,
) -> Result<String, String> {
    let folder = pollux_fs::absolute(cwd, Path::new(folder));
    if !folder.is_dir() {
        return Err(format!("{} is not a folder.", folder.display()));
    }
    let failed = |error: pollux_config::ConfigError| error.to_string();
    if level != TrustLevel::DoNotTrust {
        // Recorded first, so that the items of the folder are asked about and never count as agreed
        // to.
        ConsentStore::record(places, &folder, &[]).map_err(failed)?;
    }
    TrustStore::set(places, &folder, level).map_err(failed)?;
    let word = if level == TrustLevel::DoNotTrust { "not trusted" } else { "trusted" };
    Ok(format!("{} is {word} from the next start.", folder.display()))
}

/// Returns the trust level and its source as text.
fn level(trust: Trust) -> String {
    let word = match trust.state {
        TrustState::Trusted => "trusted",
        TrustState::Untrusted => "not trusted",
        TrustState::Unknown => return "not decided whether it is trusted".to_owned(),
    };
    let source = match trust.source {
        TrustSource::Flag => "--skip-trust",
        TrustSource::Environment => "GEMINI_CLI_TRUST_WORKSPACE",
        TrustSource::Disabled => "security.folderTrust.enabled is false",
        TrustSource::Ide => "the editor",
        TrustSource::File | TrustSource::Nobody => "trustedFolders.json",
    };
    format!("{word} ({source})")
}

#[async_trait]
impl Command for Permissions {
    fn name(&self) -> &'static str {
        "permissions"
    }

    fn description(&self) -> &'static str {
        "show or change the trust in a folder"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[trust [DIR]|distrust [DIR]|ask]")
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        super::continuations(partial, ["trust", "distrust", "ask"])
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let arguments = &context.arguments;
        let (word, rest) = arguments.trim().split_once(' ').unwrap_or((arguments.trim(), ""));
        let reported = match (word, rest.trim()) {
            ("", "") => self.reported(),
            ("trust", folder) => self.set(folder, TrustLevel::TrustFolder)?,
            ("distrust", folder) => self.set(folder, TrustLevel::DoNotTrust)?,
            ("ask", "") => self.ask()?,
            _ => return Err(CommandError(USAGE.to_owned())),
        };
        context.say(reported);
        if !word.is_empty() {
            // The answers take effect at the next start, except for settings that can change during
            // a session.
            let settings = self.settings.clone();
            let done = tokio::task::spawn_blocking(move || settings.reload()).await;
            let done = done.map_err(|error| CommandError(error.to_string()))?;
            done.map_err(|error| CommandError(error.to_string()))?;
        }
        Ok(None)
    }
}
