use std::fs;

use pollux_config::{ConfigError, TrustLevel, TrustState, TrustStore};
use pretty_assertions::assert_eq;

use super::home::Home;

fn state(home: &Home) -> TrustState {
    home.load().trust.state
}

#[test]
fn a_saved_answer_is_found_again() {
    let home = Home::new();
    assert_eq!(state(&home), TrustState::Unknown);
    TrustStore::set(&home.places, &home.work(), TrustLevel::TrustFolder).unwrap();
    assert_eq!(state(&home), TrustState::Trusted);
    TrustStore::set(&home.places, &home.work(), TrustLevel::DoNotTrust).unwrap();
    assert_eq!(state(&home), TrustState::Untrusted);
}

#[test]
fn saving_keeps_what_is_there() {
    let home = Home::new();
    let text = "{\n  // mine\n  \"/other\": \"TRUST_PARENT\" /* kept */\n}\n";
    let path = home.write("home/.gemini/trustedFolders.json", text);
    TrustStore::set(&home.places, &home.work(), TrustLevel::TrustFolder).unwrap();
    let saved = fs::read_to_string(&path).unwrap();
    assert!(saved.contains("// mine") && saved.contains("/* kept */"), "{saved}");
    assert!(saved.contains("\"/other\": \"TRUST_PARENT\""), "{saved}");
    assert_eq!(state(&home), TrustState::Trusted);
    assert!(!path.with_extension("json.lock").exists(), "the lock is released");
}

#[cfg(unix)]
#[test]
fn the_file_is_for_the_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    TrustStore::set(&home.places, &home.work(), TrustLevel::TrustFolder).unwrap();
    let mode = fs::metadata(&home.places.trusted_folders).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn links_are_seen_through() {
    let home = Home::new();
    fs::create_dir(home.path("real")).unwrap();
    std::os::unix::fs::symlink(home.path("real"), home.path("link")).unwrap();
    home.trust(&home.path("link"));
    let loaded = home.load_in(&home.path("real"), false, false).unwrap();
    assert_eq!(loaded.trust.state, TrustState::Trusted);

    // A link from a trusted folder to a place outside does not transfer the trust.
    fs::create_dir(home.path("outside")).unwrap();
    std::os::unix::fs::symlink(home.path("outside"), home.path("real/way-out")).unwrap();
    let loaded = home.load_in(&home.path("real/way-out"), false, false).unwrap();
    assert_eq!(loaded.trust.state, TrustState::Unknown);
}

#[test]
fn a_broken_file_stops_the_run_and_is_left_alone() {
    let home = Home::new();
    let path = home.write("home/.gemini/trustedFolders.json", r#"{"/a": "YES"}"#);
    let error = home.try_load().unwrap_err();
    assert!(matches!(error, ConfigError::BrokenTrust(_)));
    assert!(error.to_string().contains("Invalid trust level \"YES\" for path \"/a\"."));
    assert!(TrustStore::set(&home.places, &home.work(), TrustLevel::TrustFolder).is_err());
    assert_eq!(fs::read_to_string(path).unwrap(), r#"{"/a": "YES"}"#);
    assert!(home.load_with(true, false).is_ok(), "not asked when the flag answers");
}

#[test]
fn the_file_can_be_moved() {
    let mut home = Home::new();
    let path = home.path("elsewhere/trust.json");
    home.set("GEMINI_CLI_TRUSTED_FOLDERS_PATH", path.to_str().unwrap());
    TrustStore::set(&home.places, &home.work(), TrustLevel::TrustFolder).unwrap();
    assert!(path.is_file());
    assert_eq!(state(&home), TrustState::Trusted);
}

#[test]
fn a_home_that_cannot_be_used_trusts_nothing() {
    let mut home = Home::new();
    let file = home.write("no-home", "");
    home.set("GEMINI_CLI_HOME", file.to_str().unwrap());
    assert_eq!(state(&home), TrustState::Unknown);
}
