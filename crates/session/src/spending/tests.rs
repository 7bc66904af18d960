use std::sync::Mutex;

use pollux_protocol::{Ceilings, Limit, Money};
use pretty_assertions::assert_eq;

use super::*;

fn tokens(amount: u64) -> Amounts {
    Amounts::of(Resource::Tokens, amount)
}

fn spend(amount: u64) -> DayEntry {
    DayEntry { spent: tokens(amount), ..DayEntry::default() }
}

fn hold(amount: u64, limit: u64) -> DayEntry {
    let mut ceilings = Ceilings::default();
    ceilings.set(Resource::Tokens, Limit { amount: limit, by_flag: false });
    DayEntry { wanted: tokens(amount), ceilings, ..DayEntry::default() }
}

struct Bench {
    _folder: tempfile::TempDir,
    day: Arc<Mutex<Date>>,
    ledger: SpendingFile,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let day = Arc::new(Mutex::new("2026-11-22".parse().unwrap()));
    let clock = Arc::clone(&day);
    let path = folder.path().join("pollux/spending.json");
    let ledger = SpendingFile::with_clock(path, Arc::new(move || *clock.lock().unwrap()));
    Bench { _folder: folder, day, ledger }
}

#[test]
fn amounts_add_up_and_a_new_day_begins_with_nothing() {
    let bench = bench();
    let all = Resource::ALL
        .iter()
        .fold(Amounts::default(), |amounts, resource| amounts.with(*resource, 1_234_567));
    let entry = DayEntry { spent: all, ..DayEntry::default() };
    assert_eq!(bench.ledger.book_now(&entry).unwrap().spent, all);
    assert_eq!(bench.ledger.book_now(&entry).unwrap().spent, all.plus(all), "to the last part");
    *bench.day.lock().unwrap() = "2026-11-23".parse().unwrap();
    assert_eq!(bench.ledger.book_now(&spend(1)).unwrap().spent, tokens(1));
    *bench.day.lock().unwrap() = "2026-11-22".parse().unwrap();
    assert_eq!(bench.ledger.book_now(&DayEntry::default()).unwrap().spent, all.plus(all));
}

#[test]
fn the_file_stays_small() {
    let bench = bench();
    for day in 1..=28 {
        *bench.day.lock().unwrap() = jiff::civil::date(2026, 2, day);
        let entry = DayEntry {
            spent: Resource::ALL
                .iter()
                .fold(Amounts::default(), |amounts, one| amounts.with(*one, 999_999_999_999)),
            ..DayEntry::default()
        };
        bench.ledger.book_now(&entry).unwrap();
    }
    let bytes = std::fs::read(bench.ledger.path()).unwrap();
    assert!(bytes.len() < 500, "{}", bytes.len());
    assert_eq!(parse(&bytes).unwrap().len(), 1 + OTHER_DAYS);
}

#[test]
fn what_would_pass_the_limit_is_not_held() {
    let bench = bench();
    assert_eq!(bench.ledger.book_now(&hold(60, 100)).unwrap().exceeded, None);
    let exceeded = bench.ledger.book_now(&hold(60, 100)).unwrap().exceeded.unwrap();
    assert_eq!((exceeded.spent, exceeded.wanted, exceeded.period), (60, 60, Period::Day));
    let settled = DayEntry { given_back: tokens(60), spent: tokens(10), ..hold(90, 100) };
    assert_eq!(bench.ledger.book_now(&settled).unwrap().exceeded, None);
}

#[test]
fn processes_side_by_side_never_pass_the_limit_together() {
    let bench = bench();
    let held = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|_| {
                let ledger = bench.ledger.clone();
                scope.spawn(move || {
                    let booked = (0..4).map(|_| ledger.book_now(&hold(10, 100)).unwrap());
                    booked.filter(|booked| booked.exceeded.is_none()).count()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum::<usize>()
    });
    assert_eq!(held, 10);
}

#[test]
fn a_broken_file_is_set_aside_and_reported() {
    for broken in [
        "",
        "{\"days\": []}",
        "{\"days\": {\"today\": {}}}",
        "{\"days\": {\"2026-11-22\": {\"tokens\": -5}}}",
        "{\"days\": {\"2026-11-22\": {\"usd\": \"1\"}}}",
        "{\"days\": {\"2026-11-22\": 7}}",
    ] {
        let bench = bench();
        bench.ledger.book_now(&spend(5)).unwrap();
        std::fs::write(bench.ledger.path(), broken).unwrap();
        let booked = bench.ledger.book_now(&spend(1)).unwrap();
        let warning = booked.warning.unwrap();
        assert!(warning.contains("spending.json.broken"), "{warning}");
        assert_eq!(std::fs::read_to_string(bench.ledger.aside()).unwrap(), broken);
        assert_eq!(bench.ledger.book_now(&spend(1)).unwrap().spent, tokens(2));
    }
    let bench = bench();
    bench.ledger.book_now(&spend(5)).unwrap();
    std::fs::write(bench.ledger.path(), " ".repeat(100_000)).unwrap();
    assert!(bench.ledger.book_now(&spend(1)).unwrap().warning.is_some());
}

#[test]
fn a_cent_is_a_cent_after_it_was_written() {
    let bench = bench();
    let cent = Amounts::of(Resource::Usd, Money::from_usd(0.01).unwrap().parts());
    for count in 1..=30 {
        let entry = DayEntry { spent: cent, ..DayEntry::default() };
        let spent = bench.ledger.book_now(&entry).unwrap().spent.get(Resource::Usd);
        assert_eq!(spent, count * 10_000_000_000);
    }
}
