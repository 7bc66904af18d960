use std::fs;

use proptest::prelude::*;

use super::*;

struct Fixture {
    _dir: tempfile::TempDir,
    base: PathBuf,
    workspace: Workspace,
}

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let base = dunce::canonicalize(dir.path()).unwrap();
    for folder in ["w/src", "w/@scope/pkg", "temp/memory/.inbox", "other", "home", "wide"] {
        fs::create_dir_all(base.join(folder)).unwrap();
    }
    fs::write(base.join("w/@real"), "").unwrap();
    fs::write(base.join("w/100%25.txt"), "").unwrap();
    let mut workspace = Workspace::new(base.join("w"), base.join("temp"));
    workspace.add_root(base.join("other"));
    workspace.add_root(base.join("w"));
    workspace.allow_memory_file(&base.join("home/GEMINI.md"));
    workspace.deny(&base.join("temp/memory/.inbox"));
    Fixture { _dir: dir, base, workspace }
}

#[test]
fn what_models_write_finds_the_file() {
    let Fixture { _dir, base, workspace } = fixture();
    let url = format!("file://{}/w/src/a%20b.rs", base.display());
    for (given, expected) in [
        ("src/a.rs", "w/src/a.rs"),
        ("./src/../src/a.rs", "w/src/a.rs"),
        ("@src/a.rs", "w/src/a.rs"),
        ("@/src/a.rs", "w/src/a.rs"),
        ("@real", "w/@real"),
        ("@scope/pkg/new.ts", "w/@scope/pkg/new.ts"),
        ("src/\0a.rs", "w/src/a.rs"),
        ("src/a%20b.rs", "w/src/a b.rs"),
        ("100%25.txt", "w/100%25.txt"),
        ("50%.txt", "w/50%.txt"),
        ("a%00b", "w/ab"),
        (&url, "w/src/a b.rs"),
        ("../other/x", "other/x"),
    ] {
        assert_eq!(workspace.resolve(given).unwrap(), base.join(expected), "{given:?}");
    }
    for bad in ["", "  ", "\0", "a\nb", "file://host/share/x", "src/FAIL tests", "a%0Ab"] {
        assert!(matches!(workspace.resolve(bad), Err(Error::InvalidPath(_))), "{bad:?}");
    }
}

#[test]
fn sanity_says_no_to_what_is_no_path() {
    let path = |text: &str| check_sanity(Path::new(text));
    for good in ["/a/b", "/p/a\"b", "/project/app/[...slug]/page.tsx", "/a..b"] {
        path(good).unwrap();
    }
    path(&format!("/{}", "x".repeat(255))).unwrap();
    path(&"/x".repeat(2048)).unwrap();
    for bad in [
        "/w/\u{2713} renders the page".to_owned(),
        "/w/AssertionError: expected".to_owned(),
        format!("/{}", "x".repeat(256)),
        "/x".repeat(2048) + "x",
        "/a/rather/long/path/... and so on".to_owned(),
        "/a/rather/long/path/\"quoted\"".to_owned(),
    ] {
        let error = path(&bad).unwrap_err().to_string();
        assert!(error.starts_with("Invalid path: "), "{error}");
    }
}

#[test]
fn access_is_by_real_path_and_whole_components() {
    let Fixture { _dir, base, workspace } = fixture();
    let allowed = |path: &str| workspace.check(&base.join(path), Access::Write).is_ok();
    for path in ["w", "w/new/file", "other/x", "temp/a", "home/GEMINI.md"] {
        assert!(allowed(path), "{path}");
    }
    for path in ["wide/x", "home/x", "", "temp/memory/.inbox/x", "w/../wide"] {
        assert!(!allowed(path), "{path}");
    }
    let error = workspace.check(&base.join("wide/x"), Access::Read).unwrap_err();
    let (base, code) = (base.display(), error.code());
    assert_eq!(
        error.to_string(),
        format!(
            "Path not in workspace: Attempted path \"{base}/wide/x\" resolves outside the allowed workspace \
             directories: {base}/w, {base}/other or the project temp directory: {base}/temp"
        )
    );
    assert_eq!(code, "EACCES");
}

#[test]
fn what_git_keeps_and_environment_files_are_closed() {
    let Fixture { _dir, base, workspace } = fixture();
    let cases = [
        ("w/.git", false),
        ("w/.git/config", false),
        ("w/src/.GIT/hooks/pre-commit", false),
        ("other/sub/.git", false),
        ("w/.env", false),
        ("w/src/.env", false),
        ("w/src/../.env", false),
        ("w/key.pem", false),
        ("w/ca.pem", true),
        ("w/.github/workflows/ci.yml", true),
        ("w/.gitignore", true),
        ("w/a.git/HEAD", true),
        ("w/.env.example", true),
        ("w/.ENV", false),
        ("w/.env.local", false),
        ("w/src/id_ed25519", false),
        ("w/src/id_ed25519.pub", true),
        ("w/.env/bin/python", true),
        ("w/node_modules/m/index.js", true),
        ("temp/.git/config", true),
        ("temp/.env", true),
    ];
    fs::write(base.join("w/key.pem"), "-----BEGIN PRIVATE KEY-----").unwrap();
    fs::write(base.join("w/ca.pem"), "-----BEGIN CERTIFICATE-----").unwrap();
    for (path, expected) in cases {
        for access in [Access::Read, Access::Write] {
            let checked = workspace.check(&base.join(path), access);
            assert_eq!(checked.is_ok(), expected, "{path} {access:?}");
            let is_expected = |error| matches!(error, Error::OutsideWorkspace { .. });
            assert!(checked.err().is_none_or(is_expected));
        }
    }
    // A workspace that is itself inside such a folder was chosen by the user.
    let inside = Workspace::new(base.join("w/.git/modules/m"), base.join("temp"));
    inside.check(&base.join("w/.git/modules/m/config"), Access::Read).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_opens_nothing_that_is_closed() {
    use std::os::unix::fs::symlink;
    let Fixture { _dir, base, workspace } = fixture();
    fs::create_dir(base.join("w/.git")).unwrap();
    fs::create_dir(base.join("w/gitdir")).unwrap();
    fs::write(base.join("w/.env"), "").unwrap();
    symlink(base.join("w/.git"), base.join("w/inside")).unwrap();
    symlink(base.join("w/.env"), base.join("w/innocent")).unwrap();
    symlink(base.join("w/gitdir"), base.join("other/.git")).unwrap();
    for path in ["w/inside/config", "w/innocent", "other/.git/config"] {
        assert!(workspace.check(&base.join(path), Access::Read).is_err(), "{path}");
    }
}

#[test]
fn reading_may_be_wider_than_writing() {
    let Fixture { _dir, base, mut workspace } = fixture();
    workspace.allow_reading(&base.join("home"));
    workspace.check(&base.join("home/notes"), Access::Read).unwrap();
    assert!(workspace.check(&base.join("home/notes"), Access::Write).is_err());
    fs::write(base.join("home/.env"), "").unwrap();
    assert!(workspace.check(&base.join("home/.env"), Access::Read).is_err());
    workspace.allow_reading(&base.join("home/.env"));
    workspace.check(&base.join("home/.env"), Access::Read).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_workspace_does_not_help() {
    use std::os::unix::fs::symlink;
    let Fixture { _dir, base, workspace } = fixture();
    symlink(base.join("wide"), base.join("w/escape")).unwrap();
    symlink(base.join("wide/born-later"), base.join("w/dangling")).unwrap();
    symlink(base.join("w/src"), base.join("wide/back")).unwrap();
    assert!(workspace.check(&base.join("w/escape/x"), Access::Write).is_err());
    assert!(workspace.check(&base.join("w/dangling"), Access::Write).is_err());
    workspace.check(&base.join("wide/back/x"), Access::Write).unwrap();
}

#[test]
fn paths_for_people() {
    let Fixture { _dir, base, workspace } = fixture();
    assert_eq!(workspace.display_path(&base.join("w")), ".");
    assert_eq!(workspace.display_path(&base.join("w/src/a.rs")), "src/a.rs");
    assert_eq!(workspace.relative(&base.join("other/x")), Path::new("../other/x"));
    assert_eq!(workspace.root_of(&base.join("other/x")), Some(base.join("other").as_path()));
    assert_eq!(workspace.root_of(&base.join("wide")), None);
}

proptest! {
    #[test]
    fn any_string_resolves_or_is_refused(given in any::<String>()) {
        let workspace = Workspace::new("/nowhere/w".into(), "/nowhere/t".into());
        if let Ok(path) = workspace.resolve(&given) {
            prop_assert!(path.is_absolute());
            drop(workspace.check(&path, Access::Write));
        }
    }
}
