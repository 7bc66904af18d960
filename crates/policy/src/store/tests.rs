use std::cell::RefCell;
use std::fs;

use pretty_assertions::assert_eq;

use super::*;

const RULE: &str = "[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 1\n";

struct Disk(tempfile::TempDir);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, user: &[PathBuf], admin: &[PathBuf], accepts: bool) -> FoundPolicies {
        FoundPolicies::read(&PolicyPlaces {
            extensions: &[],
            user,
            default_user: &self.path("no user"),
            system: &self.path("no system"),
            admin,
            project: Some(&self.path("project")),
            accepts: &|_| accepts,
        })
    }
}

#[test]
fn files_and_folders_are_read() {
    let disk = Disk::new();
    disk.write("user/b.toml", RULE);
    disk.write("user/a.toml", RULE);
    disk.write("user/c.txt", "no policy");
    disk.write("user/deeper/d.toml", "broken [");
    let file = disk.write("one.toml", RULE);
    let found = disk.read(&[disk.path("user"), file], &[], false);
    let labels: Vec<String> = found.file.rules.iter().map(|rule| rule.source.to_string()).collect();
    assert_eq!(labels, ["User: a.toml:1", "User: b.toml:1", "User: one.toml:1"]);
    assert_eq!(found.file.problems, Vec::new());
    assert_eq!(found.warnings, Vec::<String>::new());
}

#[test]
fn only_the_default_folders_may_be_missing() {
    let disk = Disk::new();
    let text = disk.write("rules.txt", RULE);
    disk.write("a", "a file");
    assert_eq!(disk.read(&[], &[], false).file.problems, Vec::new());
    assert_eq!(disk.read(&[disk.path("no user")], &[], false).file.problems, Vec::new());
    for path in [disk.path("cii.toml"), disk.path("nothing"), disk.path("a/b.toml"), text] {
        for (user, admin) in [(vec![path.clone()], vec![]), (vec![], vec![path.clone()])] {
            let found = disk.read(&user, &admin, false);
            let [problem] = found.file.problems.as_slice() else { panic!("{path:?} {found:?}") };
            assert!(problem.is_error(), "{problem}");
            assert_eq!((&problem.path, problem.kind), (&path, ProblemKind::FileRead), "{problem}");
            assert_eq!(found.warnings, Vec::<String>::new());
        }
    }
}

#[test]
fn the_projects_files_count_once_they_are_agreed_to() {
    let disk = Disk::new();
    disk.write("project/.gemini/policies/p.toml", RULE);
    assert_eq!(disk.read(&[], &[], false).file.rules.len(), 0);
    assert_eq!(disk.read(&[], &[], true).file.rules[0].priority.to_string(), "3.001");
    let items = consent_items(&disk.path("project"));
    assert_eq!(items.len(), 1);
    assert_eq!(
        (items[0].kind.as_str(), items[0].name.as_str()),
        ("policy", ".gemini/policies/p.toml")
    );
    assert_eq!(items[0].detail.as_str(), "deny glob");
    disk.write("project/.gemini/policies/p.toml", &RULE.replace("deny", "allow"));
    let changed = consent_items(&disk.path("project"));
    assert_ne!(changed[0].hash, items[0].hash);
    // The user is asked about exactly the content that is read.
    let seen = RefCell::new(Vec::new());
    FoundPolicies::read(&PolicyPlaces {
        extensions: &[],
        user: &[],
        default_user: &disk.path("no user"),
        system: &disk.path("no system"),
        admin: &[],
        project: Some(&disk.path("project")),
        accepts: &|item| {
            seen.borrow_mut().push(item.hash.clone());
            false
        },
    });
    assert_eq!(*seen.borrow(), [changed[0].hash.clone()]);
}

#[cfg(unix)]
#[test]
fn what_everybody_can_write_is_not_the_administrators() {
    use std::os::unix::fs::PermissionsExt;
    let disk = Disk::new();
    let file = disk.write("admin/a.toml", RULE);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let found = disk.read(&[], std::slice::from_ref(&file), false);
    assert_eq!(found.file.rules[0].priority.to_string(), "5.001");
    assert!(
        found.warnings[0].starts_with("Security Warning: Policies of the administrator in "),
        "{:?}",
        found.warnings
    );
    assert!(
        found.warnings[0]
            .contains("everybody can write it (mode 666). To fix this, run: chmod o-w")
    );
    fs::set_permissions(disk.path("admin"), fs::Permissions::from_mode(0o777)).unwrap();
    let reason = guard::check_folder(&disk.path("admin")).unwrap_err();
    assert!(
        reason.contains("is writable by group or others (mode: 777)")
            || reason.contains("not owned by root"),
        "{reason}"
    );
    assert_eq!(guard::check_folder(&disk.path("nothing")), Ok(()));
    assert_eq!(guard::check_folder(&file).unwrap_err(), "Not a directory");
}

#[test]
fn more_files_than_are_read_is_an_error() {
    let disk = Disk::new();
    for number in 0..=MAX_FILES {
        disk.write(&format!("user/{number:04}.toml"), RULE);
    }
    let problems = |found: FoundPolicies| -> Vec<String> {
        let errors = found.file.problems.iter().filter(|problem| problem.is_error());
        errors.map(ToString::to_string).collect()
    };
    let reported = |tier: &str, folder: &str| {
        let shown = disk.path(folder);
        format!(
            "[{tier}] Policy file error in {}:\n  The folder contains 1001 policy files; only the first 1000 of them are read",
            shown.display()
        )
    };
    let user = [disk.path("user")];
    assert_eq!(problems(disk.read(&user, &[], false)), [reported("USER", "user")]);
    assert_eq!(problems(disk.read(&[], &user, false)), [reported("ADMIN", "user")]);
    let folder = disk.path("project/.gemini/policies");
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    fs::rename(disk.path("user"), &folder).unwrap();
    let expected = reported("WORKSPACE", "project/.gemini/policies");
    assert_eq!(problems(disk.read(&[], &[], true)), [expected]);
    assert_eq!(consent_items(&disk.path("project")).len(), MAX_FILES);
    fs::remove_file(folder.join("0000.toml")).unwrap();
    assert_eq!(problems(disk.read(&[], &[], true)), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn a_project_file_that_cannot_be_read_is_an_error() {
    let disk = Disk::new();
    let folder = disk.path("project/.gemini/policies");
    disk.write("project/.gemini/policies/a.toml", RULE);
    disk.write("project/.gemini/policies/b.toml", &"#".repeat(MAX_BYTES + 10));
    let found = disk.read(&[], &[], true);
    assert_eq!(found.file.rules.len(), 1);
    assert!(found.file.problems[0].is_error());
    fs::remove_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink("policies", &folder).unwrap();
    assert!(disk.read(&[], &[], true).file.problems[0].is_error(), "a loop of links");
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_and_what_is_no_file_are_errors() {
    use std::os::unix::fs::symlink;
    let disk = Disk::new();
    disk.write("user/a.toml", RULE);
    fs::create_dir_all(disk.path("user/folder.toml")).unwrap();
    symlink("nothing", disk.path("user/b.toml")).unwrap();
    symlink("c.toml", disk.path("user/c.toml")).unwrap();
    symlink("/dev/zero", disk.path("user/d.toml")).unwrap();
    let found = disk.read(&[disk.path("user")], &[], false);
    assert_eq!(found.file.rules.len(), 1);
    let broken: Vec<_> = found.file.problems.iter().map(|problem| problem.path.clone()).collect();
    assert_eq!(broken, ["b", "c", "d"].map(|name| disk.path(&format!("user/{name}.toml"))));
    assert!(found.file.problems.iter().all(crate::Problem::is_error));
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let disk = Disk::new();
    fs::create_dir_all(disk.path("user")).unwrap();
    let huge = "#".repeat(MAX_BYTES + 10);
    let file = disk.write("user/huge.toml", &huge);
    let found = disk.read(&[file], &[], false);
    assert!(found.file.problems[0].is_error());
}
