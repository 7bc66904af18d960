use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;
use crate::consent::{ConsentStore, EarlierAnswers};
use crate::files::READ_PATHS;
use crate::project::ProjectIdentity;
use crate::trust::TrustStore;
use crate::{Accepted, ContextOptions, LoadOptions, context, find};

#[test]
fn folders_that_variables_name_are_protected_like_those_of_the_home() {
    let environment = Environment::from_pairs([
        ("HOME", "/home/me"),
        ("ZDOTDIR", "/home/me/zsh"),
        ("XDG_CONFIG_HOME", "/home/me/etc"),
    ]);
    let places = ProtectedPlaces::new(&Places::new(&environment), &environment);
    let entries = places.paths(&[]);
    let has = |path: &str, protection| {
        let mut entries = entries.iter();
        entries.any(|entry| entry.path == Path::new(path) && entry.protection == protection)
    };
    for (path, protection) in [
        ("/home/me/.bashrc", Protection::StartUp),
        ("/home/me/zsh/.zshrc", Protection::StartUp),
        ("/home/me/.bash_completion", Protection::StartUp),
        ("/home/me/.xserverrc", Protection::StartUp),
        ("/home/me/.local/share/fish/vendor_conf.d", Protection::StartUp),
        ("/home/me/.config/plasma-workspace", Protection::StartUp),
        ("/home/me/etc/sway", Protection::StartUp),
        ("/home/me/.config/git", Protection::Git),
        ("/home/me/etc/git", Protection::Git),
        ("/home/me/etc/systemd", Protection::StartUp),
        ("/home/me/.ssh", Protection::Ssh),
    ] {
        assert!(has(path, protection), "{path}");
    }
    let relative = Environment::from_pairs([("HOME", "/home/me"), ("ZDOTDIR", "zsh")]);
    let places = ProtectedPlaces::new(&Places::new(&relative), &relative);
    assert_eq!(places.homes, [Path::new("/home/me")]);
    let relative = Environment::from_pairs([("HOME", "/home/me"), ("GEMINI_CLI_HOME", "alt")]);
    let places = ProtectedPlaces::new(&Places::new(&relative), &relative);
    let home = std::path::absolute("alt").unwrap();
    assert!(places.homes.contains(&home), "{:?}", places.homes);
}

/// Files that a run reads, and their content. The folder `me` is the home, and `above/work` the
/// project.
const FILES: [(&str, &str); 14] = [
    ("system/settings.json", "{}"),
    ("system/system-defaults.json", "{}"),
    ("me/.gemini/settings.json", "{}"),
    ("me/.gemini/trustedFolders.json", "{}"),
    ("me/.gemini/pollux/consent.json", r#"{"version": 1, "folders": {}}"#),
    ("me/.gemini/projects.json", r#"{"projects": {}}"#),
    ("me/.gemini/installation_id", "1"),
    ("me/.gemini/GEMINI.md", "Be brief."),
    ("above/work/GEMINI.md", "Be exact."),
    ("above/work/.gemini/settings.json", "{}"),
    ("above/work/.gemini/commands/c.toml", "prompt = 'x'"),
    ("above/work/.gemini/agents/a.md", "x"),
    ("above/work/.agents/skills/s/run.sh", "x"),
    ("above/work/.claude/skills/s/run.sh", "x"),
];

/// The `.env` files that a run can find, the one with the highest precedence last.
const ENVIRONMENT_FILES: [&str; 6] = [
    "me/.env",
    "me/.gemini/.env",
    "above/.env",
    "above/.gemini/.env",
    "above/work/.env",
    "above/work/.gemini/.env",
];

/// Reads a home and a project as a run does. Returns the paths that were read, relative to `base`,
/// each with true if it is protected.
fn read_by_a_run(base: &Path) -> BTreeMap<PathBuf, bool> {
    let text = |name: &str| base.join(name).to_str().unwrap().to_owned();
    let environment = Environment::from_pairs([
        ("HOME", text("me")),
        ("USERPROFILE", text("me")),
        ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", text("system/settings.json")),
    ]);
    let places = Places::new(&environment);
    let cwd = base.join("above/work");
    READ_PATHS.take();
    let mut options = LoadOptions::new(&places, &cwd, &environment, true);
    options.check_system_file = |_| Ok(());
    let mut found = find(&options).unwrap();
    found.look(EarlierAnswers::Nothing);
    let loaded = found.load(Accepted::everything()).unwrap();
    TrustStore::load(&places).unwrap();
    ConsentStore::load(&places).unwrap();
    ProjectIdentity::resolve(&places, &cwd);
    crate::installation_id(&places);
    context::discover(&ContextOptions {
        extensions: &[],
        places: &places,
        workspace: std::slice::from_ref(&cwd),
        private_memory_dir: None,
        trusted: true,
        accepted: &loaded.accepted,
        settings: loaded.settings.context(),
    });
    let protected = ProtectedPlaces::new(&places, &environment).paths(&[cwd]);
    let read = READ_PATHS.take().into_iter().map(|path| {
        let is_protected = protected.iter().any(|entry| path.starts_with(&entry.path));
        (path.strip_prefix(base).unwrap().to_owned(), is_protected)
    });
    read.collect()
}

#[test]
fn each_file_that_a_run_reads_is_protected_or_known_to_be_harmless() {
    let folder = TempDir::new().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let write = |name: &str, text: &str| {
        fs::create_dir_all(base.join(name).parent().unwrap()).unwrap();
        fs::write(base.join(name), text).unwrap();
    };
    for (name, text) in FILES {
        write(name, text);
    }
    write("above/work/.agents/skills/s/SKILL.md", "x");
    write("above/work/.claude/skills/s/SKILL.md", "x");
    let mut all = BTreeMap::new();
    for name in ENVIRONMENT_FILES {
        write(name, "A=1");
        let read = read_by_a_run(&base);
        assert!(read.contains_key(Path::new(name)), "{name}: {read:?}");
        all.extend(read);
    }
    for (name, _) in FILES {
        assert!(all.contains_key(Path::new(name)), "{name} was not read: {all:?}");
    }
    let mut free: Vec<_> = all.into_iter().filter(|(_, is)| !is).map(|(path, _)| path).collect();
    // Markers of the folders of each project repeat what `projects.json` says.
    free.retain(|path| path.file_name().is_none_or(|name| name != ".project_root"));
    let harmless = [
        // The project's variables need consent, and its programs write this file.
        "above/work/.env",
        // Instructions for the model, which also keeps its memories there.
        "above/work/GEMINI.md",
        "me/.gemini/GEMINI.md",
        // Names without an effect on what may run. Each Pollux that a command starts writes them.
        "me/.gemini/installation_id",
        "me/.gemini/projects.json",
    ];
    assert_eq!(free, harmless.map(PathBuf::from));
}

#[test]
fn keys_cannot_be_read_and_the_files_of_folders_above_are_secrets() {
    let environment = Environment::from_pairs([("HOME", "/home/me"), ("GEMINI_CLI_HOME", "/own")]);
    let places = ProtectedPlaces::new(&Places::new(&environment), &environment);
    let paths = places.paths(&["/home/me/src/p".into(), "/home/me/src/p/sub/q".into()]);
    let secrecy = |path: &str| {
        let found = paths.iter().find(|entry| entry.path == Path::new(path));
        found.map(|entry| entry.secrecy)
    };
    for (path, expected) in [
        ("/home/me/.env", Some(Secrecy::Credential)),
        ("/home/me/.gemini/.env", Some(Secrecy::Credential)),
        ("/own/.env", Some(Secrecy::Credential)),
        ("/own/.gemini/oauth_creds.json", Some(Secrecy::Credential)),
        ("/own/.gemini/mcp-oauth-tokens.json", Some(Secrecy::Credential)),
        ("/own/.gemini/gemini-credentials.json", Some(Secrecy::Credential)),
        ("/home/me/src/p/.gemini/.env", Some(Secrecy::Credential)),
        ("/home/me/src/.gemini/.env", Some(Secrecy::Credential)),
        ("/home/me/src/.env", Some(Secrecy::Secret)),
        ("/.env", Some(Secrecy::Secret)),
        ("/own/.gemini/settings.json", Some(Secrecy::Readable)),
        // Programs of the project write these.
        ("/home/me/src/p/.env", None),
        ("/home/me/src/p/sub/.env", None),
        ("/home/me/src/p/sub/q/.env", None),
    ] {
        assert_eq!(secrecy(path), expected, "{path}");
    }
    let paths = places.paths(&["/home/me".into()]);
    let in_home = paths.iter().find(|entry| entry.path == Path::new("/home/me/.env")).unwrap();
    assert_eq!(in_home.secrecy, Secrecy::Credential, "also if the home is the workspace");
}
