//! Settings of a run, read and validated before anything starts.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use pollux_config::consent::kinds;
use pollux_config::protected::ProtectedPlaces;
use pollux_config::{
    Accepted, Environment, LoadOptions, Loaded, PendingSettings, Places, ProjectIdentity,
    TelemetrySettings,
};
use pollux_extensions::ExtensionSet;
use pollux_fs::Workspace;
use pollux_models::ModelsOptions;
use pollux_policy::PolicyFile;
use pollux_protocol::{ApprovalMode, Live, Origin, SessionRequest};
use pollux_shell::{Dialect, Shell, command_line};

use crate::extensions;
use crate::idle;
use crate::models;
use crate::options::RunOptions;
use crate::rules;
use pollux_protocol::SessionFailure;

pub(crate) mod approval;
mod notices;
mod paths;
mod sandbox;
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

/// Everything that a setup is made from.
#[derive(Clone)]
pub struct SetupInput {
    /// Options of the command line.
    pub options: RunOptions,
    /// Environment of the process, without the variables of `.env` files.
    pub(crate) environment: Environment,
    /// Request for the session, with the project's folder and the user.
    pub request: SessionRequest,
    /// Name that the program was called by, for hints.
    pub called_as: String,
    /// Origin of the questions before the session runs.
    pub(crate) origin: Arc<Origin>,
}

/// A run before any setting of the project takes effect.
pub(crate) struct Beginning {
    /// Input of the run: options, environment and request.
    pub(crate) input: SetupInput,
    /// Paths of the user and the system.
    pub(crate) places: Places,
    /// Settings of the user and the system, the trust decision, and the items that the project
    /// provides.
    pub(crate) found: PendingSettings,
    began: Timestamp,
}

impl Beginning {
    /// Reads the settings of the user and the system, and the stored trust decision.
    ///
    /// # Errors
    /// [`SessionFailure::Config`] if they cannot be read.
    pub(crate) fn read(input: SetupInput) -> Result<Self, SessionFailure> {
        let began = Timestamp::now();
        let SetupInput { options, environment, request, .. } = &input;
        let places = Places::new(environment);
        let load = LoadOptions {
            overrides: Some(&request.settings),
            ..load_options(&places, &request.folder, environment, options.rules.skip_trust)
        };
        let found = pollux_config::find(&load).map_err(|error| SessionFailure::config(&error))?;
        Ok(Self { input, places, found, began })
    }

    /// True if the project has settings or variables that may select a service.
    pub(crate) fn project_may_select_a_service(&self) -> bool {
        let items = self.found.items();
        items.iter().any(|item| matches!(item.kind.as_str(), kinds::SETTING | kinds::VARIABLE))
    }

    /// Returns the options of the models without anything of the project. Reports nothing.
    pub(crate) fn without_the_project(self) -> Result<ModelsOptions, SessionFailure> {
        let Self { input, places, found, .. } = self;
        let loaded =
            found.load(Accepted::nothing()).map_err(|error| SessionFailure::config(&error))?;
        let model = models::requested(&input.request, &loaded);
        Ok(models::options(&input, &loaded, &places, model))
    }
}

/// Settings of a run, read and validated; nothing has been started.
///
/// Its methods that make one part of a session stand in the module of that part.
pub struct Setup {
    /// Input of the run: options, environment and request.
    pub input: SetupInput,
    /// Paths of the user and the system.
    pub places: Places,
    /// Merged settings.
    pub loaded: Loaded,
    /// Identity of the project and the paths of its state.
    pub project: ProjectIdentity,
    /// Workspace folders, with the rules about which paths may be read and written.
    pub workspace: Live<Workspace>,
    /// Rules of policy files, settings and options.
    pub rules: PolicyFile,
    /// Approval mode that the run begins in.
    pub mode: ApprovalMode,
    /// Model, by name or alias.
    pub model: String,
    /// Extensions of the user.
    pub extensions: Arc<ExtensionSet>,
    /// Items of the project that may take effect.
    pub(crate) accepted: Accepted,
    pub(crate) telemetry: TelemetrySettings,
    /// Time at which the settings began to be read.
    pub(crate) began: Timestamp,
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
        let Beginning { mut input, places, found, began } = beginning;
        let agreed = accepted.clone();
        let loaded = found.load(accepted).map_err(|error| SessionFailure::config(&error))?;
        notices::settings(&mut input, &loaded, &places);
        sandbox::refuse(&input.options, &loaded)?;
        let SetupInput { options, environment, request, called_as, .. } = &input;
        let (cwd, sink) = (request.folder.as_path(), request.notices.as_ref());
        if !options.looks_up {
            notices::trust(&loaded, cwd, called_as, sink);
        }
        let telemetry = TelemetrySettings::resolve(&loaded.settings, &loaded.environment)
            .map_err(|error| SessionFailure::config(&error))?;
        let mode = approval::mode(options, request, &loaded)?;
        let model = models::requested(request, &loaded);
        let project = ProjectIdentity::resolve(&places, cwd);
        project.warning.iter().for_each(|warning| sink.warning(warning));
        let extensions = extensions::find(&loaded, &places, cwd, options.extensions.as_deref());
        if !options.looks_up {
            extensions.messages.iter().for_each(|message| sink.warning(message));
            idle::report(&loaded, &project, sink);
        }
        notices::place(&loaded, &places, cwd, sink);
        let protected = ProtectedPlaces::new(&places, environment);
        let workspace = workspace::read(request, &loaded, &places, &project, &protected);
        let rules = rules::read(options, &loaded, &places, request, &agreed, &extensions)?;
        let workspace = Live::new(workspace);
        let accepted = agreed;
        let setup = Self {
            input,
            places,
            loaded,
            project,
            workspace,
            rules,
            mode,
            model,
            extensions,
            accepted,
            telemetry,
            began,
        };
        if !setup.input.options.looks_up {
            for message in setup.replaced_servers() {
                setup.input.request.notices.warning(&message);
            }
        }
        Ok(setup)
    }

    /// Returns the items of the project that may take effect.
    pub fn accepted(&self) -> &Accepted {
        &self.accepted
    }

    /// True if a user can answer questions.
    pub fn is_interactive(&self) -> bool {
        self.input.request.operator.is_some()
    }

    /// Returns the name of the output format: from the options, otherwise from the settings.
    pub(crate) fn output_format(&self) -> &'static str {
        let configured = if self.is_json_configured() { "json" } else { "text" };
        self.input.options.output_format.unwrap_or(configured)
    }

    /// Returns true if the settings ask for JSON output.
    pub(crate) fn is_json_configured(&self) -> bool {
        self.loaded.settings.text("output.format") == Some("json")
    }
}
