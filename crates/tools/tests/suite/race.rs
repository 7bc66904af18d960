//! Race of the tools against a folder of the project that is exchanged with a link to another
//! place, as fast as possible.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pollux_fs::{IgnoreOptions, IgnoreRules, NEVER, Workspace};
use pollux_protocol::ToolErrorKind;
use pollux_testkit::Tree;
use pollux_tools::{FileContent, FileReader, FileSearch};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::session::Session;

/// Duration of the race, which has no other end if the tools never fail.
const TIME: Duration = Duration::from_secs(3);
/// Tools that change files.
const WRITERS: [&str; 3] = ["write_file", "replace", "save_memory"];
/// Text in every file outside.
const WORDS: &str = "canary words";
/// Part of the names of files that exist only outside.
const NAME: &str = "canary-name";

/// Returns a session with an allowed folder `swap`, and next to it the link that replaces `swap` at
/// times.
fn project() -> Session {
    let session = Session::with(|context| {
        context.options.save_memory = true;
        context.memory_file = context.workspace.get().target().join("swap/MEMORY.md");
    });
    for name in ["swap/note.txt", "swap/deep/note.txt"] {
        session.file(name, "inside words\n");
    }
    for name in ["note.txt", "MEMORY.md", "canary-name.txt", "deep/note.txt", "deep/canary-name"] {
        let path = session.outside.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{WORDS}: inside words\n")).unwrap();
    }
    std::os::unix::fs::symlink("../outside", session.path("other")).unwrap();
    session
}

/// Returns calls that a model can make, for every tool that uses files.
fn calls(round: u64) -> Vec<(&'static str, Value)> {
    let edit = |path: &str, old: &str, new: String| json!({"file_path": path, "instruction": "", "old_string": old, "new_string": new});
    let text = format!("inside words {round}\n");
    vec![
        ("read_file", json!({"file_path": "swap/note.txt"})),
        ("read_file", json!({"file_path": "swap/deep/note.txt"})),
        ("read_file", json!({"file_path": "swap/canary-name.txt"})),
        ("write_file", json!({"file_path": "swap/note.txt", "content": text})),
        ("write_file", json!({"file_path": format!("swap/new-{round}"), "content": text})),
        ("write_file", json!({"file_path": format!("swap/made/{round}/new"), "content": text})),
        ("replace", edit("swap/deep/note.txt", "inside words", format!("inside words {round}"))),
        ("replace", edit(&format!("swap/deep/new-{round}"), "", text.clone())),
        ("list_directory", json!({"dir_path": "swap"})),
        ("list_directory", json!({"dir_path": "swap/deep"})),
        ("glob", json!({"pattern": "**/*note*"})),
        ("glob", json!({"pattern": "**/*canary*"})),
        ("glob", json!({"pattern": "*", "dir_path": "swap"})),
        ("grep_search", json!({"pattern": "words", "dir_path": "swap"})),
        ("grep_search", json!({"pattern": "canary"})),
        ("read_many_files", json!({"include": ["swap", "swap/deep/*"]})),
        ("read_many_files", json!({"include": ["**/*canary*"]})),
        ("save_memory", json!({"fact": format!("fact {round}")})),
    ]
}

/// Returns the text that `@swap` in a prompt would add.
fn referenced(root: &Path) -> String {
    let workspace = Workspace::new(root.to_path_buf(), root.join("temp"));
    let search = FileSearch {
        workspace: &workspace,
        rules: &IgnoreRules::new(root, &IgnoreOptions::default()),
        exclude: &[],
        default_excludes: true,
        time_limit: Duration::from_secs(5),
    };
    let mut reported = String::new();
    let mut reader = FileReader::new(&workspace, &pollux_protocol::LocalFiles);
    let mut files = search.find(&["swap".to_owned()], NEVER).unwrap().files;
    files.insert(root.join("swap/note.txt"));
    for path in files {
        reported += &path.display().to_string();
        if let Ok(FileContent::Text(file)) = reader.read(&path, "shown", true) {
            reported += &file.text;
        }
    }
    reported
}

/// Exchanges the folder and the link until `stop` is set.
fn swap(root: &Path, stop: &AtomicBool, swaps: &AtomicU64) {
    let (folder, other) = (root.join("swap"), root.join("other"));
    while !stop.load(Ordering::Relaxed) {
        renameat_with(CWD, &folder, CWD, &other, RenameFlags::EXCHANGE).unwrap();
        // Each state lasts for a short, varying time, so that calls meet the change in all their
        // steps.
        let pause = swaps.fetch_add(1, Ordering::Relaxed) % 97;
        let until = Instant::now() + Duration::from_micros(pause * 3);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_becomes_a_link_between_check_and_use_leads_nowhere() {
    let session = project();
    let before = Tree::of(&session.outside);
    let (stop, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let swapper = {
        let (root, stop, swaps) = (session.root.clone(), Arc::clone(&stop), Arc::clone(&swaps));
        std::thread::spawn(move || swap(&root, &stop, &swaps))
    };
    let (mut leaks, mut kinds) = (BTreeSet::<String>::new(), BTreeSet::new());
    let (mut done, mut refused, mut round) = (0_u64, 0_u64, 0_u64);
    let start = Instant::now();
    while start.elapsed() < TIME {
        round += 1;
        // Writing takes much longer than reading, because it waits for the disk.
        let writes = round % 8 == 0;
        let is_wanted = |tool: &str| writes || !WRITERS.contains(&tool);
        for (tool, args) in calls(round).into_iter().filter(|(tool, _)| is_wanted(tool)) {
            let output = session.call(tool, args.clone()).await;
            match &output.error {
                Some(error) => {
                    kinds.insert(error.kind.as_str());
                    refused += 1;
                }
                None => done += 1,
            }
            // The error of a call may repeat a name that the call itself contained.
            let reported = serde_json::to_string(&(&output.content, &output.display)).unwrap();
            let asked = output.error.is_some() && args.to_string().contains(NAME);
            if reported.contains(WORDS) || (reported.contains(NAME) && !asked) {
                leaks.insert(format!("{tool} {args}"));
            }
        }
        let reported = referenced(&session.root);
        if reported.contains(WORDS) || reported.contains(NAME) {
            leaks.insert("a reference in a prompt".to_owned());
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    let swaps = swaps.load(Ordering::Relaxed);
    let written = Tree::of(&session.outside).changes_since(&before);
    assert!(
        leaks.is_empty() && written.is_empty(),
        "read outside: {leaks:#?}\nwritten outside: {written:#?}"
    );
    assert!(done > 20 && refused > 20 && swaps > 100, "{done} {refused} {swaps}");
    assert!(kinds.contains(ToolErrorKind::PathNotInWorkspace.as_str()), "{kinds:?}");
    assert!(!kinds.contains(ToolErrorKind::UnhandledException.as_str()), "{kinds:?}");
}
