//! The settings of a run, read and judged, before anything starts.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_config::{
    ApprovalRequest, Environment, LoadOptions, Loaded, Places, ProjectIdentity, TelemetrySettings,
    names as variables,
};
use pollux_fs::{IgnoreOptions, Workspace};
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
}

impl Setup {
    /// Reads settings, trust and `.env`, and decides mode, model and folders. Tells on standard error
    /// what a person should know.
    pub(crate) fn read(start: Start) -> Result<Self, Failure> {
        let Start { arguments, environment, cwd, replay } = start;
        let places = Places::new(&environment);
        let loaded = pollux_config::load(&LoadOptions {
            places: &places,
            cwd: &cwd,
            environment: &environment,
            skip_trust: arguments.skip_trust,
            ide_trust: None,
            ignore_env: false,
        })
        .map_err(|error| Failure::config(error.to_string()))?;
        loaded.warnings.iter().for_each(|warning| stderr_line(warning));
        if arguments.debug {
            for (path, key) in &loaded.unknown_keys {
                stderr_line(&format!("Unknown setting in {}: {key}", path.display()));
            }
        }
        refuse_sandbox(&loaded)?;
        tell_trust(&loaded, &cwd);
        tell_what_waits(&loaded, &places);
        let telemetry = TelemetrySettings::resolve(&loaded.settings, &loaded.environment)
            .map_err(|error| Failure::config(error.to_string()))?;
        let mode = approval_mode(&arguments, &loaded)?;
        let model = requested_model(&arguments, &loaded);
        let project = ProjectIdentity::resolve(&places, &cwd);
        project.warning.iter().for_each(|warning| stderr_line(warning));
        tell_place(&loaded, &places, &cwd);
        let workspace = Arc::new(workspace(&arguments, &loaded, &places, &project, &cwd));
        let folders = workspace.roots().map(Path::to_owned).collect();
        Ok(Self {
            cwd,
            places,
            project,
            mode,
            model,
            telemetry,
            workspace,
            folders,
            interactive: replay.is_none() && is_conversation(&arguments, &loaded)?,
            replay,
            arguments,
            loaded,
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
fn is_conversation(arguments: &Arguments, loaded: &Loaded) -> Result<bool, Failure> {
    let (stdin, stdout) = (std::io::stdin().is_terminal(), std::io::stdout().is_terminal());
    if arguments.prompt_interactive.as_deref().is_none_or(str::is_empty) {
        let headless = is_headless(arguments, stdin, stdout, &loaded.environment);
        return Ok(!headless && arguments.prompt_text().is_none());
    }
    let refusal = match (stdin, stdout) {
        (true, true) => return Ok(true),
        (false, _) => "cannot be used when input is piped from stdin.",
        (true, false) => "cannot be used when output is no terminal.",
    };
    Err(Failure::input(format!("Error: The --prompt-interactive flag {refusal}")))
}

/// A sandbox that was asked for and cannot be had must not be ignored.
fn refuse_sandbox(loaded: &Loaded) -> Result<(), Failure> {
    let environment = loaded.environment.non_empty(variables::GEMINI_SANDBOX);
    let asked = match environment {
        Some(word) => !matches!(word.trim().to_lowercase().as_str(), "0" | "false" | ""),
        None => loaded.settings.tools.sandbox.as_ref().is_some_and(asks_for_sandbox),
    };
    if !asked || loaded.environment.non_empty(variables::SANDBOX).is_some() {
        return Ok(());
    }
    let source = if environment.is_some() { "GEMINI_SANDBOX" } else { "the setting tools.sandbox" };
    Err(Failure::sandbox(format!(
        "A sandbox is asked for by {source}, and sandboxing is not available in this version of Pollux yet. Turn it off there to run without one."
    )))
}

fn asks_for_sandbox(setting: &serde_json::Value) -> bool {
    match setting {
        serde_json::Value::Bool(on) => *on,
        serde_json::Value::String(name) => !matches!(name.as_str(), "" | "false" | "0"),
        serde_json::Value::Object(fields) => fields.get("enabled") == Some(&true.into()),
        _ => false,
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

/// Guards that the person has set up and that this version does not act on are named, never passed over
/// in silence.
fn tell_what_waits(loaded: &Loaded, places: &Places) {
    let hooks = loaded.settings.value("hooks").and_then(serde_json::Value::as_object);
    if hooks.is_some_and(|hooks| {
        hooks.values().any(|event| event.as_array().is_some_and(|list| !list.is_empty()))
    }) {
        stderr_line(
            "[WARNING] Hooks are configured, and this version of Pollux does not run them yet.",
        );
    }
    if places.user_policies().is_dir() || places.system_policies().is_dir() {
        stderr_line(&format!(
            "[WARNING] Policy files are present ({}), and this version of Pollux does not apply them yet.",
            places.user_policies().display()
        ));
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
    let asked =
        arguments.model.as_deref().or(environment).or(loaded.settings.model.name.as_deref());
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
fn expand_home(given: &str, home: &Path) -> PathBuf {
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
            (json!(false), false),
            (json!(""), false),
            (json!({"image": "x"}), false),
        ] {
            assert_eq!(asks_for_sandbox(&setting), asks, "{setting}");
        }
    }
}
