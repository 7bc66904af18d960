use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use pollux_fs::Workspace;
use pollux_protocol::CancellationToken;
use pretty_assertions::assert_eq;

use super::*;

/// Hash of `abc`, from FIPS 180-2.
const ABC: &str = "sha256 ba7816bf8f01";

fn done(tool: &str, path: &str) -> [Content; 2] {
    [call(tool, json!({"path": path})), answer(tool, "ok")]
}

fn lines(ledger: &ActionLedger) -> Vec<String> {
    ledger.lines().collect()
}

#[test]
fn a_file_is_reported_with_its_hash_until_it_is_listed_again() {
    let mut contents = Vec::new();
    contents.extend(done("read", "a (gone)"));
    contents.extend(done("read", "gone.rs"));
    contents.extend(done("edit", "/q/gone.rs"));
    contents.extend(done("edit", "b.rs"));
    contents.extend(done("read", "b.rs"));
    contents.push(call("run", json!({"command": "echo (gone)"})));
    contents.push(answer("run", "Output: x"));
    let listed = ledger(&contents);
    let files = ["/p/b.rs", "/q/gone.rs", "/p/gone.rs", "/p/a (gone)"].map(PathBuf::from);
    assert_eq!(listed.files(), files);
    let states = files.into_iter().map(|file| {
        let is_gone = file.ends_with("gone.rs");
        let state = if is_gone { FileState::Gone } else { FileState::of_bytes(b"abc") };
        (file, state)
    });
    let states: HashMap<_, _> = states.collect();
    let kept = Kept { ledger: listed.with_states(&states), ..Kept::default() };
    let expected = [
        format!("read a (gone) ({ABC})"),
        "read gone.rs (gone)".to_owned(),
        "changed /q/gone.rs (gone)".to_owned(),
        format!("changed b.rs ({ABC})"),
        format!("read b.rs ({ABC})"),
        "exit 0 echo (gone)".to_owned(),
    ];
    assert_eq!(lines(&kept.ledger), expected);
    let message = CompressionSnapshot::read("words").unwrap().render(&kept);
    assert!(message.contains("has not changed since.\n<ledger>\n"));

    // The states in a snapshot stay, even if the file changes later.
    let mut contents = vec![user(&message)];
    let later = HashMap::from([(PathBuf::from("/p/b.rs"), FileState::of_bytes(b"other"))]);
    let again = ledger(&contents);
    assert_eq!(again.files(), Vec::<PathBuf>::new());
    assert_eq!(lines(&again.with_states(&later)), expected);
    // A repeated action is listed once, with the newer hash.
    contents.extend(done("read", "b.rs"));
    let again = ledger(&contents).with_states(&later);
    let reported = lines(&again);
    assert_eq!(reported.len(), expected.len());
    assert_eq!(reported.last().unwrap(), "read b.rs (sha256 d9298a10d1b0)");
    assert!(reported.contains(&expected[3]), "{reported:?}");
}

#[test]
fn only_what_a_hash_looks_like_is_one() {
    for words in [
        "sha256 +a7816bf8f01",
        "sha256 ba7816bf8f0",
        "sha256 ba7816bf8f01c",
        "sha256 é",
        "Gone",
        "",
    ] {
        assert_eq!(FileState::read(words), None, "{words}");
    }
    for state in [FileState::of_bytes(b"abc"), FileState::Hash(10), FileState::Gone] {
        assert_eq!(FileState::read(&state.to_string()), Some(state));
    }
}

#[test]
fn only_files_that_a_tool_may_read_are_hashed() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("p"), folder.path().join("outside.txt"));
    fs::create_dir_all(root.join("sub")).unwrap();
    for file in [&root.join("a.txt"), &root.join("sub/b.txt"), &root.join(".env"), &outside] {
        fs::write(file, "abc").unwrap();
    }
    fs::File::create(root.join("long.txt")).unwrap().set_len(5_000_001).unwrap();
    let abc = Some(FileState::of_bytes(b"abc"));
    let mut table = vec![
        (root.join("a.txt"), abc),
        (root.join("sub/b.txt"), abc),
        (root.join("sub/none.txt"), Some(FileState::Gone)),
        (root.join("none/none.txt"), Some(FileState::Gone)),
        (root.join("sub"), None),
        (root.join(".env"), None),
        (root.join("long.txt"), None),
        (root.join("../outside.txt"), None),
        (outside.clone(), None),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, root.join("out")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
        assert!(pipe.success());
        table.extend(["out", "socket", "pipe"].map(|name| (root.join(name), None)));
        drop(socket);
    }
    let workspace = Workspace::new(root, folder.path().join("temp"));
    let files = || table.iter().map(|(file, _)| file.clone()).collect();
    let states = states_of(&workspace, files(), &CancellationToken::new());
    for (file, expected) in &table {
        assert_eq!(states.get(file), expected.as_ref(), "{}", file.display());
    }
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    assert_eq!(states_of(&workspace, files(), &cancelled), HashMap::new());
}

#[test]
fn the_files_that_are_hashed_have_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let name = |number: usize| folder.path().join(format!("{number}.txt"));
    for number in 0..30 {
        let file = fs::File::create(name(number)).unwrap();
        file.set_len(if number < 25 { 4_900_000 } else { 0 }).unwrap();
    }
    let workspace = Workspace::new(folder.path().to_owned(), folder.path().join("temp"));
    let cancel = CancellationToken::new();
    let states = states_of(&workspace, (0..30).map(name).collect(), &cancel);
    // Twenty large files, and the five empty files.
    assert_eq!(states.len(), 25);
    let many = states_of(&workspace, (100..500).map(name).collect(), &cancel);
    assert_eq!(many.len(), 200);
}
