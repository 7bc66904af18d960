//! Custom commands of a session: the files of the user, the project and extensions, as slash
//! commands.
//!
//! At the start only the names are known, and the user's answers about the project's files. A file
//! is read when its command is called or described, and the content that was read is compared with
//! the answers: a file of the project is used only with the user's consent to exactly its content.
//! In a conversation all files are also checked in the background, and those that cannot be used
//! are reported.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use pollux_agent::Outlet;
use pollux_config::GEMINI_DIR;
use pollux_config::consent::kinds;
use pollux_config::custom_commands::{CommandFile, CommandText, find_commands};
use pollux_protocol::{
    CommandContext, CommandSet, CommandSource, ConsentItem, Event, Live, PromptCommand,
    PromptSource, RenamedCommand, Severity,
};
use pollux_tools::ToolContext;

use crate::consent::SessionConsent;
use crate::references::Expander;
use crate::setup::Setup;

mod file_command;
mod filling;
mod notices;

use file_command::FileCommand;
use notices::limited;

/// Name of the folders with commands.
const FOLDER: &str = "commands";

/// Custom commands of a session.
pub(crate) struct CustomCommands {
    setup: Arc<Setup>,
    expander: Expander,
    tools: Arc<ToolContext>,
    consent: Arc<SessionConsent>,
    /// Descriptions by the path of the file, as far as the files were read.
    descriptions: Mutex<HashMap<OsString, Description>>,
    /// Renamed commands that were reported.
    reported: Mutex<HashSet<RenamedCommand>>,
}

/// Description of a command, once its file was read.
type Description = Arc<OnceLock<String>>;

/// Commands of one source.
struct Found {
    source: CommandSource,
    commands: Vec<FileCommand>,
    /// Names of commands that cannot be used, each with the reason.
    unusable: Vec<(String, String)>,
    /// Messages about files that are left out.
    left_out: Vec<String>,
}

impl CustomCommands {
    pub(crate) fn new(
        setup: &Arc<Setup>,
        tools: &Arc<ToolContext>,
        consent: &Arc<SessionConsent>,
    ) -> Self {
        Self {
            setup: Arc::clone(setup),
            expander: Expander::new(setup, PromptSource::Typed),
            tools: Arc::clone(tools),
            consent: Arc::clone(consent),
            descriptions: Mutex::default(),
            reported: Mutex::default(),
        }
    }

    /// Adds the commands to a set, without reading their files. Reports nothing: in a conversation
    /// the check of the files does, and in a headless run only the called command matters. Blocks
    /// the thread.
    pub(crate) fn add_to(self: &Arc<Self>, set: &mut CommandSet) {
        put(set, self.find_all());
    }

    /// Checks the commands of a session with a user, in the background, and reports those that
    /// cannot be used.
    pub(crate) fn check_in_background(
        self: &Arc<Self>,
        commands: &Live<CommandSet>,
        outlet: &Outlet,
    ) {
        if !self.setup.is_interactive() {
            return;
        }
        let (this, commands, outlet) = (Arc::clone(self), commands.clone(), outlet.clone());
        tokio::spawn(async move {
            let checked = tokio::task::spawn_blocking(move || this.check(&commands, false)).await;
            // If the check panics, nothing is reported.
            for text in checked.unwrap_or_default() {
                outlet.emit(Event::Notice { severity: Severity::Warning, text }).await;
            }
        });
    }

    /// Reads all files, and removes the commands that cannot be used from the set. Returns messages
    /// for the user. Blocks the thread.
    fn check(self: &Arc<Self>, commands: &Live<CommandSet>, is_reload: bool) -> Vec<String> {
        let mut found = self.find_all();
        let unusable = found.iter_mut().map(Found::check).sum::<usize>();
        let mut messages: Vec<String> =
            found.iter_mut().flat_map(|found| std::mem::take(&mut found.left_out)).collect();
        // Every other change of the set would be reported to the frontend without need.
        if is_reload || unusable > 0 {
            commands.update(|set| put(set, found));
        }
        let mut renamed = commands.get().renamed().to_vec();
        // Every other name is reported once in a session.
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        renamed.retain(|renamed| reported.insert(renamed.clone()));
        messages.extend(notices::renamed(renamed));
        limited(messages)
    }

    /// Reads the files again. Asks the user about commands of the project that are new or have
    /// changed. Returns messages for the user.
    ///
    /// # Errors
    /// The message about answers that cannot be stored.
    pub(crate) async fn reload(
        self: &Arc<Self>,
        context: &CommandContext,
    ) -> Result<Vec<String>, String> {
        let this = Arc::clone(self);
        let open = tokio::task::spawn_blocking(move || this.open_items()).await;
        let open = open.map_err(|error| error.to_string())?;
        if !open.is_empty() {
            self.consent.ask_about(open, context).await?;
        }
        let (this, commands) = (Arc::clone(self), context.session.commands.clone());
        self.descriptions().clear();
        let checked = tokio::task::spawn_blocking(move || this.check(&commands, true)).await;
        checked.map_err(|error| error.to_string())
    }

    /// Returns the files of all commands as text, grouped by folder.
    pub(crate) async fn list(self: &Arc<Self>) -> String {
        let this = Arc::clone(self);
        let listed = tokio::task::spawn_blocking(move || {
            let listed = this.sources().into_iter().filter_map(|source| {
                let title = match &source {
                    CommandSource::Extension(name) => format!("Extension: {name}"),
                    CommandSource::Project => "Project".to_owned(),
                    _ => "User".to_owned(),
                };
                let folder = this.folder(&source)?;
                let found = this.find(source);
                let names = found.commands.iter().map(|command| command.path_below(&folder));
                let names: Vec<String> = names.collect();
                let title = format!("### {title} Commands ({})", folder.display());
                (!names.is_empty()).then(|| format!("{title}\n- {}", names.join("\n- ")))
            });
            listed.collect::<Vec<_>>().join("\n\n")
        });
        match listed.await {
            Ok(text) if text.is_empty() => "No custom command files found.".to_owned(),
            Ok(text) => text,
            Err(error) => error.to_string(),
        }
    }

    /// Returns the sources in the order in which Gemini CLI reads them.
    fn sources(&self) -> Vec<CommandSource> {
        let brought = self.setup.extensions.active();
        let brought = brought.map(|extension| CommandSource::Extension(extension.name().into()));
        [CommandSource::User, CommandSource::Project].into_iter().chain(brought).collect()
    }

    fn find_all(self: &Arc<Self>) -> Vec<Found> {
        self.sources().into_iter().map(|source| self.find(source)).collect()
    }

    /// Finds the commands of a source.
    fn find(self: &Arc<Self>, source: CommandSource) -> Found {
        let mut found =
            Found { source, commands: Vec::new(), unusable: Vec::new(), left_out: Vec::new() };
        let Some(folder) = self.folder(&found.source) else { return found };
        let is_project = found.source == CommandSource::Project;
        // No link leads out of the project, or of the extension.
        let files = match &found.source {
            CommandSource::Project => {
                find_commands(&folder, Some(&self.setup.input.request.folder))
            }
            CommandSource::Extension(_) => find_commands(&folder, folder.parent()),
            _ => find_commands(&folder, None),
        };
        found.left_out = files.left_out;
        for file in files.files {
            if let Some(reason) = self.refusal(&file).filter(|_| is_project) {
                found.unusable.push((file.name, reason));
            } else {
                let path = file.path.clone().into_os_string();
                let description = self.descriptions().entry(path).or_default().clone();
                let source = found.source.clone();
                found.commands.push(FileCommand::new(file, source, description, self));
            }
        }
        found
    }

    /// Returns the folder of a source; `None` for a project that is the user's home, whose files
    /// are the user's own.
    fn folder(&self, source: &CommandSource) -> Option<PathBuf> {
        let (places, cwd) = (&self.setup.places, &self.setup.input.request.folder);
        match source {
            CommandSource::User => Some(places.gemini_dir().join(FOLDER)),
            CommandSource::Project if *cwd != places.home => {
                Some(cwd.join(GEMINI_DIR).join(FOLDER))
            }
            CommandSource::Extension(name) => Some(self.setup.extensions.get(name)?.commands()),
            CommandSource::Project | CommandSource::Skill | CommandSource::Server(_) => None,
        }
    }

    /// Returns why a command of the project may not be used, as far as this does not depend on the
    /// content of its file.
    fn refusal(&self, file: &CommandFile) -> Option<String> {
        if !self.setup.loaded.trust.is_trusted() {
            return Some(format!(
                "/{} is a command of this folder, which is not trusted, so it cannot run.",
                file.name
            ));
        }
        (!self.consent.accepted().names(kinds::CUSTOM_COMMAND, &file.label)).then(|| {
            format!(
                "/{} is a command of this folder that you have not allowed, so it cannot run. /permissions shows your answers.",
                file.name
            )
        })
    }

    /// Returns the items of the project's commands that the user must be asked about. Blocks the
    /// thread.
    fn open_items(&self) -> Vec<ConsentItem> {
        let Some(folder) =
            self.folder(&CommandSource::Project).filter(|_| self.consent.is_by_item())
        else {
            return Vec::new();
        };
        let found = find_commands(&folder, Some(&self.setup.input.request.folder)).files;
        let items = found.iter().filter_map(|file| Some(file.item(&file.read().ok()?)));
        self.consent.open(items.collect())
    }

    /// Returns the message about a command whose content the user has not agreed to.
    fn changed(&self, path: &str, name: &str) -> String {
        let remedy = if self.setup.is_interactive() {
            ""
        } else {
            "\nCall it at the terminal to allow it, or use --skip-trust to accept everything for one run."
        };
        format!("{path} has changed since you allowed it, so /{name} did not run.{remedy}")
    }

    /// Returns the item of a file of the project if the user has not agreed to it.
    fn open_item(&self, file: &CommandFile, text: &CommandText) -> Option<ConsentItem> {
        let accepted = self.consent.accepted();
        if accepted.is_everything() {
            return None;
        }
        let item = file.item(text);
        (!accepted.accepts(&item)).then_some(item)
    }

    fn descriptions(&self) -> MutexGuard<'_, HashMap<OsString, Description>> {
        self.descriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Found {
    /// Moves the commands whose files cannot be used to the unusable ones, and returns their
    /// number.
    fn check(&mut self) -> usize {
        let before = self.commands.len();
        let Self { commands, unusable, left_out, .. } = self;
        commands.retain(|command| match command.problem() {
            None => true,
            Some(problem) => {
                unusable.push((command.name().to_owned(), problem.clone()));
                left_out.push(problem);
                false
            }
        });
        before - self.commands.len()
    }
}

/// Puts the commands into the set.
fn put(set: &mut CommandSet, found: Vec<Found>) {
    for Found { source, commands, unusable, .. } in found {
        let commands = commands.into_iter();
        let commands = commands.map(|command| Arc::new(command) as Arc<dyn PromptCommand>);
        set.replace_source(source, commands.collect(), unusable);
    }
}
