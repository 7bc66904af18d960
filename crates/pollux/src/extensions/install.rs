//! `extensions install`, `link`, `update` and `uninstall`.

use std::ffi::OsStr;
use std::path::Path;

use pollux_config::{FileScope, Places};
use pollux_extensions::manifest::Manifest;
use pollux_extensions::{
    Extension, FetchedExtension, InstallRecord, SourceKind, SourceOptions, Sources,
    without_credentials,
};
use pollux_host::Setup;
use pollux_host::extensions::{ExtensionSwitch, source_rules};

use super::{configure, consent};
use crate::arguments::InstallArguments;
use crate::exit::Failure;
use crate::input::line_of_stdin;
use crate::process::Process;
use crate::stderr::stderr_line;
use crate::stdout::print_unfinished;

const QUESTION: &str = "Do you want to continue? [Y/n]: ";

/// Installation that the user asks for.
pub(super) struct Wanted<'a> {
    pub(super) process: &'a Process,
    pub(super) setup: &'a Setup,
    pub(super) asks: Asks,
}

/// Questions that the user is asked.
#[derive(Clone, Copy)]
pub(super) struct Asks {
    /// True to ask for agreement to everything that the extension brings.
    pub(super) consent: bool,
    /// True to ask for the values of its settings.
    pub(super) settings: bool,
}

impl Wanted<'_> {
    /// Installs an extension from an address or a folder.
    pub(super) async fn install(&self, arguments: &InstallArguments) -> Result<(), Failure> {
        let given = Places::new(&self.process.environment).expand_home(&arguments.source);
        let options = SourceOptions {
            reference: arguments.reference.clone(),
            auto_update: arguments.auto_update,
            pre_release: arguments.pre_release,
        };
        let cwd = &self.setup.input.request.folder;
        let record = pollux_extensions::source(&given.to_string_lossy(), cwd, &options);
        let name = self.add(record.map_err(Failure::general)?).await?;
        stderr_line(&format!("Extension \"{name}\" installed successfully and enabled."));
        Ok(())
    }

    /// Uses the extension in a folder in place.
    pub(super) async fn link(&self, folder: &Path) -> Result<(), Failure> {
        let record = InstallRecord::new(folder.to_string_lossy(), SourceKind::Link);
        let name = self.add(record).await?;
        stderr_line(&format!("Extension \"{name}\" linked successfully and enabled."));
        Ok(())
    }

    async fn add(&self, record: InstallRecord) -> Result<String, Failure> {
        source_rules(&self.setup.loaded).check(Some(&record)).map_err(Failure::general)?;
        let fetched = self.fetch(record).await?;
        let manifest = self.manifest(&fetched)?;
        if self.setup.extensions.get(&manifest.name).is_some() {
            return Err(Failure::general(format!(
                "Extension \"{}\" is already installed. Please uninstall it first.",
                manifest.name
            )));
        }
        let details = self.details(&fetched, &manifest);
        let action = format!("Installing extension \"{}\".", manifest.name);
        self.agree(&manifest.name, &format!("{action}\n{details}")).await?;
        self.put_in_place(&fetched, &manifest, None)?;
        self.after(&manifest.name, true).await
    }

    async fn fetch(&self, record: InstallRecord) -> Result<FetchedExtension, Failure> {
        if record.kind.is_remote() {
            stderr_line(&format!("Cloning {}...", without_credentials(&record.source)));
        }
        let fetched = self.sources()?.fetch(record).await?;
        if let Some(reason) = &fetched.note {
            stderr_line(&format!(
                "The files are those of the repository, not of a release: {reason}"
            ));
        }
        Ok(fetched)
    }

    fn sources(&self) -> Result<Sources, Failure> {
        Sources::new(&self.process.environment).map_err(Failure::general)
    }

    fn manifest(&self, fetched: &FetchedExtension) -> Result<Manifest, Failure> {
        let (state, cwd) = (self.setup.places.gemini_dir(), &self.setup.input.request.folder);
        fetched.manifest(&state, cwd).map_err(|error| Failure::general(error.to_string()))
    }

    fn details(&self, fetched: &FetchedExtension, manifest: &Manifest) -> String {
        let (state, cwd) = (self.setup.places.gemini_dir(), &self.setup.input.request.folder);
        consent::details(manifest, &fetched.folder, &fetched.variables(&manifest.name, &state, cwd))
    }

    /// Asks the user to agree to everything that an extension brings.
    async fn agree(&self, name: &str, details: &str) -> Result<(), Failure> {
        if !self.asks.consent {
            stderr_line(&format!("You have consented to the following:\n{details}"));
            return Ok(());
        }
        stderr_line(details);
        print_unfinished(QUESTION);
        let answer = line_of_stdin().await.map(|line| line.trim().to_lowercase());
        if answer.is_some_and(|answer| matches!(answer.as_str(), "" | "y" | "yes")) {
            return Ok(());
        }
        Err(Failure::general(format!("Installation cancelled for \"{name}\".")))
    }

    fn put_in_place(
        &self,
        fetched: &FetchedExtension,
        manifest: &Manifest,
        earlier: Option<&Extension>,
    ) -> Result<(), Failure> {
        let state = self.setup.places.gemini_dir();
        fetched.install(manifest, (&state, &self.setup.input.request.folder), earlier)?;
        Ok(())
    }

    /// Enables a new extension, and reports the settings without a value.
    async fn after(&self, name: &str, is_new: bool) -> Result<String, Failure> {
        let setup = super::set_up(self.process, false)?;
        let Some(extension) = setup.extensions.get(name) else {
            return Err(Failure::general(format!(
                "Extension \"{name}\" was installed, but cannot be used."
            )));
        };
        if is_new {
            let cwd = setup.input.request.folder.clone();
            let switch = ExtensionSwitch { places: setup.places.clone(), cwd };
            switch.enable(extension, FileScope::User).map_err(Failure::general)?;
        }
        if self.asks.settings {
            configure::ask_missing(&setup, extension).await?;
        }
        let setup = super::set_up(self.process, false)?;
        let Some(extension) = setup.extensions.get(name) else { return Ok(name.to_owned()) };
        let missing = extension.missing_settings();
        if !missing.is_empty() {
            let called_as = &self.process.called_as;
            stderr_line(&format!(
                "Extension \"{name}\" has missing settings: {}. Please run \"{called_as} extensions config {name} [setting-name]\" to configure them.",
                missing.join(", ")
            ));
        }
        Ok(extension.name().to_owned())
    }

    /// Updates one extension. Returns false if there is no newer version.
    pub(super) async fn update(&self, installed: &Extension) -> Result<bool, Failure> {
        let name = installed.name();
        let Some(record) = &installed.record else {
            return Err(Failure::general(format!(
                "Unable to install extension \"{name}\" due to missing install metadata"
            )));
        };
        if record.kind == SourceKind::Link {
            return Err(Failure::general(format!(
                "Extension {name} is linked so does not need to be updated"
            )));
        }
        let moved = self.moved(installed, record);
        let record = moved.as_ref().unwrap_or(record);
        source_rules(&self.setup.loaded).check(Some(record)).map_err(Failure::general)?;
        let sources = self.sources()?;
        let newer = sources.has_update(record, &installed.manifest, &installed.home);
        if moved.is_none() && !newer.await? {
            return Ok(false);
        }
        let fetched = self.fetch(record.clone()).await?;
        let manifest = self.manifest(&fetched)?;
        self.agree_to_update(installed, &fetched, &manifest, moved.is_some()).await?;
        self.put_in_place(&fetched, &manifest, Some(installed))?;
        self.after(&manifest.name, false).await?;
        stderr_line(&format!(
            "Extension \"{name}\" successfully updated: {} → {}.",
            installed.manifest.version, manifest.version
        ));
        Ok(true)
    }

    /// Returns the origin that an extension from the network names as its new one (`migratedTo`).
    fn moved(&self, installed: &Extension, record: &InstallRecord) -> Option<InstallRecord> {
        let to = installed.manifest.migrated_to.as_ref()?;
        let options = SourceOptions {
            reference: None,
            auto_update: record.auto_update == Some(true),
            pre_release: record.allow_pre_release == Some(true),
        };
        let cwd = &self.setup.input.request.folder;
        let new = pollux_extensions::source(to, cwd, &options).ok()?;
        // A folder of this machine is not for the extension to choose.
        (record.kind.is_remote() && new.kind.is_remote() && new.source != record.source)
            .then_some(new)
    }

    /// Asks the user about an update that brings something else than the installed version, or has
    /// another name or origin.
    async fn agree_to_update(
        &self,
        installed: &Extension,
        fetched: &FetchedExtension,
        manifest: &Manifest,
        has_moved: bool,
    ) -> Result<(), Failure> {
        let (name, new) = (installed.name(), &manifest.name);
        let is_renamed = new != name;
        if is_renamed && self.setup.extensions.get(new).is_some_and(|one| one.name() != name) {
            return Err(Failure::general(format!(
                "Extension \"{new}\" is already installed. Please uninstall it first."
            )));
        }
        let details = self.details(fetched, manifest);
        let before = consent::details(&installed.manifest, &installed.folder, &installed.variables);
        let action = match (has_moved, is_renamed) {
            (false, false) if details == before => return Ok(()),
            (false, false) => format!("Updating extension \"{name}\"."),
            (false, true) => {
                format!("Renaming extension \"{name}\" to \"{new}\" and installing updates.")
            }
            (true, false) => format!(
                "Migrating extension \"{name}\" to a new repository and installing updates."
            ),
            (true, true) => format!(
                "Migrating extension \"{name}\" to a new repository, renaming to \"{new}\", and installing updates."
            ),
        };
        let source = without_credentials(&fetched.record.source);
        let source = if has_moved { format!("Source: {source}\n") } else { String::new() };
        self.agree(new, &format!("{action}\n{source}{details}")).await
    }

    /// Updates all extensions. One that fails does not stop the others.
    pub(super) async fn update_all(&self) -> Result<(), Failure> {
        let (mut updated, mut failed) = (0, 0);
        for extension in self.setup.extensions.iter() {
            let is_fixed = |record: &InstallRecord| record.kind == SourceKind::Link;
            if extension.record.as_ref().is_none_or(is_fixed) {
                continue;
            }
            match self.update(extension).await {
                Ok(true) => updated += 1,
                Ok(false) => {}
                Err(failure) => {
                    stderr_line(&failure.message);
                    failed += 1;
                }
            }
        }
        match (updated, failed) {
            (0, 0) => stderr_line("No extensions to update."),
            (_, 0) => {}
            _ => return Err(Failure::general(format!("Failed updates: {failed}."))),
        }
        Ok(())
    }
}

/// Removes extensions by name, source or folder. One that fails does not stop the others.
pub(super) fn uninstall(setup: &Setup, names: &[String], all: bool) -> Result<(), Failure> {
    let every: Vec<String> = setup.extensions.iter().map(|one| one.name().to_owned()).collect();
    let names = if all { &every } else { names };
    if names.is_empty() {
        if all {
            stderr_line("No extensions currently installed.");
            return Ok(());
        }
        return Err(Failure::general(
            "Please include at least one extension name to uninstall as a positional argument, or use the --all flag.",
        ));
    }
    let mut has_failed = false;
    for name in names {
        match remove(setup, name) {
            Ok(name) => stderr_line(&format!("Extension \"{name}\" successfully uninstalled.")),
            Err(reason) => {
                stderr_line(&format!("Failed to uninstall \"{name}\": {reason}"));
                has_failed = true;
            }
        }
    }
    if has_failed { Err(Failure::general(String::new())) } else { Ok(()) }
}

fn remove(setup: &Setup, name: &str) -> Result<String, String> {
    let is_from = |extension: &&Extension| {
        extension.record.as_ref().is_some_and(|record| record.source == name)
    };
    let is_in = |extension: &&Extension| extension.home.file_name() == Some(OsStr::new(name));
    let by = |matches: &dyn Fn(&&Extension) -> bool| setup.extensions.iter().find(matches);
    let (state, workspace) = (setup.places.gemini_dir(), &setup.input.request.folder);
    let found = setup.extensions.get(name).or_else(|| by(&is_from)).or_else(|| by(&is_in));
    let Some(extension) = found else {
        return match pollux_extensions::uninstall_folder(name, &state) {
            Ok(true) => Ok(name.to_owned()),
            Ok(false) => Err("Extension not found.".to_owned()),
            Err(error) => Err(error.to_string()),
        };
    };
    pollux_extensions::uninstall(extension, &state, workspace)
        .map_err(|error| error.to_string())?;
    Ok(extension.name().to_owned())
}
