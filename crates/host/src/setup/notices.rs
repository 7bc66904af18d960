//! Notices about the settings, the folder and its trust.

use std::path::Path;

use pollux_config::{Environment, LayerFileState, Loaded, Places, names as variables};
use pollux_fs::EntryKind;
use pollux_protocol::Notices;

use super::SetupInput;

/// Reports what was found in the settings. Turns debug output on if the environment asks for it.
pub(super) fn settings(input: &mut SetupInput, loaded: &Loaded, places: &Places) {
    let sink = input.request.notices.as_ref();
    loaded.warnings.iter().for_each(|warning| sink.warning(warning));
    pending_warnings(places, sink);
    input.options.debug |= asks_for_debug(&loaded.environment);
    if input.options.debug {
        files(loaded, sink);
        for (path, key) in &loaded.unknown_keys {
            sink.info(&format!("Unknown setting in {}: {key}", path.display()));
        }
    }
}

/// Reports which settings files and `.env` file were read, and why others were not.
fn files(loaded: &Loaded, notices: &dyn Notices) {
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
fn pending_warnings(places: &Places, notices: &dyn Notices) {
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
pub(super) fn trust(loaded: &Loaded, cwd: &Path, called_as: &str, notices: &dyn Notices) {
    if !loaded.trust.is_trusted() {
        notices.warning(&format!(
            "Restricted mode: {} is not trusted, so its settings, .env and context files are ignored. \
             To trust it: {called_as} trust, or --skip-trust for one run.",
            cwd.display()
        ));
    }
}

/// Warns about unsuitable folders to run in.
pub(super) fn place(loaded: &Loaded, places: &Places, cwd: &Path, notices: &dyn Notices) {
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
