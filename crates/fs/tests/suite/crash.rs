//! Tests with a process that is killed while writing: every file is old or new, and each kill
//! costs a log at most one line.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::time::Duration;

use pollux_fs::{AppendLog, WriteOptions, write_atomic};

use super::child;

const SIZE: usize = 300_000;
/// Line that the child prints before it writes.
const BEGUN: &str = "begun";

/// Writes forever; each version of the file consists of one byte value.
#[test]
#[ignore = "run by the tests below in a child process"]
fn writes_until_killed() {
    let Some(folder) = child::folder() else { return };
    let mut log = AppendLog::open(&folder.join("log")).unwrap();
    println!("{BEGUN}");
    for round in 0_u64.. {
        let byte = b'a' + u8::try_from(round % 26).unwrap();
        write_atomic(&folder.join("file"), &vec![byte; SIZE], &WriteOptions::default()).unwrap();
        log.append(
            format!("{{\"round\":{round},\"padding\":\"{}\"}}", "x".repeat(2000)).as_bytes(),
        )
        .unwrap();
    }
}

#[test]
fn a_kill_leaves_the_old_file_or_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), vec![b'z'; SIZE]).unwrap();
    let kills = 8;
    for attempt in 0..kills {
        let mut child =
            child::command(&[], "suite::crash::writes_until_killed", dir.path()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        assert!(output.lines().any(|line| line.unwrap().ends_with(BEGUN)), "the child has failed");
        // The kill must hit the writing at arbitrary points, which only a time delay provides.
        std::thread::sleep(Duration::from_millis(attempt * 7));
        child.kill().unwrap();
        child.wait().unwrap();
        let bytes = fs::read(dir.path().join("file")).unwrap();
        assert_eq!(bytes.len(), SIZE);
        assert!(bytes.iter().all(|byte| *byte == bytes[0]));
    }
    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    assert!(log.lines().count() > 0, "the child never got to write");
    // The kernel may end a write at the border of a page if the process is killed.
    let (complete, torn): (Vec<_>, Vec<_>) = log.lines().partition(|line| line.ends_with("x\"}"));
    assert!(complete.iter().all(|line| line.starts_with("{\"round\":")), "{complete:?}");
    assert!(torn.len() as u64 <= kills, "{} torn lines", torn.len());
}
