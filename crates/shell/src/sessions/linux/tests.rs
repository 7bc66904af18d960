use super::*;
use proptest::prelude::*;

/// A number of no process, group or session in the tables below.
const ENDED: u32 = 999;

fn process(id: u32, parent: u32, group: u32, session: u32) -> Process {
    let started = u64::from(id) * 10;
    Process { id, state: b'S', parent, group, session, terminal: 0, started, owner: None }
}

fn leader(id: u32, owner: Owner) -> Leader {
    let started = Some(u64::from(id) * 10);
    Leader { id, started, kind: SessionKind::Own, owner }
}

fn selected(processes: &[Process], leaders: &[Leader], known: &[(u32, u64)]) -> Vec<u32> {
    ids(&select(processes, leaders, Orphans::OfLeaders, &known.iter().copied().collect()))
}

fn ids(members: &[Process]) -> Vec<u32> {
    members.iter().map(|member| member.id).collect()
}

#[test]
fn our_own_entry_is_read() {
    let own = Process::read(std::process::id()).unwrap();
    assert_eq!(own.id, std::process::id());
    assert!(own.is_alive());
    // The state may have changed by now.
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
        owner: None,
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
        process(102, 1, 102, 100),   // a job with a separate group, parent gone
        process(103, 101, 103, 103), // left the session, parent alive
        process(104, 103, 103, 103),
        process(200, 1, 200, 200), // unrelated process
    ];
    let of = [leader(100, Owner::new(Leftovers::End))];
    assert_eq!(selected(&processes, &of, &[]), [100, 101, 102, 103, 104]);
    assert_eq!(selected(&processes, &[], &[(103, 1030)]), [103, 104]);
    assert_eq!(selected(&processes, &[], &[(103, 1)]), [0; 0]);
}

#[test]
fn a_child_in_our_own_session_is_found_by_its_number() {
    let processes = [process(1, 0, 1, 1), process(100, 1, 1, 1), process(101, 100, 1, 1)];
    let editor = Leader { kind: SessionKind::Shared, ..leader(100, Owner::new(Leftovers::Keep)) };
    assert_eq!(selected(&processes, &[editor], &[]), [100, 101]);
}

#[test]
fn orphans_belong_to_their_owner() {
    let [first, second] = [Owner::new(Leftovers::End), Owner::new(Leftovers::End)];
    let kept = Owner::new(Leftovers::Keep);
    let orphan = |id, owner| Process { owner, ..process(id, 1, id, id) };
    let processes = [
        orphan(200, Some(first)),
        process(201, 200, 200, 200),
        orphan(300, Some(second)),
        orphan(400, Some(kept)),
        orphan(500, None), // started by other code
    ];
    let select =
        |leaders: &[Leader], orphans| ids(&select(&processes, leaders, orphans, &BTreeSet::new()));
    let ended = leader(ENDED, first);
    assert_eq!(select(&[ended], Orphans::OfLeaders), [200, 201]);
    assert_eq!(select(&[], Orphans::OfLeaders), [0; 0]);
    assert_eq!(select(&[], Orphans::All), [200, 201, 300]);
    assert_eq!(select(&[leader(ENDED, kept)], Orphans::All), [200, 201, 300, 400]);
}

#[test]
fn a_number_given_away_is_not_ours() {
    let processes = [process(100, 1, 100, 100)];
    let owner = Owner::new(Leftovers::End);
    let ours = |id, started| still_ours(&[Leader { started, ..leader(id, owner) }], &processes);
    assert_eq!(ours(100, Some(1000)), BTreeSet::from([100]));
    assert_eq!(ours(100, Some(999)), BTreeSet::new());
    assert_eq!(ours(7, Some(1)), BTreeSet::from([7]));
}

proptest! {
    #[test]
    fn no_table_confuses_the_parser(stat in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = Process::parse(&stat);
    }
}
