//! Output that arrives, and output that is kept.

use pollux_shell::{BINARY_NOTICE, OutputChunk, OutputLimits, Spill, TRUNCATION_WARNING, run};
use tokio_util::sync::CancellationToken;

use super::{command, outcome, sh};

#[tokio::test]
async fn both_streams_keep_their_order() {
    let line = "for i in 1 2 3; do echo out$i; echo err$i >&2; done";
    assert_eq!(sh(line).await.text(), "out1\nerr1\nout2\nerr2\nout3\nerr3");
}

#[tokio::test]
async fn binary_output_is_announced_not_shown() {
    let mut binary = 0;
    let line = r"printf 'ab'; sleep 0.1; head -c 100001 /dev/zero";
    let outcome = run(command(line), CancellationToken::new(), |chunk| {
        if let OutputChunk::Binary { received } = chunk {
            binary = received;
        }
    });
    let outcome = outcome.await.unwrap();
    assert!(outcome.binary);
    assert_eq!(outcome.text(), BINARY_NOTICE);
    assert_eq!((outcome.bytes, binary), (100_003, 100_003));
    assert_eq!(outcome.exit_code, Some(0));
}

#[tokio::test]
async fn text_in_another_encoding_is_decoded() {
    let outcome = sh(r"printf 'caf\351 na\357ve'").await;
    assert!(!outcome.binary);
    assert_eq!(outcome.text(), "caf\u{e9} na\u{ef}ve");
    // A character that is cut off at the end of UTF-8 is not a letter of Latin-1.
    let outcome = sh(r"printf 'h\303\244h\303'").await;
    assert_eq!(outcome.text(), "h\u{e4}h\u{fffd}");
}

#[tokio::test]
async fn fields_that_end_with_a_nul_are_text() {
    let outcome = sh(r"printf 'a.rs\0b c.rs\0'").await;
    assert!(!outcome.binary);
    assert_eq!(outcome.text(), "a.rs\u{2400}b c.rs\u{2400}");
}

#[tokio::test]
async fn live_text_is_the_whole_text() {
    let mut live = String::new();
    let line = "for i in 1 2 3 4 5; do printf 'ä漢😀\\n'; sleep 0.01; done; printf '\\360\\237'";
    let outcome = run(command(line), CancellationToken::new(), |chunk| {
        if let OutputChunk::Text(text) = chunk {
            live.push_str(text);
        }
    });
    assert_eq!(outcome.await.unwrap().text(), live.trim());
}

#[tokio::test]
async fn a_huge_line_is_kept() {
    let outcome = sh("head -c 5000000 /dev/zero | tr '\\0' x").await;
    assert_eq!(outcome.text().len(), 5_000_000);
}

#[tokio::test]
async fn a_flood_leaves_memory_flat() {
    const FLOOD: u64 = 200_000_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole.txt");
    let mut command = command(&format!("yes 0123456789 | head -c {FLOOD}"));
    command.spill = Some(Spill { path: path.clone(), above: 40_000, cap: 1_000_000 });
    let before = peak_memory();
    let outcome = outcome(command).await;
    // 16 MiB of output, and the memory that other tests use meanwhile.
    assert!(peak_memory() - before < 80 << 20);
    assert_eq!((outcome.exit_code, outcome.bytes), (Some(0), FLOOD));
    assert_eq!(outcome.output.len(), 16 << 20);
    assert_eq!(outcome.output.omitted(), FLOOD - (16 << 20));
    let text = outcome.text();
    assert!(text.starts_with("0123456789\n") && text.ends_with(TRUNCATION_WARNING));
    let spilled = outcome.spilled.unwrap();
    assert_eq!(spilled.bytes + spilled.dropped, FLOOD);
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(kept.len() <= 1_000_000 && kept.len() as u64 > spilled.bytes);
    assert!(kept.starts_with("0123456789\n") && kept.ends_with("\n0123456789\n01"));
}

/// Returns the peak memory use of this process, in bytes; 0 if the system does not report it.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

#[tokio::test]
async fn a_spill_file_holds_everything_and_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/folder/whole.txt");
    let mut command = command("seq 1 100000");
    command.limits = OutputLimits { head: 1000, tail: 1000 };
    command.spill = Some(Spill::new(&path, 1500));
    let outcome = outcome(command).await;
    let expected: String =
        (1..=100_000).flat_map(|number| [number.to_string(), "\n".into()]).collect();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(outcome.spilled.unwrap().dropped, 0);
    assert_eq!(outcome.output.len(), 2000);
}
