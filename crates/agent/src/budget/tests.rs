use async_trait::async_trait;
use pollux_protocol::{Booked, Envelope, Rates};
use pollux_session::SpendingFile;
use pretty_assertions::assert_eq;

use super::*;

/// Returns the ledger of a session, in a new folder.
fn day() -> (tempfile::TempDir, Arc<dyn DayLedger>) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Arc::new(SpendingFile::new(folder.path().join("spending.json")));
    (folder, ledger)
}

/// Ledger that cannot be locked.
struct Locked;

#[async_trait]
impl DayLedger for Locked {
    async fn book(&self, _: DayEntry) -> Result<Booked, LedgerError> {
        Err(LedgerError { path: "spending.json".to_owned(), message: "locked".to_owned() })
    }
}

const CENT: Price = Price {
    // One dollar for a hundred tokens.
    rates: Rates { input: 10_000_000_000, cached: 0, cache_write: 0, output: 10_000_000_000 },
    long: None,
};

fn ceilings(resource: Resource, amount: u64) -> Ceilings {
    let mut ceilings = Ceilings::default();
    ceilings.set(resource, Limit { amount, by_flag: false });
    ceilings
}

fn budget(spending: Spending) -> (Budget, tokio::sync::mpsc::Receiver<Arc<Envelope>>) {
    let (outlet, events) = Outlet::new("s", Vec::new());
    let budget = Budget::new(spending, outlet);
    budget.begin();
    (budget, events)
}

/// Admits a request that needs this number of tokens, including those of the shortest answer.
async fn admit(budget: &Budget, tokens: u64) -> Result<Hold, ModelError> {
    budget.admit("m", Some(CENT), || tokens.saturating_sub(room::SHORTEST)).await
}

#[tokio::test]
async fn requests_side_by_side_do_not_pass_a_limit_together() {
    let session = ceilings(Resource::Tokens, 1000);
    let (budget, _events) = budget(Spending { session, ..Spending::default() });
    let first = admit(&budget, 600).await.unwrap();
    let refused = admit(&budget, 600).await.err().unwrap();
    assert_eq!(refused.kind, ModelErrorKind::Budget);
    first.settle(200, None);
    assert!(admit(&budget, 1).await.is_err(), "not one request more in this prompt");
    budget.begin();
    assert!(admit(&budget, 800).await.is_ok());
}

#[tokio::test]
async fn a_request_that_was_never_made_costs_nothing_and_one_that_was_dropped_its_estimate() {
    let prompt = ceilings(Resource::Turns, 2);
    let (budget, _events) = budget(Spending { prompt, ..Spending::default() });
    drop(admit(&budget, 10).await.unwrap());
    admit(&budget, 10).await.unwrap().abandon(10, "", "m");
    assert_eq!(budget.lock().session.get(Resource::Tokens), 10);
    admit(&budget, 10).await.unwrap().settle(7, Some(Money::ZERO));
    assert!(admit(&budget, 10).await.is_err());
    assert_eq!(budget.exceeded().unwrap().spent, 2);
    assert_eq!(budget.lock().held, Amounts::default());
}

#[tokio::test]
async fn money_without_a_price_is_refused_before_anything_is_sent() {
    let limits = ceilings(Resource::Usd, Money::from_usd(10.0).unwrap().parts());
    let (limited, _events) = budget(Spending { day: limits, ..Spending::default() });
    let error = limited.admit("new", None, || 1).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Config);
    assert!(error.message.contains("prices.json"), "{error}");
    assert!(admit(&limited, 1000).await.is_ok());
    let (unlimited, _events) = budget(Spending::default());
    assert!(unlimited.admit("new", None, || unreachable!("nobody wants to know")).await.is_ok());
}

#[tokio::test]
async fn the_morning_counts_for_a_limit_that_is_set_at_noon() {
    let (_folder, ledger) = day();
    let spending = Spending { ledger: Some(Arc::clone(&ledger)), ..Spending::default() };
    let (morning, _events) = budget(spending.clone());
    admit(&morning, 0).await.unwrap().settle(9000, None);
    morning.end().await;
    let day = ceilings(Resource::Tokens, 10_000);
    let (noon, _events) = budget(Spending { day, ..spending });
    let hold = admit(&noon, 1000).await.unwrap();
    assert!(admit(&noon, 1).await.is_err());
    hold.settle(200, None);
    noon.begin();
    admit(&noon, 800).await.unwrap().settle(800, None);
    noon.end().await;
    let booked = ledger.book(DayEntry::default()).await.unwrap();
    assert_eq!(booked.spent.get(Resource::Tokens), 10_000);
    assert_eq!(booked.spent.get(Resource::Turns), 3);
}

#[tokio::test]
async fn a_day_that_cannot_be_known_is_no_day_without_limits() {
    let ledger: Option<Arc<dyn DayLedger>> = Some(Arc::new(Locked));
    let day = ceilings(Resource::Tokens, 100);
    let (limited, _events) =
        budget(Spending { day, ledger: ledger.clone(), ..Spending::default() });
    let error = admit(&limited, 1).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Other);
    let (unlimited, mut events) = budget(Spending { ledger, ..Spending::default() });
    admit(&unlimited, 1).await.unwrap().settle(1, None);
    unlimited.end().await;
    assert_eq!(unlimited.lock().unbooked.get(Resource::Tokens), 1, "kept for the next time");
    assert!(events.try_recv().is_err(), "nobody waits for it");
}

#[tokio::test]
async fn calls_fit_as_far_as_they_fit() {
    let (_folder, ledger) = day();
    let day = ceilings(Resource::ToolCalls, 5);
    let (budget, _events) = budget(Spending { day, ledger: Some(ledger), ..Spending::default() });
    assert_eq!(budget.take_calls(3).await, 3);
    assert!(budget.exceeded().is_none());
    assert_eq!(budget.take_calls(3).await, 2);
    assert_eq!(budget.exceeded().unwrap().spent, 3);
    assert_eq!(budget.take_calls(1).await, 0);
}

#[tokio::test]
async fn the_shortest_time_is_the_deadline_and_only_work_takes_time() {
    let (budget, _events) = budget(Spending {
        prompt: ceilings(Resource::Seconds, 5_000_000),
        session: ceilings(Resource::Seconds, 8_000_000),
        ..Spending::default()
    });
    let (at, exceeded) = budget.deadline().await.unwrap();
    assert_eq!(exceeded.period, Period::Prompt);
    assert!((4900..=5000).contains(&(at - Instant::now()).as_secs()));
    budget.end().await;
    let counted = budget.lock().session;
    // Only a passage of real time can show that it is not counted.
    tokio::time::sleep(Duration::from_millis(20)).await;
    budget.lock().count_time();
    assert_eq!(budget.lock().session, counted, "between prompts no time passes");
    budget.begin();
    budget.lock().session = Amounts::of(Resource::Seconds, 7_990_000);
    let (at, exceeded) = budget.deadline().await.unwrap();
    assert_eq!(exceeded.period, Period::Session);
    assert!((at - Instant::now()).as_secs() <= 10);
    budget.lock().session = Amounts::of(Resource::Seconds, 8_000_000);
    assert_eq!(admit(&budget, 1).await.err().unwrap().kind, ModelErrorKind::Budget);
}

#[tokio::test]
async fn the_time_that_passed_earlier_today_shortens_the_deadline() {
    let (_folder, ledger) = day();
    let spent = Amounts::of(Resource::Seconds, 7_990_000);
    ledger.book(DayEntry { spent, ..DayEntry::default() }).await.unwrap();
    let (budget, _events) = budget(Spending {
        prompt: ceilings(Resource::Seconds, 5_000_000),
        day: ceilings(Resource::Seconds, 8_000_000),
        ledger: Some(ledger),
        ..Spending::default()
    });
    let (at, exceeded) = budget.deadline().await.unwrap();
    assert_eq!(exceeded.period, Period::Day);
    assert!((at - Instant::now()).as_secs() <= 10);
}

/// Prices of one vendor, whose model `cheap` costs nothing.
struct OneVendor;

impl Prices for OneVendor {
    fn price(&self, vendor: &str, model: &str) -> Option<Price> {
        match (vendor, model) {
            ("v", "m") => Some(CENT),
            ("v", "cheap") => Some(Price::FREE),
            _ => None,
        }
    }
}

#[tokio::test]
async fn the_first_name_with_a_price_decides_what_a_request_costs() {
    let prices: Option<Arc<dyn Prices>> = Some(Arc::new(OneVendor));
    let (priced, _events) = budget(Spending { prices, ..Spending::default() });
    for (vendor, names, expected) in [
        ("v", ["m", "cheap"], Some(CENT)),
        ("v", ["cheap", "m"], Some(Price::FREE)),
        ("v", ["new", "m"], Some(CENT)),
        ("v", ["new", "new"], None),
        ("w", ["m", "m"], None),
    ] {
        assert_eq!(priced.price(vendor, names), expected, "{vendor} {names:?}");
    }
    let (unpriced, _events) = budget(Spending::default());
    assert_eq!(unpriced.price("v", ["m", "m"]), None);
    for (model, cost) in
        [("m", CENT.cost(&Usage { prompt: 50, ..Usage::default() })), ("new", Money::ZERO)]
    {
        priced.begin();
        admit(&priced, 50).await.unwrap().abandon(50, "v", model);
        assert_eq!(priced.lock().prompt.get(Resource::Usd), cost.parts(), "{model}");
    }
}

#[tokio::test]
async fn what_a_request_held_in_the_ledger_is_given_back() {
    let (_folder, ledger) = day();
    let spending = Spending {
        day: ceilings(Resource::Tokens, 1000),
        ledger: Some(Arc::clone(&ledger)),
        ..Spending::default()
    };
    let (budget, _events) = budget(spending);
    drop(admit(&budget, 900).await.unwrap());
    admit(&budget, 900).await.unwrap().settle(5, None);
    budget.end().await;
    let booked = ledger.book(DayEntry::default()).await.unwrap();
    assert_eq!(
        booked.spent,
        Amounts::of(Resource::Tokens, 5)
            .with(Resource::Turns, 1)
            .with(Resource::Seconds, booked.spent.get(Resource::Seconds),)
    );
}

#[tokio::test]
async fn an_answer_is_limited_to_what_remains() {
    let (_folder, ledger) = day();
    let spending = Spending {
        prompt: ceilings(Resource::Tokens, 5000),
        // Two thousand tokens.
        session: ceilings(Resource::Usd, Money::from_usd(20.0).unwrap().parts()),
        day: ceilings(Resource::Tokens, 1500),
        ledger: Some(ledger),
        ..Spending::default()
    };
    let limit = async |spending: Spending, sent: u64| {
        let (budget, _events) = budget(spending);
        let first = budget.admit("m", Some(CENT), || 100).await.unwrap();
        let limit = first.output_limit();
        first.settle(100, Some(Money::from_usd(1.0).unwrap()));
        let second = budget.admit("m", Some(CENT), || sent).await.map(|hold| hold.output_limit());
        budget.end().await;
        (limit, second.map_err(|error| error.kind))
    };
    let fits = |limit| Ok(Some(limit));
    let without_day = Spending { day: Ceilings::default(), ledger: None, ..spending.clone() };
    let prompt = Spending { session: Ceilings::default(), ..without_day.clone() };
    assert_eq!(limit(prompt.clone(), 1000).await, (Some(4900), fits(3900)));
    assert_eq!(limit(without_day, 1000).await, (Some(1900), fits(900)));
    assert_eq!(limit(spending, 1000).await, (Some(1400), fits(400)));
    let least = 5000 - 100 - room::SHORTEST;
    assert_eq!(limit(prompt.clone(), least).await.1, fits(room::SHORTEST));
    assert_eq!(limit(prompt, least + 1).await.1, Err(ModelErrorKind::Budget));
    // What no model writes needs no limit.
    let large = Spending { prompt: ceilings(Resource::Tokens, 1 << 20), ..Spending::default() };
    assert_eq!(limit(large, 1).await, (None, Ok(None)));
    assert_eq!(limit(Spending::default(), 1).await, (None, Ok(None)));
}

#[tokio::test]
async fn a_cut_off_ends_the_prompt_only_if_the_limit_is_the_reason() {
    for (spent, is_end) in [(900, true), (400, false)] {
        let limited = [
            Spending { prompt: ceilings(Resource::Tokens, 1000), ..Spending::default() },
            Spending {
                prompt: ceilings(Resource::Turns, 1),
                session: ceilings(Resource::Usd, Money::from_usd(10.0).unwrap().parts()),
                ..Spending::default()
            },
        ];
        for spending in limited {
            let (budget, _events) = budget(spending);
            let hold = admit(&budget, 500).await.unwrap();
            let usage = Usage { prompt: spent, ..Usage::default() };
            hold.settle_cut_off(spent, Some(CENT.cost(&usage)));
            assert_eq!(budget.exceeded().is_some(), is_end, "{spent}");
        }
    }
    let (_folder, ledger) = day();
    let day = ceilings(Resource::Tokens, 1000);
    let (budget, _events) = budget(Spending { day, ledger: Some(ledger), ..Spending::default() });
    admit(&budget, 500).await.unwrap().settle_cut_off(900, None);
    assert_eq!(budget.exceeded().unwrap().period, Period::Day);
}

#[tokio::test]
async fn calls_of_a_prompt_and_of_a_session_are_counted_together() {
    let (budget, _events) = budget(Spending {
        prompt: ceilings(Resource::ToolCalls, 3),
        session: ceilings(Resource::ToolCalls, 4),
        ..Spending::default()
    });
    assert_eq!(budget.take_calls(2).await, 2);
    assert_eq!(
        (budget.take_calls(2).await, budget.exceeded().unwrap().period),
        (1, Period::Prompt)
    );
    budget.begin();
    assert_eq!(
        (budget.take_calls(2).await, budget.exceeded().unwrap().period),
        (1, Period::Session)
    );
    assert_eq!(budget.lock().unbooked.get(Resource::ToolCalls), 4);
}

#[tokio::test]
async fn calls_wait_for_a_ledger_that_can_be_read() {
    let ledger: Option<Arc<dyn DayLedger>> = Some(Arc::new(Locked));
    let day = ceilings(Resource::ToolCalls, 5);
    let (budget, mut events) = budget(Spending { day, ledger, ..Spending::default() });
    assert_eq!(budget.take_calls(1).await, 0);
    let envelope = events.try_recv().unwrap();
    assert!(matches!(&envelope.event, Event::Notice { text, .. } if text.contains("locked")));
}

#[tokio::test]
async fn a_request_holds_the_money_that_its_tokens_cost() {
    let session = ceilings(Resource::Usd, Money::from_usd(10.0).unwrap().parts());
    let (budget, _events) = budget(Spending { session, ..Spending::default() });
    let held = admit(&budget, 600).await.unwrap();
    assert_eq!(budget.lock().held.get(Resource::Usd), 6_000_000_000_000);
    let refused = admit(&budget, 600).await.err().unwrap();
    assert!(refused.message.contains("needs about $6.00"), "{refused}");
    drop(held);
    budget.begin();
    assert!(admit(&budget, 1000).await.is_ok());
}

#[tokio::test]
async fn the_time_of_a_prompt_is_counted_once_for_each_period() {
    let started = Instant::now();
    let (budget, _events) = budget(Spending::default());
    for _ in 0..3 {
        // Only a passage of real time can show that it is counted.
        tokio::time::sleep(Duration::from_millis(2)).await;
        budget.lock().count_time();
    }
    budget.end().await;
    let state = budget.lock();
    let passed = u64::try_from(started.elapsed().as_millis()).unwrap();
    for amounts in [state.prompt, state.session] {
        assert!((6..=passed).contains(&amounts.get(Resource::Seconds)), "{amounts:?} of {passed}");
    }
}
