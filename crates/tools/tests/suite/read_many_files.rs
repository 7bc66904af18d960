//! Tests of `read_many_files` on real folders.

use pollux_protocol::{Part, ToolOutput};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::session::{Session, display, text};

fn media(output: &ToolOutput) -> usize {
    output.content.iter().filter(|part| part.as_text().is_none()).count()
}

#[tokio::test]
async fn files_come_under_their_paths_in_order() {
    let session = Session::new();
    session.file("b.rs", "b\n");
    session.file("src/a.rs", "a");
    session.file("src/x.txt", "x");
    session.file("node_modules/m.rs", "m");
    session.file(".gitignore", "ignored.rs\n");
    session.file("ignored.rs", "i");
    std::fs::create_dir(session.path(".git")).unwrap();
    let output = session.call("read_many_files", json!({"include": ["**/*.rs", "b.rs"]})).await;
    let root = session.root.display();
    let expected = [
        format!("--- {root}/b.rs ---\n\nb\n\n\n"),
        format!("--- {root}/src/a.rs ---\n\na\n\n"),
        "\n--- End of content ---".to_owned(),
    ];
    let parts: Vec<&str> = output.content.iter().filter_map(Part::as_text).collect();
    assert_eq!(parts, expected);
    let shown = display(&output);
    assert_eq!(shown["files"], json!(["b.rs", "src/a.rs"]));
    assert_eq!(shown["include"], json!(["**/*.rs", "b.rs"]));
    assert!(
        shown["summary"].as_str().unwrap().contains("Read **2 file(s)**:\n- `b.rs`\n- `src/a.rs`")
    );
    assert_eq!(output.measurements.len(), 2);
}

#[tokio::test]
async fn folders_exclusions_and_switches() {
    let session = Session::new();
    for name in ["src/a.rs", "src/deep/b.rs", "src/deep/c.md", "dist/d.js"] {
        session.file(name, name);
    }
    let table = [
        (json!({"include": ["src"]}), json!(["src/a.rs", "src/deep/b.rs", "src/deep/c.md"])),
        (json!({"include": ["src/deep/"], "exclude": ["*.md"]}), json!(["src/deep/b.rs"])),
        (json!({"include": ["dist/*"]}), json!([])),
        (json!({"include": ["dist/*"], "useDefaultExcludes": false}), json!(["dist/d.js"])),
        (json!({"include": [session.path("src/a.rs")]}), json!(["src/a.rs"])),
        (json!({"include": ["."], "exclude": ["src/**"], "recursive": false}), json!([])),
    ];
    for (args, expected) in table {
        let output = session.call("read_many_files", args.clone()).await;
        assert_eq!(display(&output)["files"], expected, "{args}");
    }
    let nothing = session.ok("read_many_files", json!({"include": ["*.zig"]})).await;
    assert_eq!(nothing, "No files matching the criteria were found or all were skipped.");
}

#[tokio::test]
async fn what_is_closed_stays_closed() {
    let session = Session::new();
    session.file(".git/config", "c");
    session.file(".env", "KEY=1");
    std::fs::write(session.outside.join("o.txt"), "o").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&session.outside, session.path("link")).unwrap();
    let outside = session.outside.join("o.txt");
    for pattern in
        ["**/*", ".git/*", ".env", "../outside/o.txt", "link/o.txt", outside.to_str().unwrap()]
    {
        let args = json!({"include": [pattern], "useDefaultExcludes": false});
        let output = session.call("read_many_files", args).await;
        assert_eq!(display(&output)["files"], json!([]), "{pattern}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_that_a_pattern_names_are_followed() {
    let session = Session::new();
    session.file("store/docs/g/a.md", "a");
    session.file("k.py", "k = 'a\0b'");
    std::os::unix::fs::symlink("store/docs", session.path("docs")).unwrap();
    for (pattern, read) in [
        ("docs/**/*.md", "docs/g/a.md"),
        ("docs/g/*", "docs/g/a.md"),
        ("docs", "docs/g/a.md"),
        ("*.py", "k.py"),
    ] {
        let output = session.call("read_many_files", json!({"include": [pattern]})).await;
        assert_eq!(display(&output)["files"], json!([read]), "{pattern}");
    }
}

#[tokio::test]
async fn media_come_when_a_pattern_names_them() {
    let session = Session::new();
    session.file("img/logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01");
    session.file("img/raw.bin2", b"\0\x01\x02\0\0\0\0");
    session.file("img/note.txt", "n");
    let all = session.call("read_many_files", json!({"include": ["img/**"]})).await;
    assert_eq!((media(&all), display(&all)["files"].clone()), (0, json!(["img/note.txt"])));
    let skipped = &display(&all)["skipped"];
    assert_eq!(skipped[0]["path"], "img/logo.png");
    assert_eq!(skipped[1]["reason"], "binary file");
    for pattern in ["img/*.PNG", "**/logo*"] {
        let output = session.call("read_many_files", json!({"include": [pattern]})).await;
        assert_eq!(media(&output), 1, "{pattern}");
    }
}

#[tokio::test]
async fn everything_together_is_bounded() {
    let session = Session::new();
    for name in ["a.txt", "b.txt", "c.txt"] {
        session.file(name, format!("{}\n", "x".repeat(1000)).repeat(700));
    }
    session.file("0.txt", "l\n".repeat(2100));
    let output = session.call("read_many_files", json!({"include": ["*.txt"]})).await;
    let reported = text(&output);
    assert!(reported.len() < (1 << 20) + 2000, "{}", reported.len());
    assert!(reported.contains("[WARNING: This file was truncated. Lines 1-2000 of 2100 are shown"));
    assert!(reported.contains("x\n... [truncated]\n\n"));
    assert!(
        reported.contains(
            "[Left out because all files together are too large: c.txt and all following"
        )
    );
    assert_eq!(display(&output)["skipped"][0]["path"], "c.txt");
}

#[tokio::test]
async fn arguments_are_checked() {
    let session = Session::new();
    let many: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    let table = [
        (json!({}), "params must have required property 'include'"),
        (json!({"include": []}), "params/include must NOT have fewer than 1 items"),
        (json!({"include": [""]}), "params/include/0 must NOT have fewer than 1 characters"),
        (json!({"include": "x"}), "params/include must be array"),
        (json!({"include": many}), "At most 100 patterns can be given."),
    ];
    for (args, expected) in table {
        assert_eq!(session.err("read_many_files", args).await.1, expected);
    }
}
