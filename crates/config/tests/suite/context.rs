use std::fs;
use std::path::{Path, PathBuf};

use pollux_config::consent::EarlierAnswers;
use pollux_config::{Accepted, ContextFile, ContextFiles, ContextOptions, Settings, context, find};
use pretty_assertions::assert_eq;

use super::home::Home;

struct Case {
    home: Home,
    workspace: Vec<PathBuf>,
    settings: Settings,
    trusted: bool,
    accepted: Accepted,
}

impl Case {
    fn new() -> Self {
        let home = Home::new();
        let workspace = vec![home.work()];
        Self {
            home,
            workspace,
            settings: Settings::defaults(),
            trusted: true,
            accepted: Accepted::nothing(),
        }
    }

    /// Creates a case with a settings file of the user.
    fn configured(settings: &str) -> Self {
        let mut case = Self::new();
        case.home.write("home/.gemini/settings.json", settings);
        case.settings = case.home.load().settings;
        case
    }

    fn options(&self) -> ContextOptions<'_> {
        ContextOptions {
            extensions: &[],
            places: &self.home.places,
            workspace: &self.workspace,
            private_memory_dir: None,
            trusted: self.trusted,
            accepted: &self.accepted,
            settings: self.settings.context(),
        }
    }

    fn discover(&self) -> ContextFiles {
        context::discover(&self.options())
    }

    /// Returns the paths relative to the temporary folder.
    fn names(&self, files: &[ContextFile]) -> Vec<String> {
        let base = self.home.path("");
        let relative =
            |file: &ContextFile| file.path.strip_prefix(&base).unwrap().display().to_string();
        files.iter().map(relative).collect()
    }
}

#[test]
fn upward_to_the_repository() {
    let mut case = Case::new();
    let home = &case.home;
    home.write("GEMINI.md", "outside of the repository");
    home.write("work/.git/HEAD", "");
    home.write("work/GEMINI.md", "root");
    home.write("work/AGENTS.md", "agents");
    home.write("work/a/GEMINI.md", "  \n");
    home.write("work/a/b/GEMINI.md", "deep");
    home.write("home/.gemini/GEMINI.md", "mine");
    case.workspace = vec![home.path("work/a/b")];
    let files = case.discover();
    assert_eq!(case.names(&files.global), ["home/.gemini/GEMINI.md"]);
    assert_eq!(
        case.names(&files.project),
        ["work/AGENTS.md", "work/GEMINI.md", "work/a/b/GEMINI.md"]
    );
    assert!(files.warnings.is_empty());
}

#[test]
fn without_a_repository_only_the_folder_itself() {
    let mut case = Case::new();
    case.home.write("work/GEMINI.md", "outer");
    case.home.write("work/a/AGENTS.md", "inner");
    case.workspace = vec![case.home.path("work/a")];
    assert_eq!(case.names(&case.discover().project), ["work/a/AGENTS.md"]);
}

#[test]
fn without_trust_only_the_persons_own() {
    let mut case = Case::new();
    case.trusted = false;
    case.home.write("work/GEMINI.md", "project");
    case.home.write("home/.gemini/AGENTS.md", "mine");
    let mut files = case.discover();
    assert_eq!(case.names(&files.global), ["home/.gemini/AGENTS.md"]);
    assert!(files.project.is_empty());
    assert!(files.jit(&case.options(), &case.home.path("work/x")).is_empty());
}

#[test]
fn names_and_markers_of_the_settings() {
    let mut case = Case::configured(
        r#"{"context": {"fileName": ["CLAUDE.md"], "memoryBoundaryMarkers": ["/etc", "..", "top"]}}"#,
    );
    case.home.write("work/top", "");
    case.home.write("work/CLAUDE.md", "c");
    case.home.write("work/a/GEMINI.md", "g");
    case.workspace = vec![case.home.path("work/a")];
    assert_eq!(case.names(&case.discover().project), ["work/CLAUDE.md", "work/a/GEMINI.md"]);
}

#[cfg(unix)]
#[test]
fn the_same_file_under_two_names_is_loaded_once() {
    let case = Case::new();
    case.home.write("work/GEMINI.md", "text");
    std::os::unix::fs::symlink("GEMINI.md", case.home.path("work/AGENTS.md")).unwrap();
    assert_eq!(case.names(&case.discover().project), ["work/AGENTS.md"]);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_read_only_once_it_was_agreed_to() {
    let mut case = Case::new();
    case.home.write("outside/secret.txt", "SECRET");
    fs::create_dir_all(case.home.path("work/sub")).unwrap();
    for (name, target) in [
        ("work/GEMINI.md", "../outside/secret.txt"),
        ("work/sub/AGENTS.md", "../../outside/secret.txt"),
    ] {
        std::os::unix::fs::symlink(target, case.home.path(name)).unwrap();
    }
    let mut files = case.discover();
    assert_eq!(files.project, []);
    assert!(files.warnings[0].contains("you have not approved it"), "{:?}", files.warnings);
    assert_eq!(files.jit(&case.options(), &case.home.path("work/sub/x.txt")), []);

    case.home.trust(&case.home.work());
    let mut found = find(&case.home.options(&case.home.work(), false, false)).unwrap();
    found.look(EarlierAnswers::Nothing);
    let items = found.items();
    let [item] = &items[..] else { panic!("{items:?}") };
    assert_eq!(item.kind, "context file");
    assert!(item.detail.contains("/outside/secret.txt is sent to the model"), "{}", item.detail);
    case.accepted = Accepted::only(&items);
    assert_eq!(case.discover().project[0].text, "SECRET");
    // A link with a changed target counts as a new item.
    fs::remove_file(case.home.path("work/GEMINI.md")).unwrap();
    case.home.write("outside/other.txt", "OTHER");
    std::os::unix::fs::symlink("../outside/other.txt", case.home.path("work/GEMINI.md")).unwrap();
    assert_eq!(case.discover().project, []);
}

#[test]
fn what_cannot_be_used_is_skipped() {
    let case = Case::new();
    fs::create_dir(case.home.path("work/GEMINI.md")).unwrap();
    fs::write(case.home.path("work/AGENTS.md"), b"bin\0\0\0\0ary").unwrap();
    let files = case.discover();
    assert!(files.project.is_empty());
    assert_eq!(files.warnings.len(), 1, "{:?}", files.warnings);
    assert!(files.warnings[0].contains("not a text file"));
}

#[test]
fn a_long_file_is_cut_and_says_so() {
    let case = Case::new();
    case.home.write("work/GEMINI.md", &"é".repeat(context::MAX_FILE_BYTES));
    let files = case.discover();
    let text = &files.project[0].text;
    assert!(text.len() < context::MAX_FILE_BYTES + 100);
    assert!(text.ends_with("\n[Only the first 1048576 bytes of this file are loaded.]"));
    assert!(!text.contains('\u{fffd}'));
}

#[test]
fn a_hundred_megabytes_cost_no_more_than_one() {
    let case = Case::new();
    let line = "All work and no play makes for a long file.\n";
    let text = line.repeat(100 * 1024 * 1024 / line.len());
    case.home.write("work/GEMINI.md", &text);
    case.home.write("work/sub/large.md", &text);
    case.home.write("work/sub/GEMINI.md", "before @large.md after");
    let mut files = case.discover();
    assert!(files.project[0].text.len() < context::MAX_FILE_BYTES + 100);
    let found = files.jit(&case.options(), &case.home.path("work/sub/x.txt"));
    let text = &found[0].text;
    assert!(text.starts_with("before <!-- Imported from: large.md -->"), "{}", &text[..60]);
    assert!(text.ends_with("<!-- End of import from: large.md --> after"));
    assert!(text.len() < context::MAX_FILE_BYTES + 200);
}

#[test]
fn bytes_of_no_encoding_and_imports_of_anything_end_nothing() {
    let case = Case::new();
    case.home.write("work/loop.md", "@GEMINI.md @loop.md @./loop.md");
    fs::create_dir_all(case.home.path("work/folder")).unwrap();
    fs::write(case.home.path("work/noise.md"), [0xff, 0xfe, 0xfd, b'a', 0x80]).unwrap();
    fs::write(case.home.path("work/picture.md"), b"\x89PNG\0\0").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("../work", case.home.path("work/folder/up")).unwrap();
    case.home.write(
        "work/GEMINI.md",
        "@loop.md @folder @noise.md @picture.md @folder/up/folder/up/loop.md @/dev/zero @/dev/stdin",
    );
    let files = case.discover();
    let text = &files.project[0].text;
    assert!(text.contains("<!-- File already processed: loop.md -->"), "{text}");
    assert!(text.contains(" @folder <!-- Imported from: noise.md"), "{text}");
    assert!(text.contains("<!-- Import failed: picture.md - not a text file -->"), "{text}");
    assert!(text.contains("<!-- Import failed: /dev/zero - Path traversal attempt -->"), "{text}");
    assert!(text.len() < 20_000, "{} bytes", text.len());
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let case = Case::new();
    case.home.write("work/GEMINI.md", "@pipe.md end");
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(case.home.path(name)).status();
        assert!(made.unwrap().success());
    };
    pipe("work/pipe.md");
    pipe("work/AGENTS.md");
    let files = case.discover();
    assert!(
        files.project[0].text.contains("<!-- Import failed: pipe.md - "),
        "{:?}",
        files.project
    );
}

#[test]
fn imports_stay_in_the_project() {
    let case = Case::new();
    let home = &case.home;
    home.write("secret.md", "SECRET");
    home.write("work/.git/HEAD", "");
    home.write("work/docs/a.md", "imported");
    home.write("work/GEMINI.md", "@docs/a.md @../secret.md @no.md");
    #[cfg(unix)]
    {
        home.write("work/GEMINI.md", "@docs/a.md @../secret.md @no.md @docs/link.md");
        std::os::unix::fs::symlink("../../secret.md", home.path("work/docs/link.md")).unwrap();
    }
    let files = case.discover();
    let text = &files.project[0].text;
    assert!(text.contains("<!-- Imported from: docs/a.md -->\nimported\n"), "{text}");
    assert!(
        text.contains("<!-- Import failed: ../secret.md - Path traversal attempt -->"),
        "{text}"
    );
    // The text that names no file is prose.
    assert!(text.contains("--> @no.md"), "{text}");
    assert!(!text.contains("SECRET"), "{text}");
    if cfg!(unix) {
        assert!(
            text.contains("<!-- Import failed: docs/link.md - Path traversal attempt -->"),
            "{text}"
        );
    }
}

#[test]
fn flat_imports() {
    let case = Case::configured(r#"{"context": {"importFormat": "flat"}}"#);
    case.home.write("work/a.md", "A");
    case.home.write("work/GEMINI.md", "root @a.md");
    let text = case.discover().project[0].text.clone();
    let (folder, file) = (case.home.work(), case.home.path("work/a.md"));
    let (folder, file) = (folder.display(), file.display());
    assert_eq!(
        text,
        format!(
            "--- File: {folder} ---\nroot @a.md\n--- End of File: {folder} ---\n\n\
             --- File: {file} ---\nA\n--- End of File: {file} ---"
        )
    );
}

#[test]
fn files_of_subfolders_come_when_touched_and_once() {
    let mut case = Case::new();
    let home = &case.home;
    home.write("work/.git/HEAD", "");
    home.write("work/GEMINI.md", "root");
    home.write("work/lib/AGENTS.md", "lib");
    home.write("work/lib/deep/GEMINI.md", "deep");
    home.write("elsewhere/GEMINI.md", "no");
    case.workspace = vec![home.work()];
    let mut files = case.discover();
    let mut touch =
        |path: &str| case.names(&files.jit(&case.options(), Path::new(&home.path(path))));
    assert_eq!(touch("work/lib/new.rs"), ["work/lib/AGENTS.md"]);
    assert_eq!(touch("work/lib/deep"), ["work/lib/deep/GEMINI.md"]);
    assert!(touch("work/lib/deep/x.rs").is_empty());
    assert!(touch("elsewhere/x.rs").is_empty());
    assert!(touch("work/../elsewhere/x.rs").is_empty());
    assert!(touch("work").is_empty());
}

#[test]
fn private_notes() {
    let case = Case::new();
    let folder = case.home.path("notes");
    let discover = || {
        let options = ContextOptions { private_memory_dir: Some(folder.clone()), ..case.options() };
        context::discover(&options).private_memory.map(|file| file.text)
    };
    assert_eq!(discover(), None);
    case.home.write("notes/GEMINI.md", "old");
    assert_eq!(discover().as_deref(), Some("old"));
    case.home.write("notes/MEMORY.md", "new");
    assert_eq!(discover().as_deref(), Some("new"));
}

#[test]
fn a_file_that_another_brings_along_is_reported_once() {
    let case = Case::new();
    let home = &case.home;
    home.write("work/.git/HEAD", "");
    home.write("work/GEMINI.md", "mine @AGENTS.md @lib/AGENTS.md");
    home.write("work/AGENTS.md", "common");
    home.write("work/lib/AGENTS.md", "lib");
    home.write("work/lib/GEMINI.md", "lib too");
    let mut files = case.discover();
    assert_eq!(case.names(&files.project), ["work/GEMINI.md"]);
    assert_eq!(files.project[0].text.matches("common").count(), 1);
    let found = files.jit(&case.options(), &home.path("work/lib/x.rs"));
    assert_eq!(case.names(&found), ["work/lib/GEMINI.md"]);
}

#[test]
fn files_that_bring_each_other_along_are_not_lost() {
    let case = Case::new();
    case.home.write("work/AGENTS.md", "a @GEMINI.md");
    case.home.write("work/GEMINI.md", "g @AGENTS.md");
    let files = case.discover();
    assert_eq!(case.names(&files.project), ["work/GEMINI.md"]);
    assert!(files.project[0].text.contains("<!-- Imported from: AGENTS.md -->\na "));
    case.home.write("work/GEMINI.md", "g @GEMINI.md");
    case.home.write("work/AGENTS.md", "a");
    assert_eq!(case.names(&case.discover().project), ["work/AGENTS.md", "work/GEMINI.md"]);
}

#[test]
fn an_import_that_fails_brings_nothing_along() {
    let case = Case::new();
    case.home.write("work/GEMINI.md", "`@AGENTS.md` me@AGENTS.md");
    case.home.write("work/AGENTS.md", "a");
    assert_eq!(case.names(&case.discover().project), ["work/AGENTS.md", "work/GEMINI.md"]);
}

#[test]
fn every_file_has_an_origin() {
    let mut case = Case::new();
    let home = &case.home;
    home.write("home/.gemini/AGENTS.md", "mine");
    home.write("notes/MEMORY.md", "notes");
    home.write("work/.git/HEAD", "");
    home.write("work/GEMINI.md", "root");
    home.write("work/lib/GEMINI.md", "lib");
    home.write("work/loaded/GEMINI.md", "loaded");
    case.workspace = vec![home.work()];
    let notes = home.path("notes");
    let options = ContextOptions { private_memory_dir: Some(notes), ..case.options() };
    let mut files = context::discover(&options);
    files.mark_loaded([home.path("work/loaded/GEMINI.md"), home.path("work/no/GEMINI.md")]);
    for path in ["work/lib/x", "work/loaded/x"] {
        files.jit(&options, &home.path(path));
    }
    let origins: Vec<_> =
        files.by_origin().map(|(origin, files)| (origin.title(), case.names(files))).collect();
    let one = |name: &str| vec![name.to_owned()];
    assert_eq!(
        origins,
        [
            ("Global", one("home/.gemini/AGENTS.md")),
            ("Private Project Memory", one("notes/MEMORY.md")),
            ("Project", one("work/GEMINI.md")),
            ("Subfolders", one("work/lib/GEMINI.md")),
        ]
    );
}
