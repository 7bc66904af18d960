use std::collections::HashMap;
use std::fs;

use pollux_fs::Workspace;
use pollux_protocol::CancellationToken;
use pretty_assertions::assert_eq;

use super::*;

/// From FIPS 180-2.
const ABC: &str = "sha256 ba7816bf8f01";

fn done(tool: &str, path: &str) -> [Content; 2] {
    [call(tool, json!({"file_path": path})), answer(tool, "ok")]
}

fn lines(deeds: &Deeds) -> Vec<String> {
    deeds.lines().collect()
}

#[test]
fn a_file_is_told_with_its_hash_until_it_is_listed_anew() {
    let mut contents = Vec::new();
    contents.extend(done("read_file", "a (gone)"));
    contents.extend(done("read_file", "gone.rs"));
    contents.extend(done("replace", "of-a-longer-path.rs"));
    contents.extend(done("replace", "/p/gone.rs"));
    contents.extend(done("write_file", "b.rs"));
    contents.extend(done("read_file", "b.rs"));
    contents.push(call("run_shell_command", json!({"command": "echo (gone)"})));
    contents.push(answer("run_shell_command", "Output: x"));
    let deeds = Deeds::in_contents(&contents);
    let files = ["b.rs", "/p/gone.rs", "of-a-longer-path.rs", "gone.rs", "a (gone)"];
    assert_eq!(deeds.files(), files);
    let states = files.into_iter().map(|file| {
        let is_there = ["b.rs", "a (gone)"].contains(&file);
        let state = if is_there { FileState::of_bytes(b"abc") } else { FileState::Gone };
        (file.to_owned(), state)
    });
    let states: HashMap<_, _> = states.collect();
    let kept = Kept { deeds: deeds.with_states(&states), ..Kept::default() };
    let expected = [
        format!("read a (gone) ({ABC})"),
        "read gone.rs (gone)".to_owned(),
        "changed of-a-longer-path.rs".to_owned(),
        "changed /p/gone.rs (gone)".to_owned(),
        format!("changed b.rs ({ABC})"),
        format!("read b.rs ({ABC})"),
        "exit 0 echo (gone)".to_owned(),
    ];
    assert_eq!(lines(&kept.deeds), expected);
    let message = Snapshot::read("words").unwrap().render(&kept);
    assert!(message.contains("while it has the same, it has not changed since.\n<ledger>\n"));

    // What a snapshot tells stays, whatever has become of the file.
    let mut contents = vec![user(&message)];
    let later = HashMap::from([("b.rs".to_owned(), FileState::of_bytes(b"other"))]);
    let again = Deeds::in_contents(&contents);
    assert_eq!(again.files(), [""; 0]);
    assert_eq!(lines(&again.with_states(&later)), expected);
    // The same deed is done once, with the newer hash.
    contents.extend(done("read_file", "b.rs"));
    let again = Deeds::in_contents(&contents).with_states(&later);
    let told = lines(&again);
    assert_eq!(told.len(), expected.len());
    assert_eq!(told.last().unwrap(), "read b.rs (sha256 d9298a10d1b0)");
    assert!(told.contains(&expected[4]), "{told:?}");
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
        ("a.txt".to_owned(), abc),
        ("@sub/b.txt".to_owned(), abc),
        (root.join("sub/b.txt").display().to_string(), abc),
        ("sub/none.txt".to_owned(), Some(FileState::Gone)),
        ("none/none.txt".to_owned(), Some(FileState::Gone)),
        ("sub".to_owned(), None),
        (".env".to_owned(), None),
        ("long.txt".to_owned(), None),
        ("../outside.txt".to_owned(), None),
        (outside.display().to_string(), None),
        (String::new(), None),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, root.join("out")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
        assert!(pipe.success());
        table.extend(["out", "socket", "pipe"].map(|name| (name.to_owned(), None)));
        drop(socket);
    }
    let workspace = Workspace::new(root, folder.path().join("temp"));
    let files = || table.iter().map(|(file, _)| file.clone()).collect();
    let states = states_of(&workspace, files(), &CancellationToken::new());
    for (file, expected) in &table {
        assert_eq!(states.get(file), expected.as_ref(), "{file}");
    }
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    assert_eq!(states_of(&workspace, files(), &cancelled), HashMap::new());
}

#[test]
fn the_files_that_are_hashed_have_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let name = |number: usize| format!("{number}.txt");
    for number in 0..30 {
        let file = fs::File::create(folder.path().join(name(number))).unwrap();
        file.set_len(if number < 25 { 4_900_000 } else { 0 }).unwrap();
    }
    let workspace = Workspace::new(folder.path().to_owned(), folder.path().join("temp"));
    let cancel = CancellationToken::new();
    let states = states_of(&workspace, (0..30).map(name).collect(), &cancel);
    // Twenty large ones, and those that cost nothing.
    assert_eq!(states.len(), 25);
    let many = states_of(&workspace, (100..500).map(name).collect(), &cancel);
    assert_eq!(many.len(), 200);
}
