//! Tests of `grep_search` on real folders.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::session::{Session, display, text};

fn project() -> Session {
    let session = Session::new();
    session.file("src/a.rs", "one\nlet foo = 1;  \nthree\n");
    session.file("src/b.rs", "FOO\nfoo bar\nx\nfoo\n");
    session.file("notes.txt", "foo\n");
    session.file("dist/built.js", "foo\n");
    session.file("data.bin", b"foo\0foo\n");
    session
}

#[tokio::test]
async fn few_matches_come_with_their_surroundings() {
    let session = project();
    let output = session.call("grep_search", json!({"pattern": "let foo"})).await;
    assert_eq!(
        text(&output),
        "Found 1 match for pattern \"let foo\" in path \".\":\n---\nFile: src/a.rs\nL1- one\nL2: let foo = 1;\nL3- three\n---"
    );
    assert_eq!(
        display(&output),
        json!({"summary": "Found 1 match", "matches": [{
            "filePath": "src/a.rs",
            "absolutePath": session.path("src/a.rs").display().to_string(),
            "lineNumber": 2,
            "line": "let foo = 1;",
        }]})
    );
}

#[tokio::test]
async fn parameters() {
    let session = project();
    let table: [(Value, &str); 11] = [
        (json!({"pattern": "zz"}), "No matches found for pattern \"zz\" in path \".\"."),
        (
            json!({"pattern": "zz", "include_pattern": "*.rs"}),
            "No matches found for pattern \"zz\" in path \".\" (filter: \"*.rs\").",
        ),
        (
            json!({"pattern": "foo", "context": 0}),
            "Found 5 matches for pattern \"foo\" in path \".\":\n---\nFile: notes.txt\nL1: foo\n---\nFile: src/a.rs\nL2: let foo = 1;\n---\nFile: src/b.rs\nL1: FOO\nL2: foo bar\nL4: foo\n---\ndata.bin: binary file matches",
        ),
        (
            json!({"pattern": "foo", "case_sensitive": true, "include_pattern": "b.rs", "context": 0}),
            "Found 2 matches for pattern \"foo\" in path \".\" (filter: \"b.rs\"):\n---\nFile: src/b.rs\nL2: foo bar\nL4: foo\n---",
        ),
        (
            json!({"pattern": "foo", "dir_path": "src/b.rs", "exclude_pattern": "bar", "context": 0}),
            "Found 2 matches for pattern \"foo\" in path \"src/b.rs\":\n---\nFile: b.rs\nL1: FOO\nL4: foo\n---",
        ),
        (
            json!({"pattern": "foo", "names_only": true}),
            "Found 3 files with matches for pattern \"foo\" in path \".\":\nnotes.txt\nsrc/a.rs\nsrc/b.rs\ndata.bin: binary file matches",
        ),
        (
            json!({"pattern": "foo", "total_max_matches": 2, "context": 0}),
            "Found 2 matches for pattern \"foo\" in path \".\" (results limited to 2 matches for performance):\n---\nFile: notes.txt\nL1: foo\n---\nFile: src/a.rs\nL2: let foo = 1;\n---\ndata.bin: binary file matches",
        ),
        (
            json!({"pattern": "foo", "dir_path": "src", "max_matches_per_file": 1, "context": 0}),
            "Found 2 matches for pattern \"foo\" in path \"src\":\n---\nFile: a.rs\nL2: let foo = 1;\n---\nFile: b.rs\nL1: FOO\n---",
        ),
        (
            json!({"pattern": "three", "before": 1}),
            "Found 1 match for pattern \"three\" in path \".\":\n---\nFile: src/a.rs\nL2- let foo = 1;\nL3: three\n---",
        ),
        (
            json!({"pattern": "= 1;", "fixed_strings": true, "after": 1}),
            "Found 1 match for pattern \"= 1;\" in path \".\":\n---\nFile: src/a.rs\nL2: let foo = 1;\nL3- three\n---",
        ),
        (
            json!({"pattern": "foo", "dir_path": "dist", "no_ignore": true, "context": 0}),
            "Found 1 match for pattern \"foo\" in path \"dist\":\n---\nFile: built.js\nL1: foo\n---",
        ),
    ];
    for (args, expected) in table {
        assert_eq!(session.ok("grep_search", args.clone()).await, expected, "{args}");
    }
}

#[tokio::test]
async fn nothing_found_is_reported_as_figures() {
    let output = project().call("grep_search", json!({"pattern": "zz"})).await;
    assert_eq!(display(&output), json!({"summary": "No matches found", "matches": []}));
}

#[tokio::test]
async fn left_out_lines_are_no_context_either() {
    let args = json!({"pattern": "let foo", "exclude_pattern": "^one", "context": 1});
    let found = project().ok("grep_search", args).await;
    assert!(found.ends_with("---\nFile: src/a.rs\nL2: let foo = 1;\nL3- three\n---"), "{found}");
}

#[tokio::test]
async fn huge_patterns_are_refused_before_the_search() {
    let session = Session::new();
    let long = "x".repeat(64 * 1024 + 1);
    for (args, name) in [
        (json!({"pattern": long}), "pattern"),
        (json!({"pattern": long, "fixed_strings": true}), "pattern"),
        (json!({"pattern": "x", "exclude_pattern": long}), "exclude_pattern"),
    ] {
        let (_, message) = session.err("grep_search", args).await;
        assert_eq!(message, format!("The '{name}' parameter is too long: at most 65536 bytes."));
    }
    let (_, message) = session.err("grep_search", json!({"pattern": r"\w{400}"})).await;
    assert!(message.contains("size limit"), "{message}");
}

#[tokio::test]
async fn long_lines_are_cut() {
    let session = Session::new();
    session.file("a", format!("needle{}", "x".repeat(5000)));
    let found = session.ok("grep_search", json!({"pattern": "needle"})).await;
    let expected = format!("L1: needle{}... [truncated]\n---", "x".repeat(1994));
    assert!(found.ends_with(&expected), "{}", found.len());
}

#[tokio::test]
async fn the_limit_is_reported_in_the_summary() {
    let output =
        project().call("grep_search", json!({"pattern": "foo", "total_max_matches": 1})).await;
    assert_eq!(display(&output)["summary"], "Found 1 match (limited)");
}

#[tokio::test]
async fn folders_to_search_must_exist() {
    let session = Session::new();
    let (_, message) =
        session.err("grep_search", json!({"pattern": "x", "dir_path": "missing"})).await;
    assert_eq!(message, format!("Path does not exist: {}", session.path("missing").display()));
    #[cfg(unix)]
    {
        super::session::make_fifo(&session.path("pipe"));
        let (_, message) =
            session.err("grep_search", json!({"pattern": "x", "dir_path": "pipe"})).await;
        assert!(message.starts_with("Path is not a valid directory or file: "), "{message}");
        assert!(session.ok("grep_search", json!({"pattern": "x"})).await.starts_with("No matches"));
    }
}

#[tokio::test]
async fn a_pattern_that_names_a_closed_file_finds_nothing_in_it() {
    let session = project();
    session.file(".env", "KEY=foo\n");
    session.file("sub/.env", "KEY=foo\n");
    session.file("new\nline/.env", "KEY=foo\n");
    for include in [".env", "**/.env", "{.env,notes.txt}"] {
        let arguments = json!({"pattern": "foo", "include_pattern": include, "no_ignore": true});
        let output = session.call("grep_search", arguments).await;
        assert!(!text(&output).contains("KEY"), "{include}: {}", text(&output));
        assert_eq!(text(&output).contains("notes.txt\nL1"), include.contains("notes"), "{include}");
    }
}

#[tokio::test]
async fn one_nul_does_not_hide_a_source_file() {
    let session = Session::new();
    session.file("k.ts", b"export const TOKEN = 1;\nconst k = 'a\0b';\n");
    session.file("k.py", b"TOKEN = 'a\0b'\n");
    for args in [
        json!({"pattern": "TOKEN"}),
        json!({"pattern": "TOKEN", "dir_path": "k.py"}),
        json!({"pattern": "TOKEN", "include_pattern": "*.py"}),
        json!({"pattern": "TOKEN", "names_only": true}),
    ] {
        let found = session.ok("grep_search", args.clone()).await;
        assert!(found.contains("k.py") && !found.contains("binary"), "{args}: {found}");
    }
    let read = session.ok("read_file", json!({"file_path": "k.py"})).await;
    assert!(read.contains("TOKEN"), "{read}");
}

#[tokio::test]
async fn binary_files_with_a_match_are_named() {
    let session = Session::new();
    for number in 0..12 {
        session.file(&format!("b{number:02}"), b"\0\0\0\0 TOKEN \xFF");
    }
    let found = session.ok("grep_search", json!({"pattern": "TOKEN"})).await;
    assert!(
        found.starts_with("No matches found for pattern \"TOKEN\" in path \".\".\n"),
        "{found}"
    );
    assert!(found.contains("\nb00: binary file matches\n"), "{found}");
    assert!(found.ends_with("\n... and 2 more binary files with matches"), "{found}");
    let named = session.ok("grep_search", json!({"pattern": "TOKEN", "dir_path": "b03"})).await;
    assert!(named.ends_with("\nb03: binary file matches"), "{named}");
    session.file("text", "TOKEN\n");
    for names_only in [false, true] {
        let args = json!({"pattern": "TOKEN", "names_only": names_only});
        let found = session.ok("grep_search", args).await;
        assert!(found.contains("b09: binary file matches") && found.contains("text"), "{found}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_that_the_include_names_are_followed() {
    use std::os::unix::fs::symlink;
    let session = Session::new();
    session.file("store/docs/a.md", "above\nTOKEN\n");
    std::fs::write(session.outside.join("b.md"), "TOKEN\n").unwrap();
    symlink("store/docs", session.path("docs")).unwrap();
    symlink(&session.outside, session.path("out")).unwrap();
    let search = async |include: &str| {
        session.ok("grep_search", json!({"pattern": "TOKEN", "include_pattern": include})).await
    };
    let found = search("docs/**/*.md").await;
    assert!(found.contains("File: docs/a.md\nL1- above\nL2: TOKEN"), "{found}");
    assert!(search("out/**").await.starts_with("No matches"));
}
