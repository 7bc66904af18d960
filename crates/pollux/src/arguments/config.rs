//! Arguments of `config`.

use clap::{Args, Subcommand};
use pollux_config::{FileScope, Given};
use serde_json::{Value, json};

use super::line::Line;

/// Flags of the main command that override settings, so that `config` can show their effect.
pub(super) const OVER_SETTINGS: [&str; 11] = [
    "debug",
    "skip-trust",
    "model",
    "output-format",
    "approval-mode",
    "yolo",
    "include-directories",
    "sandbox",
    "policy",
    "admin-policy",
    "allowed-tools",
];

/// Show, change and explain settings
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) verb: ConfigVerb,

    /// True to trust the folder for this run.
    #[arg(skip)]
    pub(crate) skip_trust: bool,

    /// Settings that flags of the main command override.
    #[arg(skip)]
    pub(crate) given: Vec<Given>,
}

/// Action of `config`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Show the settings that are set, with their sources
    List {
        /// Show defaults too
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the value that is in effect
    Get {
        /// The setting, with dots: general.vimMode
        #[arg(value_name = "KEY")]
        key: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a value; keeps comments and layout of the file
    Set {
        /// The setting, with dots: general.vimMode
        #[arg(value_name = "KEY")]
        key: String,
        /// Its value; lists and objects are JSON
        #[arg(value_name = "VALUE")]
        value: String,
        #[command(flatten)]
        file: FileFlags,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a value from a file
    Unset {
        /// The setting, with dots: general.vimMode
        #[arg(value_name = "KEY")]
        key: String,
        #[command(flatten)]
        file: FileFlags,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show every layer of a setting, and which one is in effect
    Explain {
        /// The setting, with dots: general.vimMode
        #[arg(value_name = "KEY")]
        key: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List unknown, misspelt, outdated and ineffective settings in the files
    Report {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Rename old keys of a file to their new names
    Migrate {
        #[command(flatten)]
        file: FileFlags,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Choice of the settings file to change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct FileFlags {
    /// The user's file, ~/.gemini/settings.json (the default)
    #[arg(long)]
    user: bool,

    /// The project's file, .gemini/settings.json
    #[arg(long)]
    project: bool,

    /// The system's file, which overrides all others
    #[arg(long)]
    system: bool,
}

impl FileFlags {
    /// Returns the file.
    pub(crate) fn scope(&self) -> FileScope {
        match self {
            Self { system: true, .. } => FileScope::System,
            Self { project: true, .. } => FileScope::Project,
            _ => FileScope::User,
        }
    }
}

impl ConfigArguments {
    /// Returns true for JSON on standard output.
    pub(crate) fn json(&self) -> bool {
        match self.verb {
            ConfigVerb::List { json, .. }
            | ConfigVerb::Get { json, .. }
            | ConfigVerb::Set { json, .. }
            | ConfigVerb::Unset { json, .. }
            | ConfigVerb::Explain { json, .. }
            | ConfigVerb::Report { json }
            | ConfigVerb::Migrate { json, .. } => json,
        }
    }

    /// Adds the effect of the flags of the main command on the line.
    ///
    /// # Errors
    /// Message for a line that names several files.
    pub(super) fn with_overrides(self, line: &Line<'_>) -> Result<Self, String> {
        let is_on = |name| line.switch(name) == Some(true);
        if ["user", "project", "system"].into_iter().filter(|name| is_on(name)).count() > 1 {
            return Err("Only one of --user, --project and --system can be given.".to_owned());
        }
        Ok(Self { skip_trust: is_on("skip-trust"), given: given(line), ..self })
    }
}

/// Returns the settings that the flags of the line override.
fn given(line: &Line<'_>) -> Vec<Given> {
    let mut given = Vec::new();
    let mut add = |key, flag, value: Option<Value>| {
        given.extend(value.map(|value| Given { key, flag, value }));
    };
    let text = |flag: &str| line.text(flag).filter(|text| !text.is_empty()).map(Value::from);
    add("model.name", "--model", text("model"));
    add("output.format", "--output-format", text("output-format"));
    let yolo = line.switch("yolo").filter(|on| *on).map(|_| json!("yolo"));
    add("general.defaultApprovalMode", "--yolo", yolo);
    add("general.defaultApprovalMode", "--approval-mode", text("approval-mode"));
    for (key, flag) in [
        ("context.includeDirectories", "--include-directories"),
        ("policyPaths", "--policy"),
        ("adminPolicyPaths", "--admin-policy"),
        ("tools.allowed", "--allowed-tools"),
    ] {
        let items = line.list(flag.trim_start_matches('-'));
        add(key, flag, (!items.is_empty()).then(|| json!(items)));
    }
    add("tools.sandbox", "--sandbox", line.switch("sandbox").map(Value::Bool));
    given
}
