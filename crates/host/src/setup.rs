//! Settings of a run, read and validated before anything starts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use pollux_config::context;
use pollux_config::protected::ProtectedPlaces;
use pollux_config::{
    Accepted, ApprovalRequest, Environment, LayerFileState, LoadOptions, Loaded, PendingSettings,
    Places, ProjectIdentity, TelemetrySettings, names as variables,
};
use pollux_fs::{EntryKind, IgnoreOptions, Workspace};
use pollux_policy::PolicyFile;
use pollux_protocol::{ApprovalMode, Live, Notices, Origin, SessionRequest};
use pollux_shell::{Dialect, Shell, command_line};

use crate::idle;
use crate::options::RunOptions;
use crate::rules;
use pollux_protocol::SessionFailure;

pub(crate) mod workspace;

/// Returns the options for reading the settings. Command lines of the project are parsed in the
/// dialect of the current shell.
pub fn load_options<'a>(
    places: &'a Places,
    cwd: &'a Path,
    environment: &'a Environment,
    skip_trust: bool,
) -> LoadOptions<'a> {
    let read_command = |line: &str| {
        let dialect = Shell::current().map_or(Dialect::Posix, |shell| shell.dialect);
        command_line::constant_words(line, dialect)
    };
    LoadOptions { read_command, ..LoadOptions::new(places, cwd, environment, skip_trust) }
}

/// Input for [`Beginning::read`].
pub(crate) struct Start {
    /// Options of the command line.
    pub(crate) options: RunOptions,
    /// The environment of the process.
    pub(crate) environment: Environment,
    /// Request for the session.
    pub(crate) request: SessionRequest,
    /// Name that the program was called by, for hints.
    pub(crate) called_as: String,
    /// Origin of the questions before the session runs.
    pub(crate) origin: Arc<Origin>,
}

/// A run before any setting of the project takes effect.
pub(crate) struct Beginning {
    /// Options of the command line.
    pub(crate) options: RunOptions,
    /// Request for the session.
    pub(crate) request: SessionRequest,
    /// Paths of the user and the system.
    pub(crate) places: Places,
    /// Settings of the user and the system, the trust decision, and the items that the project
    /// provides.
    pub(crate) found: PendingSettings,
    /// Origin of the questions before the session runs.
    pub(crate) origin: Arc<Origin>,
    called_as: String,
    environment: Environment,
    began: Timestamp,
}

impl Beginning {
    /// Reads the settings of the user and the system, and the stored trust decision.
    ///
    /// # Errors
    /// [`SessionFailure::Config`] if they cannot be read.
    pub(crate) fn read(start: Start) -> Result<Self, SessionFailure> {
        let began = Timestamp::now();
        let Start { options, environment, request, called_as, origin } = start;
        let places = Places::new(&environment);
        let skip_trust = options.rules.skip_trust;
        let load = LoadOptions {
            overrides: Some(&request.settings),
            ..load_options(&places, &request.folder, &environment, skip_trust)
        };
        let found = pollux_config::find(&load).map_err(|error| SessionFailure::config(&error))?;
        Ok(Self { options, request, places, found, origin, called_as, environment, began })
    }
}

/// Settings of a run, read and validated; nothing has been started.
pub struct Setup {
    /// Options of the command line.
    pub options: RunOptions,
    /// Request for the session, with the project's folder and the user.
    pub request: SessionRequest,
    /// Paths of the user and the system.
    pub places: Places,
    /// Merged settings.
    pub loaded: Loaded,
    /// Identity of the project and the paths of its state.
    pub project: ProjectIdentity,
    /// Approval mode that the run begins in.
    pub mode: ApprovalMode,
    /// Model, by name or alias.
    pub model: String,
    pub(crate) telemetry: TelemetrySettings,
    /// Time at which the settings began to be read.
    pub(crate) began: Timestamp,
    /// Workspace folders, with the rules about which paths may be read and written.
    pub workspace: Live<Workspace>,
    /// Rules of policy files, settings and options.
    pub rules: PolicyFile,
    /// Origin of the questions before the session runs.
    pub(crate) origin: Arc<Origin>,
    /// Name that the program was called by, for hints.
    pub called_as: String,
    /// Environment of the process, without the variables of `.env` files.
    pub(crate) environment: Environment,
}

impl Setup {
    /// Merges the settings and decides mode, model and folders. Of the project's items only those
    /// in `accepted` take effect.
    ///
    /// # Errors
    /// [`SessionFailure::Config`] for settings or rules that cannot be used;
    /// [`SessionFailure::Sandbox`] and [`SessionFailure::General`] for a sandbox that is not
    /// available.
    pub(crate) fn read(beginning: Beginning, accepted: Accepted) -> Result<Self, SessionFailure> {
        let Beginning { mut options, request, places, found, origin, called_as, .. } = beginning;
        let (environment, began) = (beginning.environment, beginning.began);
        let agreed = accepted.clone();
        let loaded = found.load(accepted).map_err(|error| SessionFailure::config(&error))?;
        let (cwd, sink) = (request.folder.as_path(), request.notices.as_ref());
        loaded.warnings.iter().for_each(|warning| sink.warning(warning));
        report_pending_warnings(&places, sink);
        options.debug |= asks_for_debug(&loaded.environment);
        if options.debug {
            report_files(&loaded, sink);
            for (path, key) in &loaded.unknown_keys {
                sink.info(&format!("Unknown setting in {}: {key}", path.display()));
            }
        }
        refuse_sandbox(&options, &loaded)?;
        report_trust(&loaded, cwd, &called_as, sink);
        idle::report(&loaded, &places, cwd, sink);
        let telemetry = TelemetrySettings::resolve(&loaded.settings, &loaded.environment)
            .map_err(|error| SessionFailure::config(&error))?;
        let mode = approval_mode(&options, &request, &loaded)?;
        let model = requested_model(&request, &loaded);
        let project = ProjectIdentity::resolve(&places, cwd);
        project.warning.iter().for_each(|warning| sink.warning(warning));
        report_place(&loaded, &places, cwd, sink);
        let protected = ProtectedPlaces::new(&places, &environment);
        let workspace = workspace::read(&request, &loaded, &places, &project, &protected);
        let workspace = Live::new(workspace);
        let rules = rules::read(&options, &loaded, &places, &request, &agreed)?;
        Ok(Self {
            options,
            request,
            places,
            loaded,
            project,
            mode,
            model,
            telemetry,
            began,
            workspace,
            rules,
            origin,
            called_as,
            environment,
        })
    }
}

impl Setup {
    /// True if a user can answer questions.
    pub fn is_interactive(&self) -> bool {
        self.request.operator.is_some()
    }

    /// Returns the name of the output format: from the options, otherwise from the settings.
    pub(crate) fn output_format(&self) -> &'static str {
        let configured = if self.is_json_configured() { "json" } else { "text" };
        self.options.output_format.unwrap_or(configured)
    }

    /// Returns true if the settings ask for JSON output.
    pub(crate) fn is_json_configured(&self) -> bool {
        self.loaded.settings.text("output.format") == Some("json")
    }

    /// Returns the file of the custom command that a prompt calls. This version cannot run it.
    pub(crate) fn custom_command(&self, prompt: &str) -> Option<PathBuf> {
        idle::custom_command(prompt, &self.loaded, &self.places, &self.request.folder)
    }

    /// Returns the folders of the workspace, the project's first.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.workspace.get().roots().map(Path::to_owned).collect()
    }

    /// Returns the options that select the ignore files.
    pub(crate) fn ignore_options(&self) -> IgnoreOptions {
        let settings = &self.loaded.settings;
        let custom_files = settings.texts("context.fileFiltering.customIgnoreFilePaths");
        IgnoreOptions {
            git: settings.boolean("context.fileFiltering.respectGitIgnore"),
            gemini: settings.boolean("context.fileFiltering.respectGeminiIgnore"),
            custom_files: custom_files.into_iter().flatten().map(PathBuf::from).collect(),
        }
    }

    /// Returns the folder that plan mode may write to: the configured folder, otherwise a folder of
    /// the session. Symbolic links are resolved here, once, so that paths can be compared.
    pub(crate) fn plans_directory(&self, session_id: &str) -> PathBuf {
        let folder = match self.loaded.settings.text("general.plan.directory") {
            Some(directory) => self.request.folder.join(directory),
            None => self.project.temporary_dir.join(session_id).join("plans"),
        };
        pollux_fs::real_path(&folder).unwrap_or(folder)
    }

    /// Returns the folder in which the task tracker keeps the tasks of a session.
    pub(crate) fn tracker_directory(&self, session_id: &str) -> PathBuf {
        self.project.temporary_dir.join(session_id).join("tracker")
    }

    /// Returns the path of the context file that applies to all projects.
    pub(crate) fn global_memory(&self) -> PathBuf {
        let names = context::names(&self.loaded.settings.context().file_names);
        self.places.gemini_dir().join(&names[0])
    }

    /// Returns the path of the user's private notes about the project: the file that the context is
    /// read from, or a new one.
    pub(crate) fn project_memory(&self) -> PathBuf {
        let names = context::names(&self.loaded.settings.context().file_names);
        let folder = self.project.memory_dir();
        let index = folder.join(context::PRIVATE_INDEX);
        let older = names.iter().map(|name| folder.join(name));
        let mut files = std::iter::once(index.clone()).chain(older);
        files.find(|file| pollux_fs::info(file).is_ok()).unwrap_or(index)
    }

    /// Returns the options, settings and trust that determine the approval mode.
    pub(crate) fn approval_request(&self) -> ApprovalRequest {
        approval_request(&self.options, &self.request, &self.loaded)
    }
}

/// Refuses a requested sandbox that is not available; it must not be ignored. Inside a sandbox the
/// request is already satisfied.
fn refuse_sandbox(options: &RunOptions, loaded: &Loaded) -> Result<(), SessionFailure> {
    if loaded.environment.non_empty(variables::SANDBOX).is_some() {
        return Ok(());
    }
    let environment = loaded.environment.non_empty(variables::GEMINI_SANDBOX);
    let (asked, source) = match (environment, options.sandbox) {
        (Some(word), _) => {
            let off = matches!(word.trim().to_lowercase().as_str(), "0" | "false" | "");
            (!off, variables::GEMINI_SANDBOX)
        }
        (None, Some(true)) => return Err(SessionFailure::Sandbox(NO_SANDBOX.to_owned())),
        (None, Some(false)) => (false, ""),
        (None, None) => {
            let setting = loaded.settings.value("tools.sandbox");
            (setting.is_some_and(asks_for_sandbox), "the setting tools.sandbox")
        }
    };
    if !asked {
        return Ok(());
    }
    Err(SessionFailure::Sandbox(format!(
        "A sandbox is requested by {source}, but sandboxing is not available in this version of Pollux yet. Disable it there to run without one."
    )))
}

/// Error message for `--sandbox`.
const NO_SANDBOX: &str = "The flag --sandbox is not available in this version of Pollux yet. Start Pollux inside a container, or without --sandbox where that is safe.";

fn asks_for_sandbox(setting: &serde_json::Value) -> bool {
    match setting {
        serde_json::Value::Bool(on) => *on,
        serde_json::Value::String(name) => !matches!(name.as_str(), "" | "false" | "0"),
        serde_json::Value::Object(fields) => fields.get("enabled").is_some_and(asks_for_sandbox),
        _ => false,
    }
}

/// Reports which settings files and `.env` file were read, and why others were not.
fn report_files(loaded: &Loaded, notices: &dyn Notices) {
    for file in &loaded.files {
        let path = file.path.display();
        match &file.state {
            LayerFileState::Read => notices.info(&format!("Read settings: {path}")),
            LayerFileState::Absent => {}
            LayerFileState::Skipped(reason) => {
                notices.info(&format!("Did not read settings: {path}: {reason}"));
            }
        }
    }
    if let Some(dotenv) = &loaded.dotenv {
        notices.info(&format!("Read environment: {}", dotenv.path.display()));
    }
}

/// Returns true if `DEBUG` or `DEBUG_MODE` is set, which has the effect of `--debug`.
fn asks_for_debug(environment: &Environment) -> bool {
    let variables = [variables::DEBUG, variables::DEBUG_MODE].into_iter();
    variables.filter_map(|name| environment.get(name)).any(|value| matches!(value, "1" | "true"))
}

/// Reports, once, the warnings that other programs have left for the next start.
fn report_pending_warnings(places: &Places, notices: &dyn Notices) {
    const LIMIT: usize = 64 << 10;
    let path = places.pending_warnings();
    let is_file = pollux_fs::link_info(&path).is_ok_and(|info| info.kind == EntryKind::File);
    if let Ok(text) = pollux_fs::read_head(&path, LIMIT)
        && is_file
        && pollux_fs::remove_file(&path).is_ok()
    {
        let text = String::from_utf8_lossy(&text);
        text.lines().filter(|line| !line.trim().is_empty()).for_each(|line| notices.warning(line));
    }
}

/// Reports that an untrusted folder runs in restricted mode, and how to trust it.
fn report_trust(loaded: &Loaded, cwd: &Path, called_as: &str, notices: &dyn Notices) {
    if !loaded.trust.is_trusted() {
        notices.warning(&format!(
            "Restricted mode: {} is not a trusted folder, so its settings, .env and context files are not read and the approval mode is \"default\". \
             To trust it for this run use --skip-trust or GEMINI_CLI_TRUST_WORKSPACE=true; to trust it permanently run {called_as} trust.",
            cwd.display()
        ));
    }
}

/// Warns about unsuitable folders to run in.
fn report_place(loaded: &Loaded, places: &Places, cwd: &Path, notices: &dyn Notices) {
    let own_word = loaded.trust.is_explicit();
    if cwd.parent().is_none() {
        notices.warning(
            "Warning: You are running Pollux in the root directory. The whole file system is its workspace. It is strongly recommended to run in a project directory.",
        );
    } else if cwd == places.home
        && !own_word
        && loaded.settings.boolean("ui.showHomeDirectoryWarning")
    {
        notices.warning(
            "Warning: You are running Pollux in your home directory. It is recommended to run in a project directory.",
        );
    }
}

fn approval_mode(
    options: &RunOptions,
    request: &SessionRequest,
    loaded: &Loaded,
) -> Result<ApprovalMode, SessionFailure> {
    let decision = pollux_config::resolve_approval(approval_request(options, request, loaded))
        .map_err(|error| SessionFailure::config(&error))?;
    decision.messages.iter().for_each(|message| request.notices.warning(message));
    Ok(decision.mode)
}

/// Collects the approval mode that arguments and settings ask for, and what settings and trust
/// allow.
fn approval_request(
    options: &RunOptions,
    request: &SessionRequest,
    loaded: &Loaded,
) -> ApprovalRequest {
    let settings = &loaded.settings;
    ApprovalRequest {
        flag: request.mode,
        yolo: options.yolo,
        setting: settings.text("general.defaultApprovalMode").and_then(|mode| mode.parse().ok()),
        plan_enabled: settings.boolean("general.plan.enabled"),
        yolo_disabled: settings.boolean("security.disableYoloMode"),
        secure_mode: settings.boolean("admin.secureModeEnabled"),
        trusted: loaded.trust.is_trusted(),
    }
}

/// Returns the model from the flag, `GEMINI_MODEL` or the settings, in this order; otherwise
/// `auto`.
fn requested_model(request: &SessionRequest, loaded: &Loaded) -> String {
    let environment = loaded.environment.non_empty(variables::GEMINI_MODEL);
    let flag = request.model.as_deref().filter(|model| !model.is_empty());
    let asked = flag
        .or(environment)
        .or(loaded.settings.text("model.name").filter(|name| !name.trim().is_empty()));
    asked.map(str::trim).filter(|model| !model.is_empty()).unwrap_or("auto").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandbox_settings() {
        use serde_json::json;
        for (setting, asks) in [
            (json!(true), true),
            (json!("docker"), true),
            (json!({"enabled": true}), true),
            (json!({"enabled": "true"}), true),
            (json!(false), false),
            (json!(""), false),
            (json!({"image": "x"}), false),
        ] {
            assert_eq!(asks_for_sandbox(&setting), asks, "{setting}");
        }
    }
}
