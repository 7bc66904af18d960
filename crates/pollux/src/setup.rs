//! The settings of a run, read and judged, before anything starts.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_config::{
    Accepted, ApprovalRequest, Environment, Found, LoadOptions, Loaded, Places, ProjectIdentity,
    TelemetrySettings, names as variables,
};
use pollux_fs::{EntryKind, IgnoreOptions, Workspace};
use pollux_policy::PolicyFile;
use pollux_protocol::ApprovalMode;

use crate::arguments::{Arguments, OutputFormat, is_headless};
use crate::exit::Failure;
use crate::headless::stderr_line;

/// What a run starts from.
pub(crate) struct Start {
    pub(crate) arguments: Arguments,
    /// The environment of the process.
    pub(crate) environment: Environment,
    /// The project's folder, absolute.
    pub(crate) cwd: PathBuf,
    /// A recorded model that the program brings itself.
    pub(crate) replay: Option<String>,
}

/// A run before anything of the project takes effect.
pub(crate) struct Beginning {
    pub(crate) arguments: Arguments,
    pub(crate) cwd: PathBuf,
    replay: Option<String>,
    pub(crate) places: Places,
    /// The settings of the person and the system, the answer about trust, and what the project brings.
    pub(crate) found: Found,
    /// A person can answer.
    pub(crate) interactive: bool,
}

impl Beginning {
    /// Reads the settings of the person and the system, and what is known about trust.
    pub(crate) fn read(start: Start) -> Result<Self, Failure> {
        let Start { arguments, environment, cwd, replay } = start;
        let places = Places::new(&environment);
        let options = LoadOptions::new(&places, &cwd, &environment, arguments.rules.skip_trust);
        let found =
            pollux_config::find(&options).map_err(|error| Failure::config(error.to_string()))?;
        let interactive = replay.is_none() && is_conversation(&arguments, &environment)?;
        Ok(Self { arguments, cwd, replay, places, found, interactive })
    }

    /// A model is to be asked: the run is more than a look at the sessions.
    pub(crate) fn is_prompted(&self) -> bool {
        !self.arguments.list_sessions && self.arguments.delete_session.is_none()
    }
}

/// The settings of a run, read and judged; nothing has been started.
pub(crate) struct Setup {
    pub(crate) arguments: Arguments,
    pub(crate) cwd: PathBuf,
    pub(crate) places: Places,
    pub(crate) loaded: Loaded,
    pub(crate) project: ProjectIdentity,
    pub(crate) mode: ApprovalMode,
    pub(crate) model: String,
    pub(crate) telemetry: TelemetrySettings,
    pub(crate) workspace: Arc<Workspace>,
    /// The workspace's folders, the project's first.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) replay: Option<String>,
    /// A person can answer.
    pub(crate) interactive: bool,
    /// What the policy files say.
    pub(crate) rules: PolicyFile,
}

impl Setup {
    /// Merges what counts, and decides mode, model and folders. Tells on standard error what a person
    /// should know. Of the project only what is accepted takes effect.
    pub(crate) fn read(beginning: Beginning, accepted: Accepted) -> Result<Self, Failure> {
        let Beginning { mut arguments, cwd, replay, places, found, interactive } = beginning;
        let agreed = accepted.clone();
        let loaded = found.load(accepted).map_err(|error| Failure::config(error.to_string()))?;
        loaded.warnings.iter().for_each(|warning| stderr_line(warning));
        tell_pending_warnings(&places);
        arguments.debug |= asks_for_debug(&loaded.environment);
        if arguments.debug {
            for (path, key) in &loaded.unknown_keys {
                stderr_line(&format!("Unknown setting in {}: {key}", path.display()));
            }
        }
        refuse_sandbox(&arguments, &loaded)?;
        tell_trust(&loaded, &cwd);
        tell_what_waits(&loaded);
        let telemetry = TelemetrySettings::resolve(&loaded.settings, &loaded.environment)
            .map_err(|error| Failure::config(error.to_string()))?;
        let mode = approval_mode(&arguments, &loaded)?;
        let model = requested_model(&arguments, &loaded);
        let project = ProjectIdentity::resolve(&places, &cwd);
        project.warning.iter().for_each(|warning| stderr_line(warning));
        tell_place(&loaded, &places, &cwd);
        let workspace = Arc::new(workspace(&arguments, &loaded, &places, &project, &cwd));
        let folders = workspace.roots().map(Path::to_owned).collect();
        let rules = crate::policy::read(&arguments, &loaded, &places, &cwd, &agreed, interactive)?;
        Ok(Self {
            arguments,
            cwd,
            places,
            loaded,
            project,
            mode,
            model,
            telemetry,
            workspace,
            folders,
            replay,
            interactive,
            rules,
        })
    }
}

impl Setup {
    /// The form of standard output: the flag, else the settings.
    pub(crate) fn output_format(&self) -> OutputFormat {
        let json = self.loaded.settings.output_format == "json";
        let configured = if json { OutputFormat::Json } else { OutputFormat::Text };
        self.arguments.output_format.unwrap_or(configured)
    }

    /// Which ignore files count.
    pub(crate) fn ignore_options(&self) -> IgnoreOptions {
        let filtering = &self.loaded.settings.context.file_filtering;
        IgnoreOptions {
            git: filtering.respect_git_ignore,
            gemini: filtering.respect_gemini_ignore,
            custom_files: filtering.custom_ignore_file_paths.iter().map(PathBuf::from).collect(),
        }
    }

    /// Escape sequences in the model's words are left alone.
    pub(crate) fn raw_output(&self) -> bool {
        self.arguments.raw_output || self.arguments.accept_raw_output_risk
    }
}

/// A run at a terminal without a prompt, or with one that only begins a conversation.
fn is_conversation(arguments: &Arguments, environment: &Environment) -> Result<bool, Failure> {
    let (stdin, stdout) = (std::io::stdin().is_terminal(), std::io::stdout().is_terminal());
    if arguments.prompt_interactive.as_deref().is_none_or(str::is_empty) {
        let headless = is_headless(arguments, stdin, stdout, environment);
        return Ok(!headless && arguments.prompt_text().is_none());
    }
    let refusal = match (stdin, stdout) {
        (true, true) => return Ok(true),
        (false, _) => "cannot be used when input is piped from stdin.",
        (true, false) => "cannot be used when output is no terminal.",
    };
    Err(Failure::input(format!("Error: The --prompt-interactive flag {refusal}")))
}

/// A sandbox that was asked for and cannot be had must not be ignored. Inside one there is none to ask for.
fn refuse_sandbox(arguments: &Arguments, loaded: &Loaded) -> Result<(), Failure> {
    if loaded.environment.non_empty(variables::SANDBOX).is_some() {
        return Ok(());
    }
    let environment = loaded.environment.non_empty(variables::GEMINI_SANDBOX);
    let (asked, source) = match (environment, arguments.sandbox) {
        (Some(word), _) => {
            let off = matches!(word.trim().to_lowercase().as_str(), "0" | "false" | "");
            (!off, variables::GEMINI_SANDBOX)
        }
        (None, Some(true)) => return Err(Failure::general(NO_SANDBOX)),
        (None, Some(false)) => (false, ""),
        (None, None) => {
            let setting = loaded.settings.tools.sandbox.as_ref();
            (setting.is_some_and(asks_for_sandbox), "the setting tools.sandbox")
        }
    };
    if !asked {
        return Ok(());
    }
    Err(Failure::sandbox(format!(
        "A sandbox is asked for by {source}, and sandboxing is not available in this version of Pollux yet. Turn it off there to run without one."
    )))
}

/// What `--sandbox` is answered with.
const NO_SANDBOX: &str = "The flag --sandbox is not available in this version of Pollux yet. Start Pollux inside a container, or without --sandbox where that is safe.";

fn asks_for_sandbox(setting: &serde_json::Value) -> bool {
    match setting {
        serde_json::Value::Bool(on) => *on,
        serde_json::Value::String(name) => !matches!(name.as_str(), "" | "false" | "0"),
        serde_json::Value::Object(fields) => fields.get("enabled").is_some_and(asks_for_sandbox),
        _ => false,
    }
}

/// `DEBUG` and `DEBUG_MODE` do what `--debug` does.
fn asks_for_debug(environment: &Environment) -> bool {
    let variables = [variables::DEBUG, variables::DEBUG_MODE].into_iter();
    variables.filter_map(|name| environment.get(name)).any(|value| matches!(value, "1" | "true"))
}

/// Tells once what other programs have left to be told at the next start.
fn tell_pending_warnings(places: &Places) {
    const LIMIT: usize = 64 << 10;
    let path = places.pending_warnings();
    let is_file = pollux_fs::link_info(&path).is_ok_and(|info| info.kind == EntryKind::File);
    if let Ok(text) = pollux_fs::read_head(&path, LIMIT)
        && is_file
        && pollux_fs::remove_file(&path).is_ok()
    {
        let text = String::from_utf8_lossy(&text);
        text.lines().filter(|line| !line.trim().is_empty()).for_each(stderr_line);
    }
}

/// One line says that an untrusted folder is only looked at, and what to do about it.
fn tell_trust(loaded: &Loaded, cwd: &Path) {
    if !loaded.trust.is_trusted() {
        stderr_line(&format!(
            "Restricted mode: {} is not a trusted folder, so its settings, .env and context files are not read and the approval mode is \"default\". \
             To trust it for this run use --skip-trust or GEMINI_CLI_TRUST_WORKSPACE=true; to trust it for good add it to trustedFolders.json.",
            cwd.display()
        ));
    }
}

/// What the person has set up and this version does not act on is named, never passed over in silence.
fn tell_what_waits(loaded: &Loaded) {
    if loaded.settings.general.session_retention.enabled {
        stderr_line(
            "[WARNING] The setting general.sessionRetention.enabled is set, and this version of Pollux does not act on it yet.",
        );
    }
}

/// Warnings about where the run takes place.
fn tell_place(loaded: &Loaded, places: &Places, cwd: &Path) {
    let own_word = loaded.trust.is_explicit();
    if cwd.parent().is_none() {
        stderr_line(
            "Warning: You are running Pollux in the root directory. The whole file system is its workspace. It is strongly recommended to run in a project directory.",
        );
    } else if cwd == places.home && !own_word && loaded.settings.ui.show_home_directory_warning {
        stderr_line(
            "Warning: You are running Pollux in your home directory. It is recommended to run in a project directory.",
        );
    }
}

fn approval_mode(arguments: &Arguments, loaded: &Loaded) -> Result<ApprovalMode, Failure> {
    let decision = pollux_config::resolve_approval(approval_request(arguments, loaded))
        .map_err(|error| Failure::config(error.to_string()))?;
    decision.messages.iter().for_each(|message| stderr_line(message));
    Ok(decision.mode)
}

/// What is asked and allowed by arguments, settings and trust.
pub(crate) fn approval_request(arguments: &Arguments, loaded: &Loaded) -> ApprovalRequest {
    let settings = &loaded.settings;
    ApprovalRequest {
        flag: arguments.approval_mode,
        yolo: arguments.yolo,
        setting: Some(settings.general.default_approval_mode),
        plan_enabled: settings.general.plan_enabled,
        yolo_disabled: settings.security.disable_yolo_mode,
        secure_mode: settings.security.secure_mode_enabled,
        trusted: loaded.trust.is_trusted(),
    }
}

/// Flag, then `GEMINI_MODEL`, then settings, then `auto`.
fn requested_model(arguments: &Arguments, loaded: &Loaded) -> String {
    let environment = loaded.environment.non_empty(variables::GEMINI_MODEL);
    let flag = arguments.model.as_deref().filter(|model| !model.is_empty());
    let asked = flag.or(environment).or(loaded.settings.model.name.as_deref());
    asked.map(str::trim).filter(|model| !model.is_empty()).unwrap_or("auto").to_owned()
}

fn workspace(
    arguments: &Arguments,
    loaded: &Loaded,
    places: &Places,
    project: &ProjectIdentity,
    cwd: &Path,
) -> Workspace {
    let mut workspace = Workspace::new(cwd.to_owned(), project.temporary_dir.clone());
    let settings = &loaded.settings.context;
    for given in settings.include_directories.iter().chain(&arguments.include_directories) {
        let folder = pollux_fs::absolute(cwd, &expand_home(given, &places.home));
        if folder.is_dir() {
            workspace.add_root(folder);
        } else {
            stderr_line(&format!("[WARN] Skipping unreadable directory: {}", folder.display()));
        }
    }
    // Of the files in the person's own folder a tool may touch only context files. A project's settings may
    // name others: never one that holds settings or credentials.
    let names = pollux_config::context::names(&settings.file_names);
    for name in
        names.iter().filter(|name| Path::new(name).extension().is_some_and(|end| end == "md"))
    {
        workspace.allow_memory_file(&places.gemini_dir().join(name));
    }
    workspace.deny(&project.memory_dir().join(".inbox"));
    workspace
}

/// `~` and `%userprofile%` at the start of a path are the home directory.
pub(crate) fn expand_home(given: &str, home: &Path) -> PathBuf {
    let rest = given.strip_prefix('~').or_else(|| {
        let prefix = given.get(.."%userprofile%".len())?;
        prefix.eq_ignore_ascii_case("%userprofile%").then(|| &given[prefix.len()..])
    });
    match rest {
        Some(rest) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
            home.join(rest.trim_start_matches(['/', '\\']))
        }
        _ => PathBuf::from(given),
    }
}

/// True inside a Git work tree.
pub(crate) fn is_git(cwd: &Path) -> bool {
    cwd.ancestors().any(|folder| folder.join(".git").exists())
}

/// The operating system by Node's name, as session contexts and headers know it.
pub(crate) fn node_platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_is_expanded_at_the_start_only() {
        let home = Path::new("/home/me");
        let table = [
            ("~", "/home/me"),
            ("~/x", "/home/me/x"),
            ("%USERPROFILE%/x", "/home/me/x"),
            ("~you/x", "~you/x"),
            ("a/~", "a/~"),
            ("ümlaut", "ümlaut"),
        ];
        for (given, expected) in table {
            assert_eq!(expand_home(given, home), Path::new(expected), "{given}");
        }
    }

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
