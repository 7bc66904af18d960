//! `pollux config`: shows, changes and explains settings. Starts no session and calls no model.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pollux_config::{Environment, Loaded, Places};
use pollux_host::load_options;
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

/// Environment and paths from which settings are read.
struct ConfigContext {
    environment: Environment,
    places: Places,
    cwd: PathBuf,
    skip_trust: bool,
}

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
    let answer = ConfigContext::open(process, arguments.skip_trust)
        .and_then(|context| context.answer(arguments));
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

impl ConfigContext {
    fn open(process: &Process, skip_trust: bool) -> Result<Self, Failure> {
        let environment = process.environment.clone();
        let places = Places::new(&environment);
        let cwd = Process::folder()?;
        Ok(Self { environment, places, cwd, skip_trust })
    }

    fn answer(&self, arguments: &ConfigArguments) -> Result<Answer, Failure> {
        let given = &arguments.given;
        match &arguments.verb {
            ConfigVerb::List { all, .. } => Ok(show::list(&self.load()?, given, *all)),
            ConfigVerb::Get { key, .. } => show::get(&self.load()?, given, key),
            ConfigVerb::Explain { key, .. } => explain::explain(&self.load()?, given, key),
            // The warnings would repeat the report.
            ConfigVerb::Report { .. } => Ok(report::report(&self.load_quietly()?)),
            ConfigVerb::Set { key, value, file, .. } => change::set(self, key, value, file.scope()),
            ConfigVerb::Unset { key, file, .. } => change::unset(self, key, file.scope()),
            ConfigVerb::Migrate { file, .. } => change::migrate(self, file.scope()),
        }
    }

    /// Returns the settings as a run in this folder has them. Warnings about files go to standard
    /// error.
    fn load(&self) -> Result<Loaded, Failure> {
        let loaded = self.load_quietly()?;
        loaded.warnings.iter().for_each(|warning| stderr_line(warning));
        Ok(loaded)
    }

    fn load_quietly(&self) -> Result<Loaded, Failure> {
        let options = load_options(&self.places, &self.cwd, &self.environment, self.skip_trust);
        pollux_config::load(&options).map_err(|error| Failure::config(error.to_string()))
    }
}

/// Returns a place in a file in the usual form `path:line`.
fn place(path: &Path, position: Option<pollux_config::Position>) -> String {
    let path = path.display();
    position.map_or_else(|| path.to_string(), |at| format!("{path}:{}", at.line))
}

/// Returns a value on one line, with credentials hidden.
fn shown(key: &str, value: &Value) -> String {
    pollux_config::masked(key, value).to_string()
}
