//! Tests of `write_file` on real files.

use std::sync::Arc;

use pollux_protocol::{
    CallId, CancellationToken, ConfirmationKind, FileOperationKind, Measurement, Modification,
    ToolErrorKind,
};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::session::{Session, display, side_models, text};

#[tokio::test]
async fn a_new_file_gets_its_folders() {
    let session = Session::new();
    let output =
        session.call("write_file", json!({"file_path": "a/b/c.txt", "content": "x = 2"})).await;
    let path = session.path("a/b/c.txt");
    assert_eq!(
        text(&output),
        format!(
            "Successfully created and wrote to new file: {}. Here is the updated code:\nx = 2",
            path.display()
        )
    );
    assert_eq!(session.text("a/b/c.txt"), "x = 2");
    let Measurement::File(file) = &output.measurements[0] else { panic!() };
    assert_eq!(file.kind, FileOperationKind::Create);
    let shown = display(&output);
    assert_eq!(shown["originalContent"], "");
    assert_eq!(shown["isNewFile"], true);
    assert_eq!(shown["fileName"], "c.txt");
    assert_eq!(shown["diffStat"]["model_added_lines"], 1);
    assert_eq!(
        shown["fileDiff"],
        format!(
            "Index: c.txt\n{}\n--- c.txt\tOriginal\n+++ c.txt\tWritten\n@@ -0,0 +1,1 @@\n+x = 2\n\\ No newline at end of file\n",
            "=".repeat(67)
        )
    );
}

#[tokio::test]
async fn a_new_file_gets_the_line_ends_that_the_project_wants() {
    let session = Session::new();
    session.file(".gitattributes", "*.bat text eol=crlf\n");
    session.file(".editorconfig", "root = true\n[*.{cs,csproj}]\nend_of_line = crlf\n");
    session.file("unix/.editorconfig", "[*]\nend_of_line = lf\n");
    let table: [(&str, &[u8]); 4] = [
        ("run.bat", b"a\r\nb\r\n"),
        ("deep/new/x.cs", b"a\r\nb\r\n"),
        ("unix/x.cs", b"a\nb\n"),
        ("x.rs", b"a\nb\n"),
    ];
    for (name, expected) in table {
        let reported =
            session.ok("write_file", json!({"file_path": name, "content": "a\nb\n"})).await;
        assert!(reported.ends_with("Here is the updated code:\na\nb\n"), "{reported}");
        assert_eq!(session.bytes(name), expected, "{name}");
    }
    let args =
        json!({"file_path": "y.cs", "instruction": "new", "old_string": "", "new_string": "a\n"});
    session.ok("replace", args).await;
    assert_eq!(session.bytes("y.cs"), b"a\r\n");
}

#[tokio::test]
async fn encoding_mark_and_line_ends_of_an_old_file_are_kept() {
    let session = Session::new();
    let table: [(&str, &[u8], &str, &[u8]); 9] = [
        ("lf", b"a\nb\n", "c\nd", b"c\nd"),
        ("crlf", b"a\r\nb\r\n", "c\nd\n", b"c\r\nd\r\n"),
        ("crlf given", b"a\r\nb\r\n", "c\r\nd\r\n", b"c\r\nd\r\n"),
        ("mixed", b"a\r\nb\nc\r\n", "a\nb\nx\nc\n", b"a\r\nb\nx\r\nc\r\n"),
        ("mark", b"\xEF\xBB\xBFa", "b", b"\xEF\xBB\xBFb"),
        ("mark given", b"\xEF\xBB\xBFa", "\u{FEFF}b", b"\xEF\xBB\xBFb"),
        ("utf16", b"\xFF\xFEa\0", "\u{e9}\n", b"\xFF\xFE\xE9\0\n\0"),
        ("latin", b"caf\xE9 cr\xE8me br\xFBl\xE9e\n", "th\u{e9}\n", b"th\xE9\n"),
        ("empty", b"", "a\n", b"a\n"),
    ];
    for (name, before, content, after) in table {
        session.file(name, before);
        let reported =
            session.ok("write_file", json!({"file_path": name, "content": content})).await;
        assert!(reported.starts_with("Successfully overwrote file: "), "{reported}");
        assert_eq!(session.bytes(name), after, "{name}");
    }
}

#[tokio::test]
async fn what_the_encoding_cannot_hold_is_refused() {
    let session = Session::new();
    session.file("latin", b"caf\xE9 cr\xE8me br\xFBl\xE9e\n");
    let (kind, message) =
        session.err("write_file", json!({"file_path": "latin", "content": "\u{1F600}"})).await;
    assert_eq!(kind, ToolErrorKind::FileWriteFailure);
    assert!(message.contains("windows-1252"), "{message}");
    assert_eq!(session.bytes("latin"), b"caf\xE9 cr\xE8me br\xFBl\xE9e\n");
}

#[cfg(unix)]
#[tokio::test]
async fn mode_and_link_are_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let session = Session::new();
    let script = session.file("script", "old");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o750)).unwrap();
    std::os::unix::fs::symlink("script", session.path("link")).unwrap();
    session.ok("write_file", json!({"file_path": "link", "content": "new"})).await;
    assert_eq!(session.text("script"), "new");
    assert!(session.path("link").symlink_metadata().unwrap().is_symlink());
    assert_eq!(script.metadata().unwrap().permissions().mode() & 0o777, 0o750);
}

#[tokio::test]
async fn text_left_out_is_refused() {
    let session = Session::new();
    let content = "fn a() {}\n// rest of methods ...\n";
    let (kind, message) =
        session.err("write_file", json!({"file_path": "a", "content": content})).await;
    assert_eq!(kind, ToolErrorKind::InvalidToolParams);
    assert!(message.contains("content") && message.contains("rest of methods ..."), "{message}");
    assert!(!session.path("a").exists());
}

#[tokio::test]
async fn targets_that_are_no_files() {
    let session = Session::new();
    std::fs::create_dir(session.path("dir")).unwrap();
    let (kind, message) =
        session.err("write_file", json!({"file_path": "dir", "content": ""})).await;
    assert_eq!(kind, ToolErrorKind::InvalidToolParams);
    assert_eq!(
        message,
        format!("Path is a directory, not a file: {}", session.path("dir").display())
    );
    session.file("file", "x");
    let (kind, _) =
        session.err("write_file", json!({"file_path": "file/below", "content": ""})).await;
    assert_eq!(kind, ToolErrorKind::FileWriteFailure);
    #[cfg(unix)]
    {
        super::session::make_fifo(&session.path("pipe"));
        let (kind, message) =
            session.err("write_file", json!({"file_path": "pipe", "content": "x"})).await;
        assert_eq!(kind, ToolErrorKind::FileWriteFailure);
        assert!(message.starts_with("Error checking existing file '"), "{message}");
    }
}

#[tokio::test]
async fn a_file_changed_since_it_was_read_is_not_overwritten() {
    let session = Session::new();
    session.file("a", "one");
    session.ok("read_file", json!({"file_path": "a"})).await;
    session.file("a", "two");
    let (kind, message) =
        session.err("write_file", json!({"file_path": "a", "content": "x"})).await;
    assert_eq!(kind, ToolErrorKind::FileWriteFailure);
    assert!(message.contains("changed on disk") && message.contains("read_file"), "{message}");
    assert_eq!(session.text("a"), "two");
    session.ok("read_file", json!({"file_path": "a"})).await;
    session.ok("write_file", json!({"file_path": "a", "content": "x"})).await;
    // A write of the tool itself does not make a file stale.
    session.ok("write_file", json!({"file_path": "a", "content": "y"})).await;
    assert_eq!(session.text("a"), "y");
    // A file that was never read may be written; the user was shown its content.
    session.file("b", "old");
    session.ok("write_file", json!({"file_path": "b", "content": "new"})).await;
}

#[tokio::test]
async fn a_person_sees_the_change_and_only_that_is_made() {
    let session = Session::new();
    session.file("a", "one\n");
    let invocation =
        session.prepare("write_file", &json!({"file_path": "a", "content": "two\n"})).unwrap();
    let confirmation = invocation.confirmation(&CallId::new("1"), &side_models()).await.unwrap();
    assert_eq!(confirmation.title, "Confirm Write: a");
    let ConfirmationKind::Edit { patch, original, proposed, stat, path, .. } = confirmation.kind
    else {
        panic!("{confirmation:?}");
    };
    assert!(
        patch.ends_with("--- a\tCurrent\n+++ a\tProposed\n@@ -1,1 +1,1 @@\n-one\n+two\n"),
        "{patch}"
    );
    assert_eq!((original.as_deref(), proposed.as_str()), (Some("one\n"), "two\n"));
    assert_eq!((stat.model_added_lines, path), (1, session.path("a")));
    session.file("a", "other\n");
    let output = invocation.run(session.run_context(CancellationToken::new())).await;
    assert!(output.error.unwrap().message.contains("changed on disk"));
    assert_eq!(session.text("a"), "other\n");
}

#[tokio::test]
async fn a_file_that_appears_while_a_person_thinks_is_not_overwritten() {
    let session = Session::new();
    let invocation =
        session.prepare("write_file", &json!({"file_path": "a", "content": "x"})).unwrap();
    invocation.confirmation(&CallId::new("1"), &side_models()).await.unwrap();
    session.file("a", "somebody else's");
    let output = invocation.run(session.run_context(CancellationToken::new())).await;
    assert!(output.error.is_some());
    assert_eq!(session.text("a"), "somebody else's");
}

#[tokio::test]
async fn a_persons_change_is_reported_and_counted() {
    let session = Session::new();
    session.file("a", "one\n");
    let args = json!({"file_path": "a", "content": "two\n"});
    let invocation = session.prepare("write_file", &args).unwrap();
    let args = invocation.modify(&Modification::NewContent("three\n".to_owned())).unwrap();
    let output = session.call("write_file", args.into()).await;
    assert_eq!(
        text(&output),
        format!(
            "Successfully overwrote file: {}. User modified the `content` to be: three\n Here is the updated code:\nthree\n",
            session.path("a").display()
        )
    );
    let stat = &display(&output)["diffStat"];
    assert_eq!((&stat["model_added_chars"], &stat["user_added_chars"]), (&json!(3), &json!(5)));
    assert_eq!(session.text("a"), "three\n");
}

#[tokio::test]
async fn descriptions_and_effects() {
    let session = Session::with(|context| {
        context.context_for = Some(Arc::new(|_| Some("rules".to_owned())));
    });
    let invocation =
        session.prepare("write_file", &json!({"file_path": "src/a.rs", "content": "x"})).unwrap();
    assert_eq!(invocation.describe(), "Writing to src/a.rs");
    let effects = invocation.effects();
    assert_eq!(effects.writes, [session.path("src/a.rs")]);
    assert!(effects.alone);
    let reported = session.ok("write_file", json!({"file_path": "src/a.rs", "content": "x"})).await;
    assert!(
        reported.ends_with(
            "\nx\n\n--- Newly Discovered Project Context ---\nrules\n--- End Project Context ---"
        ),
        "{reported}"
    );
}
