//! Budget of a run: limits from flags and settings, prices, and the ledger of today's spending.

use std::sync::Arc;

use pollux_agent::Spending;
use pollux_models::{PriceBook, PricesError};
use pollux_protocol::{Amounts, Ceilings, Limit, Money, Period, Prices, Resource};
use pollux_session::{RecordedFigures, SpendingFile};

use crate::setup::Setup;
use pollux_protocol::SessionFailure;

/// File with the user's own table of models and prices.
pub(crate) const PRICES: &str = "prices.json";
/// File with the spending of the last days.
const LEDGER: &str = "spending.json";

/// Settings keys, by period and resource in the order of their types.
const KEYS: [[&str; 5]; 3] = [
    [
        "pollux.budget.prompt.turns",
        "pollux.budget.prompt.toolCalls",
        "pollux.budget.prompt.tokens",
        "pollux.budget.prompt.usd",
        "pollux.budget.prompt.seconds",
    ],
    [
        "pollux.budget.session.turns",
        "pollux.budget.session.toolCalls",
        "pollux.budget.session.tokens",
        "pollux.budget.session.usd",
        "pollux.budget.session.seconds",
    ],
    [
        "pollux.budget.day.turns",
        "pollux.budget.day.toolCalls",
        "pollux.budget.day.tokens",
        "pollux.budget.day.usd",
        "pollux.budget.day.seconds",
    ],
];

impl Setup {
    /// Returns the limits of this run. `figures` is the earlier usage of the session.
    ///
    /// # Errors
    /// For an invalid limit in the settings, and for prices that cannot be read if a limit is in
    /// dollars.
    pub(crate) fn spending(&self, figures: &RecordedFigures) -> Result<Spending, SessionFailure> {
        let [prompt, session, day] = [
            self.ceilings(Period::Prompt)?,
            self.ceilings(Period::Session)?,
            self.ceilings(Period::Day)?,
        ];
        let limited = [prompt, session, day].iter().any(|one| one.get(Resource::Usd).is_some());
        let folder = self.places.pollux_dir();
        let prices = match PriceBook::load(&folder.join(PRICES)) {
            Ok(prices) => prices,
            Err(error) if limited => {
                return Err(SessionFailure::Config(format!(
                    "{error}\nFix the file or remove it: Pollux needs the prices to enforce a limit in dollars."
                )));
            }
            Err(error) => {
                self.report_table(&error);
                PriceBook::default()
            }
        };
        let so_far = so_far(figures, &prices);
        let unpriced = so_far.is_none() && session.get(Resource::Usd).is_some();
        if unpriced {
            self.input.request.notices.warning(
                "[WARNING] The earlier cost of this session is not known, so its budget does not include it.",
            );
        }
        // A demonstration costs nothing.
        let is_real = !self.input.options.is_demonstration();
        let ledger = is_real.then(|| Arc::new(SpendingFile::new(folder.join(LEDGER))) as _);
        Ok(Spending {
            prompt,
            session,
            day,
            so_far: so_far.unwrap_or_else(|| counted(figures)),
            prices: Some(Arc::new(prices)),
            ledger,
        })
    }

    /// Reports that the user's own table of models cannot be used.
    pub(crate) fn report_table(&self, error: &PricesError) {
        let text = format!("[WARNING] {error} The built-in table is used.");
        self.input.request.notices.warning(&text);
    }

    fn ceilings(&self, period: Period) -> Result<Ceilings, SessionFailure> {
        let mut ceilings = Ceilings::default();
        for resource in Resource::ALL {
            let flag = (period == Period::Prompt)
                .then(|| self.input.options.limits.get(resource))
                .flatten();
            let by_flag = flag.is_some();
            let limit = match flag {
                Some(number) => Some(number),
                None => self.limit_in_settings(period, resource)?,
            };
            if let Some(amount) = limit.and_then(|number| resource.limit(number)) {
                ceilings.set(resource, Limit { amount, by_flag });
            }
        }
        Ok(ceilings)
    }

    /// Returns a limit from the settings. An invalid value is an error: it must not count as "no
    /// limit".
    fn limit_in_settings(
        &self,
        period: Period,
        resource: Resource,
    ) -> Result<Option<f64>, SessionFailure> {
        let key = KEYS[period as usize][resource as usize];
        let Some(value) = self.loaded.settings.value(key).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let number = value.as_f64().filter(|number| resource.limit(*number).is_some());
        number.map(Some).ok_or_else(|| {
            SessionFailure::Config(format!(
                "The setting {key} is {value}, but a limit must be a {} above zero.\nFix it in settings.json, or remove it for no limit.",
                resource.unit()
            ))
        })
    }
}

/// Returns the earlier usage of the session, without cost and time.
fn counted(figures: &RecordedFigures) -> Amounts {
    let turns = figures.models.values().map(|model| model.requests);
    let tokens = figures.models.values().map(|model| model.usage.all());
    let calls = figures.tools.values().map(|tool| tool.count);
    Amounts::of(Resource::Turns, turns.fold(0, u64::saturating_add))
        .with(Resource::Tokens, tokens.fold(0, u64::saturating_add))
        .with(Resource::ToolCalls, calls.fold(0, u64::saturating_add))
}

/// Returns the earlier usage including its cost; `None` if a model has no price. The log does not
/// name the service that billed a model, so prices of the Gemini API are searched first, then those
/// of all vendors.
fn so_far(figures: &RecordedFigures, prices: &PriceBook) -> Option<Amounts> {
    let mut cost = Money::ZERO;
    for (name, model) in &figures.models {
        let vendors = std::iter::once("").chain(pollux_models::catalog::ids());
        let price = vendors.into_iter().find_map(|vendor| prices.price(vendor, name))?;
        cost = cost.plus(price.cost(&model.usage));
    }
    Some(counted(figures).with(Resource::Usd, cost.parts()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_read_from_the_setting_that_its_message_names() {
        for (period, resource) in
            Period::ALL.into_iter().flat_map(|period| Resource::ALL.map(|one| (period, one)))
        {
            let named = format!("pollux.budget.{}.{}", period.key(), resource.key());
            assert_eq!(KEYS[period as usize][resource as usize], named);
        }
    }
}
