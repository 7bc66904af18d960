use std::fs;

use pollux_config::protected::ProtectedPlaces;
use proptest::prelude::*;

use super::*;
use crate::facts::workspace;

const HOME: &str = "/home/me";

/// A session in `/home/me/project` whose home is in the workspace, too.
fn facts() -> Facts {
    Facts {
        workspace: workspace(["/home/me/project", HOME]),
        plans_directory: "/home/me/project/.gemini/plans".into(),
        protected: ProtectedPlaces {
            homes: vec![HOME.into()],
            configuration: vec!["/home/me/etc".into()],
            files: vec!["/srv/trusted.json".into()],
            temporary: "/home/me/.gemini/tmp/project".into(),
            context_names: vec!["GEMINI.md".to_owned(), "settings.json".to_owned()],
        },
        ..Facts::default()
    }
}

fn protection(facts: &Facts, path: &str) -> Option<Protection> {
    let places = ResolvedPlaces::new(facts, Path::to_path_buf);
    places.concerned(Path::new(path)).map(|place| place.protection)
}

#[test]
fn protected_files_and_exceptions() {
    use Protection::{Git, Ssh, StartUp, State};
    let facts = facts();
    for (path, expected) in [
        ("/home/me/.gemini/settings.json", Some(State)),
        ("/home/me/.GEMINI/Settings.json", Some(State)),
        ("/home/me/.gemini/policies/a.toml", Some(State)),
        ("/home/me/.gemini/pollux/consent.json", Some(State)),
        ("/home/me/.gemini/oauth_creds.json", Some(State)),
        ("/home/me/.gemini/tmp/other/chats/a.jsonl", Some(State)),
        ("/home/me/.gemini/agents/GEMINI.md", Some(State)),
        ("/home/me/.gemini/agents", Some(State)),
        ("/home/me/.gemini", Some(State)),
        ("/home/me/.gemini/other.md", Some(State)),
        ("/srv/trusted.json", Some(State)),
        ("/home/me/project/.gemini/hooks/a.sh", Some(State)),
        ("/home/me/project/.gemini/commands/a.toml", Some(State)),
        ("/home/me/project/deep/.gemini/settings.json", Some(State)),
        ("/elsewhere/.gemini/extensions/a/b.json", Some(State)),
        ("/home/me/.bashrc", Some(StartUp)),
        ("/home/me/.BASHRC", Some(StartUp)),
        ("/home/me/.profile", Some(StartUp)),
        ("/home/me/.zshrc", Some(StartUp)),
        ("/home/me/.bash_profile", Some(StartUp)),
        ("/home/me/.zprofile", Some(StartUp)),
        ("/home/me/.config/fish/config.fish", Some(StartUp)),
        ("/home/me/etc/fish/conf.d/a.fish", Some(StartUp)),
        ("/home/me/.gitconfig", Some(Git)),
        ("/home/me/.config/git/config", Some(Git)),
        ("/home/me/project/.git/config", Some(Git)),
        ("/home/me/project/vendor/.git/hooks/pre-commit", Some(Git)),
        ("/home/me/.ssh/authorized_keys", Some(Ssh)),
        // A folder is protected if it contains a protected place.
        ("/home/me/.config", Some(StartUp)),
        ("/home", Some(State)),
        // These are exceptions.
        ("/home/me/.gemini/GEMINI.md", None),
        ("/home/me/project/.gemini/GEMINI.md", None),
        ("/home/me/project/.gemini/plans/a.md", None),
        ("/home/me/project/.gemini/plans/a.sh", Some(State)),
        ("/home/me/.gemini/tmp/project/scratch.txt", None),
        ("/home/me/.gemini/tmp/project/session/tracker", None),
        // All other files are unprotected.
        ("/home/me/notes.txt", None),
        ("/home/me/project/.bashrc", None),
        ("/home/me/project/src/gemini/settings.json", None),
        ("/home/me/.gitconfig.bak", None),
        ("/home/me/.config/htop/htoprc", None),
        ("/home/me/project/.gitignore", None),
    ] {
        let found = protection(&facts, path);
        // For a folder that contains several places, any of them is correct.
        let is_equal = found == expected || path == "/home" && found.is_some();
        assert!(is_equal, "{path}: {found:?}, not {expected:?}");
    }
}

#[test]
fn a_folder_of_plans_frees_no_definitions() {
    let facts = Facts { plans_directory: "/home/me/project/.gemini".into(), ..facts() };
    assert_eq!(protection(&facts, "/home/me/project/.gemini/a.md"), None);
    for name in ["agents/a.md", "skills/a/SKILL.md", "system.md", "commands/a.md"] {
        let path = format!("/home/me/project/.gemini/{name}");
        assert_eq!(protection(&facts, &path), Some(Protection::State), "{path}");
    }
}

#[test]
fn without_a_folder_for_temporary_files_nothing_is_free_for_that() {
    let protected = ProtectedPlaces { temporary: PathBuf::new(), ..facts().protected };
    let facts = Facts { protected, ..facts() };
    let places = ResolvedPlaces::new(&facts, |path| Path::new("/home/me").join(path));
    assert!(places.concerned(Path::new("/home/me/.bashrc")).is_some());
}

/// Names from which the paths of a test are built.
const NAMES: [&str; 14] = [
    ".gemini",
    "settings.json",
    "agents",
    "tmp",
    "project",
    "GEMINI.md",
    "a.md",
    ".git",
    "config",
    ".config",
    "fish",
    ".bashrc",
    ".ssh",
    "src",
];

fn path() -> impl Strategy<Value = String> {
    let names = proptest::collection::vec(proptest::sample::select(&NAMES[..]), 0..6);
    names.prop_map(|names| names.iter().fold(HOME.to_owned(), |path, name| path + "/" + name))
}

proptest! {
    #[test]
    fn case_changes_nothing(path in path()) {
        let facts = facts();
        prop_assert_eq!(protection(&facts, &path), protection(&facts, &path.to_uppercase()));
    }

    #[test]
    fn what_is_protected_in_a_home_is_protected_below(path in path(), below in "[a-z]{1,8}") {
        let facts = facts();
        let places = ResolvedPlaces::new(&facts, Path::to_path_buf);
        // A folder above a place also contains unprotected files.
        let is_place = |place: &ProtectedPlace| place.depth < Path::new(&path).components().count();
        if places.concerned(Path::new(&path)).is_some_and(|place| is_place(&place)) {
            let below = format!("{path}/{below}");
            prop_assert!(protection(&facts, &below).is_some());
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_to_and_from_protected_files_are_followed(
        file in proptest::sample::select(vec![".bashrc", ".ssh", ".gemini/policies", ".gemini/settings.json"]),
        links in 1_usize..5,
        is_there in any::<bool>(),
    ) {
        use std::os::unix::fs::symlink;
        let disk = tempfile::tempdir().unwrap();
        let home = pollux_fs::real_path(disk.path()).unwrap();
        fs::create_dir(home.join(".gemini")).unwrap();
        let real = |path: &Path| pollux_fs::real_path(path).unwrap();
        let facts = Facts {
            protected: ProtectedPlaces { homes: vec![home.clone()], ..ProtectedPlaces::default() },
            ..Facts::default()
        };
        // A link to the file: the last link leads to the file.
        let mut target = home.join(file);
        if is_there {
            fs::write(&target, "").unwrap();
        }
        for link in 0..links {
            let next = home.join(format!("to-{link}"));
            symlink(&target, &next).unwrap();
            target = next;
        }
        prop_assert!(ResolvedPlaces::new(&facts, real).concerned(&real(&target)).is_some());
        // A link from the file: the file is itself a link.
        if is_there {
            fs::remove_file(home.join(file)).unwrap();
        }
        let elsewhere = home.join("elsewhere");
        symlink(&elsewhere, home.join(file)).unwrap();
        prop_assert!(ResolvedPlaces::new(&facts, real).concerned(&real(&elsewhere)).is_some());
        prop_assert!(ResolvedPlaces::new(&facts, real).concerned(&home.join("other")).is_none());
    }
}
