use std::fs;

use proptest::prelude::*;

use super::*;
use crate::error::Error;
use crate::rules::IgnoreOptions;
use crate::walk::NEVER;

fn sample() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dunce::canonicalize(dir.path()).unwrap();
    for file in [
        "README.md",
        "src/main.rs",
        "src/lib.rs",
        "src/deep/a.test.ts",
        "src/deep/b.ts",
        "src/deep/c.tsx",
        ".github/ci.yml",
        "app/[id]/page.tsx",
        "app/i/page.tsx",
        "node_modules/x/i.rs",
        "target/gen.rs",
        "a.log",
        "app/(group)/x.ts",
    ] {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".gitignore"), "target/\n*.log\n").unwrap();
    (dir, root)
}

fn found(root: &Path, pattern: &str, options: &GlobOptions<'_>) -> (Vec<String>, usize) {
    let result = glob(&[Root::new(root.to_path_buf())], pattern, options, NEVER).unwrap();
    assert!(result.complete);
    let name = |file: &GlobMatch| file.path.strip_prefix(root).unwrap().display().to_string();
    (result.files.iter().map(name).collect(), result.ignored)
}

#[test]
fn patterns() {
    let (_dir, root) = sample();
    let exclude = Exclusions::for_glob().unwrap();
    let options = GlobOptions { exclude: Some(&exclude), ..GlobOptions::default() };
    let absolute = format!("{}/src/*.rs", root.display());
    for (pattern, expected) in [
        ("*.md", &["README.md"][..]),
        ("*.MD", &["README.md"]),
        ("src/*.rs", &["src/lib.rs", "src/main.rs"]),
        ("./src/*.rs", &["src/lib.rs", "src/main.rs"]),
        ("SRC/*.rs", &["src/lib.rs", "src/main.rs"]),
        (&absolute, &["src/lib.rs", "src/main.rs"]),
        ("/elsewhere/*.rs", &[]),
        (
            "**/*.{ts,tsx}",
            &[
                "app/(group)/x.ts",
                "app/[id]/page.tsx",
                "app/i/page.tsx",
                "src/deep/a.test.ts",
                "src/deep/b.ts",
                "src/deep/c.tsx",
            ],
        ),
        ("src/deep/{a..c}.ts{,x}", &["src/deep/b.ts", "src/deep/c.tsx"]),
        ("src/**/*.ts?(x)", &["src/deep/a.test.ts", "src/deep/b.ts", "src/deep/c.tsx"]),
        ("src/@(main|lib).rs", &["src/lib.rs", "src/main.rs"]),
        ("src/+(main|lib).rs", &["src/lib.rs", "src/main.rs"]),
        ("src/*(deep)/!(*.test).ts", &["src/deep/b.ts"]),
        (
            "+(src|app)/**/?(page|b).ts*(x)",
            &["app/[id]/page.tsx", "app/i/page.tsx", "src/deep/b.ts"],
        ),
        ("!(src|app|.github)/*", &["target/gen.rs"]),
        ("SRC/!(MAIN).rs", &["src/lib.rs"]),
        ("**/*.yml", &[".github/ci.yml"]),
        ("app/[id]/page.tsx", &["app/[id]/page.tsx"]),
        ("app/[ij]/page.tsx", &["app/i/page.tsx"]),
        ("app/(group)/*", &["app/(group)/x.ts"]),
        ("src", &[]),
        ("src/", &[]),
        (
            "src/**",
            &["src/deep/a.test.ts", "src/deep/b.ts", "src/deep/c.tsx", "src/lib.rs", "src/main.rs"],
        ),
        ("src/d**/b.ts", &["src/deep/b.ts"]),
        ("**/i.rs", &[]),
        ("", &[]),
    ] {
        assert_eq!(found(&root, pattern, &options).0, expected, "{pattern}");
    }
    let exact = GlobOptions { case_sensitive: true, ..options };
    assert_eq!(found(&root, "*.MD", &exact).0, [""; 0]);
    for bad in ["a[", "{a", "!(x", "@(a"] {
        assert!(
            matches!(
                glob(&[Root::new(root.clone())], bad, &options, NEVER),
                Err(Error::Pattern(_))
            ),
            "{bad}"
        );
    }
}

#[test]
fn ignored_matches_are_counted_not_listed() {
    let (_dir, root) = sample();
    let exclude = Exclusions::for_glob().unwrap();
    let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
    let options =
        GlobOptions { rules: Some(&rules), exclude: Some(&exclude), ..GlobOptions::default() };
    assert_eq!(
        found(&root, "**/*.rs", &options),
        (vec!["src/lib.rs".into(), "src/main.rs".into()], 1)
    );
    assert_eq!(found(&root, "*.log", &options), (vec![], 1));
}

#[cfg(unix)]
#[test]
fn links_are_left_out() {
    use std::os::unix::fs::symlink;
    let (_dir, root) = sample();
    symlink("README.md", root.join("link.md")).unwrap();
    symlink("src", root.join("folder.md")).unwrap();
    assert_eq!(found(&root, "*.md", &GlobOptions::default()).0, ["README.md"]);
}

#[cfg(unix)]
#[test]
fn links_that_the_pattern_names_are_followed() {
    use std::os::unix::fs::symlink;
    let (_dir, root) = sample();
    let (_other, outside) = sample();
    fs::write(root.join("target/doc.md"), "").unwrap();
    fs::write(root.join("src/.gitignore"), "lib.rs\n").unwrap();
    for (target, link) in [
        ("src", "code"),
        ("code", "again"),
        (".", "self"),
        ("..", "src/up"),
        ("target", "built"),
        (".git", "git"),
        (outside.to_str().unwrap(), "out"),
        ("ring", "ring"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    let workspace = Workspace::new(root.clone(), root.join("temp"));
    let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
    let options =
        GlobOptions { rules: Some(&rules), workspace: Some(&workspace), ..GlobOptions::default() };
    for (pattern, expected) in [
        ("code/**/*.rs", &["code/main.rs"][..]),
        ("again/*.rs", &["again/main.rs"]),
        ("{code,app}/main.rs", &["code/main.rs"]),
        ("*/up/*.md", &["src/up/README.md"]),
        ("self/self/*.md", &["self/self/README.md"]),
        ("*/main.rs", &["src/main.rs"]),
        ("self/**/*.md", &["self/README.md"]),
        ("built/*", &[]),
        ("git/*", &[]),
        ("out/**/*.md", &[]),
        ("ring/*", &[]),
    ] {
        assert_eq!(found(&root, pattern, &options).0, expected, "{pattern}");
    }
    assert!(found(&root, "code/*.rs", &GlobOptions::default()).0.is_empty());
}

#[test]
fn recent_files_come_first() {
    let now = SystemTime::UNIX_EPOCH + RECENT * 100;
    let file = |name: &str, age: Duration| GlobMatch { path: name.into(), modified: now - age };
    let hour = Duration::from_hours(1);
    let mut files =
        [file("z", hour * 30), file("b", hour * 2), file("a", hour * 40), file("c", hour)];
    sort_by_recency(&mut files, now);
    let order: Vec<_> = files.iter().map(|file| file.path.to_str().unwrap()).collect();
    assert_eq!(order, ["c", "b", "a", "z"]);
}

proptest! {
    #[test]
    fn any_pattern_compiles_or_is_refused(pattern in "[*?a/.(){}|,!@+\\[\\]\\\\]{0,24}") {
        if let Ok(Some(pattern)) = Pattern::new(Path::new("/nowhere"), &pattern, false) {
            pattern.matches("a/a.a");
        }
    }

    #[test]
    fn pruning_never_hides_a_match(pattern in "[*?ab/.]{1,8}", path in "[ab.]{1,2}(/[ab.]{1,2}){0,3}") {
        if let Ok(Some(pattern)) = Pattern::new(Path::new("/nowhere"), &pattern, true)
            && pattern.matches(&path)
        {
            for (index, _) in path.match_indices('/') {
                prop_assert!(pattern.may_match_below(&path[..index]), "{}", &path[..index]);
            }
        }
    }
}
