//! Groups of settings that the program reads, with their types.

use pollux_protocol::ApprovalMode;
use serde_json::Value;

use super::Reader;
use crate::imports::ImportFormat;

/// `general`.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneralSettings {
    /// Approval mode at the start of a run; yolo is not accepted here.
    pub default_approval_mode: ApprovalMode,
    /// True if plan mode is available.
    pub plan_enabled: bool,
    /// Folder for plans, relative to the project.
    pub plan_directory: Option<String>,
    /// Maximum number of attempts for a request, 1 to 10.
    pub max_attempts: u32,
    /// True if requests are retried after network errors.
    pub retry_fetch_errors: bool,
    /// True if snapshots are kept for `/restore`.
    pub checkpointing_enabled: bool,
    /// Rules for the deletion of old sessions.
    pub session_retention: SessionRetentionSettings,
}

/// `general.sessionRetention`. Unlike in Gemini CLI it is off by default.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRetentionSettings {
    /// True if sessions are deleted.
    pub enabled: bool,
    /// Age limit: a number and `h`, `d`, `w` or `m`.
    pub max_age: Option<String>,
    /// Count limit.
    pub max_count: Option<f64>,
    /// Minimum value of `max_age`.
    pub min_retention: Option<String>,
}

impl GeneralSettings {
    pub(super) fn read(reader: Reader<'_>) -> Self {
        let mode = reader.text("general.defaultApprovalMode").and_then(|mode| mode.parse().ok());
        Self {
            default_approval_mode: mode.unwrap_or(ApprovalMode::Default),
            plan_enabled: reader.boolean("general.plan.enabled"),
            plan_directory: reader.owned_text("general.plan.directory"),
            max_attempts: reader.integer("general.maxAttempts").clamp(1, 10) as u32,
            retry_fetch_errors: reader.boolean("general.retryFetchErrors"),
            checkpointing_enabled: reader.boolean("general.checkpointing.enabled"),
            session_retention: SessionRetentionSettings {
                enabled: reader.boolean("general.sessionRetention.enabled"),
                max_age: reader.owned_text("general.sessionRetention.maxAge"),
                max_count: reader.number("general.sessionRetention.maxCount"),
                min_retention: reader.owned_text("general.sessionRetention.minRetention"),
            },
        }
    }
}

/// `model` and `modelConfigs`.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    /// Model or alias. The flag and `GEMINI_MODEL` override it.
    pub name: Option<String>,
    /// Turns after which a session ends; `None` for no limit.
    pub max_session_turns: Option<u64>,
    /// Share of the context at which the conversation is compressed.
    pub compression_threshold: f64,
    /// True if loop detection is off.
    pub loop_detection_disabled: bool,
    /// True to skip the request that asks a model who speaks next.
    pub skip_next_speaker_check: bool,
    /// `modelConfigs` as written, an object.
    pub configs: Value,
}

impl ModelSettings {
    pub(super) fn read(reader: Reader<'_>) -> Self {
        Self {
            name: reader.owned_text("model.name").filter(|name| !name.trim().is_empty()),
            max_session_turns: u64::try_from(reader.integer("model.maxSessionTurns")).ok(),
            compression_threshold: reader.number("model.compressionThreshold").unwrap_or(0.5),
            loop_detection_disabled: reader.boolean("model.disableLoopDetection"),
            skip_next_speaker_check: reader.boolean("model.skipNextSpeakerCheck"),
            configs: reader.value("modelConfigs").cloned().unwrap_or_default(),
        }
    }
}

/// `context`.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextSettings {
    /// Names of context files given by the user, before the built-in ones.
    pub file_names: Vec<String>,
    /// Output format of imports.
    pub import_format: ImportFormat,
    /// True if the model is shown the folders of the project.
    pub include_directory_tree: bool,
    /// Names that end the upward search.
    pub memory_boundary_markers: Vec<String>,
    /// More folders of the workspace.
    pub include_directories: Vec<String>,
    /// Rules for files that are skipped when files are listed and searched.
    pub file_filtering: FileFilteringSettings,
}

/// `context.fileFiltering`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFilteringSettings {
    /// True if files that Git ignores are skipped.
    pub respect_git_ignore: bool,
    /// True if files that `.geminiignore` names are skipped.
    pub respect_gemini_ignore: bool,
    /// True if `@` names are searched for in subfolders.
    pub enable_recursive_file_search: bool,
    /// More ignore files, relative to the project.
    pub custom_ignore_file_paths: Vec<String>,
}

impl ContextSettings {
    pub(super) fn read(reader: Reader<'_>) -> Self {
        let flat = reader.text("context.importFormat") == Some("flat");
        Self {
            file_names: reader.texts_of("context.fileName"),
            import_format: if flat { ImportFormat::Flat } else { ImportFormat::Tree },
            include_directory_tree: reader.boolean("context.includeDirectoryTree"),
            memory_boundary_markers: reader.texts_of("context.memoryBoundaryMarkers"),
            include_directories: reader.texts_of("context.includeDirectories"),
            file_filtering: FileFilteringSettings {
                respect_git_ignore: reader.boolean("context.fileFiltering.respectGitIgnore"),
                respect_gemini_ignore: reader.boolean("context.fileFiltering.respectGeminiIgnore"),
                enable_recursive_file_search: reader
                    .boolean("context.fileFiltering.enableRecursiveFileSearch"),
                custom_ignore_file_paths: reader
                    .texts_of("context.fileFiltering.customIgnoreFilePaths"),
            },
        }
    }
}

/// `tools`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSettings {
    /// The only built-in tools offered; `None` for all.
    pub core: Option<Vec<String>>,
    /// Calls that need no confirmation.
    pub allowed: Vec<String>,
    /// Tools that are denied.
    pub exclude: Vec<String>,
    /// Tools that always need confirmation.
    pub confirmation_required: Vec<String>,
    /// Characters of output that the model sees; `None` for all.
    pub truncate_output_threshold: Option<usize>,
    /// Accepted for compatibility.
    pub use_ripgrep: bool,
    /// Sandbox as written: a boolean, a string or an object.
    pub sandbox: Option<Value>,
    /// `tools.shell`.
    pub shell: ShellSettings,
}

/// `tools.shell`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellSettings {
    /// True if commands get a terminal.
    pub enable_interactive_shell: bool,
    /// Pager for commands.
    pub pager: String,
    /// True if colours are kept.
    pub show_color: bool,
    /// Seconds without output after which a command is ended; zero or less for never.
    pub inactivity_timeout: f64,
    /// True if the model is instructed to keep output short.
    pub enable_output_efficiency: bool,
}

impl ToolSettings {
    pub(super) fn read(reader: Reader<'_>) -> Self {
        let threshold = reader.integer("tools.truncateToolOutputThreshold");
        Self {
            core: reader.texts("tools.core"),
            allowed: reader.texts_of("tools.allowed"),
            exclude: reader.texts_of("tools.exclude"),
            confirmation_required: reader.texts_of("tools.confirmationRequired"),
            truncate_output_threshold: usize::try_from(threshold).ok().filter(|limit| *limit > 0),
            use_ripgrep: reader.boolean("tools.useRipgrep"),
            sandbox: reader.value("tools.sandbox").cloned(),
            shell: ShellSettings {
                enable_interactive_shell: reader.boolean("tools.shell.enableInteractiveShell"),
                pager: reader.text_of("tools.shell.pager"),
                show_color: reader.boolean("tools.shell.showColor"),
                inactivity_timeout: reader.number("tools.shell.inactivityTimeout").unwrap_or(300.0),
                enable_output_efficiency: reader.boolean("tools.shell.enableShellOutputEfficiency"),
            },
        }
    }
}

/// `security`, with the administrator's ban on yolo.
#[derive(Debug, Clone, PartialEq)]
pub struct SecuritySettings {
    /// True if the user is asked whether to trust a folder. Trust itself is decided by
    /// [`crate::Trust`], which ignores a project's own file.
    pub folder_trust_enabled: bool,
    /// True if yolo is forbidden by setting.
    pub disable_yolo_mode: bool,
    /// True if yolo is forbidden by the administrator (`admin.secureModeEnabled`).
    pub secure_mode_enabled: bool,
    /// Settings for signing in.
    pub auth: AuthSettings,
}

/// `security.auth`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthSettings {
    /// Selected authentication method.
    pub selected_type: Option<String>,
    /// The only authentication method that is allowed.
    pub enforced_type: Option<String>,
}

impl SecuritySettings {
    pub(super) fn read(reader: Reader<'_>) -> Self {
        let filled = |key| reader.owned_text(key).filter(|text| !text.is_empty());
        Self {
            folder_trust_enabled: reader.boolean("security.folderTrust.enabled"),
            disable_yolo_mode: reader.boolean("security.disableYoloMode"),
            secure_mode_enabled: reader.boolean("admin.secureModeEnabled"),
            auth: AuthSettings {
                selected_type: filled("security.auth.selectedType"),
                enforced_type: filled("security.auth.enforcedType"),
            },
        }
    }
}

/// `advanced`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvancedSettings {
    /// Variables that are not read from a project's `.env`.
    pub excluded_env_vars: Vec<String>,
    /// True if `.env` files outside of the home directory are skipped.
    pub ignore_local_env: bool,
    /// `ipv4first` or `verbatim`, as written.
    pub dns_resolution_order: Option<String>,
}

impl AdvancedSettings {
    pub(super) fn read(reader: Reader<'_>) -> Self {
        Self {
            excluded_env_vars: reader.texts_of("advanced.excludedEnvVars"),
            ignore_local_env: reader.boolean("advanced.ignoreLocalEnv"),
            dns_resolution_order: reader.owned_text("advanced.dnsResolutionOrder"),
        }
    }
}

/// The part of `ui` that headless runs read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UiSettings {
    /// True if a run in the home directory gives a warning.
    pub show_home_directory_warning: bool,
    /// True if limits of the terminal give a warning.
    pub show_compatibility_warnings: bool,
    /// True for plain output, suitable for screen readers.
    pub screen_reader: bool,
}

impl UiSettings {
    pub(super) fn read(reader: Reader<'_>) -> Self {
        Self {
            show_home_directory_warning: reader.boolean("ui.showHomeDirectoryWarning"),
            show_compatibility_warnings: reader.boolean("ui.showCompatibilityWarnings"),
            screen_reader: reader.boolean("ui.accessibility.screenReader"),
        }
    }
}
