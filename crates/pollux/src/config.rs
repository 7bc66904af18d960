//! `pollux config`: shows, changes and explains settings. Starts no session and calls no model.

use std::process::ExitCode;

use pollux_config::{Loaded, Places};
use pollux_host::{SettingsFiles, place, shown};
use pollux_protocol::plain_text::harmless;
use serde_json::{Value, json};

use crate::arguments::{ConfigArguments, ConfigVerb};
use crate::exit::Failure;
use crate::process::Process;
use crate::stderr::stderr_line;
use crate::stdout::print_once;

mod change;
mod explain;
mod report;
mod show;

/// Result of a verb.
struct Answer {
    /// Text for standard output, without the last line end; an empty text prints no line.
    text: String,
    /// Same result as JSON.
    json: Value,
    /// Remarks for the user on standard error; the JSON already contains them.
    notes: Vec<String>,
    /// Exit code: 1 if the value does not exist.
    code: u8,
}

impl Answer {
    fn new(text: String, json: Value) -> Self {
        Self { text, json, notes: Vec::new(), code: 0 }
    }
}

/// Runs a verb of `config`.
pub(crate) fn run(process: &Process, arguments: &ConfigArguments) -> ExitCode {
    let answer = open(process, arguments.skip_trust).and_then(|files| answer(&files, arguments));
    let (text, code) = match answer {
        Ok(answer) if arguments.json() => (format!("{:#}", answer.json), answer.code),
        Ok(answer) => {
            answer.notes.iter().for_each(|note| stderr_line(note));
            (answer.text, answer.code)
        }
        Err(failure) => {
            stderr_line(&failure.message);
            let error = json!({ "error": failure.to_json() });
            let text = if arguments.json() { format!("{error:#}") } else { String::new() };
            (text, failure.exit_code(false))
        }
    };
    if !text.is_empty() {
        print_once(&(harmless(&text).into_owned() + "\n"));
    }
    ExitCode::from(code)
}

fn open(process: &Process, skip_trust: bool) -> Result<SettingsFiles, Failure> {
    let environment = process.environment.clone();
    let places = Places::new(&environment);
    let cwd = Process::folder()?;
    Ok(SettingsFiles { environment, places, cwd, skip_trust })
}

fn answer(files: &SettingsFiles, arguments: &ConfigArguments) -> Result<Answer, Failure> {
    let given = &arguments.given;
    match &arguments.verb {
        ConfigVerb::List { all, .. } => Ok(show::list(&load(files)?, given, *all)),
        ConfigVerb::Get { key, .. } => show::get(&load(files)?, given, key),
        ConfigVerb::Explain { key, .. } => explain::explain(&load(files)?, given, key),
        // The warnings would repeat the report.
        ConfigVerb::Report { .. } => Ok(report::report(&load_quietly(files)?)),
        ConfigVerb::Set { key, value, file, .. } => change::set(files, key, value, file.scope()),
        ConfigVerb::Unset { key, file, .. } => change::unset(files, key, file.scope()),
        ConfigVerb::Migrate { file, .. } => change::migrate(files, file.scope()),
    }
}

/// Returns the settings as a run in this folder has them. Warnings about files go to standard
/// error.
fn load(files: &SettingsFiles) -> Result<Loaded, Failure> {
    let loaded = load_quietly(files)?;
    loaded.warnings.iter().for_each(|warning| stderr_line(warning));
    Ok(loaded)
}

fn load_quietly(files: &SettingsFiles) -> Result<Loaded, Failure> {
    files.load().map_err(|error| Failure::config(error.to_string()))
}
