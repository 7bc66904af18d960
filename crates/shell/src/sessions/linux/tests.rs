use super::*;
use proptest::prelude::*;

/// A session that is left alone.
const FREE: u32 = 900;

fn process(id: u32, parent: u32, group: u32, session: u32) -> Process {
    Process { id, state: b'S', parent, group, session, terminal: 0, started: u64::from(id) * 10 }
}

fn selected(processes: &[Process], sessions: &[u32], known: &[(u32, u64)]) -> Vec<u32> {
    selected_with(processes, sessions, known, None)
}

fn selected_with(
    processes: &[Process],
    sessions: &[u32],
    known: &[(u32, u64)],
    parent: Option<u32>,
) -> Vec<u32> {
    let (sessions, known) = (sessions.iter().copied().collect(), known.iter().copied().collect());
    let free = BTreeSet::from([FREE]);
    let members = select(processes, &sessions, &known, parent, &free);
    members.iter().map(|member| member.id).collect()
}

#[test]
fn members_of_free_sessions_are_left_alone() {
    let processes =
        [process(900, 1, 900, 900), process(901, 1, 900, FREE), process(902, 1, 902, 902)];
    assert_eq!(selected_with(&processes, &[], &[], Some(1)), [902]);
}

#[test]
fn our_own_entry_is_read() {
    let own = Process::read(std::process::id()).unwrap();
    assert_eq!(own.id, std::process::id());
    assert!(own.is_alive());
    // Its state may be another by now.
    let is_own = |process: &Process| (process.id, process.started) == (own.id, own.started);
    assert!(Process::all().iter().any(is_own));
    assert!(is_running(own.id));
    assert!(!is_running(u32::MAX));
}

#[test]
fn a_name_may_hold_anything() {
    let stat = b"12 (a) S 1 2 (b) R 7 8 9 34817 0 0 0 0 0 0 0 0 0 0 0 0 0 0 4242 1 2";
    let expected = Process {
        id: 12,
        state: b'R',
        parent: 7,
        group: 8,
        session: 9,
        terminal: 34817,
        started: 4242,
    };
    assert_eq!(Process::parse(stat), Some(expected));
    for broken in [&b""[..], b"12", b"12 (a", b"12 (a) R", b"x (a) R 7 8 9", b"12 (a) R 7 8 9 0"] {
        assert_eq!(Process::parse(broken), None);
    }
}

#[test]
fn members_are_session_group_and_descendants() {
    let processes = [
        process(1, 0, 1, 1),
        process(100, 1, 100, 100),
        process(101, 100, 100, 100), // a plain child
        process(102, 1, 102, 100),   // a job of its own group, parent gone
        process(103, 101, 103, 103), // left the session, parent alive
        process(104, 103, 103, 103),
        process(200, 1, 200, 200), // someone else
    ];
    assert_eq!(selected(&processes, &[100], &[]), [100, 101, 102, 103, 104]);
    assert_eq!(selected(&processes, &[], &[(103, 1030)]), [103, 104]);
    assert_eq!(selected(&processes, &[], &[(103, 1)]), [0; 0]);
    assert_eq!(selected_with(&processes, &[], &[], Some(101)), [103, 104]);
}

#[test]
fn a_number_given_away_is_not_ours() {
    let processes = [process(100, 1, 100, 100)];
    let ours = |started| still_ours(&[Leader { id: 100, started }], &processes);
    assert_eq!(ours(Some(1000)), BTreeSet::from([100]));
    assert_eq!(ours(Some(999)), BTreeSet::new());
    assert_eq!(still_ours(&[Leader { id: 7, started: Some(1) }], &processes), BTreeSet::from([7]));
}

proptest! {
    #[test]
    fn no_table_confuses_the_parser(stat in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = Process::parse(&stat);
    }
}
