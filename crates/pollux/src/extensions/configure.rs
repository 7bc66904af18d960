//! `extensions config`: values for the settings of extensions.

use pollux_config::FileScope;
use pollux_extensions::{Extension, ExtensionSetting, ValueScope};
use pollux_host::Setup;
use pollux_protocol::plain_text::visible;

use crate::exit::Failure;
use crate::input::{line_of_stdin, secret_of_stdin, stdin_is_terminal};
use crate::stderr::stderr_line;
use crate::stdout::print_unfinished;

/// Asks for the values of one setting, of an extension, or of all extensions, and stores them.
pub(super) async fn configure(
    setup: &Setup,
    name: Option<&str>,
    setting: Option<&str>,
    scope: FileScope,
) -> Result<(), Failure> {
    let Some(name) = name else {
        for extension in setup.extensions.iter() {
            all_of(setup, extension, scope).await?;
        }
        return Ok(());
    };
    let Some(extension) = setup.extensions.get(name) else {
        return Err(Failure::general(format!("Extension \"{name}\" is not installed.")));
    };
    let Some(wanted) = setting else { return all_of(setup, extension, scope).await };
    let is_wanted = |one: &&ExtensionSetting| {
        one.declaration.name == wanted || one.declaration.variable == wanted
    };
    let Some(setting) = extension.settings.iter().find(is_wanted) else {
        return Err(Failure::general(format!(
            "Setting \"{wanted}\" not found in extension \"{}\".",
            extension.name()
        )));
    };
    ask(setup, extension, setting, scope).await
}

async fn all_of(setup: &Setup, extension: &Extension, scope: FileScope) -> Result<(), Failure> {
    if extension.settings.is_empty() {
        stderr_line(&format!("Extension \"{}\" has no settings to configure.", extension.name()));
    }
    for setting in &extension.settings {
        let name = &setting.declaration.name;
        if setting.value.is_some() {
            print_unfinished(&format!(
                "Setting \"{}\" ({}) is already set. Overwrite? [y/N]: ",
                visible(name),
                setting.declaration.variable
            ));
            let answer = line_of_stdin().await.map(|line| line.trim().to_lowercase());
            if !answer.is_some_and(|answer| matches!(answer.as_str(), "y" | "yes")) {
                continue;
            }
        }
        ask(setup, extension, setting, scope).await?;
    }
    Ok(())
}

/// Asks for the values that an extension has none for, if a user is at the terminal.
pub(super) async fn ask_missing(setup: &Setup, extension: &Extension) -> Result<(), Failure> {
    if !stdin_is_terminal() {
        return Ok(());
    }
    for setting in extension.settings.iter().filter(|setting| setting.value.is_none()) {
        ask(setup, extension, setting, FileScope::User).await?;
    }
    Ok(())
}

/// Asks for one value. The end of the input changes nothing, and an empty line removes the value.
async fn ask(
    setup: &Setup,
    extension: &Extension,
    setting: &ExtensionSetting,
    scope: FileScope,
) -> Result<(), Failure> {
    let declaration = &setting.declaration;
    let (name, description) = (visible(&declaration.name), visible(&declaration.description));
    print_unfinished(&format!("{name} ({description}): "));
    let value =
        if declaration.is_sensitive { secret_of_stdin().await } else { line_of_stdin().await };
    let Some(value) = value else {
        return Err(Failure::general(format!("No value was given for \"{name}\".")));
    };
    let to = match scope {
        FileScope::Project => ValueScope::Workspace,
        _ => ValueScope::User,
    };
    let store = extension.value_store(&setup.places.gemini_dir(), &setup.input.request.folder);
    store
        .set(declaration, value.trim_end_matches(['\r', '\n']), to)
        .map_err(|error| Failure::general(error.to_string()))?;
    stderr_line(&format!("Setting \"{name}\" updated."));
    Ok(())
}
