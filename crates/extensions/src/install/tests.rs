use std::fs;

use pollux_net::credentials::SecretStore;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::set::ExtensionPlaces;
use crate::values::{ValueScope, ValueStore};

fn installed(home: &Path, state: &Path) -> Extension {
    let (environment, secrets) = (Environment::default(), SecretStore::in_state(state));
    let places = ExtensionPlaces {
        state,
        workspace: state,
        environment: &environment,
        accepts_value: &|_, _| true,
    };
    let record = InstallRecord::read(home).unwrap();
    Extension::read(home, record, &places, &secrets).unwrap()
}

fn extension(folder: &Path, version: &str) {
    manifest(folder, &json!({"name": "x", "version": version}));
}

fn manifest(folder: &Path, content: &Value) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(MANIFEST_FILE), content.to_string()).unwrap();
}

/// Installs what was fetched. The folder of the project is the state folder.
fn install(
    fetched: &FetchedExtension,
    state: &Path,
    earlier: Option<&Extension>,
) -> Result<PathBuf, InstallError> {
    let manifest = fetched.manifest(state, state).unwrap();
    fetched.install(&manifest, (state, state), earlier)
}

#[tokio::test]
async fn a_folder_is_installed_updated_and_removed() {
    let base = tempfile::tempdir().unwrap();
    let (state, from) = (base.path().join("state"), base.path().join("from"));
    extension(&from, "1");
    fs::write(from.join(".env"), "PLANTED=1").unwrap();
    fs::create_dir(from.join(".git")).unwrap();
    let options = SourceOptions::default();
    let record = source("from", base.path(), &options).unwrap();
    let sources = Sources::new(&Environment::default()).unwrap();
    let fetch = || sources.fetch(record.clone());
    let home = install(&fetch().await.unwrap(), &state, None).unwrap();
    assert_eq!(home, extensions_folder(&state).join("x"));
    assert!(!home.join(".env").exists() && !home.join(".git").exists());
    assert_eq!(InstallRecord::read(&home).unwrap().unwrap(), record);
    let again = install(&fetch().await.unwrap(), &state, None).unwrap_err();
    assert!(matches!(again, InstallError::Occupied(_)), "{again}");
    let manifest = Manifest::read(&home, &Variables::default()).unwrap().0;
    assert!(!sources.has_update(&record, &manifest, &home).await.unwrap());
    extension(&from, "2");
    assert!(sources.has_update(&record, &manifest, &home).await.unwrap());
    fs::write(home.join(".env"), "# Mine.\n").unwrap();
    install(&fetch().await.unwrap(), &state, Some(&installed(&home, &state))).unwrap();
    assert_eq!(fs::read_to_string(home.join(".env")).unwrap(), "# Mine.\n");
    assert_eq!(Manifest::read(&home, &Variables::default()).unwrap().0.version, "2");
    uninstall(&installed(&home, &state), &state, base.path()).unwrap();
    assert!(!home.exists() && from.exists());
}

/// Returns the manifest of an extension with these settings: name, and true for a secret.
fn with_settings(name: &str, settings: &[(&str, bool)]) -> Value {
    let setting = |(name, is_sensitive): &(&str, bool)| json!({"name": name, "envVar": name, "sensitive": is_sensitive});
    let settings: Vec<Value> = settings.iter().map(setting).collect();
    json!({"name": name, "version": "1", "settings": settings})
}

#[tokio::test]
async fn an_update_keeps_the_values_that_it_still_declares() {
    let base = tempfile::tempdir().unwrap();
    let (state, from) = (base.path().join("state"), base.path().join("from"));
    manifest(
        &from,
        &with_settings(
            "x",
            &[("A", false), ("B", false), ("C", false), ("S", true), ("T", true), ("U", true)],
        ),
    );
    let record = source("from", base.path(), &SourceOptions::default()).unwrap();
    let fetched = Sources::new(&Environment::default()).unwrap().fetch(record).await.unwrap();
    let home = install(&fetched, &state, None).unwrap();
    let earlier = installed(&home, &state);
    let values = earlier.value_store(&state, &state);
    for (number, setting) in earlier.settings.iter().enumerate() {
        values.set(&setting.declaration, &number.to_string(), ValueScope::User).unwrap();
    }
    values.set(&earlier.settings[3].declaration, "project", ValueScope::Workspace).unwrap();
    let own = fs::read_to_string(home.join(VALUES)).unwrap();
    fs::write(home.join(VALUES), format!("# Mine.\n{own}")).unwrap();
    let secrets = |values: &ValueStore| {
        let secret = |name: &str| {
            let both = ValueScope::ALL.map(|scope| values.secret(name, scope).unwrap());
            both.map(Option::unwrap_or_default).join(" ")
        };
        ["A", "B", "C", "S", "T", "U"].map(secret)
    };
    assert_eq!(secrets(&values), [" ", " ", " ", "3 project", "4 ", "5 "]);

    manifest(&from, &with_settings("x", &[("A", false), ("B", true), ("S", true), ("T", false)]));
    install(&fetched, &state, Some(&earlier)).unwrap();
    assert_eq!(fs::read_to_string(home.join(VALUES)).unwrap(), "# Mine.\nA=0\n");
    assert_eq!(secrets(&values), [" ", "1 ", " ", "3 project", " ", " "]);

    let earlier = installed(&home, &state);
    manifest(&from, &with_settings("y", &[("A", true), ("S", true)]));
    let renamed = install(&fetched, &state, Some(&earlier)).unwrap();
    assert!(!home.exists());
    assert_eq!(fs::read_to_string(renamed.join(VALUES)).unwrap(), "# Mine.\n");
    assert_eq!(secrets(&values), [" "; 6]);
    let values = installed(&renamed, &state).value_store(&state, &state);
    assert_eq!(secrets(&values), ["0 ", " ", " ", "3 project", " ", " "]);
}

#[tokio::test]
async fn nothing_begins_with_a_broken_enablement() {
    let base = tempfile::tempdir().unwrap();
    let (state, from) = (base.path().join("state"), base.path().join("from"));
    extension(&from, "1");
    let record = source("from", base.path(), &SourceOptions::default()).unwrap();
    let fetched = Sources::new(&Environment::default()).unwrap().fetch(record).await.unwrap();
    let home = install(&fetched, &state, None).unwrap();
    let extension = installed(&home, &state);
    let file = extensions_folder(&state).join("extension-enablement.json");
    fs::write(&file, "{").unwrap();
    let says_why = |error: InstallError| {
        let error = error.to_string();
        assert!(error.starts_with("Cannot read ") && error.contains("Correct the file"));
    };
    says_why(uninstall(&extension, &state, base.path()).unwrap_err());
    assert!(home.join(MANIFEST_FILE).exists());
    says_why(install(&fetched, &state, Some(&extension)).unwrap_err());
    fs::remove_file(&file).unwrap();
    uninstall(&extension, &state, base.path()).unwrap();
    fs::write(&file, "[]").unwrap();
    says_why(install(&fetched, &state, None).unwrap_err());
    assert!(!home.exists());
}

#[test]
fn only_a_folder_of_an_extension_is_removed_by_its_name() {
    let state = tempfile::tempdir().unwrap();
    let folder = extensions_folder(state.path());
    fs::create_dir_all(folder.join("broken/sub")).unwrap();
    fs::create_dir(state.path().join("other")).unwrap();
    fs::write(folder.join("file"), "").unwrap();
    let other = state.path().join("other").display().to_string();
    for name in ["", ".", "..", "../other", other.as_str(), "broken/sub", "broken/", "file", "no"] {
        assert!(!uninstall_folder(name, state.path()).unwrap(), "{name}");
    }
    assert!(state.path().join("other").exists() && folder.join("broken/sub").exists());
    assert!(uninstall_folder("broken", state.path()).unwrap());
    assert!(!folder.join("broken").exists());
}

#[tokio::test]
async fn a_link_is_only_a_record() {
    let base = tempfile::tempdir().unwrap();
    let from = base.path().join("from");
    extension(&from, "1");
    let record = InstallRecord::new(from.to_string_lossy(), SourceKind::Link);
    let sources = Sources::new(&Environment::default()).unwrap();
    let fetched = sources.fetch(record).await.unwrap();
    let home = install(&fetched, base.path(), None).unwrap();
    assert_eq!(fs::read_dir(&home).unwrap().count(), 1);
    uninstall(&installed(&home, base.path()), base.path(), base.path()).unwrap();
    assert!(from.join(MANIFEST_FILE).exists());
}

#[test]
fn sources() {
    let base = tempfile::tempdir().unwrap();
    let of = |given: &str, options: &SourceOptions| source(given, base.path(), options);
    let with = SourceOptions { reference: Some("v1".to_owned()), ..SourceOptions::default() };
    let plain = SourceOptions::default();
    for given in REMOTE.map(|beginning| format!("{beginning}h/o/r")) {
        let record = of(&given, &with).unwrap();
        assert_eq!((record.kind, record.reference.as_deref()), (SourceKind::Git, Some("v1")));
    }
    let error = "--ref and --auto-update are not applicable for local extensions.";
    assert_eq!(of(".", &with).unwrap_err(), error);
    assert_eq!(of("nosuch", &plain).unwrap_err(), "Install source not found.");
    assert_eq!(of(".", &plain).unwrap().kind, SourceKind::Local);
    assert_eq!(address("github:o/r"), "https://github.com/o/r");
    assert_eq!(address("gitlab:o/r"), "https://gitlab.com/o/r");
    assert_eq!(address("git@h:o/r"), "git@h:o/r");
}
