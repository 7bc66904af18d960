//! Tests with files.

use pollux_config::protected::ProtectedPlaces;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use pretty_assertions::assert_eq;

use super::*;
use crate::sandbox::SandboxPlaces;

struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("p/.git")).unwrap();
        fs::write(folder.path().join("p/.git/config"), "[core]\n\tbare = false\n").unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn begin(&self, git_configuration: GitConfiguration) -> SandboxAudit {
        let places = SandboxPlaces::standard(
            &ProtectedPlaces { homes: vec![self.path("home")], ..ProtectedPlaces::default() },
            vec![self.path("p")],
            self.path("state"),
            "/tmp".into(),
        );
        let spec = SandboxSpec::new(ConfinementLevel::Protect, Arc::new(places));
        SandboxAudit::begin(&SandboxSpec { git_configuration, ..spec })
    }
}

fn found(changes: &[SandboxChange]) -> Vec<(PathBuf, SandboxChangeKind)> {
    assert!(changes.iter().all(|change| change.error.is_none()), "{changes:?}");
    changes.iter().map(|change| (change.path.clone(), change.kind.clone())).collect()
}

#[test]
fn links_on_the_way_to_a_protected_file_lead_to_the_same_file_afterwards() {
    use std::os::unix::fs::symlink;
    type Attack = fn(&Project);
    let cases: [(&str, Attack); 4] = [
        ("a dangling link", |project| {
            fs::write(project.path("dotfiles/new"), "evil").unwrap();
        }),
        ("another folder of the target", |project| {
            fs::rename(project.path("dotfiles"), project.path("old")).unwrap();
            fs::create_dir(project.path("dotfiles")).unwrap();
            fs::write(project.path("dotfiles/target"), "evil").unwrap();
        }),
        ("another link in a chain", |project| {
            fs::remove_file(project.path("dotfiles/middle")).unwrap();
            symlink(project.path("evil"), project.path("dotfiles/middle")).unwrap();
        }),
        ("another link to the folder", |project| {
            fs::remove_file(project.path("current")).unwrap();
            symlink(project.path("evil-folder"), project.path("current")).unwrap();
        }),
    ];
    for (name, attack) in cases {
        let project = Project::new();
        fs::create_dir(project.path("dotfiles")).unwrap();
        fs::create_dir(project.path("evil-folder")).unwrap();
        fs::write(project.path("dotfiles/target"), "good").unwrap();
        for evil in ["evil", "evil-folder/target"] {
            fs::write(project.path(evil), "evil").unwrap();
        }
        symlink("dotfiles", project.path("current")).unwrap();
        symlink("target", project.path("dotfiles/middle")).unwrap();
        let protected = [
            (".env", "dotfiles/new"),
            (".zshenv", "dotfiles/target"),
            (".bashrc", "dotfiles/middle"),
            (".profile", "current/target"),
        ];
        for (file, target) in protected {
            symlink(project.path(target), project.path("home").join(file)).unwrap();
        }
        let mut audit = project.begin(GitConfiguration::Protected);
        attack(&project);
        assert!(!audit.check().is_empty(), "{name}");
        for (file, _) in protected {
            let text = fs::read_to_string(project.path("home").join(file)).unwrap_or_default();
            assert_ne!(text, "evil", "{name}: {file}");
        }
    }
}

#[test]
fn what_appears_is_moved_aside() {
    let project = Project::new();
    let mut audit = project.begin(GitConfiguration::Protected);
    fs::create_dir(project.path("p/.git/hooks")).unwrap();
    fs::write(project.path("p/.git/hooks/pre-commit"), "evil").unwrap();
    fs::write(project.path("home/.bashrc"), "evil").unwrap();
    fs::write(project.path("home/other"), "good").unwrap();
    let changes = audit.check();
    let appeared = |name: &str| (project.path(name), SandboxChangeKind::Appeared);
    assert_eq!(found(&changes), [appeared("home/.bashrc"), appeared("p/.git/hooks")]);
    assert!(!project.path("p/.git/hooks").exists() && !project.path("home/.bashrc").exists());
    let moved = changes[1].moved_to.clone().unwrap();
    assert_eq!(fs::read_to_string(moved.join("pre-commit")).unwrap(), "evil");
}

#[test]
fn a_replaced_parent_and_a_link_to_elsewhere_are_found() {
    let project = Project::new();
    fs::create_dir_all(project.path("real/policies")).unwrap();
    let mut audit = project.begin(GitConfiguration::Protected);
    fs::rename(project.path("p/.git"), project.path("p/old")).unwrap();
    fs::create_dir(project.path("p/.git")).unwrap();
    fs::write(project.path("p/.git/config"), "evil").unwrap();
    std::os::unix::fs::symlink(project.path("real"), project.path("p/.gemini")).unwrap();
    let changes = found(&audit.check());
    let replaced = (project.path("p/.git/config"), SandboxChangeKind::Replaced);
    let link = (project.path("p/.gemini"), SandboxChangeKind::Appeared);
    assert!(changes.contains(&replaced) && changes.contains(&link), "{changes:?}");
    assert!(project.path("real/policies").exists());
    assert!(!project.path("p/.gemini").exists());
}

#[test]
fn consent_in_a_replaced_home_is_moved_aside() {
    for is_old in [false, true] {
        let project = Project::new();
        let state = project.path("home/.gemini/pollux");
        fs::create_dir_all(&state).unwrap();
        let consent = state.join("consent.json");
        if is_old {
            fs::write(&consent, "{}").unwrap();
        }
        let places = SandboxPlaces::standard(
            &ProtectedPlaces { homes: vec![project.path("home")], ..ProtectedPlaces::default() },
            vec![project.path("p")],
            state.clone(),
            "/tmp".into(),
        );
        let spec = SandboxSpec::new(ConfinementLevel::Protect, Arc::new(places));
        let mut audit = SandboxAudit::begin(&spec);
        // Another Pollux process saves an answer.
        fs::write(state.join("new"), "{}").unwrap();
        fs::rename(state.join("new"), &consent).unwrap();
        assert_eq!(found(&audit.check()), []);
        fs::remove_file(&consent).unwrap();
        let mut audit = SandboxAudit::begin(&spec);
        fs::rename(project.path("home"), project.path("old")).unwrap();
        fs::create_dir_all(&state).unwrap();
        fs::write(&consent, "forged").unwrap();
        assert_eq!(found(&audit.check()).len(), 1);
        assert!(!consent.exists());
    }
}

#[test]
fn hooks_that_are_only_samples_and_changes_by_others_stay() {
    let project = Project::new();
    fs::write(project.path("home/.bashrc"), "mine").unwrap();
    let mut audit = project.begin(GitConfiguration::Protected);
    fs::create_dir(project.path("p/.git/hooks")).unwrap();
    fs::write(project.path("p/.git/hooks/update.sample"), "").unwrap();
    fs::write(project.path("home/new"), "edited").unwrap();
    fs::rename(project.path("home/new"), project.path("home/.bashrc")).unwrap();
    assert_eq!(found(&audit.check()), []);
}

#[test]
fn a_writable_configuration_keeps_only_harmless_changes() {
    let project = Project::new();
    let mut audit = project.begin(GitConfiguration::Writable);
    let harmless = "[core]\n\tbare = false\n[user]\n\tname = A\n";
    fs::write(project.path("p/.git/config"), harmless).unwrap();
    assert_eq!(found(&audit.check()), []);
    let mut audit = project.begin(GitConfiguration::Writable);
    let text = format!("{harmless}[core]\n\tfsmonitor = x\n");
    fs::write(project.path("p/.git/config"), text).unwrap();
    let changes = found(&audit.check());
    let keys = SandboxChangeKind::Configuration(vec!["core.fsmonitor".to_owned()]);
    assert_eq!(changes, [(project.path("p/.git/config"), keys)]);
    assert_eq!(fs::read_to_string(project.path("p/.git/config")).unwrap(), harmless);
}

#[test]
fn a_configuration_that_is_not_read_whole_returns_to_its_bytes() {
    type Attack = fn(&Path);
    let attacks: [(&str, Attack); 6] = [
        ("not understood", |path| fs::write(path, "[core] \u{b}fsmonitor = x\n").unwrap()),
        ("a comment with a backslash", |path| {
            fs::write(path, "[core]\n\tbare = false # \\\n\tfsmonitor = x\n").unwrap();
        }),
        ("too large", |path| {
            let text = format!("[core]\n\tfsmonitor = x\n{}", "#\n".repeat(1 << 20));
            fs::write(path, text).unwrap();
        }),
        ("a link", |path| {
            fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink("../evil", path).unwrap();
        }),
        ("a folder", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
        ("removed", |path| fs::remove_file(path).unwrap()),
    ];
    for (name, attack) in attacks {
        let project = Project::new();
        let path = project.path("p/.git/config");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let before = fs::read(&path).unwrap();
        let mut audit = project.begin(GitConfiguration::Writable);
        attack(&path);
        assert_eq!(found(&audit.check()).len(), 1, "{name}");
        assert!(!path.is_symlink(), "{name}");
        assert_eq!(fs::read(&path).unwrap(), before, "{name}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_new_file_in_a_folder_without_permissions_loses_its_effect() {
    let project = Project::new();
    let mut audit = project.begin(GitConfiguration::Protected);
    let file = project.path("home/.zshenv");
    fs::write(&file, "evil").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(project.path("home"), fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(found(&obeying_permissions(|| audit.check())).len(), 1);
    assert_eq!(fs::read_to_string(&file).unwrap_or_default(), "");
}

/// Does the work on a thread to which the permissions of files apply, also if this user is root.
fn obeying_permissions<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|threads| {
        let thread = threads.spawn(|| {
            #[cfg(target_os = "linux")]
            {
                use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
                let mut sets = capabilities(None).unwrap();
                sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
                // The capabilities of Linux belong to a thread.
                set_capabilities(None, sets).unwrap();
            }
            work()
        });
        thread.join().unwrap()
    })
}

#[test]
fn a_worktree_can_be_removed_and_its_link_leads_nowhere_else() {
    let project = Project::new();
    let links = ["p/tree/.git", "p/.git/worktrees/tree/commondir", "p/.git/worktrees/tree/gitdir"];
    let texts = [format!("gitdir: {}\n", project.path("p/.git/worktrees/tree").display())]
        .into_iter()
        .chain(["../..\n".to_owned(), "x\n".to_owned()]);
    fs::create_dir_all(project.path("p/.git/worktrees/tree")).unwrap();
    fs::create_dir(project.path("p/.git/objects")).unwrap();
    fs::create_dir(project.path("p/tree")).unwrap();
    for (link, text) in links.iter().zip(texts) {
        fs::write(project.path(link), text).unwrap();
    }
    let mut audit = project.begin(GitConfiguration::Writable);
    let text = fs::read_to_string(project.path(links[0])).unwrap();
    fs::write(project.path(links[0]), "gitdir: ../evil\n").unwrap();
    fs::remove_file(project.path(links[1])).unwrap();
    fs::create_dir(project.path(links[1])).unwrap();
    let changes = found(&audit.check());
    let replaced = |name: &str| (project.path(name), SandboxChangeKind::Replaced);
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert!(changes.contains(&replaced(links[0])) && changes.contains(&replaced(links[1])));
    assert_eq!(fs::read_to_string(project.path(links[0])).unwrap(), text);
    assert_eq!(fs::read_to_string(project.path(links[1])).unwrap(), "../..\n");
    let mut audit = project.begin(GitConfiguration::Writable);
    fs::remove_dir_all(project.path("p/tree")).unwrap();
    fs::remove_dir_all(project.path("p/.git/worktrees")).unwrap();
    assert_eq!(found(&audit.check()), []);
}
