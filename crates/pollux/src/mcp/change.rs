//! `mcp remove`, `enable` and `disable`.

use std::path::{Path, PathBuf};

use pollux_config::{Changed, ConfigError, FileScope, Places, edit, edit_file};
use pollux_host::{Enablement, Setup};

use super::Answer;
use super::found::{Finding, FoundServer, found, real};
use crate::arguments::SwitchArguments;
use crate::exit::Failure;
use crate::process::Process;

/// Removes the entry of a server from one settings file.
pub(super) fn remove(process: &Process, name: &str, scope: FileScope) -> Result<Answer, Failure> {
    let (places, cwd) = (Places::new(&process.environment), Process::folder()?);
    let path = file(&places, &cwd, scope)?;
    let changed = edit_file(scope, &path, &|text| edit::unset(&path, text, &["mcpServers", name]))
        .map_err(|error| failure(&error))?;
    let scope = scope.as_str();
    Ok(Answer::of_text(match changed {
        Changed::Yes => format!("Server \"{name}\" removed from {scope} settings."),
        Changed::No => format!("Server \"{name}\" not found in {scope} settings."),
    }))
}

/// Returns the settings file of a scope. In the home directory the project's file is the user's.
pub(super) fn file(places: &Places, cwd: &Path, scope: FileScope) -> Result<PathBuf, Failure> {
    if scope == FileScope::Project && real(cwd) == real(&places.home) {
        return Err(Failure::general(
            "Error: Please use --scope user to edit settings in the home directory.",
        ));
    }
    Ok(scope.path(places, cwd))
}

/// Returns the failure of a file that cannot be changed.
pub(super) fn failure(error: &ConfigError) -> Failure {
    match error {
        ConfigError::Broken(_) => Failure::config(error.to_string()),
        _ => Failure::general(error.to_string()),
    }
}

/// Enables or disables a server for all sessions of the user.
pub(super) fn switch(
    setup: &Setup,
    wanted: &SwitchArguments,
    enabled: bool,
) -> Result<Answer, Failure> {
    let called_as = &setup.input.called_as;
    let server = named(setup, &wanted.server)?;
    let verb = if enabled { "enabled" } else { "disabled" };
    if wanted.session {
        return Ok(Answer::of_text(format!(
            "MCP server '{}' is not changed: this command is a session of its own, so --session has \
             no lasting effect. Use /mcp {} {} in a conversation.",
            server.name,
            verb.trim_end_matches('d'),
            server.name
        )));
    }
    Enablement::at(&setup.places).set(&server.name, enabled).map_err(Failure::general)?;
    let notes = match &server.finding {
        Finding::Open(_) | Finding::Disabled => Vec::new(),
        finding if enabled => finding.reason(called_as).into_iter().collect(),
        _ => Vec::new(),
    };
    Ok(Answer { notes, ..Answer::of_text(format!("MCP server '{}' {verb}.", server.name)) })
}

/// Returns the server of this name; letter case and blanks around it do not count.
pub(super) fn named(setup: &Setup, name: &str) -> Result<FoundServer, Failure> {
    let key = Enablement::key(name);
    let mut servers = found(setup);
    let exact = servers.iter().position(|server| server.name == name);
    let at = exact.or_else(|| servers.iter().position(|one| Enablement::key(&one.name) == key));
    at.map(|at| servers.swap_remove(at)).ok_or_else(|| {
        let called_as = &setup.input.called_as;
        Failure::general(format!(
            "Error: Server '{name}' not found. Use '{called_as} mcp list' to see available servers."
        ))
    })
}
