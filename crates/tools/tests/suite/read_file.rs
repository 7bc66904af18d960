//! Tests of `read_file` on real files.

use std::sync::Arc;

use pollux_protocol::{Body, FileOperationKind, Measurement, ToolErrorKind};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::session::{Session, display, text};

#[tokio::test]
async fn text_comes_as_it_is_with_line_feeds() {
    let session = Session::new();
    let table: [(&str, &[u8], &str); 8] = [
        ("plain", b"a\nb", "a\nb"),
        ("crlf", b"a\r\nb\r\n", "a\nb\n"),
        ("empty", b"", ""),
        ("mark", b"\xEF\xBB\xBFa\n", "a\n"),
        ("utf16", b"\xFF\xFEh\0i\0\n\0", "hi\n"),
        ("latin", b"caf\xE9 cr\xE8me br\xFBl\xE9e\n", "café crème brûlée\n"),
        ("module.mts", b"export {}\n", "export {}\n"),
        ("picture.svg", b"<svg/>\r\n", "<svg/>\n"),
    ];
    for (name, bytes, expected) in table {
        session.file(name, bytes);
        assert_eq!(session.ok("read_file", json!({"file_path": name})).await, expected, "{name}");
    }
}

#[tokio::test]
async fn a_whole_file_shows_nothing_and_a_part_says_which() {
    let session = Session::new();
    session.file("src/a.rs", "line\n".repeat(120));
    let whole = session.call("read_file", json!({"file_path": "src/a.rs"})).await;
    assert_eq!(display(&whole), "");
    let part = session
        .call("read_file", json!({"file_path": "src/a.rs", "start_line": 5, "end_line": 9}))
        .await;
    assert_eq!(display(&part), "Read lines 5-9 of 120 from src/a.rs");
    assert!(text(&part).starts_with("\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 5-9 of 120 total lines.\nAction: "));
    assert!(
        text(&part).ends_with("\n\n--- FILE CONTENT (truncated) ---\nline\nline\nline\nline\nline")
    );
    let [Measurement::File(file)] = part.measurements.as_slice() else {
        panic!("{:?}", part.measurements)
    };
    assert_eq!(
        (file.kind, file.lines, file.tool.as_str()),
        (FileOperationKind::Read, Some(120), "read_file")
    );
    assert_eq!(file.path, session.path("src/a.rs"));
}

#[tokio::test]
async fn a_start_behind_the_end_is_an_error_with_the_length() {
    let session = Session::new();
    session.file("s.txt", "line\n".repeat(2500));
    let (kind, message) =
        session.err("read_file", json!({"file_path": "s.txt", "start_line": 2501})).await;
    let path = session.path("s.txt").display().to_string();
    assert_eq!(kind, ToolErrorKind::InvalidToolParams);
    assert_eq!(message, format!("start_line is behind the end of {path}: 2500 lines."));
    let last = session.call("read_file", json!({"file_path": "s.txt", "start_line": 2500})).await;
    assert_eq!(display(&last), "Read lines 2500-2500 of 2500 from s.txt");
}

#[tokio::test]
async fn media_come_as_bytes() {
    let session = Session::new();
    let table: [(&str, &[u8], &str, &str); 5] = [
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0", "image/png", "Read image file: a.png"),
        ("a.pdf", b"%PDF-1.7\n\0", "application/pdf", "Read pdf file: a.pdf"),
        ("a.mp3", b"ID3\x04\0\0\0\0\0\0", "audio/mpeg", "Read audio file: a.mp3"),
        ("a.wav", b"RIFF\0\0\0\0WAVEfmt ", "audio/wav", "Read audio file: a.wav"),
        ("a.mp4", b"\0\0\0\x18ftypmp42\0\0\0\0", "video/mp4", "Read video file: a.mp4"),
    ];
    for (name, bytes, mime, shown) in table {
        session.file(name, bytes);
        let output = session.call("read_file", json!({"file_path": name})).await;
        assert_eq!(display(&output), shown);
        let Body::Inline(blob) = &output.content[0].body else { panic!("{name}: {output:?}") };
        assert_eq!(blob.mime_type, mime);
        assert!(!blob.data.is_empty());
    }
    session.file("a.mid", b"MThd\0\0\0\x06\0\x01\0\x02");
    let (kind, message) = session.err("read_file", json!({"file_path": "a.mid"})).await;
    assert_eq!(kind, ToolErrorKind::ReadContentFailure, "{message}");
    session.file("a.zip", b"PK\x03\x04");
    let output = session.call("read_file", json!({"file_path": "a.zip"})).await;
    assert_eq!(text(&output), "Cannot display content of binary file: a.zip");
    assert_eq!(display(&output), "Skipped binary file: a.zip");
}

#[tokio::test]
async fn failures_name_the_path() {
    let session = Session::new();
    let at = |name: &str| session.path(name).display().to_string();
    std::fs::create_dir(session.path("dir")).unwrap();
    let table = [
        (
            "missing",
            ToolErrorKind::FileNotFound,
            format!("File not found: {}", at("missing")),
            "File not found.",
        ),
        (
            "dir",
            ToolErrorKind::TargetIsDirectory,
            format!("Path is a directory, not a file: {}", at("dir")),
            "Path is a directory.",
        ),
    ];
    for (name, kind, message, shown) in table {
        let output = session.call("read_file", json!({"file_path": name})).await;
        assert_eq!(display(&output), shown);
        let error = output.error.unwrap();
        assert_eq!((error.kind, error.message), (kind, message));
    }
    session.file("a.txt", "x");
    let (kind, message) = session.err("read_file", json!({"file_path": "a.txt/b"})).await;
    let expected = format!("File not found: {}", at("a.txt/b"));
    assert_eq!((kind, message), (ToolErrorKind::FileNotFound, expected));
}

#[tokio::test]
async fn a_large_file_is_refused_and_one_just_below_is_cut() {
    let session = Session::new();
    let large = session.file("large", "");
    std::fs::File::options().write(true).open(&large).unwrap().set_len(22_544_384).unwrap();
    let (kind, message) = session.err("read_file", json!({"file_path": "large"})).await;
    assert_eq!(kind, ToolErrorKind::FileTooLarge);
    assert_eq!(message, format!("File size exceeds the 20MB limit: {} (21.50MB)", large.display()));
    session.file("long", "0123456789\n".repeat(1_900_000));
    let shown = session.ok("read_file", json!({"file_path": "long"})).await;
    assert!(shown.contains("Showing lines 1-2000 of 1900000 total lines."));
    assert!(shown.len() < 30_000);
}

#[tokio::test]
async fn closed_files_are_refused_by_any_name() {
    let session = Session::new();
    session.file(".env", "KEY=secret\n");
    session.file(".git/config", "secret\n");
    session.file("plain", "secret\n");
    let mut names = vec![".env", ".git/config", "./sub/../.env"];
    if cfg!(unix) {
        #[cfg(unix)]
        for (to, from) in [(".env", "innocent"), (".git", "folder"), ("plain", "sub/.env")] {
            std::fs::create_dir_all(session.path("sub")).unwrap();
            std::os::unix::fs::symlink(session.path(to), session.path(from)).unwrap();
        }
        names.extend(["innocent", "folder/config", "sub/.env"]);
    }
    for name in names {
        let (_, message) = session.err("read_file", json!({"file_path": name})).await;
        assert!(message.starts_with("Path not in workspace: "), "{name}: {message}");
        let args = json!({"file_path": name, "content": "x"});
        let (_, message) = session.err("write_file", args).await;
        assert!(message.starts_with("Path not in workspace: "), "{name}: {message}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_does_not_hang() {
    let session = Session::new();
    super::session::make_fifo(&session.path("pipe"));
    let (kind, message) = session.err("read_file", json!({"file_path": "pipe"})).await;
    assert_eq!(kind, ToolErrorKind::ReadContentFailure);
    assert!(message.starts_with("Error reading file "), "{message}");
}

#[tokio::test]
async fn ignored_files_are_not_read() {
    let session = Session::new();
    session.file(".geminiignore", "secret*\n");
    session.file("secret.txt", "x");
    #[cfg(unix)]
    std::os::unix::fs::symlink(session.path("secret.txt"), session.path("innocent")).unwrap();
    for name in ["secret.txt", "innocent"] {
        let (kind, message) = session.err("read_file", json!({"file_path": name})).await;
        assert_eq!(kind, ToolErrorKind::InvalidToolParams);
        let expected = format!(
            "File path '{}' is ignored by configured ignore patterns.",
            session.path("secret.txt").display()
        );
        assert_eq!(message, expected);
    }
}

#[tokio::test]
async fn context_files_of_the_path_follow_the_text() {
    let session = Session::with(|context| {
        context.context_for =
            Some(Arc::new(|path| Some(format!("rules for {}", path.file_name()?.to_str()?))));
    });
    session.file("a", "text");
    let shown = session.ok("read_file", json!({"file_path": "a"})).await;
    assert_eq!(
        shown,
        "text\n\n--- Newly Discovered Project Context ---\nrules for a\n--- End Project Context ---"
    );
}

#[tokio::test]
async fn many_reads_at_once() {
    let session = Session::new();
    for index in 0..10 {
        session.file(&format!("{index}"), format!("{index}"));
    }
    let calls =
        (0..10).map(|index| session.ok("read_file", json!({"file_path": index.to_string()})));
    let texts = futures::future::join_all(calls).await;
    assert_eq!(texts.concat(), "0123456789");
}
