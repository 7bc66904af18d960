//! Prices of models.

use std::fmt;

use crate::Usage;

/// Amount of US dollars, exact to a millionth of a millionth: sums do not depend on their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(u64);

/// Number of the smallest parts in a dollar.
const PARTS: f64 = 1e12;

impl Money {
    /// Zero dollars.
    pub const ZERO: Self = Self(0);

    /// Creates an amount from dollars; `None` for a number that is negative, not a number, or more
    /// than ten million.
    pub fn from_usd(usd: f64) -> Option<Self> {
        (0.0..=1e7).contains(&usd).then(|| Self((usd * PARTS).round() as u64))
    }

    /// Returns the amount in dollars.
    pub fn usd(self) -> f64 {
        self.0 as f64 / PARTS
    }

    /// Creates an amount from its number of smallest parts.
    pub const fn from_parts(parts: u64) -> Self {
        Self(parts)
    }

    /// Returns the number of smallest parts.
    pub const fn parts(self) -> u64 {
        self.0
    }

    /// Returns the sum, which saturates at `u64::MAX` smallest parts.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Money {
    /// Writes `$1.50`, with more decimal places for less than a dollar: `$0.1234`, `$0.000123`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usd = self.usd();
        if self.0 == 0 || usd >= 0.995 {
            write!(formatter, "${usd:.2}")
        } else if usd >= 0.01 {
            write!(formatter, "${usd:.4}")
        } else {
            write!(formatter, "${usd:.6}")
        }
    }
}

/// Price of one token, in the smallest parts of [`Money`]: a millionth of the price of a million
/// tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rates {
    /// Token of the request that is neither read from the vendor's cache nor written to it.
    pub input: u64,
    /// Token of the request that is read from the vendor's cache.
    pub cached: u64,
    /// Token of the request that is written to the vendor's cache.
    pub cache_write: u64,
    /// Token of the answer, including thoughts.
    pub output: u64,
}

/// Price of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Price {
    /// Regular rates.
    pub rates: Rates,
    /// Number of request tokens above which the whole request costs other rates, and these rates.
    pub long: Option<(u64, Rates)>,
}

impl Price {
    /// Price of a model on the user's own machine.
    pub const FREE: Self =
        Self { rates: Rates { input: 0, cached: 0, cache_write: 0, output: 0 }, long: None };

    /// Returns the rates of a request with this number of tokens.
    pub fn rates(&self, prompt: u64) -> &Rates {
        match &self.long {
            Some((above, rates)) if prompt > *above => rates,
            _ => &self.rates,
        }
    }

    /// Returns the cost of a request.
    pub fn cost(&self, usage: &Usage) -> Money {
        let rates = self.rates(usage.prompt);
        let cached = usage.cached.min(usage.prompt);
        let cache_write = usage.cache_write.min(usage.prompt - cached);
        let input = (usage.prompt - cached - cache_write).saturating_add(usage.tool);
        let output = usage.candidates.saturating_add(usage.thoughts);
        [
            (input, rates.input),
            (cached, rates.cached),
            (cache_write, rates.cache_write),
            (output, rates.output),
        ]
        .into_iter()
        .fold(Money::ZERO, |sum, (tokens, rate)| sum.plus(Money(tokens.saturating_mul(rate))))
    }
}

/// Price list.
pub trait Prices: Send + Sync {
    /// Returns the price of a model by its billing party ([`Model::vendor`](crate::Model::vendor))
    /// and its name; `None` if the price is unknown.
    fn price(&self, vendor: &str, model: &str) -> Option<Price>;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PRICE: Price = Price {
        rates: Rates {
            input: 1_250_000,
            cached: 125_000,
            cache_write: 1_500_000,
            output: 10_000_000,
        },
        long: Some((
            200_000,
            Rates { input: 2_500_000, cached: 250_000, cache_write: 3_000_000, output: 15_000_000 },
        )),
    };

    #[test]
    fn thoughts_are_answers_and_the_cache_has_rates_of_its_own() {
        let usage = |prompt, cached, candidates, thoughts| Usage {
            prompt,
            candidates,
            cached,
            thoughts,
            ..Usage::default()
        };
        for (usage, usd) in [
            (usage(1_000_000, 0, 0, 0), 2.5),
            (usage(200_000, 0, 0, 0), 0.25),
            (usage(200_001, 0, 0, 0), 0.500_002_5),
            (usage(1000, 1000, 0, 0), 0.000_125),
            // No more tokens can come from the cache than the request has.
            (usage(1000, 5000, 0, 0), 0.000_125),
            (usage(0, 0, 40, 60), 0.001),
            (Usage { cache_write: 1000, ..usage(1000, 0, 0, 0) }, 0.0015),
            (Usage { cache_write: 1000, ..usage(1_000_000, 0, 0, 0) }, 2.5005),
            (Usage { cache_write: 600, ..usage(1000, 500, 0, 0) }, 0.000_812_5),
            (Usage { tool: 1000, ..Usage::default() }, 0.00125),
        ] {
            assert!((PRICE.cost(&usage).usd() - usd).abs() < 1e-12, "{usage:?}");
        }
        assert_eq!(Price::FREE.cost(&usage(9, 9, 9, 9)), Money::ZERO);
    }

    #[test]
    fn amounts_in_words() {
        for (usd, words) in
            [(0.0, "$0.00"), (12.345, "$12.35"), (0.1234, "$0.1234"), (0.000_012, "$0.000012")]
        {
            assert_eq!(Money::from_usd(usd).unwrap().to_string(), words);
        }
        for wrong in [-0.1, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(Money::from_usd(wrong), None);
        }
    }

    proptest! {
        #[test]
        fn more_tokens_never_cost_less(prompt: u32, cached: u32, written: u32, more: u16) {
            let usage = Usage {
                prompt: prompt.into(),
                cached: cached.into(),
                candidates: written.into(),
                ..Usage::default()
            };
            let larger = Usage { candidates: usage.candidates + u64::from(more), ..usage };
            prop_assert!(PRICE.cost(&larger) >= PRICE.cost(&usage));
            let longer = Usage { prompt: usage.prompt + u64::from(more), ..usage };
            prop_assert!(PRICE.cost(&longer) >= PRICE.cost(&usage));
        }
    }
}
