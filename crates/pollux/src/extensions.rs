//! `pollux extensions`: lists and changes extensions. Starts no session and calls no model. As in
//! Gemini CLI, everything but the list goes to standard error.

use std::path::PathBuf;

use futures::TryFutureExt;
use pollux_config::{FileScope, Places};
use pollux_extensions::{Extension, ExtensionTemplate, Variables};
use pollux_host::extensions::ExtensionSwitch;
use pollux_host::{RunOptions, Setup};
use pollux_protocol::SessionRequest;
use pollux_protocol::plain_text::harmless;

use crate::arguments::{EnablementArguments, ExtensionsArguments, ExtensionsVerb, scope_name};
use crate::exit::Failure;
use crate::inspection::set_up_silently;
use crate::process::Process;
use crate::signals::until_signal;
use crate::stderr::stderr_line;

mod configure;
mod consent;
mod install;
mod list;

use install::{Asks, Wanted};
pub(crate) use list::names;

/// Runs a verb. Returns the text for standard output, and the exit code.
pub(crate) async fn answer(process: &Process, arguments: &ExtensionsArguments) -> (String, u8) {
    // A signal removes the copies of sources, too.
    let work = Box::pin(run(process, &arguments.verb)).map_ok(|text| (text, 0));
    match until_signal(work, |code| (String::new(), code)).await {
        Ok((text, code)) => (harmless(&text).into_owned(), code),
        Err(failure) => {
            // Failures that are reported already have no message.
            if !failure.message.is_empty() {
                stderr_line(&failure.message);
            }
            (String::new(), failure.exit_code(false))
        }
    }
}

async fn run(process: &Process, verb: &ExtensionsVerb) -> Result<String, Failure> {
    match verb {
        ExtensionsVerb::Install(arguments) => {
            let setup = set_up(process, arguments.debug)?;
            let asks = Asks { consent: !arguments.consent, settings: !arguments.skip_settings };
            Wanted { process, setup: &setup, asks }.install(arguments).await.map(no_output)
        }
        ExtensionsVerb::Link { path, consent, debug } => {
            let setup = set_up(process, *debug)?;
            let folder = absolute(process, path)?;
            let asks = Asks { consent: !consent, settings: true };
            Wanted { process, setup: &setup, asks }.link(&folder).await.map(no_output)
        }
        ExtensionsVerb::Uninstall { names, all, debug } => {
            install::uninstall(&set_up(process, *debug)?, names, *all).map(no_output)
        }
        ExtensionsVerb::Update { extension, all, debug } => {
            update(process, extension.as_deref(), *all, *debug).await
        }
        ExtensionsVerb::Config { extension, setting, scope, debug } => {
            let setup = set_up(process, *debug)?;
            let (name, setting) = (extension.as_deref(), setting.as_deref());
            configure::configure(&setup, name, setting, *scope).await.map(no_output)
        }
        ExtensionsVerb::List { output_format: as_json, debug } => {
            let setup = set_up(process, *debug)?;
            Ok(list::list(&setup, *as_json))
        }
        ExtensionsVerb::Enable(arguments) => enable(process, arguments).map(no_output),
        ExtensionsVerb::Disable(arguments) => disable(process, arguments).map(no_output),
        ExtensionsVerb::New { path, template, .. } => new(process, path, *template),
        ExtensionsVerb::Validate { path, .. } => validate(process, path),
    }
}

/// Returns the text for standard output of a verb that only writes messages.
fn no_output((): ()) -> String {
    String::new()
}

fn enable(process: &Process, arguments: &EnablementArguments) -> Result<(), Failure> {
    let setup = set_up(process, arguments.debug)?;
    // Gemini CLI has this exit code here, and another one for `disable`.
    let extension =
        installed(&setup, &arguments.extension).map_err(|error| Failure::config(error.message))?;
    let to = arguments.scope.unwrap_or(FileScope::User);
    switch(&setup).enable(extension, to).map_err(Failure::general)?;
    let place = match arguments.scope {
        Some(scope) => format!("for scope \"{}\"", scope_name(scope)),
        None => "in all scopes".to_owned(),
    };
    stderr_line(&format!("Extension \"{}\" successfully enabled {place}.", extension.name()));
    Ok(())
}

fn disable(process: &Process, arguments: &EnablementArguments) -> Result<(), Failure> {
    let setup = set_up(process, arguments.debug)?;
    let extension = installed(&setup, &arguments.extension)?;
    let to = arguments.scope.unwrap_or(FileScope::User);
    switch(&setup).disable(extension, to).map_err(Failure::general)?;
    stderr_line(&format!(
        "Extension \"{}\" successfully disabled for scope \"{}\".",
        extension.name(),
        // Gemini CLI writes its default with a capital letter.
        arguments.scope.map_or("User", scope_name)
    ));
    Ok(())
}

async fn update(
    process: &Process,
    name: Option<&str>,
    all: bool,
    debug: bool,
) -> Result<String, Failure> {
    let setup = set_up(process, debug)?;
    let asks = Asks { consent: true, settings: true };
    let wanted = Wanted { process, setup: &setup, asks };
    if all {
        return wanted.update_all().await.map(no_output);
    }
    let name =
        name.ok_or_else(|| Failure::general("Either an extension name or --all must be provided"))?;
    let Some(extension) = setup.extensions.get(name) else {
        return Err(Failure::general(format!("Extension \"{name}\" not found.")));
    };
    if !wanted.update(extension).await? {
        stderr_line(&format!("Extension \"{}\" is already up to date.", extension.name()));
    }
    Ok(String::new())
}

/// Reads the settings as a run in this folder has them, and reports extensions that are left out.
fn set_up(process: &Process, debug: bool) -> Result<Setup, Failure> {
    let options = RunOptions { debug, ..RunOptions::default() };
    let setup = set_up_silently(process, options, SessionRequest::new(Process::folder()?))?;
    if !setup.loaded.settings.boolean("admin.extensions.enabled") {
        return Err(Failure::config("Extensions are disabled by your administrator."));
    }
    setup.extensions.messages.iter().for_each(|message| stderr_line(message));
    Ok(setup)
}

fn installed<'s>(setup: &'s Setup, name: &str) -> Result<&'s Extension, Failure> {
    let found = setup.extensions.get(name);
    found.ok_or_else(|| Failure::general(format!("Extension with name {name} does not exist.")))
}

fn switch(setup: &Setup) -> ExtensionSwitch {
    let cwd = setup.input.request.folder.clone();
    ExtensionSwitch { places: setup.places.clone(), cwd }
}

fn new(
    process: &Process,
    path: &str,
    template: Option<ExtensionTemplate>,
) -> Result<String, Failure> {
    let folder = absolute(process, path)?;
    pollux_extensions::create(&folder, template)?;
    let from = template.map(|template| format!(" from template \"{}\"", template.name));
    stderr_line(&format!(
        "Successfully created new extension{} at {}.",
        from.unwrap_or_default(),
        folder.display()
    ));
    Ok(String::new())
}

fn validate(process: &Process, path: &str) -> Result<String, Failure> {
    let folder = absolute(process, path)?;
    let found = pollux_extensions::validate(&folder);
    let mut found = found.map_err(|error| Failure::general(error.to_string()))?;
    let variables = Variables::new(&folder, &folder);
    if let Ok(Some(hooks)) = pollux_extensions::hooks_in(&folder, &variables) {
        let file = pollux_extensions::hooks_file(&folder);
        found.errors.extend(pollux_hooks::read_extension(&hooks, &file, &[]).warnings);
    }
    let listed = |title: &str, items: &[String]| {
        if !items.is_empty() {
            stderr_line(&format!("{title}\n  - {}", items.join("\n  - ")));
        }
    };
    listed("Validation warnings:", &found.warnings);
    listed("Validation failed with the following errors:", &found.errors);
    if !found.errors.is_empty() {
        return Err(Failure::general("Extension validation failed."));
    }
    stderr_line(&format!("Extension {} has been successfully validated.", folder.display()));
    Ok(String::new())
}

fn absolute(process: &Process, given: &str) -> Result<PathBuf, Failure> {
    let places = Places::new(&process.environment);
    Ok(pollux_fs::absolute(&Process::folder()?, &places.expand_home(given)))
}
