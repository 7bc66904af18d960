//! Choice between the screen and the line mode.

use std::path::{Path, PathBuf};

use pollux_config::environment::names;
use pollux_config::{Environment, Places};
use pollux_host::load_options;
use pollux_input::ShowQuestion;
use pollux_protocol::SettingValues;
use serde_json::Value;

/// Returns true if a conversation is shown on the screen, not line by line. The environment has
/// priority over the settings.
pub(crate) fn is_screen(
    environment: &Environment,
    settings: &SettingValues,
    is_for_screen_reader: bool,
) -> bool {
    let is_dumb = environment.get(names::TERM).is_some_and(|name| name == "dumb");
    let wanted = environment.get(names::POLLUX_TERMINAL);
    let wanted = wanted.or(settings.get("pollux.terminal").and_then(Value::as_str));
    cfg!(unix) && !is_dumb && !is_for_screen_reader && wanted != Some("line")
}

/// Returns the function that decides, when the first question before a session is asked, whether it
/// is shown on the screen. Of the settings, only those of the user and the system count: the folder
/// may not be trusted yet.
pub(crate) fn show_question(
    environment: Environment,
    folder: PathBuf,
    screen_reader: Option<bool>,
) -> Box<dyn Fn() -> Option<ShowQuestion> + Send + Sync> {
    Box::new(move || {
        let settings = own_settings(&environment, &folder)?;
        let setting = || settings.get("ui.accessibility.screenReader").and_then(Value::as_bool);
        let is_for_reader = screen_reader.or_else(setting).unwrap_or_default();
        is_screen(&environment, &settings, is_for_reader)
            .then_some(pollux_tui::show_question as ShowQuestion)
    })
}

fn own_settings(environment: &Environment, folder: &Path) -> Option<SettingValues> {
    let places = Places::new(environment);
    let found = pollux_config::find(&load_options(&places, folder, environment, false)).ok()?;
    Some(found.own_settings().values())
}
