//! Transfer of the user's decisions to a new version of an extension: where it is enabled, and the
//! values of those settings that both declare. Values of other settings are removed.

use std::path::Path;

use pollux_config::dotenv;

use crate::enablement::ExtensionEnablement;
use crate::error::InstallError;
use crate::extension::{Extension, id};
use crate::manifest::{Manifest, SettingDeclaration};
use crate::record::InstallRecord;
use crate::set::extensions_folder;
use crate::values::{ValueError, ValueScope, ValueStore};

/// An earlier version of an extension, and the new one, which may have another name or origin.
pub(crate) struct Succession<'a> {
    earlier: &'a Extension,
    new: &'a Manifest,
    earlier_values: ValueStore,
    new_values: ValueStore,
}

impl<'a> Succession<'a> {
    /// Creates the value for a new version with this record. `places` are the state folder and the
    /// folder of the project.
    pub(crate) fn new(
        earlier: &'a Extension,
        new: &'a Manifest,
        record: &InstallRecord,
        (state, workspace): (&Path, &Path),
    ) -> Self {
        let earlier_values = earlier.value_store(state, workspace);
        let (name, folder) = (new.name.as_str(), extensions_folder(state).join(&new.name));
        let secrets = &earlier_values.secrets;
        let new_values =
            ValueStore::new(&folder, workspace, (name, &id(Some(record), name)), secrets);
        Self { earlier, new, earlier_values, new_values }
    }

    /// Gives the secrets to the new version. A value becomes a secret if its setting does. Returns
    /// the text of the new version's `.env`. The earlier version remains usable. Blocks the thread.
    ///
    /// # Errors
    /// For values that cannot be read or stored.
    pub(crate) fn give_values(&self) -> Result<String, InstallError> {
        self.give_secrets()?;
        let mut text = self.earlier_values.text()?;
        for (name, value) in dotenv::parse(&text) {
            let declared = self.new.settings.iter().find(|setting| setting.variable == name);
            if declared.is_some_and(|setting| !setting.is_sensitive) {
                continue;
            }
            if let Some(setting) = declared {
                self.give_secret(setting, ValueScope::User, &value)?;
            }
            text = dotenv::assign(&text, &name, None).ok_or_else(|| {
                let file = self.earlier.home.join(".env");
                InstallError::Name(format!("Cannot remove {name} from {}.", file.display()))
            })?;
        }
        Ok(text)
    }

    fn give_secrets(&self) -> Result<(), ValueError> {
        for (setting, stays) in self.earlier_secrets().filter(|_| self.has_moved()) {
            for scope in ValueScope::ALL.into_iter().filter(|_| stays) {
                if let Some(value) = self.earlier_values.secret(&setting.variable, scope)? {
                    self.give_secret(setting, scope, &value)?;
                }
            }
        }
        Ok(())
    }

    /// Stores a secret of the new version, unless it has one of this name.
    fn give_secret(
        &self,
        setting: &SettingDeclaration,
        scope: ValueScope,
        value: &str,
    ) -> Result<(), ValueError> {
        match self.new_values.secret(&setting.variable, scope)? {
            Some(_) => Ok(()),
            None => self.new_values.set_secret(&setting.variable, Some(value), scope),
        }
    }

    /// Removes what only the earlier version needed, which is no longer in place, and gives its
    /// rules of enablement to the new one. Blocks the thread.
    ///
    /// # Errors
    /// The reason why not everything was done.
    pub(crate) fn complete(
        &self,
        enablement: &mut ExtensionEnablement,
    ) -> Result<(), InstallError> {
        if self.earlier.name() != self.new.name {
            enablement.rename(self.earlier.name(), &self.new.name);
            enablement.save()?;
        }
        for (setting, stays) in self.earlier_secrets() {
            if self.has_moved() || !stays {
                let name = &setting.variable;
                self.earlier_values.forget_secret(name)?;
            }
        }
        Ok(())
    }

    /// Returns true if the secrets of the new version are in other places.
    fn has_moved(&self) -> bool {
        self.new_values.service != self.earlier_values.service
    }

    /// Returns the secret settings of the earlier version, with true for those that the new one
    /// has, too.
    fn earlier_secrets(&self) -> impl Iterator<Item = (&SettingDeclaration, bool)> {
        let declared = self.earlier.settings.iter().map(|setting| &setting.declaration);
        declared.filter(|setting| setting.is_sensitive).map(|setting| {
            let is_same =
                |new: &SettingDeclaration| new.is_sensitive && new.variable == setting.variable;
            (setting, self.new.settings.iter().any(is_same))
        })
    }
}
