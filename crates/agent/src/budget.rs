//! Budget of a session: every request and every tool call is checked against its limits before it
//! is made.
//!
//! A request holds its estimated amounts until its real cost is known, so that parallel requests
//! cannot exceed a limit together. After one refusal, the prompt makes no further requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pollux_protocol::{
    Amounts, Ceilings, Choice, DayEntry, DayLedger, Event, Exceeded, LedgerError, Limit,
    ModelError, ModelErrorKind, Money, Period, Price, Prices, Resource, Severity, Usage,
};
use tokio::time::Instant;

use crate::outlet::Outlet;

mod room;
#[cfg(test)]
mod tests;

use room::Wanted;

/// Limits, amounts spent so far, and sources of prices and of the day's amounts.
#[derive(Clone, Default)]
pub struct Spending {
    /// Limits of a prompt.
    pub prompt: Ceilings,
    /// Limits of the session.
    pub session: Ceilings,
    /// Limits of a day.
    pub day: Ceilings,
    /// Amounts that the session spent before it was resumed.
    pub so_far: Amounts,
    /// Prices of models. Without them, no model has a price.
    pub prices: Option<Arc<dyn Prices>>,
    /// Ledger of today's amounts; `None` if nothing is really spent (a demonstration).
    pub ledger: Option<Arc<dyn DayLedger>>,
}

/// Budget of a session. Cheap to clone. All clones share the same counts.
#[derive(Clone)]
pub struct Budget {
    spending: Arc<Spending>,
    outlet: Outlet,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    prompt: Amounts,
    session: Amounts,
    /// Amounts that running requests hold.
    held: Amounts,
    /// Amounts that are spent and not in the ledger yet.
    unbooked: Amounts,
    /// Amounts that are held in the ledger and not needed any more.
    given_back: Amounts,
    /// Limit because of which this prompt makes no more requests.
    exceeded: Option<Exceeded>,
    /// End of the time that is already counted for the prompt; `None` between prompts.
    counted: Option<Instant>,
}

/// Amounts that a request holds. Dropping it without [settling](Self::settle) releases all of them.
pub(crate) struct Hold {
    budget: Budget,
    held: Amounts,
    in_ledger: bool,
    /// Number of tokens for which the limits have room in the answer; `None` without a limit.
    room: Option<u64>,
    /// Amounts spent today before the request, if the day is limited.
    today: Amounts,
}

impl Budget {
    /// Creates a budget whose only spent amounts are those that the session spent before.
    pub fn new(spending: Spending, outlet: Outlet) -> Self {
        let state = State { session: spending.so_far, ..State::default() };
        Self { spending: Arc::new(spending), outlet, state: Arc::new(Mutex::new(state)) }
    }

    /// Starts the counts of a new prompt.
    pub(crate) fn begin(&self) {
        let mut state = self.lock();
        state.prompt = Amounts::default();
        state.exceeded = None;
        state.counted = Some(Instant::now());
    }

    /// Ends a prompt and books its amounts in the day's ledger.
    pub(crate) async fn end(&self) {
        {
            let mut state = self.lock();
            state.count_time();
            state.counted = None;
        }
        // Amounts that cannot be booked now are booked with the next request. With a daily limit,
        // that request is refused until the booking succeeds.
        drop(self.book(Amounts::default()).await);
    }

    /// Returns the limit that stopped the prompt.
    pub(crate) fn exceeded(&self) -> Option<Exceeded> {
        self.lock().exceeded
    }

    /// Returns the price of the first of these models that has one: the answering model, then the
    /// requested model.
    pub(crate) fn price(&self, vendor: &str, names: [&str; 2]) -> Option<Price> {
        let prices = self.spending.prices.as_ref()?;
        names.into_iter().find_map(|name| prices.price(vendor, name))
    }

    /// True if requests to a model that is to replace another one can be within the limits: money
    /// is not limited, or the price is known. A warning tells the user about a model without a
    /// price, once.
    pub(crate) fn permits(&self, replacement: &Choice) -> bool {
        let name = &replacement.name;
        let permits = !self.is_limited(Resource::Usd)
            || self.price(replacement.model.vendor(), [name, name]).is_some();
        if !permits {
            self.outlet.warn_once(format!(
                "{name} cannot replace another model: its price is not known, and dollars are limited. Add the model to ~/.gemini/pollux/prices.json."
            ));
        }
        permits
    }

    /// Reserves a request of about `estimate` tokens, with a short answer. `price` is the price of
    /// `model`.
    ///
    /// # Errors
    /// Returns an error if the request does not fit into a limit ([`ModelErrorKind::Budget`]), if
    /// money is limited and the price of the model is unknown ([`ModelErrorKind::Config`]), or if
    /// the day is limited and its ledger cannot be updated.
    pub(crate) async fn admit(
        &self,
        model: &str,
        price: Option<Price>,
        estimate: impl FnOnce() -> u64,
    ) -> Result<Hold, ModelError> {
        let wanted = self.wanted(model, price, estimate)?;
        let room = self.hold(wanted)?;
        let (held, today) = (wanted.least, Amounts::default());
        let mut hold = Hold { budget: self.clone(), held, in_ledger: false, room, today };
        if !self.spending.day.is_empty() {
            let booked = self.book(held).await;
            let (today, exceeded) = booked.map_err(|error| {
                ModelError::new(
                    ModelErrorKind::Other,
                    format!("{error} Pollux cannot enforce the budget of the day without it."),
                )
            })?;
            if let Some(exceeded) = exceeded {
                return Err(self.refuse(exceeded));
            }
            hold.in_ledger = true;
            hold.room = room::smaller(room, wanted.room(&self.spending.day, today));
            hold.today = today;
        }
        Ok(hold)
    }

    /// Reserves up to `count` calls. Returns the number of calls that fit into the limits.
    pub(crate) async fn take_calls(&self, count: usize) -> usize {
        let wanted = u64::try_from(count).unwrap_or(u64::MAX);
        let mut room = self.room_for_calls(wanted);
        if self.spending.day.get(Resource::ToolCalls).is_some() {
            match self.book(Amounts::of(Resource::ToolCalls, room)).await {
                Ok((_, None)) => {}
                Ok((_, Some(exceeded))) => {
                    self.stop(exceeded);
                    room = exceeded.limit.amount.saturating_sub(exceeded.spent).min(room);
                    let again = self.book(Amounts::of(Resource::ToolCalls, room)).await;
                    if !matches!(again, Ok((_, None))) {
                        room = 0;
                    }
                }
                Err(error) => {
                    self.warn(error.to_string()).await;
                    room = 0;
                }
            }
            self.spend(Amounts::of(Resource::ToolCalls, room), false);
        } else {
            self.spend(Amounts::of(Resource::ToolCalls, room), true);
        }
        usize::try_from(room).unwrap_or(count).min(count)
    }

    /// Returns the end of the prompt's available time, and the limit that sets it.
    pub(crate) async fn deadline(&self) -> Option<(Instant, Exceeded)> {
        let day = match self.spending.day.get(Resource::Seconds) {
            Some(_) => self.spent_today().await,
            None => Amounts::default(),
        };
        let spent = {
            let state = self.lock();
            [(Period::Prompt, state.prompt), (Period::Session, state.session), (Period::Day, day)]
        };
        let left = spent.into_iter().filter_map(|(period, spent)| {
            let limit = self.ceilings(period).get(Resource::Seconds)?;
            let left = limit.amount.saturating_sub(spent.get(Resource::Seconds));
            let (resource, spent) = (Resource::Seconds, limit.amount);
            Some((left, Exceeded { resource, period, limit, spent, wanted: 1 }))
        });
        let (left, exceeded) = left.min_by_key(|(left, _)| *left)?;
        Some((Instant::now() + Duration::from_millis(left), exceeded))
    }

    /// Stops the prompt: it makes no more requests.
    pub(crate) fn stop(&self, exceeded: Exceeded) {
        self.lock().exceeded.get_or_insert(exceeded);
    }

    fn wanted(
        &self,
        model: &str,
        price: Option<Price>,
        estimate: impl FnOnce() -> u64,
    ) -> Result<Wanted, ModelError> {
        let in_usd = self.is_limited(Resource::Usd);
        if in_usd && price.is_none() {
            return Err(unpriced(model));
        }
        if !in_usd && !self.is_limited(Resource::Tokens) {
            return Ok(Wanted::uncounted());
        }
        Ok(Wanted::counted(estimate(), price))
    }

    /// Holds the wanted amounts if they fit into the limits of prompt and session. Returns the
    /// room for the answer, in tokens.
    fn hold(&self, wanted: Wanted) -> Result<Option<u64>, ModelError> {
        let mut state = self.lock();
        state.count_time();
        let exceeded = state.exceeded.or_else(|| self.check(&state, wanted.least));
        if let Some(exceeded) = exceeded {
            drop(state);
            return Err(self.refuse(exceeded));
        }
        let room =
            |period, spent: Amounts| wanted.room(self.ceilings(period), spent.plus(state.held));
        let room =
            room::smaller(room(Period::Prompt, state.prompt), room(Period::Session, state.session));
        state.held = state.held.plus(without_time(wanted.least));
        Ok(room)
    }

    /// Returns the limit of the prompt or of the session that would be exceeded.
    fn check(&self, state: &State, wanted: Amounts) -> Option<Exceeded> {
        let spent = [(Period::Prompt, state.prompt), (Period::Session, state.session)];
        spent.into_iter().find_map(|(period, spent)| {
            self.ceilings(period).check(period, spent.plus(state.held), wanted)
        })
    }

    fn refuse(&self, exceeded: Exceeded) -> ModelError {
        self.stop(exceeded);
        ModelError::new(ModelErrorKind::Budget, exceeded.to_string())
    }

    /// Returns the number of these calls that fit into the limits of prompt and session.
    fn room_for_calls(&self, wanted: u64) -> u64 {
        let mut state = self.lock();
        let spent = [(Period::Prompt, state.prompt), (Period::Session, state.session)];
        let mut room = wanted;
        for (period, spent) in spent {
            let asked = Amounts::of(Resource::ToolCalls, wanted);
            if let Some(exceeded) = self.calls_of(period).check(period, spent, asked) {
                room = room.min(exceeded.limit.amount.saturating_sub(exceeded.spent));
                state.exceeded.get_or_insert(exceeded);
            }
        }
        room
    }

    fn spend(&self, amounts: Amounts, unbooked: bool) {
        let mut state = self.lock();
        state.prompt = state.prompt.plus(amounts);
        state.session = state.session.plus(amounts);
        if unbooked {
            state.unbooked = state.unbooked.plus(amounts);
        }
    }

    async fn spent_today(&self) -> Amounts {
        let Some(ledger) = &self.spending.ledger else { return Amounts::default() };
        // An unreadable ledger is reported when the next request is about to be sent.
        ledger.book(DayEntry::default()).await.map(|booked| booked.spent).unwrap_or_default()
    }

    /// Books spent and released amounts in the ledger, and reserves the wanted amounts there.
    /// Returns the amounts spent today before that, and the limit because of which nothing was
    /// reserved.
    async fn book(&self, wanted: Amounts) -> Result<(Amounts, Option<Exceeded>), LedgerError> {
        let (spent, given_back) = {
            let mut state = self.lock();
            (std::mem::take(&mut state.unbooked), std::mem::take(&mut state.given_back))
        };
        let is_idle = [wanted, spent, given_back].iter().all(|one| *one == Amounts::default());
        let Some(ledger) = self.spending.ledger.as_ref().filter(|_| !is_idle) else {
            return Ok((Amounts::default(), None));
        };
        let ceilings = self.spending.day;
        let entry = DayEntry { given_back, spent, wanted, ceilings };
        match ledger.book(entry).await {
            Ok(booked) => {
                if let Some(warning) = booked.warning {
                    self.warn(warning).await;
                }
                Ok((booked.spent, booked.exceeded))
            }
            Err(error) => {
                let mut state = self.lock();
                state.unbooked = state.unbooked.plus(spent);
                state.given_back = state.given_back.plus(given_back);
                Err(error)
            }
        }
    }

    async fn warn(&self, text: String) {
        self.outlet.emit(Event::Notice { severity: Severity::Warning, text }).await;
    }

    fn ceilings(&self, period: Period) -> &Ceilings {
        match period {
            Period::Prompt => &self.spending.prompt,
            Period::Session => &self.spending.session,
            Period::Day => &self.spending.day,
        }
    }

    fn limit(&self, period: Period, resource: Resource) -> Option<Limit> {
        self.ceilings(period).get(resource)
    }

    /// True if any period limits the resource.
    fn is_limited(&self, resource: Resource) -> bool {
        Period::ALL.iter().any(|period| self.limit(*period, resource).is_some())
    }

    /// Returns only the limit of calls.
    fn calls_of(&self, period: Period) -> Ceilings {
        let mut calls = Ceilings::default();
        if let Some(limit) = self.limit(period, Resource::ToolCalls) {
            calls.set(Resource::ToolCalls, limit);
        }
        calls
    }

    /// Locks the state. A panic in another thread leaves the sums intact, so a poisoned lock is
    /// usable.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Adds the time since the last count.
    fn count_time(&mut self) {
        let Some(counted) = &mut self.counted else { return };
        let passed = u64::try_from(counted.elapsed().as_millis()).unwrap_or(u64::MAX);
        // The rest below one millisecond is counted next time.
        *counted += Duration::from_millis(passed);
        let passed = Amounts::of(Resource::Seconds, passed);
        self.prompt = self.prompt.plus(passed);
        self.session = self.session.plus(passed);
        self.unbooked = self.unbooked.plus(passed);
    }
}

impl Hold {
    /// Charges a completed request and its turn with the real cost, and releases the held amounts.
    pub(crate) fn settle(mut self, tokens: u64, cost: Option<Money>) {
        let spent = Amounts::of(Resource::Turns, 1)
            .with(Resource::Tokens, tokens)
            .with(Resource::Usd, cost.unwrap_or_default().parts());
        self.release();
        self.budget.spend(spent, true);
    }

    /// Charges a request whose answer ended at its maximum length. The prompt ends if the limits
    /// had no room for more.
    pub(crate) fn settle_cut_off(self, tokens: u64, cost: Option<Money>) {
        let (budget, wanted) = (self.budget.clone(), room::of_content(self.held));
        let spent = Amounts::of(Resource::Tokens, tokens)
            .with(Resource::Usd, cost.unwrap_or_default().parts());
        let today = self.today.plus(spent);
        self.settle(tokens, cost);
        let exceeded = budget.check(&budget.lock(), wanted);
        let exceeded = exceeded.or_else(|| budget.spending.day.check(Period::Day, today, wanted));
        if let Some(exceeded) = exceeded {
            budget.stop(exceeded);
        }
    }

    /// Returns the maximum number of tokens of the answer; `None` if the limits have room for any
    /// answer.
    pub(crate) fn output_limit(&self) -> Option<u64> {
        room::output_limit(self.room)
    }

    /// Charges a request whose result nobody waits for, with about the cost of the sent tokens.
    pub(crate) fn abandon(self, tokens: u64, vendor: &str, model: &str) {
        let usage = Usage { prompt: tokens, ..Usage::default() };
        let cost = self.budget.price(vendor, [model, model]).map(|price| price.cost(&usage));
        self.settle(tokens, cost);
    }

    fn release(&mut self) {
        let held = without_time(std::mem::take(&mut self.held));
        let mut state = self.budget.lock();
        state.held = state.held.minus(held);
        if self.in_ledger {
            state.given_back = state.given_back.plus(held);
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.release();
    }
}

/// Returns the amounts without the time. Time is measured by the clock, and cannot be held.
fn without_time(amounts: Amounts) -> Amounts {
    amounts.with(Resource::Seconds, 0)
}

fn unpriced(model: &str) -> ModelError {
    let message = format!(
        "The price of {model} is not known, so Pollux cannot enforce a limit in dollars.\nAdd the model to ~/.gemini/pollux/prices.json, or run without --max-cost and pollux.budget.*.usd."
    );
    ModelError::new(ModelErrorKind::Config, message)
}
