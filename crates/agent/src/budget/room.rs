//! Amounts that a request needs, and the room that the limits leave for its answer. Pure.

use pollux_protocol::{Amounts, Ceilings, Price, Resource, Usage};

/// Minimum number of tokens for an answer. A request that leaves less room is not made.
pub(super) const SHORTEST: u64 = 256;

/// Number of tokens from which on an answer needs no limit, because no model writes longer ones.
const LONGEST: u64 = 1 << 17;

/// Amounts that a request needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// Amounts for what is sent.
    sent: Amounts,
    /// Amounts for what is sent and for the shortest answer.
    pub(super) least: Amounts,
    /// Price of a token of the answer, in the smallest parts of money.
    rate: u64,
}

impl Wanted {
    /// Creates the amounts of a request whose tokens and price do not matter.
    pub(super) fn uncounted() -> Self {
        // Any remaining time is enough to start a request.
        let sent = Amounts::of(Resource::Turns, 1).with(Resource::Seconds, 1);
        Self { sent, least: sent, rate: 0 }
    }

    /// Creates the amounts of a request of about this number of tokens.
    pub(super) fn counted(tokens: u64, price: Option<Price>) -> Self {
        let price = price.unwrap_or(Price::FREE);
        let amounts = |candidates| {
            let usage = Usage { prompt: tokens, candidates, ..Usage::default() };
            let cost = price.cost(&usage).parts();
            let all = Amounts::of(Resource::Tokens, tokens.saturating_add(candidates));
            Self::uncounted().sent.plus(all.with(Resource::Usd, cost))
        };
        let rate = price.rates(tokens).output;
        Self { sent: amounts(0), least: amounts(SHORTEST), rate }
    }

    /// Returns the number of tokens that the answer may have so that `spent`, the request and the
    /// answer stay within the limits; `None` without a limit for them.
    pub(super) fn room(&self, ceilings: &Ceilings, spent: Amounts) -> Option<u64> {
        let spent = spent.plus(self.sent);
        let room = |(resource, rate): (Resource, u64)| {
            let limit = ceilings.get(resource)?;
            limit.amount.saturating_sub(spent.get(resource)).checked_div(rate)
        };
        [(Resource::Tokens, 1), (Resource::Usd, self.rate)].into_iter().filter_map(room).min()
    }
}

/// Returns the smaller room; `None` if neither is limited.
pub(super) fn smaller(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// Returns the limit of an answer with this room; `None` if it needs none.
pub(super) fn output_limit(room: Option<u64>) -> Option<u64> {
    room.filter(|room| *room < LONGEST)
}

/// Returns only the tokens and the money of these amounts.
pub(super) fn of_content(amounts: Amounts) -> Amounts {
    let tokens = Amounts::of(Resource::Tokens, amounts.get(Resource::Tokens));
    tokens.with(Resource::Usd, amounts.get(Resource::Usd))
}
