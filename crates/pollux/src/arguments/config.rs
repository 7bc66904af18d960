//! Arguments of `config`.

use clap::{Arg, ArgAction, Command};
use pollux_config::{FileScope, Given};
use serde_json::{Value, json};

use super::checks;
use super::line::Line;

/// Name of the subcommand for settings.
pub(super) const CONFIG: &str = "config";

/// Flags of the main command that override settings, so that `config` can show their effect.
const OVER_SETTINGS: [&str; 11] = [
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

/// Action of `config`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ConfigVerb {
    /// Shows the settings that are set, or all.
    List { all: bool },
    /// Shows the effective value.
    Get { key: String },
    /// Writes a value.
    Set { key: String, value: String, scope: FileScope },
    /// Removes a value.
    Unset { key: String, scope: FileScope },
    /// Shows the source of a value.
    Explain { key: String },
    /// Shows entries of the files that have no effect.
    Report,
    /// Renames old keys.
    Migrate { scope: FileScope },
}

/// Words and flags of `config`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConfigArguments {
    /// Action to run.
    pub(crate) verb: ConfigVerb,
    /// True for JSON on standard output.
    pub(crate) json: bool,
    /// True to trust the folder for this run.
    pub(crate) skip_trust: bool,
    /// Settings that other flags override.
    pub(crate) given: Vec<Given>,
}

/// Syntax of one verb.
struct Form {
    name: &'static str,
    values: &'static [&'static str],
    /// Flags besides `--json` and those that override settings.
    flags: &'static [&'static str],
    about: &'static str,
}

const SCOPES: &[&str] = &["user", "project", "system"];

const FORMS: [Form; 7] = [
    Form {
        name: "list",
        values: &[],
        flags: &["all"],
        about: "Show the settings that are set, with their sources",
    },
    Form { name: "get", values: &["KEY"], flags: &[], about: "Print the value that is in effect" },
    Form {
        name: "set",
        values: &["KEY", "VALUE"],
        flags: SCOPES,
        about: "Write a value; keeps comments and layout of the file",
    },
    Form { name: "unset", values: &["KEY"], flags: SCOPES, about: "Remove a value from a file" },
    Form {
        name: "explain",
        values: &["KEY"],
        flags: &[],
        about: "Show every layer of a setting, and which one is in effect",
    },
    Form {
        name: "report",
        values: &[],
        flags: &[],
        about: "List unknown, misspelt, outdated and ineffective settings in the files",
    },
    Form {
        name: "migrate",
        values: &[],
        flags: SCOPES,
        about: "Rename old keys of a file to their new names",
    },
];

/// Reads a line that begins with `config` and one of its verbs.
///
/// # Errors
/// Message for a line that is incomplete or has other flags or values.
pub(super) fn read(line: &Line<'_>) -> Result<ConfigArguments, String> {
    let words: Vec<&str> =
        line.command_words().unwrap_or_default().iter().map(String::as_str).collect();
    let form = words.get(1).and_then(|name| FORMS.iter().find(|form| form.name == *name));
    let form = form.ok_or(checks::NO_VERB)?;
    let values = &words[2..];
    let is_known =
        |name: &str| name == "json" || OVER_SETTINGS.contains(&name) || form.flags.contains(&name);
    checks::unknown(line, &is_known)?;
    if values.len() != form.values.len() {
        return Err(usage(form));
    }
    Ok(ConfigArguments {
        verb: verb(form, values, line)?,
        json: line.switch("json") == Some(true),
        skip_trust: line.switch("skip-trust") == Some(true),
        given: given(line),
    })
}

fn usage(form: &Form) -> String {
    let hint = match form.values {
        [_, "VALUE"] => {
            " Quote a value that contains spaces; a list is JSON, as in '[\"a\", \"b\"]'."
        }
        _ => "",
    };
    let values = if form.values.is_empty() {
        "no further arguments".to_owned()
    } else {
        form.values.join(" ")
    };
    format!("config {} takes {values}.{hint}", form.name)
}

fn verb(form: &Form, values: &[&str], line: &Line<'_>) -> Result<ConfigVerb, String> {
    let word = |index: usize| values.get(index).map(|word| (*word).to_owned()).unwrap_or_default();
    Ok(match form.name {
        "list" => ConfigVerb::List { all: line.switch("all") == Some(true) },
        "get" => ConfigVerb::Get { key: word(0) },
        "set" => ConfigVerb::Set { key: word(0), value: word(1), scope: scope(line)? },
        "unset" => ConfigVerb::Unset { key: word(0), scope: scope(line)? },
        "explain" => ConfigVerb::Explain { key: word(0) },
        "report" => ConfigVerb::Report,
        _ => ConfigVerb::Migrate { scope: scope(line)? },
    })
}

fn scope(line: &Line<'_>) -> Result<FileScope, String> {
    let is_on = |name: &str| line.switch(name) == Some(true);
    match (is_on("user"), is_on("project"), is_on("system")) {
        (_, false, false) => Ok(FileScope::User),
        (false, true, false) => Ok(FileScope::Project),
        (false, false, true) => Ok(FileScope::System),
        _ => Err("Only one of --user, --project and --system can be given.".to_owned()),
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

/// Returns the flags of all verbs, for the parser of command lines.
pub(super) fn flags() -> Command {
    Command::new(CONFIG).args(["json", "all"].iter().chain(SCOPES).map(|name| flag(name)))
}

fn flag(name: &'static str) -> Arg {
    let help = match name {
        "json" => "Print JSON",
        "all" => "Show defaults too",
        "user" => "The user's file, ~/.gemini/settings.json (the default)",
        "project" => "The project's file, .gemini/settings.json",
        _ => "The system's file, which overrides all others",
    };
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// Returns the declaration, for help, completions and the man page.
pub(super) fn command(help_flag: &dyn Fn() -> Arg) -> Command {
    let subcommand = |form: &Form| {
        let values = form.values.iter().map(|value| {
            let help = match *value {
                "KEY" => "The setting, with dots: general.vimMode",
                _ => "Its value; lists and objects are JSON",
            };
            Arg::new(value.to_lowercase()).value_name(*value).required(true).help(help)
        });
        Command::new(form.name)
            .about(form.about)
            .disable_help_flag(true)
            .args(values)
            .args(form.flags.iter().map(|name| flag(name)))
            .args([flag("json"), help_flag()])
    };
    Command::new(CONFIG)
        .about("Show, change and explain settings")
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .subcommands(FORMS.iter().map(subcommand))
        .arg(help_flag())
}
