//! Installation, update, configuration and removal of extensions.

use std::fs;
use std::path::{Path, PathBuf};

use pollux_testkit::{ReplyContent, reply};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::stage::{Stage, texts};

/// Writes an extension into a folder of the home.
fn source(stage: &Stage, name: &str, version: &str) -> PathBuf {
    let folder = stage.home.root().join("sources").join(name);
    fs::create_dir_all(folder.join("commands")).unwrap();
    let manifest = json!({
        "name": name, "version": version, "contextFileName": "X.md",
        "mcpServers": {"s": {"command": "node", "args": ["${extensionPath}/s.js"]}},
        "settings": [
            {"name": "Region", "description": "The region", "envVar": "X_REGION"},
            {"name": "Token", "description": "The token", "envVar": "X_TOKEN", "sensitive": true}
        ]
    });
    fs::write(folder.join("gemini-extension.json"), manifest.to_string()).unwrap();
    fs::write(folder.join("X.md"), format!("Version {version}.")).unwrap();
    fs::write(folder.join("commands/do.toml"), "prompt = 'Do it.'").unwrap();
    folder
}

/// Installs an extension from a folder, and returns its place.
fn install(stage: &Stage, folder: &Path) -> PathBuf {
    extensions(stage, 0, "", &["install", &folder.display().to_string(), "--consent"]);
    stage.home.gemini().join("extensions/x")
}

fn run(stage: &Stage, prompt: &str) {
    stage.server.stream(reply().text("ok"));
    stage.pollux(&["-p", prompt]).run().assert_code(0);
}

fn extensions(stage: &Stage, code: i32, input: &str, arguments: &[&str]) -> String {
    let run = stage.alone().args(["extensions"]).args(arguments).stdin(input).run();
    run.assert_code(code);
    run.stderr_text()
}

#[test]
fn an_extension_is_installed_configured_updated_and_removed() {
    let stage = Stage::new();
    let folder = source(&stage, "x", "1.0.0");
    let path = folder.display().to_string();
    let said = extensions(&stage, 1, "n\n", &["install", &path]);
    let home = stage.home.gemini().join("extensions/x");
    for line in [
        "Installing extension \"x\".".to_owned(),
        format!("  * s (local): node {}/s.js", home.display()),
        "gemini.md context using X.md".to_owned(),
        "  * /do".to_owned(),
        "  * Token (X_TOKEN): The token".to_owned(),
        "Installation cancelled for \"x\".".to_owned(),
    ] {
        assert!(said.contains(&line), "{line}: {said}");
    }
    assert!(!home.exists());
    // Nobody answers.
    extensions(&stage, 1, "", &["install", &path]);
    assert!(!home.exists());
    let said = extensions(&stage, 0, "y\n", &["install", &path]);
    assert!(
        said.contains("Extension \"x\" has missing settings: Region, Token. Please run"),
        "{said}"
    );
    assert!(said.ends_with("Extension \"x\" installed successfully and enabled.\n"), "{said}");
    let record = fs::read_to_string(home.join(".gemini-extension-install.json")).unwrap();
    assert_eq!(record, format!("{{\n  \"source\": \"{path}\",\n  \"type\": \"local\"\n}}"));
    let said = extensions(&stage, 1, "", &["install", &path, "--consent"]);
    assert!(
        said.ends_with("Extension \"x\" is already installed. Please uninstall it first.\n"),
        "{said}"
    );
    run(&stage, "/do");
    assert!(
        texts(&stage.server.last_request().contents()[0]).join("\n").contains("Version 1.0.0.")
    );
}

#[test]
fn text_of_an_extension_cannot_hide_in_the_question() {
    let stage = Stage::new();
    let folder = source(&stage, "x", "1.0.0");
    let hook = json!({"type": "command", "command": "true\u{fe0f}\n  * \u{202e}evil"});
    let hooks = json!({"hooks": {"SessionStart": [{"hooks": [hook]}]}});
    fs::create_dir(folder.join("hooks")).unwrap();
    fs::write(folder.join("hooks/hooks.json"), hooks.to_string()).unwrap();
    let said = extensions(&stage, 1, "n\n", &["install", &folder.display().to_string()]);
    for line in [
        "⚠️  This extension contains Hooks which can automatically execute commands.",
        r"  * SessionStart: true\u{fe0f}\u{a}  * \u{202e}evil",
    ] {
        assert!(said.lines().any(|said| said == line), "{line}: {said}");
    }
}

#[test]
fn values_are_kept_where_they_belong() {
    let stage = Stage::new();
    let folder = source(&stage, "x", "1.0.0");
    let home = install(&stage, &folder);
    extensions(&stage, 0, "eu\n", &["config", "x", "X_REGION"]);
    extensions(&stage, 0, "hidden-token\n", &["config", "x", "Token"]);
    assert_eq!(fs::read_to_string(home.join(".env")).unwrap(), "X_REGION=eu\n");
    for entry in fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&entry).unwrap_or_default();
        assert!(!text.contains("hidden-token"), "{}", entry.display());
    }
    let listed = stage.alone().args(["extensions", "list"]).run().stdout_text();
    assert!(listed.contains("  Token: *** (User - "), "{listed}");
    source(&stage, "x", "1.1.0");
    extensions(&stage, 0, "", &["update", "x"]);
    assert_eq!(fs::read_to_string(home.join(".env")).unwrap(), "X_REGION=eu\n");
    extensions(&stage, 1, "", &["config", "x", "nosuch"]);
    // Nothing is typed: nothing changes. An empty line removes the value.
    extensions(&stage, 1, "", &["config", "x", "Region"]);
    assert_eq!(fs::read_to_string(home.join(".env")).unwrap(), "X_REGION=eu\n");
    extensions(&stage, 0, "\n", &["config", "x", "Region"]);
    assert_eq!(fs::read_to_string(home.join(".env")).unwrap(), "");
}

#[test]
fn an_extension_that_cannot_be_read_is_removed_by_its_folder() {
    let stage = Stage::new();
    let folder = source(&stage, "x", "1.0.0");
    let home = install(&stage, &folder);
    fs::write(home.join("gemini-extension.json"), "{").unwrap();
    let path = folder.display().to_string();
    let said = extensions(&stage, 1, "", &["install", &path, "--consent"]);
    assert!(said.contains("because a directory with that name already exists."), "{said}");
    let said = extensions(&stage, 0, "", &["uninstall", "x"]);
    assert!(said.ends_with("Extension \"x\" successfully uninstalled.\n"), "{said}");
    assert!(!home.exists());
    install(&stage, &folder);
    fs::rename(&home, home.with_file_name("other")).unwrap();
    extensions(&stage, 0, "", &["uninstall", "other"]);
    extensions(&stage, 1, "", &["uninstall", "extension-enablement.json"]);
    let enablement = home.with_file_name("extension-enablement.json");
    assert_eq!(fs::read_to_string(enablement).unwrap(), "{}");
}

#[test]
fn a_value_never_goes_through_a_link_of_the_project() {
    let stage = Stage::new();
    install(&stage, &source(&stage, "x", "1.0.0"));
    let (start_up, file) = (stage.home.root().join(".bashrc"), stage.home.project().join(".env"));
    fs::write(&start_up, "alias l=ls\n").unwrap();
    std::os::unix::fs::symlink("../.bashrc", &file).unwrap();
    let set =
        |code| extensions(&stage, code, "eu\n", &["config", "x", "Region", "--scope", "workspace"]);
    let said = set(1);
    let expected = format!(
        "is a link that leads out of its folder, to {}, and is not followed.\nReplace the link by a file, or set X_REGION in ",
        start_up.display()
    );
    assert!(said.contains(&expected), "{said}");
    assert_eq!(fs::read_to_string(&start_up).unwrap(), "alias l=ls\n");
    fs::remove_file(&file).unwrap();
    fs::write(&file, "# Mine.\nexport A='1'\n").unwrap();
    set(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Mine.\nexport A='1'\nX_REGION=eu\n");
}

#[test]
fn an_update_asks_only_about_what_is_new() {
    let stage = Stage::new();
    let folder = source(&stage, "x", "1.0.0");
    let path = folder.display().to_string();
    let home = install(&stage, &folder);
    assert_eq!(
        extensions(&stage, 0, "", &["update", "x"]),
        "Extension \"x\" is already up to date.\n"
    );
    source(&stage, "x", "1.1.0");
    let said = extensions(&stage, 0, "", &["update", "--all"]);
    // Nothing new is brought, so nothing is asked.
    assert!(!said.contains("third-party"), "{said}");
    assert!(said.ends_with("Extension \"x\" successfully updated: 1.0.0 → 1.1.0.\n"), "{said}");
    source(&stage, "x", "1.2.0");
    fs::write(folder.join("commands/more.toml"), "prompt = ''").unwrap();
    let said = extensions(&stage, 1, "n\n", &["update", "x"]);
    assert!(
        said.contains("  * /more") && said.ends_with("Installation cancelled for \"x\".\n"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(home.join("X.md")).unwrap(), "Version 1.1.0.");
    let said = extensions(&stage, 1, "", &["uninstall", "nosuch", &path]);
    assert!(said.contains("Failed to uninstall \"nosuch\": Extension not found.\n"), "{said}");
    assert!(
        said.contains("Extension \"x\" successfully uninstalled.\n") && !home.exists(),
        "{said}"
    );
}

#[test]
fn an_update_that_is_killed_leaves_a_whole_extension() {
    let stage = Stage::new();
    let folder = source(&stage, "x", "0.0.0");
    let home = install(&stage, &folder);
    source(&stage, "x", "0.0.1");
    let whole = stage.alone().args(["extensions", "update", "x"]).run().duration;
    source(&stage, "x", "0.0.0");
    extensions(&stage, 0, "", &["update", "x"]);
    let mut kills = 0;
    for round in 1..=12_u32 {
        source(&stage, "x", &format!("{round}.0.0"));
        for number in 0..300 {
            fs::write(folder.join(format!("file{number}")), round.to_string()).unwrap();
        }
        let child = stage.alone().args(["extensions", "update", "x"]).spawn();
        std::thread::sleep(whole * round / 12);
        child.signal(Signal::KILL);
        let is_killed = child.wait().code.is_none();
        kills += u32::from(is_killed);
        let version = fs::read_to_string(home.join("X.md")).unwrap();
        let number = version.trim_start_matches("Version ").trim_end_matches(".0.0.").to_owned();
        let files: Vec<String> = (0..300)
            .map(|number| {
                fs::read_to_string(home.join(format!("file{number}"))).unwrap_or_default()
            })
            .collect();
        let is_whole = |file: &String| *file == number || (number == "0" && file.is_empty());
        assert!(files.iter().all(is_whole), "round {round}: {version}");
        assert_eq!(manifests(&stage), 1, "round {round}");
        assert!(home.join(".gemini-extension-install.json").exists());
        let listed = stage.alone().args(["extensions", "list"]).run();
        assert!(listed.stdout_text().starts_with("✓ x ("), "{}", listed.report());
    }
    assert!(kills > 2, "only {kills} updates were killed");
    extensions(&stage, 0, "", &["update", "x"]);
}

/// Returns the number of folders that Gemini CLI would load as extensions.
fn manifests(stage: &Stage) -> usize {
    let entries = fs::read_dir(stage.home.gemini().join("extensions")).unwrap();
    let has_manifest = |folder: &PathBuf| folder.join("gemini-extension.json").exists();
    entries.map(|entry| entry.unwrap().path()).filter(has_manifest).count()
}

#[test]
fn a_removal_that_is_killed_leaves_no_extension_under_another_name() {
    let stage = Stage::new();
    let folder = source(&stage, "x", "1.0.0");
    for number in 0..2000 {
        fs::write(folder.join(format!("file{number}")), "").unwrap();
    }
    let home = install(&stage, &folder);
    let whole = stage.alone().args(["extensions", "uninstall", "x"]).run().duration;
    let mut kills = 0;
    for round in 1..=12_u32 {
        if !home.exists() {
            install(&stage, &folder);
        }
        let child = stage.alone().args(["extensions", "uninstall", "x"]).spawn();
        std::thread::sleep(whole * round / 12);
        child.signal(Signal::KILL);
        kills += u32::from(child.wait().code.is_none());
        assert_eq!(manifests(&stage), usize::from(home.exists()), "round {round}");
    }
    assert!(kills > 2, "only {kills} removals were killed");
}

const ADDRESS: &str = "https://u:secret@extensions.example/o/r";

/// Runs Git in a folder.
fn git(folder: &Path, arguments: &[&str]) {
    let user = ["-c", "user.name=a", "-c", "user.email=a@b"];
    let mut git = std::process::Command::new("git");
    let status = git.current_dir(folder).args(user).args(arguments).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

fn commit(origin: &Path) {
    git(origin, &["add", "."]);
    git(origin, &["commit", "-qm", "x"]);
}

/// Runs a verb for which the repository in `origin` has the address [`ADDRESS`].
fn with_repository(stage: &Stage, origin: &Path, code: i32, arguments: &[&str]) -> String {
    let run = stage
        .alone()
        .args(["extensions"])
        .args(arguments)
        .env("GIT_CONFIG_COUNT", "2")
        .env("GIT_CONFIG_KEY_0", format!("url.{}.insteadOf", origin.display()))
        .env("GIT_CONFIG_VALUE_0", ADDRESS)
        .env("GIT_CONFIG_KEY_1", "protocol.file.allow")
        .env("GIT_CONFIG_VALUE_1", "always")
        .run();
    run.assert_code(code);
    run.stderr_text() + &run.stdout_text()
}

/// Runs a verb for which repositories have these addresses. The user answers yes.
fn with_repositories(stage: &Stage, origins: &[(&Path, &str)], arguments: &[&str]) -> String {
    let mut run = stage.alone().args(["extensions"]).args(arguments).stdin("y\n");
    for (number, (origin, address)) in origins.iter().enumerate() {
        run = run
            .env(format!("GIT_CONFIG_KEY_{number}"), format!("url.{}.insteadOf", origin.display()))
            .env(format!("GIT_CONFIG_VALUE_{number}"), *address);
    }
    let last = origins.len();
    run = run
        .env("GIT_CONFIG_COUNT", (last + 1).to_string())
        .env(format!("GIT_CONFIG_KEY_{last}"), "protocol.file.allow")
        .env(format!("GIT_CONFIG_VALUE_{last}"), "always");
    let run = run.run();
    run.assert_code(0);
    run.stderr_text() + &run.stdout_text()
}

#[test]
fn an_extension_moves_to_the_repository_that_it_names() {
    let stage = Stage::new();
    let new_address = "https://extensions.example/new/y";
    let (origin, successor) = (source(&stage, "x", "1.0.0"), source(&stage, "y", "2.0.0"));
    for folder in [&origin, &successor] {
        git(folder, &["init", "-q"]);
        commit(folder);
    }
    let program = |arguments: &[&str]| {
        let origins = [(origin.as_path(), ADDRESS), (successor.as_path(), new_address)];
        with_repositories(&stage, &origins, arguments)
    };
    program(&["install", ADDRESS, "--consent", "--skip-settings"]);
    let set = ["config", "x", "X_TOKEN"];
    stage.alone().args(["extensions"]).args(set).stdin("hush\n").run().assert_code(0);
    program(&["disable", "x", "--scope", "workspace"]);
    let manifest = origin.join("gemini-extension.json");
    let mut text: Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    text["migratedTo"] = json!(new_address);
    fs::write(&manifest, text.to_string()).unwrap();
    commit(&origin);
    program(&["update", "x"]);
    let said = program(&["update", "x"]);
    let action = "Migrating extension \"x\" to a new repository, renaming to \"y\", and installing updates.\nSource: https://extensions.example/new/y\n";
    assert!(said.contains(action), "{said}");
    assert!(said.contains("Extension \"x\" successfully updated: 1.0.0 → 2.0.0.\n"), "{said}");
    let folder = stage.home.gemini().join("extensions");
    assert!(!folder.join("x").exists() && folder.join("y/X.md").exists());
    let listed: Value = serde_json::from_str(
        &stage.alone().args(["extensions", "list", "-o", "json"]).run().stdout_text(),
    )
    .unwrap();
    assert_eq!(listed[0]["name"], "y");
    assert_eq!(listed[0]["isActive"], false, "disabled as before");
    assert_eq!(listed[0]["installMetadata"]["source"], new_address);
    assert!(!said.contains("missing settings: Token"), "{said}");
    assert_eq!(program(&["update", "y"]), "Extension \"y\" is already up to date.\n");
}

#[test]
fn a_repository_is_installed_and_updated() {
    let stage = Stage::new();
    let origin = source(&stage, "x", "1.0.0");
    git(&origin, &["init", "-q"]);
    commit(&origin);
    git(&origin, &["tag", "-a", "v1", "-m", "First"]);
    let program = |arguments: &[&str]| with_repository(&stage, &origin, 0, arguments);
    let said = program(&["install", ADDRESS, "--consent"]);
    assert!(said.starts_with("Cloning https://***@extensions.example/o/r...\n"), "{said}");
    assert!(!said.contains("secret"), "{said}");
    let home = stage.home.gemini().join("extensions/x");
    let record = || {
        let text = fs::read_to_string(home.join(".gemini-extension-install.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(record(), json!({"source": ADDRESS, "type": "git"}));
    let listed = program(&["list"]);
    assert!(listed.contains("Source: https://***@extensions.example/o/r (Type: git)"), "{listed}");
    let current = "Extension \"x\" is already up to date.\n";
    assert_eq!(program(&["update", "x"]), current);
    source(&stage, "x", "2.0.0");
    commit(&origin);
    assert!(program(&["update", "x"]).ends_with("updated: 1.0.0 → 2.0.0.\n"));
    assert_eq!(program(&["update", "x"]), current);
    program(&["uninstall", ADDRESS]);
    assert!(!home.exists());
    program(&["install", ADDRESS, "--ref", "v1", "--auto-update", "--consent"]);
    let expected = json!({"source": ADDRESS, "type": "git", "ref": "v1", "autoUpdate": true});
    assert_eq!(record(), expected);
    assert_eq!(fs::read_to_string(home.join("X.md")).unwrap(), "Version 1.0.0.");
    assert_eq!(program(&["update", "x"]), current);
}

#[test]
fn settings_and_options_in_disguise_prevent_an_installation() {
    let stage = Stage::new();
    let origin = source(&stage, "x", "1.0.0");
    git(&origin, &["init", "-q"]);
    commit(&origin);
    let refused = |arguments: &[&str]| {
        let said = with_repository(&stage, &origin, 1, &[arguments, &["--consent"]].concat());
        assert!(!stage.home.gemini().join("extensions/x").exists(), "{arguments:?}");
        said
    };
    for address in ["git@-oProxyCommand=touch:x", "ssh://-oProxyCommand=x/r", "sso://h/r"] {
        let said = refused(&["install", address]);
        assert!(said.contains(&format!("Cannot clone {address}: ")), "{said}");
    }
    assert_eq!(refused(&["install", "ext::sh -c touch"]), "Install source not found.\n");
    let said = refused(&["install", ADDRESS, "--ref=--upload-pack=x"]);
    assert!(said.contains("the name of the branch, tag or commit is not valid"), "{said}");
    let path = origin.display().to_string();
    let said = refused(&["install", &path, "--ref=v1"]);
    assert_eq!(said, "--ref and --auto-update are not applicable for local extensions.\n");
    let settings = |settings: Value| stage.home.settings(&json!({"security": settings}));
    settings(json!({"blockGitExtensions": true}));
    let blocked =
        "Installing extensions from remote sources is disallowed by your current settings.";
    assert_eq!(refused(&["install", ADDRESS]), format!("{blocked}\n"));
    settings(json!({"allowedExtensions": ["^/trusted/"]}));
    let said = refused(&["install", &path]);
    assert!(
        said.contains("is not allowed by the \"allowedExtensions\" security setting"),
        "{said}"
    );
    settings(json!({"allowedExtensions": ["^https://.*@extensions[.]example/"]}));
    with_repository(&stage, &origin, 0, &["install", ADDRESS, "--consent"]);
}

#[cfg(unix)]
#[test]
fn links_and_special_files_of_a_source_are_refused() {
    let stage = Stage::new();
    let folder = source(&stage, "x", "1.0.0");
    std::os::unix::fs::symlink("/etc/passwd", folder.join("out")).unwrap();
    let path = folder.display().to_string();
    let said = extensions(&stage, 1, "", &["install", &path, "--consent"]);
    assert!(said.contains("is a link to a place outside of it"), "{said}");
    assert!(!stage.home.gemini().join("extensions/x").exists());
    // In place, it is the user's own folder.
    let said = extensions(&stage, 0, "", &["link", &path, "--consent"]);
    assert!(said.ends_with("Extension \"x\" linked successfully and enabled.\n"), "{said}");
    run(&stage, "/do");
    let said = extensions(&stage, 1, "", &["update", "x"]);
    assert_eq!(said, "Extension x is linked so does not need to be updated\n");
    extensions(&stage, 0, "", &["uninstall", "--all"]);
    assert!(folder.join("X.md").exists());
    assert_eq!(
        extensions(&stage, 0, "", &["uninstall", "--all"]),
        "No extensions currently installed.\n"
    );
}

/// Returns a `.tar.gz` archive of a folder, as GitHub makes them.
fn packed(folder: &Path) -> Vec<u8> {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(encoder);
    archive.append_dir_all("r-0123", folder).unwrap();
    archive.into_inner().unwrap().finish().unwrap()
}

#[test]
fn an_archive_is_installed_and_updated() {
    let stage = Stage::new();
    let folder = source(&stage, "x", "1.0.0");
    let archive = stage.home.root().join("x.tar.gz");
    fs::write(&archive, packed(&folder)).unwrap();
    let home = install(&stage, &archive);
    assert_eq!(fs::read_to_string(home.join("X.md")).unwrap(), "Version 1.0.0.");
    source(&stage, "x", "1.1.0");
    fs::write(&archive, packed(&folder)).unwrap();
    let said = extensions(&stage, 0, "", &["update", "x"]);
    assert!(said.ends_with("updated: 1.0.0 → 1.1.0.\n"), "{said}");
    fs::write(&archive, "damaged").unwrap();
    let said = extensions(&stage, 1, "", &["update", "x"]);
    assert!(said.starts_with("Cannot extract "), "{said}");
    assert_eq!(fs::read_to_string(home.join("X.md")).unwrap(), "Version 1.1.0.");
}

#[test]
fn a_release_is_installed_and_updated() {
    let stage = Stage::new();
    let folder = source(&stage, "x", "1.0.0");
    let release = |tag: &str| {
        let archive = packed(&folder);
        let address = format!("{}/archive/{tag}", stage.server.url());
        let answer = json!({"tag_name": tag, "tarball_url": address, "assets": []});
        stage.server.route("/repos/o/r/releases/latest", move |request| {
            assert_eq!(request.header("authorization"), Some("token t"));
            reply().status(200, answer.clone())
        });
        stage.server.route(&format!("/archive/{tag}"), move |request| {
            assert_eq!(request.header("authorization"), None);
            reply().status(200, ReplyContent::of("application/gzip", &archive))
        });
    };
    let program = |code: i32, arguments: &[&str]| {
        let run = stage.alone().args(["extensions"]).args(arguments);
        let run = run.env("GITHUB_API_URL", stage.server.url()).env("GITHUB_TOKEN", "t").run();
        run.assert_code(code);
        run.stderr_text()
    };
    release("v1");
    program(0, &["install", "https://github.com/o/r", "--consent"]);
    let home = stage.home.gemini().join("extensions/x");
    let record = || {
        let text = fs::read_to_string(home.join(".gemini-extension-install.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let source_of = |tag: &str| json!({"source": "https://github.com/o/r", "type": "github-release", "releaseTag": tag});
    assert_eq!(record(), source_of("v1"));
    assert_eq!(program(0, &["update", "x"]), "Extension \"x\" is already up to date.\n");
    source(&stage, "x", "2.0.0");
    release("v2");
    assert!(program(0, &["update", "x"]).ends_with("updated: 1.0.0 → 2.0.0.\n"));
    assert_eq!(record(), source_of("v2"));
    stage.server.route("/repos/o/r/releases/latest", |_| reply().status(500, json!({})));
    let said = program(1, &["update", "x"]);
    assert!(said.contains("GitHub has answered with the status 500"), "{said}");
    assert_eq!(fs::read_to_string(home.join("X.md")).unwrap(), "Version 2.0.0.");
}
