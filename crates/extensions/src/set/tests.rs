use std::fs;

use pollux_config::consent::digest;
use pretty_assertions::assert_eq;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::record::SourceKind;

/// A state folder with extensions, each a folder and its manifest.
fn state(manifests: &[(&str, &str)]) -> TempDir {
    let state = tempfile::tempdir().unwrap();
    for (folder, manifest) in manifests {
        let file = extensions_folder(state.path()).join(folder).join("gemini-extension.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, manifest).unwrap();
    }
    state
}

fn find(state: &Path, rules: &ExtensionRules) -> ExtensionSet {
    let environment = Environment::from_pairs([("HOME", "/home/u"), ("ACME", "env")]);
    let places = ExtensionPlaces {
        state,
        workspace: Path::new("/home/u/proj"),
        environment: &environment,
        accepts_value: &|_, _| true,
    };
    ExtensionSet::find(&places, rules)
}

fn active(set: &ExtensionSet) -> Vec<&str> {
    set.active().map(Extension::name).collect()
}

fn manifest(name: &str) -> String {
    json!({"name": name, "version": "1"}).to_string()
}

#[test]
fn one_bad_folder_does_not_stop_the_others() {
    let (a, b) = (manifest("a"), manifest("b"));
    let state = state(&[("a", &a), ("b", &b), ("bad", "{"), ("second-a", &a), (".new-1", &b)]);
    let folder = extensions_folder(state.path());
    fs::create_dir_all(folder.join("empty")).unwrap();
    fs::write(folder.join("file"), "").unwrap();
    fs::create_dir_all(folder.join("c")).unwrap();
    fs::write(folder.join("c/.gemini-extension-install.json"), "[]").unwrap();
    let set = find(state.path(), &ExtensionRules::default());
    assert_eq!(active(&set), ["a", "b"]);
    assert_eq!(set.messages.len(), 4, "{:#?}", set.messages);
    let reasons = ["Failed to load", "Cannot read", "not found at", "already was loaded"];
    for reason in reasons {
        assert_eq!(set.messages.iter().filter(|message| message.contains(reason)).count(), 1);
    }
    assert!(set.messages.iter().all(|text| text.starts_with("Warning: Skipping extension in ")));
    assert_eq!(find(Path::new("/nosuch"), &ExtensionRules::default()), ExtensionSet::default());
}

#[test]
fn who_is_active() {
    let state = state(&[("a", &manifest("Acme")), ("b", &manifest("b"))]);
    let named = |names: &[&str]| ExtensionRules {
        named: Some(names.iter().map(|name| (*name).to_owned()).collect()),
        ..ExtensionRules::default()
    };
    let of = |rules: &ExtensionRules| {
        let set = find(state.path(), rules);
        (active(&set).join(" "), set.messages.join("\n"))
    };
    let result = |names: &str, messages: &str| (names.to_owned(), messages.to_owned());
    assert_eq!(of(&named(&["acme"])), result("Acme", ""));
    assert_eq!(of(&named(&["None"])), result("", ""));
    let both = of(&named(&["none", "b", "x"]));
    assert_eq!(both, result("b", "Extension not found: none\nExtension not found: x"));
    let disabled = vec!["ACME".to_owned()];
    assert_eq!(of(&ExtensionRules { disabled, ..ExtensionRules::default() }), result("b", ""));
    let folder = extensions_folder(state.path());
    let mut enablement = ExtensionEnablement::read(&folder).unwrap();
    enablement.set("b", Path::new("/home/u"), false);
    enablement.save().unwrap();
    assert_eq!(of(&ExtensionRules::default()), result("Acme", ""));
    assert_eq!(of(&named(&["b"])).0, "b");
    fs::write(folder.join("extension-enablement.json"), "{").unwrap();
    let (names, messages) = of(&ExtensionRules::default());
    assert_eq!(names, "");
    assert!(messages.contains("No extension is active until it is fixed."), "{messages}");
}

#[test]
fn sources_are_checked() {
    let remote = InstallRecord::new("https://github.com/o/r", SourceKind::Git);
    let local = InstallRecord::new("/nosuch/r", SourceKind::Local);
    let allowed = |allowed: &[&str], blocks_git: bool| {
        let allowed = allowed.iter().map(|text| (*text).to_owned()).collect();
        let rules = SourceRules { allowed, blocks_git };
        [Some(&remote), Some(&local), None].map(|record| rules.check(record).is_ok())
    };
    assert_eq!(allowed(&[], false), [true, true, true]);
    assert_eq!(allowed(&[], true), [false, true, true]);
    assert_eq!(allowed(&["^https://github\\.com/o/"], true), [true, false, false]);
    assert_eq!(allowed(&["(", "^/nosuch/"], true), [false, true, false]);
    let state = state(&[("a", &manifest("a")), ("b", &manifest("b"))]);
    remote.write(&extensions_folder(state.path()).join("b")).unwrap();
    let sources = SourceRules { allowed: Vec::new(), blocks_git: true };
    let set = find(state.path(), &ExtensionRules { sources, ..ExtensionRules::default() });
    assert_eq!(active(&set), ["a"]);
    assert!(set.messages[0].contains("/extensions/b: Installing extensions from remote"));
}

#[test]
fn everything_that_an_extension_brings() {
    let text = json!({
        "name": "acme", "version": "1", "contextFileName": ["A.md", "missing.md"],
        "mcpServers": {"s": {"command": "${extensionPath}/s", "trust": true,
            "env": {"A": "$ACME", "R": "${REGION}", "U": "${UNSET}"}}},
        "settings": [{"name": "Region", "envVar": "REGION"}, {"name": "Other", "envVar": "OTHER"}]
    });
    let state = state(&[("acme", &text.to_string())]);
    let folder = extensions_folder(state.path()).join("acme");
    fs::write(folder.join("A.md"), "x").unwrap();
    fs::write(folder.join(".env"), "REGION=eu\n").unwrap();
    fs::create_dir(folder.join("hooks")).unwrap();
    let hook =
        r#"{"hooks": {"BeforeTool": [{"hooks": [{"command": "${extensionPath}/h ${REGION}"}]}]}}"#;
    fs::write(folder.join("hooks/hooks.json"), hook).unwrap();
    let set = find(state.path(), &ExtensionRules::default());
    assert_eq!(set.messages, [""; 0]);
    let extension = set.get("ACME").unwrap();
    let path = folder.display().to_string();
    let entry =
        json!({"command": format!("{path}/s"), "env": {"A": "env", "R": "eu", "U": "${UNSET}"}});
    assert_eq!(extension.manifest.servers, [("s".to_owned(), entry)]);
    assert_eq!(extension.context_files, [folder.join("A.md")]);
    assert_eq!(extension.missing_settings(), ["Other"]);
    assert_eq!(extension.values().collect::<Vec<_>>(), [("REGION", "eu")]);
    let hooks = extension.hooks.as_ref().unwrap();
    assert_eq!(hooks["BeforeTool"][0]["hooks"][0]["command"], format!("{path}/h eu"));
    assert_eq!(extension.id, digest(b"acme"));
    fs::write(folder.join("hooks/hooks.json"), "{\"hooks\": []}").unwrap();
    let set = find(state.path(), &ExtensionRules::default());
    assert!(set.messages[0].starts_with("Invalid hooks configuration in "), "{:?}", set.messages);
    assert_eq!(active(&set), ["acme"]);
}

#[test]
fn faults_of_servers_are_named() {
    let text = json!({"name": "a", "version": "1", "mcpServers": {"s": {"command": 5, "x": 1}}});
    let state = state(&[("a", &text.to_string())]);
    let set = find(state.path(), &ExtensionRules::default());
    let path = extensions_folder(state.path()).join("a/gemini-extension.json");
    let fault = "\"mcpServers.s.command\": Expected string, received number";
    let message = format!("Invalid configuration in {}: {fault}", path.display());
    assert_eq!((set.messages.as_slice(), active(&set)), (&[message][..], vec!["a"]));
    // Nobody uses the servers of an extension that is not active.
    let rules = ExtensionRules { disabled: vec!["a".to_owned()], ..ExtensionRules::default() };
    assert_eq!(find(state.path(), &rules).messages, [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_context_file_is_no_way_out() {
    let text = json!({"name": "a", "version": "1", "contextFileName": "A.md"}).to_string();
    let state = state(&[("a", &text)]);
    let secret = state.path().join("secret");
    fs::write(&secret, "x").unwrap();
    let link = extensions_folder(state.path()).join("a/A.md");
    std::os::unix::fs::symlink(&secret, link).unwrap();
    let set = find(state.path(), &ExtensionRules::default());
    assert!(set.messages[0].contains("It leads out of the extension"), "{:?}", set.messages);
}

#[cfg(unix)]
#[test]
fn a_link_is_read_at_its_source() {
    let state = state(&[]);
    let source = tempfile::tempdir().unwrap();
    fs::write(source.path().join("gemini-extension.json"), manifest("linked")).unwrap();
    let home = extensions_folder(state.path()).join("linked");
    let path = source.path().display().to_string();
    InstallRecord::new(path, SourceKind::Link).write(&home).unwrap();
    let set = find(state.path(), &ExtensionRules::default());
    let extension = set.get("linked").unwrap();
    assert_eq!((extension.folder.as_path(), &extension.home), (source.path(), &home));
}
