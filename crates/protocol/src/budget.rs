//! Limits on the cost of work, and the check whether further work fits within them.

use std::fmt;

use async_trait::async_trait;

use crate::Money;

/// Resource with a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// Requests to models, including side calls and repeated requests.
    Turns,
    /// Tool calls.
    ToolCalls,
    /// Tokens of requests and answers.
    Tokens,
    /// Money, in the smallest parts of [`Money`].
    Usd,
    /// Time: set in seconds in the settings, counted in milliseconds.
    Seconds,
}

impl Resource {
    /// All resources.
    pub const ALL: [Self; 5] =
        [Self::Turns, Self::ToolCalls, Self::Tokens, Self::Usd, Self::Seconds];

    /// Returns the last segment of the resource's key in the settings.
    pub fn key(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::ToolCalls => "toolCalls",
            Self::Tokens => "tokens",
            Self::Usd => "usd",
            Self::Seconds => "seconds",
        }
    }

    /// Returns the unit in which the settings give a limit, for a message.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Turns | Self::ToolCalls | Self::Tokens => "whole number",
            Self::Usd => "number of dollars",
            Self::Seconds => "number of seconds",
        }
    }

    /// Formats an amount of the resource for display.
    pub fn words(self, amount: u64) -> String {
        let counted = |one: &str| format!("{amount} {one}{}", if amount == 1 { "" } else { "s" });
        match self {
            Self::Turns => counted("turn"),
            Self::ToolCalls => counted("tool call"),
            Self::Tokens => counted("token"),
            Self::Usd => Money::from_parts(amount).to_string(),
            Self::Seconds => format!("{} s", amount as f64 / 1000.0),
        }
    }

    /// Converts an amount of the resource to a number in the unit of the settings.
    pub fn number(self, amount: u64) -> f64 {
        match self {
            Self::Turns | Self::ToolCalls | Self::Tokens => amount as f64,
            Self::Usd => Money::from_parts(amount).usd(),
            Self::Seconds => amount as f64 / 1000.0,
        }
    }

    /// Converts a number from the settings to a limit. `None` for zero and for a number that is not
    /// a valid [amount](Self::amount).
    pub fn limit(self, number: f64) -> Option<u64> {
        self.amount(number).filter(|amount| *amount > 0)
    }

    /// Converts a number in the unit of the settings to an amount. `None` for a number that is
    /// negative, not finite or too large, and for a fraction of a resource that is counted in whole
    /// numbers.
    pub fn amount(self, number: f64) -> Option<u64> {
        if !number.is_finite() || number < 0.0 {
            return None;
        }
        match self {
            Self::Turns | Self::ToolCalls | Self::Tokens => {
                (number.fract() == 0.0 && number <= 1e15).then_some(number as u64)
            }
            Self::Usd => Money::from_usd(number).map(Money::parts),
            // Subtracts a millionth of a millisecond before rounding up, because many fractions
            // have no exact binary representation.
            Self::Seconds => {
                (number <= 1e9).then(|| (number * 1000.0 - 1e-6).ceil().max(0.0) as u64)
            }
        }
    }
}

/// Period over which a resource is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Period {
    /// One prompt.
    Prompt,
    /// The session.
    Session,
    /// From midnight to midnight in local time, over all processes.
    Day,
}

impl Period {
    /// All periods.
    pub const ALL: [Self; 3] = [Self::Prompt, Self::Session, Self::Day];

    /// Returns the period's segment of a key in the settings.
    pub fn key(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Session => "session",
            Self::Day => "day",
        }
    }
}

/// Amounts of all resources: counts of tokens, calls and turns, money in its smallest parts, time
/// in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amounts([u64; 5]);

impl Amounts {
    /// Returns this amount of one resource, and zero of all others.
    pub fn of(resource: Resource, amount: u64) -> Self {
        Self::default().with(resource, amount)
    }

    /// Returns the same amounts, with the amount of one resource replaced.
    #[must_use]
    pub fn with(mut self, resource: Resource, amount: u64) -> Self {
        self.0[resource as usize] = amount;
        self
    }

    /// Returns the amount of one resource.
    pub fn get(&self, resource: Resource) -> u64 {
        self.0[resource as usize]
    }

    /// Returns the sum, which saturates at `u64::MAX`.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at].saturating_add(other.0[at])))
    }

    /// Returns the difference, which saturates at zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at].saturating_sub(other.0[at])))
    }
}

/// Limit, with its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Maximum amount that may be spent.
    pub amount: u64,
    /// True if a flag of this run has set the limit.
    pub by_flag: bool,
}

/// Limits of one period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ceilings([Option<Limit>; 5]);

/// Limit that work has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// Limited resource.
    pub resource: Resource,
    /// Period of the limit.
    pub period: Period,
    /// The limit.
    pub limit: Limit,
    /// Amount already spent.
    pub spent: u64,
    /// Further amount that was requested.
    pub wanted: u64,
}

impl Ceilings {
    /// Sets the limit of a resource.
    pub fn set(&mut self, resource: Resource, limit: Limit) {
        self.0[resource as usize] = Some(limit);
    }

    /// Returns the limit of a resource.
    pub fn get(&self, resource: Resource) -> Option<Limit> {
        self.0[resource as usize]
    }

    /// True if there is no limit.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Returns the first limit that would be exceeded if `wanted` were spent in addition to
    /// `spent`. Resources of which nothing is wanted are not checked.
    pub fn check(&self, period: Period, spent: Amounts, wanted: Amounts) -> Option<Exceeded> {
        Resource::ALL.into_iter().find_map(|resource| {
            let limit = self.get(resource)?;
            let (spent, wanted) = (spent.get(resource), wanted.get(resource));
            let fits = wanted == 0 || spent.saturating_add(wanted) <= limit.amount;
            (!fits).then_some(Exceeded { resource, period, limit, spent, wanted })
        })
    }
}

impl Exceeded {
    /// Describes the limit.
    pub fn budget(&self) -> String {
        format!("The {}'s budget of {}", self.period.key(), self.resource.words(self.limit.amount))
    }

    /// Describes the spending that exceeds the limit, as the predicate of a sentence about
    /// [`Self::budget`].
    pub fn excess(&self) -> String {
        let Self { resource, limit, spent, wanted, .. } = *self;
        let spent_words = resource.words(spent);
        match resource {
            Resource::Tokens | Resource::Usd if spent < limit.amount => format!(
                "is not enough: {spent_words} spent, and the next request needs about {}.",
                resource.words(wanted)
            ),
            Resource::ToolCalls if spent < limit.amount => {
                format!("is not enough: {spent_words} made.")
            }
            _ => format!("is used up: {spent_words} spent."),
        }
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.budget(), self.excess())
    }
}

/// Amounts spent today by all processes together.
#[async_trait]
pub trait DayLedger: Send + Sync {
    /// Subtracts `given_back` from today's amounts and adds `spent`; then adds `wanted` if it fits
    /// within `ceilings`. All of this is one atomic step with respect to other processes. Returns
    /// today's amounts before `wanted` was added.
    async fn book(&self, entry: DayEntry) -> Result<Booked, LedgerError>;
}

/// Entry in the ledger of the day.
#[derive(Debug, Clone, Copy, Default)]
pub struct DayEntry {
    /// Amounts that were reserved before and were not needed.
    pub given_back: Amounts,
    /// Amounts that were spent and are not in the ledger yet.
    pub spent: Amounts,
    /// Amounts to reserve.
    pub wanted: Amounts,
    /// Limits of a day.
    pub ceilings: Ceilings,
}

/// Result of an entry in the ledger of the day.
#[derive(Debug, Clone, Default)]
pub struct Booked {
    /// Amounts spent today before anything more was reserved.
    pub spent: Amounts,
    /// Limit because of which nothing was reserved.
    pub exceeded: Option<Exceeded>,
    /// Warning for the user: the ledger file was damaged.
    pub warning: Option<String>,
}

/// Error of a ledger of the day that cannot be read or written.
#[derive(Debug, Clone, thiserror::Error)]
#[error("Cannot store the amounts spent today in {path}: {message}.")]
pub struct LedgerError {
    /// Path of the ledger file.
    pub path: String,
    /// Message of the operating system.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ceilings(resource: Resource, amount: u64) -> Ceilings {
        let mut ceilings = Ceilings::default();
        ceilings.set(resource, Limit { amount, by_flag: true });
        ceilings
    }

    #[test]
    fn what_still_fits() {
        for (limit, spent, wanted, fits) in
            [(3, 2, 1, true), (3, 3, 1, false), (3, 0, 4, false), (3, 9, 0, true), (3, 0, 3, true)]
        {
            let found = ceilings(Resource::Tokens, limit).check(
                Period::Prompt,
                Amounts::of(Resource::Tokens, spent),
                Amounts::of(Resource::Tokens, wanted),
            );
            assert_eq!(found.is_none(), fits, "{limit} {spent} {wanted}");
        }
    }

    #[test]
    fn a_limit_is_a_positive_number_of_its_unit() {
        for (resource, number, expected) in [
            (Resource::Turns, 3.0, Some(3)),
            (Resource::Turns, 2.5, None),
            (Resource::Tokens, 0.0, None),
            (Resource::ToolCalls, -1.0, None),
            (Resource::Usd, 0.5, Some(500_000_000_000)),
            (Resource::Usd, 1e-15, None),
            (Resource::Usd, f64::NAN, None),
            (Resource::Seconds, 1.5, Some(1500)),
            (Resource::Seconds, 0.000_1, Some(1)),
            (Resource::Seconds, f64::INFINITY, None),
            (Resource::Tokens, 1e15, Some(1_000_000_000_000_000)),
            (Resource::Tokens, 1e15 + 1.0, None),
            (Resource::Seconds, 1e9, Some(1_000_000_000_000)),
            (Resource::Seconds, 1e9 + 1.0, None),
        ] {
            assert_eq!(resource.limit(number), expected, "{resource:?} {number}");
        }
        for resource in Resource::ALL {
            assert_eq!(resource.amount(0.0), Some(0), "{resource:?}");
            assert_eq!(resource.amount(-0.001), None, "{resource:?}");
        }
    }

    #[test]
    fn amounts_are_shown_in_the_unit_of_the_settings() {
        for (resource, amount, words, number) in [
            (Resource::Turns, 1, "1 turn", 1.0),
            (Resource::ToolCalls, 2, "2 tool calls", 2.0),
            (Resource::Tokens, 0, "0 tokens", 0.0),
            (Resource::Usd, 1_500_000_000_000, "$1.50", 1.5),
            (Resource::Seconds, 1_500, "1.5 s", 1.5),
        ] {
            assert_eq!(resource.words(amount), words);
            assert_eq!(resource.number(amount).to_bits(), f64::to_bits(number), "{words}");
            assert_eq!(resource.amount(number), Some(amount), "{words}");
        }
    }

    #[test]
    fn an_excess_is_described_by_what_is_left() {
        let excess = |resource, spent| {
            let limit = Limit { amount: 3, by_flag: false };
            Exceeded { resource, period: Period::Session, limit, spent, wanted: 2 }.excess()
        };
        let needs = "is not enough: 2 tokens spent, and the next request needs about 2 tokens.";
        assert_eq!(excess(Resource::Tokens, 2), needs);
        assert_eq!(excess(Resource::Tokens, 3), "is used up: 3 tokens spent.");
        assert_eq!(excess(Resource::ToolCalls, 2), "is not enough: 2 tool calls made.");
        assert_eq!(excess(Resource::ToolCalls, 3), "is used up: 3 tool calls spent.");
        assert_eq!(excess(Resource::Turns, 2), "is used up: 2 turns spent.");
    }

    #[test]
    fn amounts_saturate_and_each_resource_counts_alone() {
        let (turns, calls) = (Resource::Turns, Resource::ToolCalls);
        let amounts = Amounts::of(turns, 5).with(calls, u64::MAX);
        let sum = amounts.plus(amounts);
        assert_eq!((sum.get(turns), sum.get(calls)), (10, u64::MAX));
        let rest = amounts.minus(Amounts::of(turns, 7).with(calls, 1));
        assert_eq!((rest.get(turns), rest.get(calls)), (0, u64::MAX - 1));
        assert!(Ceilings::default().is_empty() && !ceilings(calls, 1).is_empty());
    }

    #[test]
    fn a_limit_in_words() {
        let limit = Limit { amount: 3, by_flag: true };
        let exceeded = Exceeded {
            resource: Resource::Turns,
            period: Period::Prompt,
            limit,
            spent: 3,
            wanted: 1,
        };
        assert_eq!(
            exceeded.to_string(),
            "The prompt's budget of 3 turns is used up: 3 turns spent."
        );
        let limit = Limit { amount: Money::from_usd(5.0).unwrap().parts(), by_flag: false };
        let spent = Money::from_usd(4.99).unwrap().parts();
        let wanted = Money::from_usd(0.02).unwrap().parts();
        let exceeded =
            Exceeded { resource: Resource::Usd, period: Period::Day, limit, spent, wanted };
        assert_eq!(
            exceeded.to_string(),
            "The day's budget of $5.00 is not enough: $4.99 spent, and the next request needs about $0.0200."
        );
    }

    proptest! {
        #[test]
        fn what_was_let_through_never_sums_up_to_more_than_the_limit(
            limit in 1_u64..1000,
            wishes in proptest::collection::vec(1_u64..100, 0..50),
        ) {
            let ceilings = ceilings(Resource::Tokens, limit);
            let mut held = Amounts::default();
            for wish in wishes {
                let wanted = Amounts::of(Resource::Tokens, wish);
                if ceilings.check(Period::Session, held, wanted).is_none() {
                    held = held.plus(wanted);
                }
                prop_assert!(held.get(Resource::Tokens) <= limit);
            }
        }
    }
}
