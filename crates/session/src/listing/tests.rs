use pretty_assertions::assert_eq;

use super::*;

#[test]
fn ages_are_in_words() {
    let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    for (time, words) in [
        ("2026-01-31T12:00:30Z", "Just now"),
        ("2026-01-31T11:59:01Z", "Just now"),
        ("2026-01-31T11:59:00Z", "1 minute ago"),
        ("2026-01-31T11:00:01Z", "59 minutes ago"),
        ("2026-01-31T10:00:00Z", "2 hours ago"),
        ("2026-01-30T12:00:00Z", "1 day ago"),
        ("2025-01-31T12:00:00Z", "365 days ago"),
    ] {
        assert_eq!(age(time, now), words, "{time}");
    }
}

#[test]
fn the_list_is_printed_as_gemini_cli_prints_it() {
    let session = |index: usize, first: &str, summary: Option<&str>| SessionEntry {
        id: format!("id{index}"),
        path: std::path::PathBuf::new(),
        index,
        start_time: "2026-01-31T10:00:00.000Z".to_owned(),
        last_updated: "2026-01-31T11:00:00.000Z".to_owned(),
        first_message: first.to_owned(),
        summary: summary.map(str::to_owned),
        is_damaged: false,
        agent: None,
        subagents: Vec::new(),
    };
    let now = "2026-01-31T12:00:00Z".parse().unwrap();
    let sessions =
        [session(1, "fix it", None), session(2, &"x".repeat(101), Some(&"y".repeat(101)))];
    let expected = format!(
        "\nAvailable sessions for this project (2):\n  1. fix it (1 hour ago, current) [id1]\n  2. {}... (1 hour ago) [id2]\n",
        "y".repeat(97)
    );
    assert_eq!(format_list(&sessions, Some("id1"), now), expected);
    assert_eq!(format_list(&[], None, now), "No previous sessions found for this project.");
    assert_eq!(format_deleted(&sessions[0], now), "Deleted session 1: fix it (1 hour ago)");
}

#[test]
fn titles_are_one_line_in_any_script() {
    for title in ["日本語で説明して", "erkläre die Größe", "объясни", "اشرح", "a 🦀 b"]
    {
        assert_eq!(printable(title), title);
    }
    assert_eq!(printable("  a\n\n b\t\u{1b}[1mc "), "a b c");
    assert_eq!(printable("título\u{1b}[2J\ndel \u{202e}día\n"), "título del día");
}
